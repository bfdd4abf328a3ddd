import type { InboxContent, InboxDraft, InboxQuestion } from '../../inbox/content.ts';
import {
	MOST_DRAFTS,
	MOST_LAST_ANSWERS,
	MOST_OWN_ANSWERS,
	MOST_WAITING_SHOWN,
	QUESTIONS_PER_PAGE,
} from '../../inbox/inbox.ts';
import { openQuestion } from '../../questions/open-question.ts';
import type { Session } from '../../questions/session.ts';
import { type ChannelSettings, DEFAULT_CHANNEL_SETTINGS } from '../../watches/channel-settings.ts';
import { type QuestionView, type SessionSnapshot, snapshotOf } from '../../watches/session-snapshot.ts';
import { HISTORY_PAGE, historyView } from '../blocks/answers.ts';
import { type SettingsModel, settingsChangedPost, settingsForm } from '../blocks/channel-settings.ts';
import { answerCard, chooseItemModal, chosenTextOffer, outcomesMessage } from '../blocks/commands.ts';
import { errorModal } from '../blocks/errors.ts';
import { handOverMetadata, handOverModal, handOverPost } from '../blocks/hand-over.ts';
import { homeView, type InboxModel, inboxModal } from '../blocks/inbox.ts';
import { ownTextMessage, receiptMessage, receiptModal, savedModal } from '../blocks/receipt.ts';
import { digestPost, type RemindedQuestion, reminderPost } from '../blocks/reminders.ts';
import { filesMessage, screenshotMessage } from '../blocks/session-details.ts';
import { type SessionModel, sessionModal } from '../blocks/session-modal.ts';
import { type CardModel, watchCard } from '../blocks/watch-card.ts';
import { type PostContext, watchPost } from '../blocks/watch-posts.ts';
import { LIST_PAGE, watchList, watchOutcomeWords } from '../blocks/watching.ts';
import { valuesOf } from '../settings/form.ts';
import { MOST_GROUPS, MOST_PEOPLE } from '../settings/table.ts';
import {
	ABOUT,
	ANSWER_ID,
	AT_WORK,
	answerOf,
	asked,
	asking,
	EMPTY,
	FIELD_DRAFTS,
	FIELD_ITEMS,
	GIANT,
	GIANT_ANSWER,
	HAND_OVER,
	HOSTILE,
	itemsOf,
	LINKS,
	LONGEST_ID,
	listOf,
	MODEL,
	metadataOf,
	NOW,
	PLACE,
	present,
	SERVICE,
	SESSION_ID,
	type Shape,
	sessionOf,
	shapesOf,
	USER_ID,
} from './samples.ts';

/* Sessions, and how a watch sees them */

export const FIELDS = asking(Object.values(FIELD_ITEMS));
export const FLIGHTS = asking([
	asked('Which flight should I book?', 'One of: LH 1173, TP 570, AF 1195, BA 902, KL 1771'),
]);
export const LONG_LIST = asked(
	'Which?',
	`One of: ${listOf(99, (index) => `option ${index} ${'x'.repeat(40)}`).join(', ')}`,
);
const GIANT_AT_WORK = sessionOf(GIANT, { sessionId: LONGEST_ID });
export const GIANT_SESSION = asking(itemsOf(90, GIANT.slice(0, 5_000)), GIANT_AT_WORK);

const snapshots = new WeakMap<Session, SessionSnapshot>();

/** How a watch sees the session. Made once for each session, because a giant one takes long. */
export function snapshotAtNow(session: Session): SessionSnapshot {
	const snapshot = snapshots.get(session) ?? snapshotOf(session, NOW);
	snapshots.set(session, snapshot);
	return snapshot;
}

export function questionOf(session: Session): QuestionView {
	return present(snapshotAtNow(session).question);
}

/* Windows */

export function sessionModelOf(session: Session, overrides: Partial<SessionModel> = {}): [SessionModel] {
	const metadata = metadataOf({ sessionId: session.sessionId });
	const watch = { watching: false };
	return [
		{ ...MODEL, session, question: openQuestion(session), metadata, draft: {}, notices: [], watch, ...overrides },
	];
}

export const QUESTION = present(openQuestion(asking(itemsOf(90, HOSTILE))));
export const HAND_OVER_METADATA = handOverMetadata({ sessionId: LONGEST_ID, fingerprint: '0' }, 'C0');

/* Messages of watches */

export const GIANT_CARD: CardModel = {
	...MODEL,
	view: snapshotAtNow(GIANT_SESSION),
	checkedAt: null,
	waitedMs: 120_000,
	endedWords: null,
	isUpdate: true,
};

const VIEWS = [null, ...[AT_WORK, GIANT_SESSION, sessionOf(HOSTILE)].map(snapshotAtNow)];
export const FULL_PAGE = listOf(LIST_PAGE, (index) => {
	const view = VIEWS[index % VIEWS.length] ?? null;
	const session = { service: SERVICE, sessionId: view?.sessionId ?? SESSION_ID };
	return { session, view, mode: index % 2 === 0 ? 'everything' : 'questionsOnly', lastChangeAt: NOW - 60_000 } as const;
});

export const POST: PostContext = {
	...MODEL,
	view: snapshotAtNow(AT_WORK),
	watchedBy: USER_ID,
	reader: null,
	alone: null,
	showsChoices: true,
};
export const GIANT_POST: PostContext = {
	...POST,
	sessionId: LONGEST_ID,
	view: snapshotAtNow({ ...AT_WORK, name: GIANT }),
	standing: answerOf({ state: 'resumed' }),
	alone: { claims: [USER_ID, USER_ID], claimedUntil: NOW },
	adminContact: GIANT,
	maybeRepeat: true,
};

export const ESCALATION: RemindedQuestion = {
	...MODEL,
	entry: {
		watchId: 'watch',
		sessionId: LONGEST_ID,
		fingerprint: '',
		postTs: PLACE.threadTs,
		postedAt: NOW - 900_000,
		heldBy: USER_ID,
		stage: 'escalation',
		dueAt: NOW - 10_000,
		isLast: true,
		number: 0,
		lastReminderAt: null,
	},
	question: questionOf(GIANT_SESSION),
	readAt: NOW - 960_000,
	sessionName: GIANT,
	threadOnly: false,
	handOver: HAND_OVER,
	link: 'https://example.slack.com/archives/C0EXAMPLE1/p1795250400000100?thread_ts=1795250400.000100',
};

/* Settings of a channel */

/** As much as a form takes. */
export const FULL_SETTINGS: ChannelSettings = {
	remindAfterMs: 90_000,
	escalateAfterMs: 86_400_000,
	mention: {
		userIds: listOf(MOST_PEOPLE, (index) => `U0EXAMPLE${index}`),
		groupIds: listOf(MOST_GROUPS, (index) => `S0EXAMPLE${index}`),
	},
	quietHours: {
		days: [1, 2, 3, 4, 5, 6, 7],
		from: '22:00',
		to: '08:00',
		timeZone: 'America/Argentina/ComodRivadavia',
	},
};
export const REMINDER = { ...MODEL, mention: FULL_SETTINGS.mention, maybeRepeat: true };

const values = valuesOf(FULL_SETTINGS, { zone: null });
export const SETTINGS_MODEL: SettingsModel = {
	...MODEL,
	metadata: { channelId: 'C0EXAMPLE1', revision: 3, base: values, shown: values },
	defaults: { remindAfterMs: 15 * 60_000, escalateAfterMs: null },
	groups: {
		kind: 'listed',
		groups: listOf(100, (index) => ({ id: `S0EXAMPLE${index}`, name: `${index} ${GIANT}`, handle: '' })),
	},
	change: { by: USER_ID, at: NOW },
	notice: '',
};

/* Inboxes */

type ShownInbox = Extract<InboxContent, { kind: 'shown' }>;

export const ASKED_IN = { ...PLACE, watchedBy: USER_ID, buttons: true, isRaised: false };

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
};

/** So many of them, each with its own id. */
export const many = <Value>(length: number, make: (id: string) => Value) =>
	listOf(length, (index) => make(`${ANSWER_ID.slice(0, -2)}${10 + index}`));
export const waitingAs = (id: string) => ({
	sessionId: `${LONGEST_ID.slice(id.length)}${id}`,
	name: GIANT,
	since: NOW - 720_000,
	isNew: true,
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
	snoozed: { count: 12, nextAt: NOW + 900_000 },
	page: 1,
	questions: many(QUESTIONS_PER_PAGE, (id) => ({
		...GIANT_QUESTION,
		question: { ...GIANT_QUESTION.question, sessionId: waitingAs(id).sessionId },
	})),
	waiting: WAITING,
	ownAnswers: { shown: many(MOST_OWN_ANSWERS, (id) => ({ ...GIANT_ANSWER, id })), total: 40 },
	drafts: many(MOST_DRAFTS, (formId) => ({ ...GIANT_DRAFT, formId })),
	lastAnswers: many(MOST_LAST_ANSWERS, (id) => ({ ...GIANT_ANSWER, id })),
};

export function inboxModelOf(content: InboxContent, quickAnswers = true): [InboxModel] {
	return [{ inbox: { openedAt: NOW - 60_000, person: ABOUT.person }, content, quickAnswers, receipt: MODEL }];
}

const giantDraft = (length: number) => ({ draft: listOf(length, () => GIANT) });
const SESSIONS: Readonly<Record<string, [SessionModel]>> = {
	'an id alone': sessionModelOf(EMPTY, { dashboardUrl: null, watch: null }),
	'every field filled': sessionModelOf(FIELDS, { draft: FIELD_DRAFTS }),
	'every field with a text that does not fit': sessionModelOf(FIELDS, { draft: FIELD_DRAFTS.map(() => HOSTILE) }),
	'a list of 99 options, another answer': sessionModelOf(asking([LONG_LIST]), giantDraft(1)),
	'30 giant fields': sessionModelOf(asking(itemsOf(30, GIANT.slice(0, 400))), giantDraft(30)),
	'90 giant fields': sessionModelOf(asking(itemsOf(90, HOSTILE)), giantDraft(90)),
	'everything giant': sessionModelOf(GIANT_AT_WORK),
	'everything giant and a question': sessionModelOf(asking(itemsOf(12, GIANT.slice(0, 2_000)), sessionOf(GIANT))),
};

/**
 * The largest and the strangest views and messages of every screen, with invented content; the doctor asks Slack whether
 * it accepts them. A test compares them with all variants: no part of any variant is larger.
 */
export function extremes(): Shape[] {
	const giant = questionOf(GIANT_SESSION);
	const asked = { kind: 'question', question: giant, changed: false, readAt: NOW - 120_000 } as const;
	const handedOver = { ...asked, kind: 'handedOver', watchId: 'watch', sessionId: LONGEST_ID, from: USER_ID } as const;
	const items = giant.items.map((_, position) => position);
	const lines = listOf(20, () =>
		watchOutcomeWords(
			LONGEST_ID,
			{ kind: 'unreadable', code: 'unauthorized', retryable: false },
			{ ...MODEL, adminContact: 'the people on call '.repeat(20) },
		),
	);
	const answers = listOf(HISTORY_PAGE, () => GIANT_ANSWER);
	return [
		...shapesOf(sessionModal, SESSIONS),
		...shapesOf(chooseItemModal, { '90 items': [QUESTION, QUESTION.openItems, GIANT, metadataOf()] }),
		...shapesOf(errorModal, {
			'an unknown code': ['never_heard_of', metadataOf({ sessionId: '' }), { ...MODEL, adminContact: HOSTILE }],
		}),
		...shapesOf(handOverModal, {
			hostile: [HAND_OVER_METADATA, { question: questionOf(FIELDS), sessionName: HOSTILE, discreet: false }],
		}),
		...shapesOf(savedModal, { giant: [GIANT_ANSWER] }),
		...shapesOf(receiptModal, {
			giant: [GIANT_ANSWER, MODEL],
			'an agent that was not started': [answerOf({ state: 'delivered', startFailed: true }), MODEL],
		}),
		...shapesOf(receiptMessage, { giant: [GIANT_ANSWER, MODEL] }),
		...shapesOf(ownTextMessage, { giant: [{ ...GIANT_ANSWER, state: 'refused' }] }),
		...shapesOf(historyView, {
			'a giant page': [metadataOf({ offset: HISTORY_PAGE }), answers, 1_000],
		}),
		...shapesOf(answerCard, { 'the longest id': [LONGEST_ID, 999_999_999] }),
		...shapesOf(outcomesMessage, { 'as many long lines as there can be': [lines] }),
		...shapesOf(chosenTextOffer, { giant: [ANSWER_ID, { sessionId: LONGEST_ID, messageIndex: 999_999_999 }, GIANT] }),
		...shapesOf(screenshotMessage, { 'a picture': [AT_WORK, LINKS] }),
		...shapesOf(filesMessage, { 'too many': [sessionOf(GIANT), LINKS] }),
		...shapesOf(watchCard, { 'everything giant': [GIANT_CARD] }),
		...shapesOf(watchList, {
			'all sessions, and a middle page': [{ watches: FULL_PAGE, total: 1_000 }, LIST_PAGE, ['All sessions.']],
		}),
		...shapesOf(watchPost, {
			'giant question': [asked, GIANT_POST],
			'giant answered': [{ kind: 'answered', messageIndex: 3, question: giant, items, stillOpen: [] }, GIANT_POST],
			'giant end': [{ kind: 'end', status: 'completed', result: GIANT, step: 30 }, GIANT_POST],
		}),
		...shapesOf(handOverPost, {
			options: [{ ...handedOver, question: questionOf(FLIGHTS) }, POST],
		}),
		...shapesOf(reminderPost, { escalation: [ESCALATION, REMINDER] }),
		...shapesOf(digestPost, { many: [listOf(100, () => ESCALATION), REMINDER] }),
		...shapesOf(homeView, { 'the second of three pages': inboxModelOf(FULL_INBOX) }),
		...shapesOf(inboxModal, { 'the second of three pages': inboxModelOf(FULL_INBOX) }),
		...shapesOf(settingsForm, { 'giant groups': [SETTINGS_MODEL] }),
		...shapesOf(settingsChangedPost, {
			'everything set': [
				{ kind: 'settingsChanged', by: USER_ID, before: DEFAULT_CHANNEL_SETTINGS, after: FULL_SETTINGS },
				{ ...MODEL, ...SETTINGS_MODEL },
			],
		}),
	];
}
