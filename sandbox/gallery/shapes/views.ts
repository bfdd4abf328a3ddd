import type { ReadSession } from '../../../src/domain/gate.ts';
import { openQuestion } from '../../../src/domain/session.ts';
import { draftModal, HISTORY_PAGE, historyView, questionModal } from '../../../src/screens/answer.ts';
import { chooseItemModal, type SessionModel, sessionModal } from '../../../src/screens/form.ts';
import { handOverMetadata, handOverModal } from '../../../src/screens/hand-over.ts';
import { homeView, type InboxModel } from '../../../src/screens/inbox.ts';
import {
	type InboxContent,
	type InboxDraft,
	type InboxQuestion,
	MOST_DRAFTS,
	MOST_LAST_ANSWERS,
	MOST_OWN_ANSWERS,
	MOST_WAITING_SHOWN,
	PER_PAGE,
	type ShownInbox,
} from '../../../src/screens/inbox-content.ts';
import { receiptMessage, receiptModal } from '../../../src/screens/receipt.ts';
import { settingsForm } from '../../../src/screens/settings.ts';
import { chooseQuestion, threadReplyOffer } from '../../../src/screens/thread-reply.ts';
import { answerCard, errorModal } from '../../../src/slack/error-view.ts';
import {
	ABOUT,
	ANSWER_ID,
	AT_WORK,
	agentMessage,
	answerOf,
	asking,
	EMPTY,
	FIELD_DRAFTS,
	FIELDS,
	GIANT,
	GIANT_ANSWER,
	GIANT_AT_WORK,
	GIANT_SESSION,
	HAND_OVER,
	HOSTILE,
	itemsOf,
	LONG_LIST,
	LONGEST_ID,
	listOf,
	MARKDOWN_SESSION,
	MODEL,
	metadataOf,
	NOW,
	PLACE,
	QUESTION,
	questionOf,
	SETTINGS_MODEL,
	SEVERAL,
	SEVERAL_DRAFTS,
	type Shape,
	sessionOf,
	shapesOf,
	throughGate,
	USER_ID,
} from './samples.ts';

const REPLY = { ...PLACE, id: ANSWER_ID, readAt: NOW, arrival: null, messageTs: PLACE.threadTs };
export const HAND_OVER_METADATA = handOverMetadata({ sessionId: LONGEST_ID, fingerprint: '0', channelId: 'C0' });

export function sessionModelOf(read: ReadSession, overrides: Partial<SessionModel> = {}): [SessionModel] {
	const session = throughGate(read);
	const metadata = metadataOf({ sessionId: session.sessionId });
	const about = { session, question: openQuestion(session), metadata, offersWatch: true };
	return [{ ...MODEL, ...about, draft: {}, notices: [], ...overrides }];
}

export const ASKED_IN = { ...PLACE, watchedBy: USER_ID, discreet: false, buttons: true, isRaised: false };

const GIANT_WRITTEN = { text: GIANT, question: questionOf(GIANT_SESSION), sessionName: GIANT };

export const GIANT_QUESTION: InboxQuestion = {
	...ABOUT,
	question: { ...ABOUT.question, sessionId: LONGEST_ID },
	since: NOW - 720_000,
	handOver: HAND_OVER,
	isRaised: false,
	askedIn: ASKED_IN,
	sessionName: GIANT,
	view: questionOf(GIANT_SESSION),
	answering: listOf(30, () => USER_ID),
};
export const GIANT_DRAFT: InboxDraft = {
	...ABOUT,
	formId: ANSWER_ID,
	values: { 0: '', 1: GIANT },
	updatedAt: NOW - 60_000,
	askedIn: ASKED_IN,
	isClosed: true,
	isAllowed: true,
	sessionName: GIANT,
};

export const many = <Value>(length: number, make: (id: string) => Value) =>
	listOf(length, (index) => make(`${ANSWER_ID.slice(0, -2)}${10 + index}`));
export const waitingAs = (id: string) => ({
	sessionId: `${LONGEST_ID.slice(id.length)}${id}`,
	name: GIANT,
	since: NOW - 720_000,
	isNew: true,
	gaveWay: true,
});

export const NOTHING: ShownInbox = {
	kind: 'shown',
	total: 0,
	snoozed: null,
	page: 0,
	questions: [],
	unreadableCount: 0,
	channelsKnown: true,
	waiting: null,
	isWatching: true,
	ownAnswers: { shown: [], total: 0 },
	drafts: [],
	lastAnswers: [],
};
export const WAITING = {
	shown: many(MOST_WAITING_SHOWN, waitingAs),
	total: 500,
	old: { total: 500, firstPage: 3, shown: [] },
	why: null,
};
export const FULL_INBOX: ShownInbox = {
	...NOTHING,
	total: 25,
	snoozed: { count: 12, nextAt: NOW + 900_000, only: null },
	page: 1,
	questions: many(PER_PAGE, (id) => ({
		...GIANT_QUESTION,
		question: { ...GIANT_QUESTION.question, sessionId: waitingAs(id).sessionId },
	})),
	waiting: WAITING,
	ownAnswers: { shown: many(MOST_OWN_ANSWERS, (id) => ({ ...GIANT_ANSWER, id })), total: 40 },
	drafts: many(MOST_DRAFTS, (formId) => ({ ...GIANT_DRAFT, formId })),
	lastAnswers: many(MOST_LAST_ANSWERS, (id) => ({ ...GIANT_ANSWER, id })),
};

export function inboxModelOf(content: InboxContent): [InboxModel] {
	return [
		{
			inbox: { followedUntil: NOW + 9 * 60_000, person: ABOUT.person },
			content,
			receipt: MODEL,
			names: MODEL.names,
			isEnding: false,
		},
	];
}

/** The extremes that are modals and Home tabs, and the messages about one answer. */
export function extremeViews(): Shape[] {
	const answers = listOf(HISTORY_PAGE, () => GIANT_ANSWER);
	const draftsOf = (length: number) => ({ draft: listOf(length, () => GIANT) });
	return [
		...shapesOf(sessionModal, {
			'an id alone': sessionModelOf(EMPTY, { dashboardUrl: null, offersWatch: false }),
			Markdown: sessionModelOf(MARKDOWN_SESSION),
			'every field filled': sessionModelOf(FIELDS, { draft: FIELD_DRAFTS }),
			'every field with a text that does not fit': sessionModelOf(FIELDS, { draft: FIELD_DRAFTS.map(() => HOSTILE) }),
			'lists of 99 options, another answer': sessionModelOf(asking([...SEVERAL, LONG_LIST]), {
				draft: [...SEVERAL_DRAFTS, GIANT],
			}),
			'30 giant fields': sessionModelOf(asking(itemsOf(30, GIANT.slice(0, 400))), draftsOf(30)),
			'90 giant fields': sessionModelOf(asking(itemsOf(90, HOSTILE)), draftsOf(90)),
			'everything giant': sessionModelOf(GIANT_AT_WORK),
			'a giant result': sessionModelOf({
				...AT_WORK,
				messages: [agentMessage('Done.', { actions: [{ kind: 'done', text: GIANT }] })],
			}),
			'everything giant and a question': sessionModelOf(asking(itemsOf(12, GIANT.slice(0, 2_000)), sessionOf(GIANT))),
		}),
		...shapesOf(chooseItemModal, { '90 items': [QUESTION, QUESTION.openItems, { text: GIANT }, metadataOf()] }),
		...shapesOf(errorModal, {
			'an unknown code': ['never_heard_of', metadataOf({ sessionId: '' }), { ...MODEL, adminContact: HOSTILE }],
		}),
		...shapesOf(handOverModal, {
			hostile: [HAND_OVER_METADATA, { question: questionOf(FIELDS), sessionName: HOSTILE, discreet: false }],
		}),
		...shapesOf(receiptModal, {
			giant: [GIANT_ANSWER, { ...MODEL, offersNext: true }],
			'an agent that was not started': [answerOf({ state: 'delivered', startFailed: true }), MODEL],
		}),
		...shapesOf(draftModal, { giant: [GIANT_DRAFT] }),
		...shapesOf(questionModal, { giant: [GIANT_ANSWER] }),
		...shapesOf(receiptMessage, { giant: [GIANT_ANSWER, MODEL] }),
		...shapesOf(threadReplyOffer, {
			giant: [{ ...REPLY, sessionId: LONGEST_ID, messageIndex: 999_999_999 }, GIANT_WRITTEN],
		}),
		...shapesOf(chooseQuestion, {
			'many giant ones': [
				GIANT,
				listOf(10, () => ({ ...GIANT_WRITTEN, target: { id: ANSWER_ID, sessionId: LONGEST_ID, messageIndex: 999 } })),
			],
		}),
		...shapesOf(answerCard, { 'the longest id': [LONGEST_ID, 999_999_999] }),
		...shapesOf(historyView, { 'a giant page': [metadataOf({ offset: HISTORY_PAGE }), answers, 1_000] }),
		...shapesOf(homeView, {
			'the first of three pages': inboxModelOf({ ...FULL_INBOX, page: 0 }),
			'a menu': inboxModelOf({ ...NOTHING, total: 1, questions: [{ ...GIANT_QUESTION, question: ABOUT.question }] }),
		}),
		...shapesOf(settingsForm, { 'giant groups': [{ ...SETTINGS_MODEL, mayChange: false }] }),
	];
}
