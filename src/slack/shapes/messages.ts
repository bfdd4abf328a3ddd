import type { Session } from '../../questions/session.ts';
import type { ChannelSettings, Rung } from '../../watches/channel-settings.ts';
import { NO_LIST_REASONS } from '../../watches/discovered.ts';
import type { WatchPage } from '../../watches/ports.ts';
import type { QuestionView, SessionSnapshot } from '../../watches/session-snapshot.ts';
import { WATCH_ENDS } from '../../watches/watch.ts';
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
import { type RungQuestion, rungPost, rungsPost, updatedRungPost } from '../blocks/rungs.ts';
import { type CardModel, watchCard } from '../blocks/watch-card.ts';
import {
	outcomeWords,
	type PostContext,
	type PostedContent,
	settledQuestionPost,
	watchPost,
} from '../blocks/watch-posts.ts';
import type { HelpReason } from '../handlers/session-command.ts';
import { discoveredByWords, discoveryPausedWords } from '../words/discovery.ts';
import { GIVE_BACK_LATE, notGivenBackWords, notYoursWords } from '../words/hand-over.ts';
import {
	lostChoiceWords,
	notChosenWords,
	ownChoiceWords,
	undoneWords,
	undoTooLateWords,
} from '../words/quick-answers.ts';
import { endWords, watchOutcomeWords } from '../words/watching.ts';
import {
	ANSWER_ID,
	AT_WORK,
	agentMessage,
	answerItem,
	answerOf,
	asking,
	casesOf,
	DASHBOARD_URL,
	EMPTY,
	ERROR_CONTEXT,
	FIELD_ITEMS,
	GIANT,
	HAND_OVER,
	HOSTILE,
	itemsOf,
	LINKS,
	LONGEST_ID,
	NAMES,
	NOW,
	present,
	RECEIPTS,
	REFUSED_LINKS,
	SESSION_ID,
	type Shape,
	sessionOf,
	shapesOf,
	snapshotAtNow,
	USER_ID,
} from './samples.ts';

const CHOICE = { option: 'LH 1173', title: HOSTILE, sessionId: LONGEST_ID };

const HELP: Readonly<Record<HelpReason, Parameters<typeof helpMessage>>> = {
	asked: ['asked'],
	unclear: ['unclear', HOSTILE],
	missing_id: ['missing_id'],
	too_many_ids: ['too_many_ids'],
	foreign_link: ['foreign_link'],
	link_without_id: ['link_without_id'],
	id_too_long: ['id_too_long', GIANT],
	reserved_id: ['reserved_id', 'query'],
	all_alone: ['all_alone'],
};

const MOST_IDS = 20;
const giantText = answerOf({
	state: 'refused',
	content: { kind: 'readable', items: Array.from({ length: 20 }, () => answerItem(GIANT, GIANT)), other: null },
});

/** Every kind of message except cards and posts of watches. */
export function messageShapes(): Shape[] {
	return [
		...shapesOf(helpMessage, HELP),
		...shapesOf(answerCard, { 'an id': [SESSION_ID], 'the longest id': [LONGEST_ID, 999_999_999] }),
		...shapesOf(receiptMessage, RECEIPTS),
		...shapesOf(ownTextMessage, {
			'not sent': [answerOf({ state: 'changed' })],
			'may have arrived': [answerOf({ state: 'ended', putStartedAt: NOW })],
			giant: [giantText],
		}),
		...shapesOf(refusedMessage, {
			'a contact': ['guest', { kept: 'nothing', adminContact: USER_ID }],
			'a hostile contact': ['could_not_check', { kept: 'unchanged', adminContact: HOSTILE }],
		}),
		...shapesOf(errorMessage, {
			'about a session': ['unauthorized', LONGEST_ID, ERROR_CONTEXT],
			'about no session': ['never_heard_of', null, { ...ERROR_CONTEXT, adminContact: HOSTILE }],
		}),
		...shapesOf(outcomesMessage, {
			'one line and a note': [
				[watchOutcomeWords(SESSION_ID, { kind: 'over', status: 'completed' }, ERROR_CONTEXT)],
				'`--questions-only` posts questions and answers only.',
			],
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
		...shapesOf(giveBackMessage, {
			'somebody else has it': [notYoursWords(HAND_OVER, NAMES)],
			settled: [notYoursWords(null, NAMES)],
			late: [GIVE_BACK_LATE],
			'not stored': [notGivenBackWords('The database does not answer.')],
		}),
		...shapesOf(ownChoiceMessage, { 'five seconds left': [ANSWER_ID, ownChoiceWords(CHOICE, 5_000)] }),
		...shapesOf(choiceMessage, {
			'taken back': [undoneWords(CHOICE)],
			'too late to take back': [undoTooLateWords(CHOICE)],
			'the second one': [lostChoiceWords(CHOICE, `<@${USER_ID}>`, HOSTILE), { ...CHOICE, messageIndex: 3 }],
			'not stored': [notChosenWords(CHOICE, 'The database does not answer.'), { ...CHOICE, messageIndex: null }],
		}),
		...shapesOf(stillWaitingMessage, { 'about a session': [LONGEST_ID], 'about several': [null] }),
		...shapesOf(chosenTextHelp, {
			'no session': ['no_session'],
			'no text': ['no_text'],
			'nothing open': ['nothing_open'],
			secret: ['secret'],
		}),
		...shapesOf(chosenTextOffer, {
			'a short text': [ANSWER_ID, { sessionId: SESSION_ID, messageIndex: 3 }, 'The hall with the garden'],
			giant: [ANSWER_ID, { sessionId: LONGEST_ID, messageIndex: 999_999_999 }, GIANT],
		}),
		...shapesOf(screenshotMessage, {
			none: [EMPTY, LINKS],
			'a picture': [AT_WORK, LINKS],
			refused: [REFUSED_LINKS, LINKS],
		}),
		...shapesOf(filesMessage, {
			none: [EMPTY, LINKS],
			one: [{ ...AT_WORK, files: AT_WORK.files.slice(3, 4) }, LINKS],
			'too many': [sessionOf(GIANT), LINKS],
			refused: [REFUSED_LINKS, LINKS],
		}),
	];
}

const ASKS = asking(Object.values(FIELD_ITEMS));
const ANSWERED = asking(Object.values(FIELD_ITEMS).map((item) => ({ ...item, value: HOSTILE })));
const FLIGHTS = asking([
	{ title: 'Which flight should I book?', description: 'One of: LH 1173, TP 570, AF 1195, BA 902, KL 1771', value: '' },
]);
const CHOSEN = answerOf({
	press: { undoUntil: NOW },
	viewId: '',
	fingerprint: questionOf(FLIGHTS).fingerprint,
	content: { kind: 'readable', items: [answerItem('Which flight should I book?', 'LH 1173')], other: null },
});
const GIANT_SESSION = asking(itemsOf(90, GIANT.slice(0, 5_000)), { ...sessionOf(GIANT), sessionId: LONGEST_ID });
const OVER = {
	...AT_WORK,
	status: 'completed',
	messages: [agentMessage('', { actions: [{ kind: 'done', text: GIANT }] })],
};

function cardOf(session: Session, overrides: Partial<CardModel> = {}): [CardModel] {
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

const CARDS: Readonly<Record<string, [CardModel]>> = {
	'an id alone': cardOf(EMPTY, { dashboardUrl: null }),
	'at work': cardOf(AT_WORK, { checkedAt: NOW - 600_000 }),
	'a question': cardOf(ASKS),
	'a question that people answer': cardOf(ASKS, { claims: [USER_ID], claimedUntil: NOW + 300_000 }),
	'a question that somebody has': cardOf(ASKS, { handOver: HAND_OVER }),
	'the same, newly posted': cardOf(ASKS, { handOver: HAND_OVER, isUpdate: false }),
	'an answer on its way': cardOf(ASKS, { standing: answerOf({ state: 'delivering' }) }),
	'answered by somebody': cardOf(ANSWERED, { standing: answerOf({ state: 'resumed' }) }),
	'answered elsewhere': cardOf(ANSWERED),
	over: cardOf(OVER, { endedWords: endWords('sessionOver', { days: 7, adminContact: null }) }),
	'everything hostile': cardOf(sessionOf(HOSTILE)),
	'everything giant': cardOf(GIANT_SESSION),
};

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
const FULL_PAGE = Array.from({ length: LIST_PAGE }, (_, index) => watchOf(VIEWS[index % VIEWS.length] ?? null, index));

/** Every kind of post about a question, with its variants. */
function postsAbout(question: QuestionView): readonly PostedContent[] {
	const { messageIndex } = question;
	const items = question.items.map((_, position) => position);
	const contents: { readonly [Kind in PostedContent['kind']]: readonly Extract<PostedContent, { kind: Kind }>[] } = {
		question: [
			{ kind: 'question', question, changed: false, readAt: 0 },
			{ kind: 'question', question, changed: true, readAt: 0 },
		],
		answered: [
			{ kind: 'answered', messageIndex, question, items, stillOpen: [] },
			{ kind: 'answered', messageIndex, question, items: [0], stillOpen: [1, 2] },
			{ kind: 'answered', messageIndex, question: null, items, stillOpen: [] },
		],
		questionClosed: [{ kind: 'questionClosed', messageIndex }],
		status: [{ kind: 'status', from: HOSTILE, to: 'paused' }],
		end: [
			{ kind: 'end', status: 'completed', result: GIANT, step: 30 },
			{ kind: 'end', status: 'failed', result: null, step: 1 },
		],
		watchEnded: WATCH_ENDS.map((reason) => ({ kind: 'watchEnded', reason, days: 7 })),
		serviceDown: [{ kind: 'serviceDown', since: NOW - 600_000 }],
		serviceBack: [{ kind: 'serviceBack', since: NOW - 600_000, downMs: 599_000 }],
		discoveryBegun: [{ kind: 'discoveryBegun', by: USER_ID }],
		discoveryEnded: [{ kind: 'discoveryEnded', by: USER_ID }],
		discoveryFull: [
			{ kind: 'discoveryFull', limit: 'channel', most: 100 },
			{ kind: 'discoveryFull', limit: 'all', most: 1 },
		],
		discoveryPaused: NO_LIST_REASONS.map((why) => ({ kind: 'discoveryPaused', why })),
		discoveryBack: [{ kind: 'discoveryBack' }],
		creatorTold: WATCH_ENDS.flatMap((reason) => [
			...[[SESSION_ID], Array.from({ length: 50 }, () => LONGEST_ID)].map(
				(sessionIds) => ({ kind: 'creatorTold', reason, channelId: 'C0EXAMPLE1', sessionIds }) as const,
			),
			{ kind: 'creatorTold', reason, channelId: 'C0EXAMPLE1', sessionIds: [], all: true } as const,
		]),
	};
	return Object.values(contents).flat();
}

const CHANGED_SETTINGS: ChannelSettings = {
	remindAfterMs: 3_600_000,
	escalateAfterMs: null,
	mention: { userIds: Array.from({ length: 20 }, () => USER_ID), groupIds: ['S0EXAMPLE1'] },
	quietHours: { days: [1, 2, 3, 4, 5, 6, 7], from: '22:00', to: '08:00', timeZone: 'America/Argentina/Buenos_Aires' },
};

function rungOf(session: Session, rung: Rung): RungQuestion {
	const entry = {
		watchId: 'watch',
		sessionId: session.sessionId,
		fingerprint: '',
		postTs: '1795250400.000100',
		postedAt: NOW - 900_000,
		heldBy: USER_ID,
		rung,
		dueAt: NOW - 10_000,
		isLast: rung === 'escalation',
		number: 0,
		lastRungAt: null,
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

const RUNG = { mention: CHANGED_SETTINGS.mention, names: NAMES, now: NOW, maybeRepeat: true };

function askedAs(question: QuestionView) {
	return { kind: 'question', question, changed: false, readAt: NOW - 120_000 } as const;
}

function handedAs(question: QuestionView) {
	const { sessionId } = GIANT_POST;
	return { kind: 'handedOver', watchId: 'watch', sessionId, from: USER_ID, question, readAt: NOW - 120_000 } as const;
}

function givenBackAs(question: QuestionView, by = USER_ID) {
	const { sessionId } = GIANT_POST;
	return { kind: 'givenBack', watchId: 'watch', sessionId, by, question, readAt: NOW - 120_000 } as const;
}

const POST: PostContext = {
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
const GIANT_POST: PostContext = {
	...POST,
	sessionId: LONGEST_ID,
	view: snapshotAtNow({ ...AT_WORK, name: GIANT }),
	standing: answerOf({ state: 'resumed' }),
	alone: { claims: [USER_ID, USER_ID], claimedUntil: NOW },
	names: NAMES,
	adminContact: GIANT,
	maybeRepeat: true,
};

type SettledHow = Parameters<typeof settledQuestionPost>[1];
const SETTLED: Readonly<Record<SettledHow, SettledHow>> = {
	answered: 'answered',
	closed: 'closed',
	changed: 'changed',
	unwatched: 'unwatched',
	handedOn: 'handedOn',
	givenBack: 'givenBack',
};

function postShapes(of: string, contents: readonly PostedContent[], post: PostContext): Shape[] {
	return contents.flatMap((content, index) =>
		shapesOf(watchPost, { [`${of} ${content.kind} (${index + 1})`]: [content, post] }),
	);
}

const DISCOVERY_LINES = [
	discoveredByWords(
		{
			teamId: 'T0EXAMPLE1',
			channelId: 'C0EXAMPLE1',
			service: 'https://service.example',
			discreet: false,
			buttons: true,
			createdBy: USER_ID,
			createdAt: NOW,
			isFull: false,
			isPaused: true,
		},
		NAMES,
	),
	discoveryPausedWords('noList', USER_ID),
];

/** Every kind of card, list and post of a watch. */
export function watchShapes(): Shape[] {
	return [
		...shapesOf(watchCard, CARDS),
		...shapesOf(watchList, {
			nothing: [{ watches: [], total: 0 }, 0],
			'nothing but all sessions': [{ watches: [], total: 0 }, 0, DISCOVERY_LINES],
			'all sessions, and a middle page': [{ watches: FULL_PAGE, total: 1_000 }, LIST_PAGE, DISCOVERY_LINES],
			'one session': [{ watches: FULL_PAGE.slice(0, 1), total: 1 }, 0],
			'a middle page': [{ watches: FULL_PAGE, total: 1_000 }, LIST_PAGE],
		}),
		...postShapes('plain', postsAbout(questionOf(ASKS)), POST),
		...postShapes('options', [askedAs(questionOf(FLIGHTS))], POST),
		...postShapes('handed over', [askedAs(questionOf(FLIGHTS))], { ...POST, handOver: HAND_OVER }),
		...postShapes('handed over, updated', [askedAs(questionOf(FLIGHTS))], {
			...POST,
			handOver: HAND_OVER,
			isUpdate: true,
		}),
		...shapesOf(handedOverPost, {
			options: [handedAs(questionOf(FLIGHTS)), POST],
			discreet: [handedAs(questionOf(ASKS)), { ...POST, discreet: true }],
			chosen: [handedAs(questionOf(FLIGHTS)), { ...POST, standing: CHOSEN }],
			'of a direct message': [handedAs(questionOf(ASKS)), { ...POST, channelId: 'D0EXAMPLE1' }],
			giant: [handedAs(questionOf(GIANT_SESSION)), GIANT_POST],
		}),
		...shapesOf(givenBackPost, {
			plain: [givenBackAs(questionOf(FLIGHTS)), POST],
			chosen: [givenBackAs(questionOf(FLIGHTS)), { ...POST, standing: CHOSEN }],
			undelivered: [{ ...givenBackAs(questionOf(FLIGHTS)), undelivered: true }, POST],
			giant: [givenBackAs(questionOf(GIANT_SESSION), 'somebody'), GIANT_POST],
		}),
		...postShapes('chosen', [askedAs(questionOf(FLIGHTS))], { ...POST, standing: CHOSEN }),
		...postShapes(
			'giant',
			postsAbout(questionOf(GIANT_SESSION)).filter(({ kind }) =>
				['question', 'answered', 'status', 'end'].includes(kind),
			),
			GIANT_POST,
		),
		...shapesOf(rungPost, {
			reminder: [rungOf(ASKS, 'reminder'), { ...RUNG, mention: null }],
			options: [
				{ ...rungOf(FLIGHTS, 'reminder'), handOver: HAND_OVER },
				{ ...RUNG, mention: null },
			],
			escalation: [rungOf(GIANT_SESSION, 'escalation'), RUNG],
			'of a thread only': [{ ...rungOf(FLIGHTS, 'escalation'), threadOnly: true }, RUNG],
		}),
		...shapesOf(updatedRungPost, {
			'open again': [{ ...rungOf(FLIGHTS, 'reminder'), handOver: HAND_OVER }, '', NAMES],
			...casesOf(SETTLED, (how) => {
				return [rungOf(ASKS, 'escalation'), outcomeWords(askedAs(questionOf(ASKS)), how, POST), NAMES] as const;
			}),
			giant: [
				{ ...rungOf(GIANT_SESSION, 'reminder'), discreet: true },
				outcomeWords(askedAs(questionOf(GIANT_SESSION)), 'answered', GIANT_POST),
				NAMES,
			],
		}),
		...shapesOf(rungsPost, {
			many: [
				Array.from({ length: 100 }, () => ({ ...rungOf(GIANT_SESSION, 'escalation'), handOver: HAND_OVER })),
				RUNG,
			],
			'of threads only': [
				['escalation' as const, 'reminder' as const].map((rung) => ({
					...rungOf(GIANT_SESSION, rung),
					threadOnly: true,
				})),
				RUNG,
			],
		}),
		...shapesOf(settledQuestionPost, {
			...casesOf(SETTLED, (how) => [askedAs(questionOf(ASKS)), how, POST] as const),
			giant: [askedAs(questionOf(GIANT_SESSION)), 'answered', GIANT_POST],
		}),
	];
}

function questionOf(session: Session): QuestionView {
	return present(snapshotAtNow(session).question);
}
