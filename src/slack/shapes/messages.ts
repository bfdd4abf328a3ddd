import type { Session } from '../../questions/session.ts';
import type { ChannelSettings, ReminderStage } from '../../watches/channel-settings.ts';
import type { WatchPage } from '../../watches/ports.ts';
import type { QuestionView, SessionSnapshot } from '../../watches/session-snapshot.ts';
import { giveBackMessage, givenBackPost, handedOverPost, noHandOverWindow } from '../blocks/hand-over.ts';
import { filesMessage, screenshotMessage } from '../blocks/links.ts';
import { LIST_PAGE, watchList } from '../blocks/lists.ts';
import {
	answerCard,
	chosenTextHelp,
	chosenTextOffer,
	errorMessage,
	helpMessage,
	outcomesMessage,
	refusedMessage,
	stillWaitingMessage,
} from '../blocks/messages.ts';
import { choiceMessage, ownChoiceMessage } from '../blocks/quick-answer.ts';
import { ownTextMessage, receiptMessage } from '../blocks/receipt.ts';
import { digestPost, type RemindedQuestion, reminderPost, updatedReminderPost } from '../blocks/reminders.ts';
import { type CardModel, watchCard } from '../blocks/watch-card.ts';
import { outcomeWords, type PostContext, settledQuestionPost, watchPost } from '../blocks/watch-posts.ts';
import { notYoursWords } from '../words/hand-over.ts';
import { lostChoiceWords, ownChoiceWords } from '../words/quick-answers.ts';
import { watchOutcomeWords } from '../words/watching.ts';
import {
	ANSWER_ID,
	AT_WORK,
	answerItem,
	answerOf,
	asking,
	DASHBOARD_URL,
	ERROR_CONTEXT,
	FIELD_ITEMS,
	GIANT,
	GIANT_ANSWER,
	HAND_OVER,
	HOSTILE,
	itemsOf,
	LINKS,
	LONGEST_ID,
	NAMES,
	NOW,
	present,
	RECEIPT_CONTEXT,
	SESSION_ID,
	type Shape,
	sessionOf,
	shapesOf,
	snapshotAtNow,
	USER_ID,
} from './samples.ts';

export const CHOICE = { option: 'LH 1173', title: HOSTILE, sessionId: LONGEST_ID };

const MOST_IDS = 20;
const giantText = answerOf({
	state: 'refused',
	content: { kind: 'readable', items: Array.from({ length: 20 }, () => answerItem(GIANT, GIANT)), other: null },
});

/** Every kind of message except cards and posts of watches, at its extreme. */
export function messageShapes(): Shape[] {
	return [
		...shapesOf(helpMessage, { hostile: ['unclear', HOSTILE] }),
		...shapesOf(answerCard, { 'the longest id': [LONGEST_ID, 999_999_999] }),
		...shapesOf(receiptMessage, { giant: [GIANT_ANSWER, RECEIPT_CONTEXT] }),
		...shapesOf(ownTextMessage, { giant: [giantText] }),
		...shapesOf(refusedMessage, {
			'a hostile contact': ['could_not_check', { kept: 'unchanged', adminContact: HOSTILE }],
		}),
		...shapesOf(errorMessage, {
			'about a session': ['unauthorized', LONGEST_ID, ERROR_CONTEXT],
		}),
		...shapesOf(outcomesMessage, {
			'as many long lines as there can be': [
				Array.from({ length: MOST_IDS }, () =>
					watchOutcomeWords(
						LONGEST_ID,
						{ kind: 'unreadable', code: 'unauthorized', retryable: false },
						{ ...ERROR_CONTEXT, adminContact: 'the people on call '.repeat(20) },
					),
				),
			],
		}),
		...shapesOf(noHandOverWindow, { 'an expired trigger': [] }),
		...shapesOf(giveBackMessage, { 'somebody else has it': [notYoursWords(HAND_OVER, NAMES)] }),
		...shapesOf(ownChoiceMessage, { 'five seconds left': [ANSWER_ID, ownChoiceWords(CHOICE, 5_000)] }),
		...shapesOf(choiceMessage, {
			'the second one': [lostChoiceWords(CHOICE, `<@${USER_ID}>`, HOSTILE), { ...CHOICE, messageIndex: 3 }],
		}),
		...shapesOf(stillWaitingMessage, { 'about a session': [LONGEST_ID] }),
		...shapesOf(chosenTextHelp, { secret: ['secret'] }),
		...shapesOf(chosenTextOffer, {
			giant: [ANSWER_ID, { sessionId: LONGEST_ID, messageIndex: 999_999_999 }, GIANT],
		}),
		...shapesOf(screenshotMessage, { 'a picture': [AT_WORK, LINKS] }),
		...shapesOf(filesMessage, { 'too many': [sessionOf(GIANT), LINKS] }),
	];
}

export const ASKS = asking(Object.values(FIELD_ITEMS));
export const FLIGHTS = asking([
	{ title: 'Which flight should I book?', description: 'One of: LH 1173, TP 570, AF 1195, BA 902, KL 1771', value: '' },
]);
export const CHOSEN = answerOf({
	press: { undoUntil: NOW },
	viewId: '',
	fingerprint: questionOf(FLIGHTS).fingerprint,
	content: { kind: 'readable', items: [answerItem('Which flight should I book?', 'LH 1173')], other: null },
});
export const GIANT_SESSION = asking(itemsOf(90, GIANT.slice(0, 5_000)), { ...sessionOf(GIANT), sessionId: LONGEST_ID });
export function cardOf(session: Session, overrides: Partial<CardModel> = {}): [CardModel] {
	const model: CardModel = {
		view: snapshotAtNow(session),
		checkedAt: null,
		waitedMs: 120_000,
		discreet: false,
		isUpdate: true,
		claims: [],
		claimedUntil: null,
		handOver: null,
		standing: null,
		endedWords: null,
		names: NAMES,
		dashboardUrl: DASHBOARD_URL,
		...overrides,
	};
	return [model];
}

function watchOf(view: SessionSnapshot | null, index: number): WatchPage['watches'][number] {
	return {
		id: `watch-${index}`,
		teamId: 'T0EXAMPLE1',
		channelId: 'C0EXAMPLE1',
		session: { service: 'https://service.example', sessionId: view?.sessionId ?? SESSION_ID },
		mode: index % 2 === 0 ? 'everything' : 'questionsOnly',
		questionsInChannel: true,
		discreet: false,
		buttons: true,
		createdBy: USER_ID,
		createdAt: NOW - 600_000,
		card: { ts: '1795250400.000100', shownKey: null, shownAt: null, wanted: null },
		digest: null,
		revision: 1,
		lastChangeAt: NOW - 60_000,
		ended: null,
		view,
		checkedAt: NOW,
	};
}

const VIEWS = [null, snapshotAtNow(AT_WORK), snapshotAtNow(GIANT_SESSION), snapshotAtNow(sessionOf(HOSTILE))];
export const FULL_PAGE = Array.from({ length: LIST_PAGE }, (_, index) =>
	watchOf(VIEWS[index % VIEWS.length] ?? null, index),
);

const CHANGED_SETTINGS: ChannelSettings = {
	remindAfterMs: 3_600_000,
	escalateAfterMs: null,
	mention: { userIds: Array.from({ length: 20 }, () => USER_ID), groupIds: ['S0EXAMPLE1'] },
	quietHours: { days: [1, 2, 3, 4, 5, 6, 7], from: '22:00', to: '08:00', timeZone: 'America/Argentina/Buenos_Aires' },
};

export function reminderOf(session: Session, stage: ReminderStage): RemindedQuestion {
	const entry = {
		watchId: 'watch',
		sessionId: session.sessionId,
		fingerprint: '',
		postTs: '1795250400.000100',
		postedAt: NOW - 900_000,
		heldBy: USER_ID,
		stage,
		dueAt: NOW - 10_000,
		isLast: stage === 'escalation',
		number: 0,
		lastReminderAt: null,
	};
	const link = 'https://example.slack.com/archives/C0EXAMPLE1/p1795250400000100?thread_ts=1795250400.000100';
	return {
		entry,
		question: questionOf(session),
		readAt: NOW - 960_000,
		sessionName: session.name,
		channelId: 'C0EXAMPLE1',
		threadOnly: false,
		discreet: false,
		offersOptions: true,
		handOver: null,
		link,
	};
}

export const REMINDER = { mention: CHANGED_SETTINGS.mention, names: NAMES, now: NOW, maybeRepeat: true };

export function askedAs(question: QuestionView) {
	return { kind: 'question', question, changed: false, readAt: NOW - 120_000 } as const;
}

export function handedAs(question: QuestionView) {
	const { sessionId } = GIANT_POST;
	return { kind: 'handedOver', watchId: 'watch', sessionId, from: USER_ID, question, readAt: NOW - 120_000 } as const;
}

export function givenBackAs(question: QuestionView, by = USER_ID) {
	const { sessionId } = GIANT_POST;
	return { kind: 'givenBack', watchId: 'watch', sessionId, by, question, readAt: NOW - 120_000 } as const;
}

export const POST: PostContext = {
	sessionId: SESSION_ID,
	view: snapshotAtNow(AT_WORK),
	standing: null,
	handOver: null,
	channelId: 'C0EXAMPLE1',
	threadTs: '1795250400.000100',
	watchedBy: USER_ID,
	reader: null,
	alone: null,
	offersOptions: true,
	showsChoices: true,
	discreet: false,
	isUpdate: false,
	now: NOW,
	names: NAMES,
	adminContact: USER_ID,
	maybeRepeat: false,
};
export const GIANT_POST: PostContext = {
	...POST,
	sessionId: LONGEST_ID,
	view: snapshotAtNow({ ...AT_WORK, name: GIANT }),
	standing: answerOf({ state: 'resumed' }),
	alone: { claims: [USER_ID, USER_ID], claimedUntil: NOW },
	names: NAMES,
	adminContact: GIANT,
	maybeRepeat: true,
};

/** Every kind of card, list and post of a watch, at its extreme. */
export function watchShapes(): Shape[] {
	const giant = questionOf(GIANT_SESSION);
	const { messageIndex } = giant;
	const items = giant.items.map((_, position) => position);
	return [
		...shapesOf(watchCard, {
			'a question': cardOf(ASKS, { claims: [USER_ID], claimedUntil: NOW + 300_000 }),
			'everything giant': cardOf(GIANT_SESSION),
		}),
		...shapesOf(watchList, { 'a middle page': [{ watches: FULL_PAGE, total: 1_000 }, LIST_PAGE] }),
		...shapesOf(watchPost, {
			question: [askedAs(questionOf(ASKS)), POST],
			options: [askedAs(questionOf(FLIGHTS)), { ...POST, handOver: HAND_OVER }],
			'chosen, with an undo': [askedAs(questionOf(FLIGHTS)), { ...POST, standing: CHOSEN }],
			'giant question': [askedAs(giant), GIANT_POST],
			'giant question, changed often': [{ ...askedAs(giant), switching: true }, GIANT_POST],
			'giant answered': [{ kind: 'answered', messageIndex, question: giant, items, stillOpen: [] }, GIANT_POST],
			'giant end': [{ kind: 'end', status: 'completed', result: GIANT, step: 30 }, GIANT_POST],
		}),
		...shapesOf(handedOverPost, { giant: [handedAs(giant), GIANT_POST] }),
		...shapesOf(givenBackPost, { giant: [givenBackAs(giant, 'somebody'), GIANT_POST] }),
		...shapesOf(reminderPost, { escalation: [reminderOf(GIANT_SESSION, 'escalation'), REMINDER] }),
		...shapesOf(updatedReminderPost, {
			giant: [reminderOf(GIANT_SESSION, 'reminder'), outcomeWords(askedAs(giant), 'answered', GIANT_POST), NAMES],
		}),
		...shapesOf(digestPost, {
			many: [
				Array.from({ length: 100 }, () => ({ ...reminderOf(GIANT_SESSION, 'escalation'), handOver: HAND_OVER })),
				REMINDER,
			],
		}),
		...shapesOf(settledQuestionPost, { giant: [askedAs(giant), 'answered', GIANT_POST] }),
	];
}

export function questionOf(session: Session): QuestionView {
	return present(snapshotAtNow(session).question);
}
