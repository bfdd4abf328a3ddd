import {
	AT_WORK,
	answerItem,
	answerOf,
	asked,
	asking,
	FIELD_ITEMS,
	HAND_OVER,
	HOSTILE,
	itemsOf,
	LONGEST_ID,
	NOW,
	type Shape,
	sessionOf,
	shapesOf,
	USER_ID,
	questionOf as viewOf,
} from '../../../sandbox/gallery/shapes/samples.ts';
import {
	ASKED_IN,
	FULL_INBOX as FULL,
	GIANT_DRAFT,
	GIANT_QUESTION,
	many,
	inboxModelOf as modelOf,
	NOTHING,
	WAITING,
	waitingAs,
} from '../../../sandbox/gallery/shapes/views.ts';
import type { ReadSession } from '../../../src/domain/gate.ts';
import { homeView, INBOX_LOADING, type InboxModel, inboxModal, snoozedMessage } from '../../../src/screens/inbox.ts';
import { type InboxQuestion, PER_PAGE } from '../../../src/screens/inbox-content.ts';
import { PROVEN_REFUSALS } from '../../../src/slack/access-policy.ts';
import { errorWords } from '../../../src/slack/error-view.ts';
import { NO_LIST_REASONS } from '../../../src/store/watch.ts';
import { ANSWERS, casesOf } from './samples.ts';

function questionOf(session: ReadSession, overrides: Partial<InboxQuestion> = {}): InboxQuestion {
	const view = viewOf(session);
	const question = { ...GIANT_QUESTION.question, sessionId: session.sessionId, messageIndex: view.messageIndex };
	const { fingerprint } = view;
	const shown = { question, fingerprint, view, sessionName: session.name, answering: [], handOver: null };
	return { ...GIANT_QUESTION, ...shown, ...overrides };
}

const ONE = questionOf(asking([asked('Which colour?', 'One of: red, green')]));
const OLD_SESSIONS = {
	...WAITING,
	old: { ...WAITING.old, shown: many(PER_PAGE, (id) => waitingAs(`o${id}`)) },
};
const NO_OLD = { total: 0, firstPage: 1, shown: [] };

const INBOXES: Readonly<Record<string, [InboxModel]>> = {
	'one question': modelOf({ ...NOTHING, total: 1, questions: [ONE] }),
	'nothing watched': modelOf({ ...NOTHING, isWatching: false }),
	'nothing open': modelOf(NOTHING),
	'about to stop its updates': modelOf({ ...NOTHING, total: 1, questions: [ONE] }).map((model) => ({
		...model,
		isEnding: true,
	})) as [InboxModel],
	'channels unknown': modelOf({ ...NOTHING, channelsKnown: false }),
	'one-press answers switched off': modelOf({
		...NOTHING,
		total: 1,
		questions: [{ ...ONE, askedIn: { ...ONE.askedIn, buttons: false } }],
	}),
	'a question that somebody else has, and one that is handed to this person': modelOf({
		...NOTHING,
		total: 2,
		questions: [
			{ ...ONE, handOver: { ...HAND_OVER, to: 'U0EXAMPLE9' } },
			questionOf({ ...asking([FIELD_ITEMS.line]), sessionId: LONGEST_ID }, { handOver: HAND_OVER }),
		],
	}),
	'all questions snoozed': modelOf({ ...NOTHING, snoozed: { count: 1, nextAt: NOW + 900_000, only: null } }),
	'in the direct message': modelOf({
		...NOTHING,
		total: 2,
		questions: [questionOf(asking([FIELD_ITEMS.line]), { askedIn: { ...ASKED_IN, channelId: 'D0EXAMPLE1' } })],
		unreadableCount: 1,
	}),
	'no session waits': modelOf({ ...NOTHING, waiting: { shown: [], total: 0, old: NO_OLD, why: null } }),
	...casesOf(Object.fromEntries(NO_LIST_REASONS.map((why) => [`no list: ${why}`, why])), (why) =>
		modelOf({ ...NOTHING, waiting: { shown: [], total: 0, old: NO_OLD, why } }),
	),
	'a session that waits': modelOf({
		...NOTHING,
		waiting: {
			shown: [{ sessionId: AT_WORK.sessionId, name: HOSTILE, since: NOW, isNew: true, gaveWay: true }],
			total: 1,
			old: NO_OLD,
			why: null,
		},
	}),
	'hostile texts': modelOf({
		...NOTHING,
		total: 1,
		questions: [questionOf(asking(itemsOf(3, HOSTILE), sessionOf(HOSTILE, { sessionId: HOSTILE.toWellFormed() })))],
		drafts: [{ ...GIANT_DRAFT, values: { 0: '', 1: HOSTILE } }],
		lastAnswers: [
			answerOf({ content: { kind: 'readable', items: [answerItem(HOSTILE, HOSTILE)], other: null } }),
			answerOf({
				content: { kind: 'readable', items: [answerItem('Code', HOSTILE, { secret: true })], other: null },
			}),
		],
	}),
	'the second of three pages': modelOf(FULL),
	'a page of old sessions': modelOf({ ...FULL, page: 4, questions: [], waiting: OLD_SESSIONS }),
	'a one-press answer that can be taken back': modelOf({
		...NOTHING,
		ownAnswers: { shown: [answerOf({ press: { undoUntil: NOW + 10_000 }, attempts: 0 })], total: 1 },
	}),
	...casesOf(ANSWERS, (answer) => modelOf({ ...NOTHING, ownAnswers: { shown: [answer], total: 1 } })),
	...Object.fromEntries(
		[...PROVEN_REFUSALS, 'could_not_check' as const].map((refusal) => [refusal, modelOf({ kind: 'refused', refusal })]),
	),
};

/** Other inboxes than the doctor's. */
export function inboxVariants(): Shape[] {
	return [
		...shapesOf(homeView, INBOXES),
		...shapesOf(inboxModal, INBOXES),
		...shapesOf(inboxModal, { 'before the content': [INBOX_LOADING] }),
		...shapesOf(snoozedMessage, { 'for an hour': [{ sessionId: LONGEST_ID, name: HOSTILE }, NOW] }),
		...shapesOf(homeView, { 'a refusal in words': [errorWords('guest', { adminContact: USER_ID }).line] }),
	];
}
