import { SETTLED as WAYS } from '../../../sandbox/gallery/examples.ts';
import {
	ESCALATION,
	FULL_PAGE,
	GIANT_CARD,
	GIANT_POST,
	POST,
	REMINDER,
} from '../../../sandbox/gallery/shapes/extremes.ts';
import {
	ABOUT,
	ANSWER_ID,
	FIELDS as ASKS,
	AT_WORK,
	agentMessage,
	answerItem,
	answerOf,
	asking,
	EMPTY,
	FIELD_ITEMS,
	FLIGHTS,
	GIANT,
	GIANT_ANSWER,
	GIANT_SESSION,
	HAND_OVER,
	HOSTILE,
	LONGEST_ID,
	MODEL,
	NOW,
	questionOf,
	SESSION_ID,
	type Shape,
	sessionOf,
	shapesOf,
	snapshotAtNow,
	throughGate,
	USER_ID,
} from '../../../sandbox/gallery/shapes/samples.ts';
import { WAITING } from '../../../sandbox/gallery/shapes/views.ts';
import type { Answer } from '../../../src/domain/answer.ts';
import type { ReminderStage } from '../../../src/domain/channel-settings.ts';
import type { ReadSession } from '../../../src/domain/gate.ts';
import type { Person } from '../../../src/domain/person.ts';
import type { QuestionSnapshot } from '../../../src/domain/session-snapshot.ts';
import { type CardModel, endPost, watchCard } from '../../../src/screens/card.ts';
import {
	CHOICE_WORDS,
	changedChoice,
	choiceMessage,
	failedChoice,
	noChoice,
	onlyAuthorCanUndo,
	takenChoice,
} from '../../../src/screens/choice.ts';
import { filesMessage } from '../../../src/screens/details.ts';
import { GIVE_BACK_LATE, handOverPost, notGivenBackWords, notYoursWords } from '../../../src/screens/hand-over.ts';
import { type HelpReason, helpMessage, mistypedMessage } from '../../../src/screens/help.ts';
import { type PostedContent, watchPost } from '../../../src/screens/notice.ts';
import {
	askedPost,
	outcomeWords,
	type PostContext,
	settledQuestionPost,
	stepsWords,
} from '../../../src/screens/question-post.ts';
import { receiptMessage } from '../../../src/screens/receipt.ts';
import { digestPost, type RemindedQuestion, reminderPost, settledReminderPost } from '../../../src/screens/reminder.ts';
import {
	changedTooLate,
	chooseQuestion,
	chosenTextHelp,
	filesHelp,
	formOffer,
	threadReplyOffer,
} from '../../../src/screens/thread-reply.ts';
import {
	discoveredByWords,
	leftOutWords,
	outcomesMessage,
	unwatchAllOffer,
	WATCHES_PAGE,
	watchChooser,
	watchList,
	watchOutcomeWords,
} from '../../../src/screens/watch.ts';
import { textMessage } from '../../../src/slack/blocks.ts';
import {
	answerCard,
	checkingMessage,
	errorMessage,
	noWindow,
	stillWaitingMessage,
} from '../../../src/slack/error-view.ts';
import { NO_LIST_REASONS, WATCH_ENDS } from '../../../src/store/watch.ts';
import { casesOf, conflictWith, OTHER_RECEIPTS, REFUSED_LINKS } from './samples.ts';

const CHOICE = {
	option: 'LH 1173',
	title: HOSTILE,
	sessionId: LONGEST_ID,
	messageIndex: 3,
	fingerprint: '',
	shownHash: '',
	position: 0,
	readAt: NOW,
	arrival: null,
	channelId: '',
};
const CHOSEN = answerOf({
	press: { undoUntil: NOW },
	viewId: '',
	fingerprint: questionOf(FLIGHTS).fingerprint,
	content: { kind: 'readable', items: [answerItem('Which flight should I book?', 'LH 1173')], other: null },
});

const takenBy = (by: Answer, person: Person) =>
	({ kind: 'taken', by, answer: { ...conflictWith({}), person } }) as const;

function cardOf(session: ReadSession, overrides: Partial<CardModel> = {}): [CardModel] {
	return [{ ...GIANT_CARD, snapshot: snapshotAtNow(session), ...overrides }];
}

function reminderOf(session: ReadSession, stage: ReminderStage): RemindedQuestion {
	const { sessionId, name: sessionName } = session;
	const entry = { ...ESCALATION.entry, sessionId, stage, isLast: stage === 'escalation' };
	return { ...ESCALATION, entry, question: questionOf(session), sessionName, handOver: null };
}

const writtenText = (text: string) => ({ text, question: questionOf(FLIGHTS), sessionName: 'Plan the trip' });

function askedAs(question: QuestionSnapshot) {
	return { question, readAt: NOW - 120_000 };
}

function answered(item: QuestionSnapshot['items'][number]) {
	return { ...item, open: false, value: GIANT };
}

/** The last item is open. */
function partly(question: QuestionSnapshot): QuestionSnapshot {
	const items = question.items.map((item, at) => (at === question.items.length - 1 ? item : answered(item)));
	return { ...question, items, openCount: 1 };
}

const ANSWERED_ITEM = { title: 'Hall', description: '', open: false, value: null, secret: true, withheld: false };

const STEPS = stepsWords({ ...questionOf(FLIGHTS), stepsSince: 1_000_000 }, snapshotAtNow(AT_WORK));

const HANDED = { kind: 'handedOver', watchId: 'watch', handOverId: '', from: USER_ID } as const;

const MISTYPED: Readonly<Record<Exclude<HelpReason, 'asked'>, Parameters<typeof mistypedMessage>>> = {
	unclear: ['unclear', SESSION_ID],
	missing_id: ['missing_id'],
	no_history: ['no_history'],
	too_many_ids: ['too_many_ids'],
	unknown_word: ['unknown_word', 'wacth', 'watch'],
	one_session: ['one_session', '', 'watch'],
	one_id: ['one_id', 'history'],
	stands_alone: ['stands_alone', 'list'],
	foreign_link: ['foreign_link'],
	link_without_id: ['link_without_id'],
	id_too_long: ['id_too_long', GIANT],
	unknown_flag: ['unknown_flag', '—loud'],
	reserved_id: ['reserved_id', 'query'],
	all_alone: ['all_alone'],
};

/** Other messages than the doctor's. */
export function messageVariants(): Shape[] {
	return [
		...shapesOf(helpMessage, { short: [], whole: [true] }),
		...shapesOf(mistypedMessage, { ...MISTYPED, hostile: ['unclear', HOSTILE] }),
		...shapesOf(answerCard, { 'an id': [SESSION_ID] }),
		...shapesOf(receiptMessage, OTHER_RECEIPTS),
		...shapesOf(errorMessage, {
			'a refusal with a hostile contact': ['could_not_check', null, { kept: 'unchanged', adminContact: HOSTILE }],
			'a refusal with a contact': ['guest', SESSION_ID, { kept: 'nothing', adminContact: USER_ID }],
			'about a session': ['unauthorized', LONGEST_ID, MODEL],
			'about no session': ['never_heard_of', null, { ...MODEL, adminContact: HOSTILE }],
		}),
		...shapesOf(outcomesMessage, {
			'one line': [[watchOutcomeWords(SESSION_ID, { kind: 'over', status: 'completed' }, MODEL)]],
		}),
		...shapesOf(noWindow, { inbox: ['inbox'], settings: ['settings'], 'hand over': ['handOver'], draft: ['draft'] }),
		...shapesOf(textMessage, {
			'somebody else has it': [notYoursWords(HAND_OVER)],
			settled: [notYoursWords(null)],
			late: [GIVE_BACK_LATE],
			'a choice that was taken back': [CHOICE_WORDS.undone(CHOICE)],
			'a choice that is too late to take back': [CHOICE_WORDS.undoTooLate(CHOICE)],
			'not stored': [notGivenBackWords('The database does not answer.')],
		}),
		...shapesOf(onlyAuthorCanUndo, { somebody: [ABOUT.person] }),
		...shapesOf(choiceMessage, {
			'the second one': [CHOICE_WORDS.lost(CHOICE, `<@${USER_ID}>`, HOSTILE), { ...CHOICE, messageIndex: 3 }],
			'not stored': [CHOICE_WORDS.notSent(CHOICE, 'The database does not answer.'), { ...CHOICE, messageIndex: null }],
		}),
		...shapesOf(changedChoice, { giant: [{ ...CHOICE, option: HOSTILE }] }),
		...shapesOf(failedChoice, {
			'perhaps stored': [CHOICE, 'acceptance_unknown', MODEL],
			refused: [CHOICE, 'guest', { ...MODEL, adminContact: HOSTILE }],
		}),
		...shapesOf(takenChoice, {
			'of somebody else': [CHOICE, takenBy(CHOSEN, { teamId: 'T0', userId: 'U0OTHER' })],
			'of the same person': [CHOICE, takenBy(CHOSEN, CHOSEN.person)],
		}),
		...shapesOf(noChoice, { 'switched off': [CHOICE] }),
		...shapesOf(checkingMessage, { 'while Slack is asked': [] }),
		...shapesOf(stillWaitingMessage, { 'about a session': [LONGEST_ID], 'about several': [null] }),
		...shapesOf(chosenTextHelp, {
			secret: ['secret'],
			'no session': ['no_session'],
			'no text': ['no_text'],
			'nothing open': ['nothing_open'],
		}),
		...shapesOf(filesHelp, {
			'with a dashboard': [
				{ config: { SESSION_DASHBOARD_URL: 'https://dashboard.test' } },
				{ sessionId: SESSION_ID, name: HOSTILE },
			],
			without: [{ config: { SESSION_DASHBOARD_URL: null } }, null],
		}),
		...shapesOf(formOffer, {
			'a short text with a file': [
				{ id: ANSWER_ID, sessionId: SESSION_ID, messageIndex: 3 },
				{ ...writtenText('The hall with the garden'), withFiles: true },
			],
		}),
		...shapesOf(threadReplyOffer, {
			'an empty text': [{ ...CHOICE, id: ANSWER_ID, threadTs: '', messageTs: '' }, writtenText(' ')],
		}),
		...shapesOf(chooseQuestion, {
			two: [
				'The hall with the garden',
				[1, 2].map((messageIndex) => ({
					...writtenText(''),
					target: { id: ANSWER_ID, sessionId: SESSION_ID, messageIndex },
				})),
			],
		}),
		...shapesOf(changedTooLate, { giant: [GIANT], removed: [''] }),
		...shapesOf(unwatchAllOffer, {
			some: [10, { channelId: 'C1', askedAt: 0, discovers: false }],
			'all sessions alone': [0, { channelId: 'C1', askedAt: 0, discovers: true }],
			both: [1, { channelId: 'C1', askedAt: 0, discovers: true }],
		}),
		...shapesOf(filesMessage, {
			none: [EMPTY, MODEL.links],
			one: [throughGate({ ...AT_WORK, files: AT_WORK.files.slice(3, 4) }), MODEL.links],
			refused: [REFUSED_LINKS, MODEL.links],
		}),
	];
}

const ANSWERED = asking(Object.values(FIELD_ITEMS).map((item) => ({ ...item, value: HOSTILE })));
const PAGE = { channelId: 'C1', offset: 0 };
const MIDDLE_PAGE = { ...PAGE, offset: WATCHES_PAGE };
const OVER = {
	...AT_WORK,
	status: 'completed',
	messages: [agentMessage('', { actions: [{ kind: 'done', text: GIANT }] })],
};

const CARDS: Readonly<Record<string, [CardModel]>> = {
	'an id alone': cardOf(EMPTY, { dashboardUrl: null }),
	'at work': cardOf(AT_WORK, { checkedAt: NOW - 600_000 }),
	'a question in the channel': cardOf(ASKS, { asks: false }),
	'a question': cardOf(ASKS, { claimedBy: [USER_ID] }),
	'a question that nobody answers': cardOf(ASKS),
	'a question that somebody has': cardOf(ASKS, { handOver: HAND_OVER }),
	'the same, newly posted': cardOf(ASKS, { handOver: HAND_OVER, isUpdate: false }),
	'answered elsewhere': cardOf(ANSWERED),
	over: cardOf(OVER, { ended: 'sessionOver' }),
	'no longer watched': cardOf(AT_WORK, { ended: 'unwatched', again: 'offered' }),
	'watched again': cardOf(AT_WORK, { ended: 'unwatched', again: 'done' }),
	'everything hostile': cardOf(sessionOf(HOSTILE)),
};

/** Every kind of post that shows no question, with its variants. */
function plainPosts(): readonly PostedContent[] {
	const contents: { readonly [Kind in PostedContent['kind']]: readonly Extract<PostedContent, { kind: Kind }>[] } = {
		status: [{ kind: 'status', from: HOSTILE, to: 'paused' }],
		watchEnded: [{ kind: 'watchEnded' }],
		serviceDown: [{ kind: 'serviceDown', since: NOW - 600_000, code: 'unauthorized' }],
		serviceBack: [{ kind: 'serviceBack', since: NOW - 600_000, downMs: 599_000 }],
		nobodyLeft: [{ kind: 'nobodyLeft' }],
		nobodyMentioned: [{ kind: 'nobodyMentioned', channelId: 'C0EXAMPLE1' }],
		discoveryBegun: [{ kind: 'discoveryBegun', by: USER_ID }],
		discoveryEnded: [{ kind: 'discoveryEnded', by: USER_ID }],
		discoveryFull: [
			{ kind: 'discoveryFull', limit: 'channel', most: 100 },
			{ kind: 'discoveryFull', limit: 'all', most: 1 },
		],
		discoveryPaused: NO_LIST_REASONS.map((why) => ({ kind: 'discoveryPaused', why })),
		postRefused: [{ kind: 'postRefused', channelId: 'C0EXAMPLE1', sessionId: LONGEST_ID, code: 'restricted_action' }],
		creatorTold: WATCH_ENDS.flatMap((reason) => [
			...[[SESSION_ID], Array.from({ length: 50 }, () => LONGEST_ID)].map(
				(sessionIds) => ({ kind: 'creatorTold', reason, channelId: 'C0EXAMPLE1', sessionIds }) as const,
			),
			{ kind: 'creatorTold', reason, channelId: 'C0EXAMPLE1', sessionIds: [] } as const,
		]),
	};
	return Object.values(contents).flat();
}

type SettledHow = NonNullable<Parameters<typeof settledQuestionPost>[1]>;
/** A reminder of a question that is over. */
function settled(session: ReadSession, how: SettledHow, post = POST): RemindedQuestion {
	return { ...reminderOf(session, 'escalation'), outcome: outcomeWords(askedAs(questionOf(session)), how, post) };
}

const SETTLED: Readonly<Record<string, SettledHow>> = Object.fromEntries(WAYS.map((how) => [how, how]));

function givenBackAs(by = USER_ID) {
	return { kind: 'givenBack', watchId: 'watch', handOverId: '', by } as const;
}

/** The posts of an open question. */
function askedShapes(of: string, question: QuestionSnapshot, post: PostContext): Shape[] {
	return shapesOf(askedPost, {
		[of]: [askedAs(question), false, post],
		[`${of}, changed`]: [askedAs(question), true, post],
	});
}

function postShapes(of: string, contents: readonly PostedContent[], post: PostContext): Shape[] {
	return contents.flatMap((content, index) =>
		shapesOf(watchPost, { [`${of} ${content.kind} (${index + 1})`]: [content, post] }),
	);
}

const DISCOVERY_LINES = [
	discoveredByWords({
		teamId: 'T0EXAMPLE1',
		channelId: 'C0EXAMPLE1',
		service: 'https://service.example',
		createdBy: USER_ID,
		createdAt: NOW,
	}),
	leftOutWords({ kind: 'discoveryPaused', why: 'noList' }, USER_ID),
];

/** Other cards, lists and posts of watches than the doctor's. */
export function watchVariants(): Shape[] {
	return [
		...shapesOf(watchCard, CARDS),
		...shapesOf(endPost, {
			giant: ['completed', { ...GIANT_POST, snapshot: snapshotAtNow(GIANT_SESSION) }],
			discreet: ['failed', { ...POST, discreet: true }],
			unreadable: ['stopped', { ...POST, snapshot: null }],
		}),
		...shapesOf(watchList, {
			nothing: [{ watches: [], total: 0 }, PAGE],
			'nothing but all sessions': [{ watches: [], total: 0 }, PAGE, DISCOVERY_LINES],
			'a middle page': [{ watches: FULL_PAGE, total: 1_000 }, MIDDLE_PAGE],
			'discovered sessions, and a middle page': [{ watches: FULL_PAGE, total: 1_000 }, MIDDLE_PAGE, DISCOVERY_LINES],
			'one session': [{ watches: FULL_PAGE.slice(0, 1), total: 1 }, PAGE],
		}),
		...shapesOf(watchChooser, { nothing: [[], NOW], 'more than it shows': [WAITING.shown.concat(WAITING.shown), NOW] }),
		...postShapes('plain', plainPosts(), POST),
		...WATCH_ENDS.flatMap((reason) => postShapes(reason, [{ kind: 'watchEnded' }], { ...POST, ended: reason })),
		...askedShapes('plain', questionOf(ASKS), POST),
		...askedShapes('options', questionOf(FLIGHTS), POST),
		...askedShapes('handed over', questionOf(FLIGHTS), { ...POST, handOver: HAND_OVER }),
		...askedShapes('handed over, updated', questionOf(FLIGHTS), { ...POST, handOver: HAND_OVER, isUpdate: true }),
		...askedShapes('chosen', questionOf(FLIGHTS), { ...POST, standing: CHOSEN }),
		...askedShapes('asked again', questionOf(FLIGHTS), { ...POST, lost: CHOSEN }),
		...askedShapes('giant, asked again', questionOf(GIANT_SESSION), {
			...GIANT_POST,
			standing: null,
			lost: GIANT_ANSWER,
		}),
		...askedShapes(
			'gone on',
			{ ...questionOf(FLIGHTS), stepsSince: 1_000_000 },
			{ ...POST, snapshot: snapshotAtNow(AT_WORK) },
		),
		...askedShapes('giant', questionOf(GIANT_SESSION), GIANT_POST),
		...askedShapes('giant, answered in part', partly(questionOf(GIANT_SESSION)), GIANT_POST),
		...shapesOf(handOverPost, {
			giant: [HANDED, askedAs(questionOf(GIANT_SESSION)), GIANT_POST],
			discreet: [HANDED, askedAs(questionOf(ASKS)), { ...POST, discreet: true }],
			chosen: [HANDED, askedAs(questionOf(FLIGHTS)), { ...POST, standing: CHOSEN }],
			'of a direct message': [HANDED, askedAs(questionOf(ASKS)), { ...POST, channelId: 'D0EXAMPLE1' }],
			'giant, given back': [givenBackAs('somebody'), askedAs(questionOf(GIANT_SESSION)), GIANT_POST],
			'given back': [givenBackAs(), askedAs(questionOf(FLIGHTS)), POST],
			'given back, chosen': [givenBackAs(), askedAs(questionOf(FLIGHTS)), { ...POST, standing: CHOSEN }],
			undelivered: [{ ...givenBackAs(), undelivered: true }, askedAs(questionOf(FLIGHTS)), POST],
		}),
		...postShapes('giant', [{ kind: 'status', from: HOSTILE, to: 'paused' }], GIANT_POST),
		...shapesOf(reminderPost, {
			reminder: [reminderOf(ASKS, 'reminder'), 900_000, { ...REMINDER, mention: null }],
			'handed over': [
				{ ...reminderOf(FLIGHTS, 'reminder'), handOver: HAND_OVER },
				900_000,
				{ ...REMINDER, mention: null },
			],
			'of a thread only': [{ ...reminderOf(FLIGHTS, 'escalation'), threadOnly: true }, 900_000, REMINDER],
			'of an agent that went on': [{ ...reminderOf(FLIGHTS, 'reminder'), steps: STEPS }, 900_000, REMINDER],
			'open again': [{ ...reminderOf(FLIGHTS, 'reminder'), handOver: HAND_OVER }, null, { ...REMINDER, mention: null }],
		}),
		...shapesOf(settledReminderPost, {
			giant: [settled(GIANT_SESSION, 'answered', GIANT_POST)],
			...casesOf(SETTLED, (how) => [settled(ASKS, how)] as const),
			discreet: [{ ...settled(GIANT_SESSION, 'answered', GIANT_POST), discreet: true }],
		}),
		...shapesOf(digestPost, {
			'of threads only': [
				['escalation' as const, 'reminder' as const].map((stage, index) => {
					const reminder = reminderOf(GIANT_SESSION, stage);
					return { ...reminder, entry: { ...reminder.entry, questionId: `${index}` }, threadOnly: true, steps: STEPS };
				}),
				REMINDER,
			],
			'one that still waits': [
				[reminderOf(FLIGHTS, 'reminder'), ...Object.values(SETTLED).map((how) => settled(FLIGHTS, how))],
				{ ...REMINDER, mention: null },
			],
			'none that still waits': [[settled(ASKS, 'answered')], { ...REMINDER, mention: null }],
		}),
		...shapesOf(settledQuestionPost, {
			giant: [askedAs(questionOf(GIANT_SESSION)), 'answered', GIANT_POST],
			...casesOf(SETTLED, (how) => [askedAs(questionOf(ASKS)), how, POST] as const),
			'closed, answered in part': [askedAs(partly(questionOf(GIANT_SESSION))), 'closed', GIANT_POST],
			'without a description': [{ ...askedAs(questionOf(ASKS)), answered: [ANSWERED_ITEM] }, 'answered', POST],
			'not shown': [
				{ ...askedAs(questionOf(FLIGHTS)), answered: questionOf(FLIGHTS).items.map(answered) },
				'answered',
				{ ...POST, showAnswers: 'never' },
			],
		}),
	];
}
