import type { InboxContent, InboxDraft, InboxQuestion } from '../../inbox/inbox.ts';
import {
	MOST_DRAFTS,
	MOST_LAST_ANSWERS,
	MOST_OWN_ANSWERS,
	MOST_WAITING_SHOWN,
	QUESTIONS_PER_PAGE,
} from '../../inbox/inbox.ts';
import type { Session } from '../../questions/session.ts';
import { NO_LIST_REASONS, type WaitingSession } from '../../watches/discovered.ts';
import {
	homeNotice,
	homeView,
	type InboxModel,
	inboxLoadingModal,
	inboxModal,
	noInboxWindow,
	refusalWords,
	snoozedMessage,
} from '../blocks/inbox.ts';
import { REFUSAL_CODES } from '../words/errors.ts';
import { snoozedInZoneWords } from '../words/inbox.ts';
import {
	ANSWER_ID,
	ANSWERS,
	AT_WORK,
	answerItem,
	answerOf,
	asked,
	asking,
	casesOf,
	FIELD_ITEMS,
	GIANT,
	GIANT_ANSWER,
	HAND_OVER,
	HOSTILE,
	itemsOf,
	LONGEST_ID,
	NAMES,
	NOW,
	present,
	type Shape,
	sessionOf,
	shapesOf,
	snapshotAtNow,
	USER_ID,
} from './samples.ts';

type Shown = Extract<InboxContent, { kind: 'shown' }>;

const ASKED_IN = { channelId: 'C0EXAMPLE1', threadTs: '1795250400.000100', watchedBy: USER_ID, buttons: true };

function questionOf(session: Session, overrides: Partial<InboxQuestion> = {}): InboxQuestion {
	const snapshot = snapshotAtNow(session);
	const view = present(snapshot.question);
	return {
		question: { service: 'https://service.example', sessionId: session.sessionId, messageIndex: view.messageIndex },
		fingerprint: view.fingerprint,
		since: NOW - 12 * 60_000,
		handOver: null,
		askedIn: ASKED_IN,
		sessionName: snapshot.name,
		view,
		answering: [],
		...overrides,
	};
}

function draftOf(text: string, overrides: Partial<InboxDraft> = {}): InboxDraft {
	return {
		formId: ANSWER_ID,
		person: { teamId: 'T0EXAMPLE1', userId: USER_ID },
		question: { service: 'https://service.example', sessionId: AT_WORK.sessionId, messageIndex: 3 },
		fingerprint: '0123456789abcdef',
		values: { 0: '', 1: text },
		updatedAt: NOW - 60_000,
		askedIn: ASKED_IN,
		...overrides,
	};
}

/** So many of them, each with its own id. */
function many<Value>(count: number, make: (id: string) => Value): Value[] {
	return Array.from({ length: count }, (_, index) => make(`${ANSWER_ID.slice(0, -2)}${10 + index}`));
}

const NOTHING: Shown = {
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
const ONE = questionOf(asking([asked('Which colour?', 'One of: red, green')]));
const GIANT_QUESTION = questionOf(asking(itemsOf(90, GIANT), sessionOf(GIANT, { sessionId: LONGEST_ID })), {
	answering: many(30, () => USER_ID),
	handOver: HAND_OVER,
});
const FULL: Shown = {
	...NOTHING,
	total: 25,
	snoozed: { count: 12, nextAt: NOW + 900_000 },
	page: 1,
	questions: many(QUESTIONS_PER_PAGE, (id) => ({
		...GIANT_QUESTION,
		question: { ...GIANT_QUESTION.question, sessionId: `${LONGEST_ID.slice(id.length)}${id}` },
	})),
	waiting: { shown: many(MOST_WAITING_SHOWN, (id) => waitingAs(GIANT, id)), total: 500, why: null },
	ownAnswers: { shown: many(MOST_OWN_ANSWERS, (id) => ({ ...GIANT_ANSWER, id })), total: 40 },
	drafts: many(MOST_DRAFTS, (formId) => draftOf(GIANT, { formId })),
	lastAnswers: many(MOST_LAST_ANSWERS, (id) => ({ ...GIANT_ANSWER, id })),
};

function waitingAs(name: string, id: string): WaitingSession {
	return { sessionId: `${LONGEST_ID.slice(id.length)}${id}`, name, since: NOW - 720_000 };
}

function modelOf(content: InboxContent, quickAnswers = true): [InboxModel] {
	const receipt = { names: NAMES, now: NOW, adminContact: USER_ID };
	return [
		{
			inbox: { openedAt: NOW - 60_000, person: { teamId: 'T0EXAMPLE1', userId: USER_ID } },
			content,
			quickAnswers,
			receipt,
		},
	];
}

const INBOXES: Readonly<Record<string, [InboxModel]>> = {
	'nothing watched': modelOf({ ...NOTHING, isWatching: false }),
	'nothing open': modelOf(NOTHING),
	'channels unknown': modelOf({ ...NOTHING, channelsKnown: false }),
	'one question': modelOf({ ...NOTHING, total: 1, questions: [ONE] }),
	'one-press answers switched off': modelOf({ ...NOTHING, total: 1, questions: [ONE] }, false),
	'a question that somebody else has, and one that is handed to this person': modelOf({
		...NOTHING,
		total: 2,
		questions: [
			{ ...ONE, handOver: { ...HAND_OVER, to: 'U0EXAMPLE9' } },
			questionOf({ ...asking([FIELD_ITEMS.line]), sessionId: LONGEST_ID }, { handOver: HAND_OVER }),
		],
	}),
	'all questions snoozed': modelOf({ ...NOTHING, snoozed: { count: 1, nextAt: NOW + 900_000 } }),
	'in the direct message': modelOf({
		...NOTHING,
		total: 2,
		questions: [questionOf(asking([FIELD_ITEMS.line]), { askedIn: { ...ASKED_IN, channelId: 'D0EXAMPLE1' } })],
		unreadableCount: 1,
	}),
	'no session waits': modelOf({ ...NOTHING, waiting: { shown: [], total: 0, why: null } }),
	...casesOf(Object.fromEntries(NO_LIST_REASONS.map((why) => [`no list: ${why}`, why])), (why) =>
		modelOf({ ...NOTHING, waiting: { shown: [], total: 0, why } }),
	),
	'a session that waits': modelOf({
		...NOTHING,
		waiting: { shown: [{ sessionId: AT_WORK.sessionId, name: HOSTILE, since: NOW }], total: 1, why: null },
	}),
	'hostile texts': modelOf({
		...NOTHING,
		total: 1,
		questions: [questionOf(asking(itemsOf(3, HOSTILE), sessionOf(HOSTILE, { sessionId: HOSTILE.toWellFormed() })))],
		drafts: [draftOf(HOSTILE)],
		lastAnswers: [
			answerOf({ content: { kind: 'readable', items: [answerItem(HOSTILE, HOSTILE)], other: null } }),
			answerOf({
				content: { kind: 'readable', items: [answerItem('Code', HOSTILE, { secret: true })], other: null },
			}),
		],
	}),
	'the first of three pages': modelOf({ ...FULL, page: 0 }),
	'the second of three pages': modelOf(FULL),
	'a one-press answer that can be taken back': modelOf({
		...NOTHING,
		ownAnswers: { shown: [answerOf({ press: { undoUntil: NOW + 10_000 }, attempts: 0 })], total: 1 },
	}),
	...casesOf(ANSWERS, (answer) => modelOf({ ...NOTHING, ownAnswers: { shown: [answer], total: 1 } })),
	...Object.fromEntries(REFUSAL_CODES.map((refusal) => [refusal, modelOf({ kind: 'refused', refusal })])),
};

/** The inbox in the Home tab and in a window. */
export function inboxShapes(): Shape[] {
	return [
		...shapesOf(homeView, INBOXES),
		...shapesOf(inboxModal, INBOXES),
		...shapesOf(inboxLoadingModal, { 'before the content': [] }),
		...shapesOf(noInboxWindow, { 'an expired trigger': [] }),
		...shapesOf(snoozedMessage, { 'no time zone': [snoozedInZoneWords(NOW, 'UTC')] }),
		...shapesOf(homeNotice, { 'a refusal': [refusalWords('guest', USER_ID)] }),
	];
}
