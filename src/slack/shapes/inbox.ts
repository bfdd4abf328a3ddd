import type { InboxContent, InboxDraft, InboxQuestion } from '../../inbox/inbox.ts';
import { MOST_DRAFTS, MOST_LAST_ANSWERS, MOST_OWN_ANSWERS, QUESTIONS_PER_PAGE } from '../../inbox/inbox.ts';
import type { Session } from '../../questions/session.ts';
import {
	homeNotice,
	homeView,
	type InboxModel,
	inboxLoadingModal,
	inboxModal,
	noInboxWindow,
	refusalWords,
} from '../blocks/inbox.ts';
import { REFUSAL_CODES } from '../words/errors.ts';
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

const ASKED_IN = { channelId: 'C0EXAMPLE1', threadTs: '1795250400.000100', buttons: true };

function questionOf(session: Session, overrides: Partial<InboxQuestion> = {}): InboxQuestion {
	const snapshot = snapshotAtNow(session);
	const view = present(snapshot.question);
	return {
		question: { service: 'https://service.example', sessionId: session.sessionId, messageIndex: view.messageIndex },
		since: NOW - 12 * 60_000,
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
	page: 0,
	questions: [],
	unreadableCount: 0,
	channelsKnown: true,
	isWatching: true,
	ownAnswers: { shown: [], total: 0 },
	drafts: [],
	lastAnswers: [],
};
const ONE = questionOf(asking([asked('Which colour?', 'One of: red, green')]));
const GIANT_QUESTION = questionOf(asking(itemsOf(90, GIANT), sessionOf(GIANT, { sessionId: LONGEST_ID })), {
	answering: many(30, () => USER_ID),
});
const FULL: Shown = {
	...NOTHING,
	total: 25,
	page: 1,
	questions: many(QUESTIONS_PER_PAGE, (id) => ({
		...GIANT_QUESTION,
		question: { ...GIANT_QUESTION.question, sessionId: `${LONGEST_ID.slice(id.length)}${id}` },
	})),
	ownAnswers: { shown: many(MOST_OWN_ANSWERS, (id) => ({ ...GIANT_ANSWER, id })), total: 40 },
	drafts: many(MOST_DRAFTS, (formId) => draftOf(GIANT, { formId })),
	lastAnswers: many(MOST_LAST_ANSWERS, (id) => ({ ...GIANT_ANSWER, id })),
};

function modelOf(content: InboxContent, quickAnswers = true): [InboxModel] {
	const receipt = { names: NAMES, now: NOW, adminContact: USER_ID };
	return [{ inbox: { openedAt: NOW - 60_000 }, content, quickAnswers, receipt }];
}

const INBOXES: Readonly<Record<string, [InboxModel]>> = {
	'nothing watched': modelOf({ ...NOTHING, isWatching: false }),
	'nothing open': modelOf(NOTHING),
	'channels unknown': modelOf({ ...NOTHING, channelsKnown: false }),
	'one question': modelOf({ ...NOTHING, total: 1, questions: [ONE] }),
	'one-press answers switched off': modelOf({ ...NOTHING, total: 1, questions: [ONE] }, false),
	'in the direct message': modelOf({
		...NOTHING,
		total: 2,
		questions: [questionOf(asking([FIELD_ITEMS.line]), { askedIn: { ...ASKED_IN, channelId: 'D0EXAMPLE1' } })],
		unreadableCount: 1,
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
		...shapesOf(homeNotice, { 'a refusal': [refusalWords('guest', USER_ID)] }),
	];
}
