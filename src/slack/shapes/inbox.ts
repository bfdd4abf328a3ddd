import type { InboxContent, InboxDraft, InboxQuestion } from '../../inbox/inbox.ts';
import {
	MOST_DRAFTS,
	MOST_LAST_ANSWERS,
	MOST_OWN_ANSWERS,
	MOST_WAITING_SHOWN,
	OLD_PER_PAGE,
	QUESTIONS_PER_PAGE,
} from '../../inbox/inbox.ts';
import type { Session } from '../../questions/session.ts';
import type { WaitingSession } from '../../watches/discovered.ts';
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
import { snoozedInZoneWords } from '../words/inbox.ts';
import {
	ANSWER_ID,
	AT_WORK,
	asked,
	asking,
	GIANT,
	GIANT_ANSWER,
	HAND_OVER,
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

export const ASKED_IN = {
	channelId: 'C0EXAMPLE1',
	threadTs: '1795250400.000100',
	watchedBy: USER_ID,
	buttons: true,
	isRaised: false,
};

export function questionOf(session: Session, overrides: Partial<InboxQuestion> = {}): InboxQuestion {
	const snapshot = snapshotAtNow(session);
	const view = present(snapshot.question);
	return {
		question: { service: 'https://service.example', sessionId: session.sessionId, messageIndex: view.messageIndex },
		fingerprint: view.fingerprint,
		since: NOW - 12 * 60_000,
		handOver: null,
		isRaised: false,
		askedIn: ASKED_IN,
		sessionName: snapshot.name,
		view,
		answering: [],
		...overrides,
	};
}

export function draftOf(text: string, overrides: Partial<InboxDraft> = {}): InboxDraft {
	return {
		formId: ANSWER_ID,
		person: { teamId: 'T0EXAMPLE1', userId: USER_ID },
		question: { service: 'https://service.example', sessionId: AT_WORK.sessionId, messageIndex: 3 },
		fingerprint: '0123456789abcdef',
		shownHash: 'fedcba9876543210',
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

export const NOTHING: Shown = {
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
export const ONE = questionOf(asking([asked('Which colour?', 'One of: red, green')]));
const GIANT_QUESTION = questionOf(asking(itemsOf(90, GIANT), sessionOf(GIANT, { sessionId: LONGEST_ID })), {
	answering: many(30, () => USER_ID),
	handOver: HAND_OVER,
});
export const NO_OLD = { total: 0, firstPage: 1, shown: [] };
const OLD = { ...NO_OLD, total: 500, firstPage: 3 };
const FULL_WAITING = { shown: many(MOST_WAITING_SHOWN, (id) => waitingAs(GIANT, id)), total: 500, old: OLD, why: null };
export const FULL: Shown = {
	...NOTHING,
	total: 25,
	snoozed: { count: 12, nextAt: NOW + 900_000 },
	page: 1,
	questions: many(QUESTIONS_PER_PAGE, (id) => ({
		...GIANT_QUESTION,
		question: { ...GIANT_QUESTION.question, sessionId: `${LONGEST_ID.slice(id.length)}${id}` },
	})),
	waiting: FULL_WAITING,
	ownAnswers: { shown: many(MOST_OWN_ANSWERS, (id) => ({ ...GIANT_ANSWER, id })), total: 40 },
	drafts: many(MOST_DRAFTS, (formId) => draftOf(GIANT, { formId })),
	lastAnswers: many(MOST_LAST_ANSWERS, (id) => ({ ...GIANT_ANSWER, id })),
};

function waitingAs(name: string, id: string): WaitingSession {
	return { sessionId: `${LONGEST_ID.slice(id.length)}${id}`, name, since: NOW - 720_000, isNew: true };
}

export function modelOf(content: InboxContent, quickAnswers = true): [InboxModel] {
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
	'one question': modelOf({ ...NOTHING, total: 1, questions: [ONE] }),
	'the second of three pages': modelOf(FULL),
	'a page of old sessions': modelOf({
		...FULL,
		page: 4,
		questions: [],
		waiting: { ...FULL_WAITING, old: { ...OLD, shown: many(OLD_PER_PAGE, (id) => waitingAs(GIANT, `o${id}`)) } },
	}),
};

/** The inbox in the Home tab and in a window, at its extremes. */
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
