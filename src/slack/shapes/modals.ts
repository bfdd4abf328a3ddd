import type { OtherAnswer } from '../../answers/answer.ts';
import type { HandOverObstacle, QuestionToHandOver } from '../../inbox/hand-over.ts';
import { openQuestion } from '../../questions/open-question.ts';
import type { Session, StatusKind } from '../../questions/session.ts';
import { handOverMetadata, handOverModal, handOverNotice } from '../blocks/hand-over.ts';
import { HISTORY_PAGE, historyView } from '../blocks/lists.ts';
import { receiptModal, savedModal } from '../blocks/receipt.ts';
import { type SessionModel, sessionModal } from '../blocks/session-modal.ts';
import { chooseItemModal, errorModal, loadingModal, refusedModal } from '../blocks/small-modals.ts';
import { ERROR_CODES, REFUSAL_CODES } from '../words/errors.ts';
import { handOverWords } from '../words/hand-over.ts';
import type { Notice } from '../words/notices.ts';
import {
	ANSWERS,
	AT_WORK,
	agentMessage,
	answerOf,
	asked,
	asking,
	casesOf,
	DASHBOARD_URL,
	EMPTY,
	ERROR_CONTEXT,
	FIELD_DRAFTS,
	FIELD_ITEMS,
	GIANT,
	GIANT_ANSWER,
	HAND_OVER,
	HOSTILE,
	itemsOf,
	LINKS,
	LONGEST_ID,
	metadataOf,
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

const other: OtherAnswer = { answerId: null, person: null, values: [HOSTILE, null, ''], at: NOW - 60_000, same: false };

const NOTICES: Readonly<Record<Notice['kind'], readonly Notice[]>> = {
	questionChanged: [
		{ kind: 'questionChanged', carried: true },
		{ kind: 'questionChanged', carried: false },
	],
	answeredMeanwhile: [{ kind: 'answeredMeanwhile', other }],
	draftRestored: [{ kind: 'draftRestored', at: NOW - 60_000 }],
	prefilled: [{ kind: 'prefilled' }],
	textUnused: [
		{ kind: 'textUnused', why: 'nothingOpen' },
		{ kind: 'textUnused', why: 'secret' },
	],
	stillWaiting: [{ kind: 'stillWaiting', waitedMs: 12_000 }],
	readAgain: [{ kind: 'readAgain' }],
	stale: [{ kind: 'stale', code: 'unavailable', readAt: NOW - 300_000 }],
	ownAnswer: [
		{ kind: 'ownAnswer', state: 'delivering', at: NOW - 60_000 },
		{ kind: 'ownAnswer', state: 'waiting', at: NOW - 60_000 },
	],
};

const HAND_OVER_METADATA = handOverMetadata({ sessionId: LONGEST_ID, fingerprint: '0' }, 'C0');
const QUESTION_TO_HAND_OVER: QuestionToHandOver = {
	question: present(snapshotAtNow(asking(Object.values(FIELD_ITEMS))).question),
	sessionName: GIANT,
	discreet: false,
};
const HAND_OVER_OUTCOMES: Readonly<Record<string, HandOverObstacle>> = {
	'handed over': { kind: 'handedOver', handOver: HAND_OVER },
	'somebody else has it': { kind: 'taken', handOver: HAND_OVER },
	'handed over too often': { kind: 'limit', handOver: HAND_OVER },
	'answered by somebody': { kind: 'closed', by: answerOf() },
	closed: { kind: 'closed', by: null },
};

const STATUSES: Readonly<Record<StatusKind, string>> = {
	active: 'active',
	humanInput: 'humanInput',
	inactive: 'inactive',
	paused: 'paused',
	stopped: 'stopped',
	completed: 'completed',
	failed: 'failed',
	unknown: HOSTILE,
};

function modelOf(session: Session, overrides: Partial<SessionModel> = {}): [SessionModel] {
	const model: SessionModel = {
		session,
		readAt: NOW,
		question: openQuestion(session),
		metadata: metadataOf({ sessionId: session.sessionId }),
		draft: {},
		notices: [],
		claims: [],
		now: NOW,
		names: NAMES,
		dashboardUrl: DASHBOARD_URL,
		links: LINKS,
		adminContact: USER_ID,
		watch: { watching: false },
		...overrides,
	};
	return [model];
}

const FIELDS = asking(Object.values(FIELD_ITEMS));
const LONG_LIST = asked(
	'Which?',
	`One of: ${Array.from({ length: 99 }, (_, index) => `option ${index} ${'x'.repeat(40)}`).join(', ')}`,
);
const CLAIMS = Array.from({ length: 5 }, (_, index) => `U0EXAMPLE${index}`);
const HOSTILE_ITEMS = itemsOf(20, HOSTILE);

const SESSIONS: Readonly<Record<string, [SessionModel]>> = {
	'an id alone': modelOf(EMPTY, { dashboardUrl: null, watch: null }),
	...casesOf(STATUSES, (status) => modelOf({ ...AT_WORK, status })),
	...casesOf(NOTICES, (notices) => modelOf(FIELDS, { notices })),
	'all notices': modelOf(FIELDS, { notices: Object.values(NOTICES).flat() }),
	'one person answers': modelOf(FIELDS, { claims: CLAIMS.slice(0, 1) }),
	'many people answer': modelOf(FIELDS, { claims: CLAIMS }),
	'watched, read long ago': modelOf(AT_WORK, {
		readAt: NOW - 600_000,
		watch: { watching: true },
	}),
	'a middle page of steps': modelOf(AT_WORK, { metadata: metadataOf({ page: 1 }) }),
	'the last page of steps': modelOf(AT_WORK, { metadata: metadataOf({ page: 1_000 }) }),
	'no screenshot': modelOf(AT_WORK, { withoutImages: true }),
	'links that are refused': modelOf(REFUSED_LINKS),
	'a result': modelOf({ ...AT_WORK, messages: [agentMessage('Done.', { actions: [{ kind: 'done', text: GIANT }] })] }),
	'paused, with a question that the agent left behind': modelOf(
		{ ...FIELDS, status: 'paused', messages: [...FIELDS.messages, agentMessage('I go on.')] },
		{ claims: CLAIMS },
	),
	'every field': modelOf(FIELDS),
	'every field filled': modelOf(FIELDS, { draft: FIELD_DRAFTS }),
	'every field with a text that does not fit': modelOf(FIELDS, { draft: FIELD_DRAFTS.map(() => HOSTILE) }),
	'every field as plain text': modelOf(FIELDS, { draft: FIELD_DRAFTS, metadata: metadataOf({ plainText: true }) }),
	'every field optional': modelOf(FIELDS, { metadata: metadataOf({ partial: true }) }),
	'a list of 99 options': modelOf(asking([LONG_LIST])),
	'a list of 99 options, another answer': modelOf(asking([LONG_LIST]), { draft: { 0: GIANT } }),
	'fields without titles': modelOf(asking([asked(''), asked(''), asked(' \n')])),
	'fields with hostile texts': modelOf(asking(HOSTILE_ITEMS), { draft: HOSTILE_ITEMS.map(() => HOSTILE) }),
	'30 giant fields': modelOf(asking(itemsOf(30, GIANT.slice(0, 400))), {
		draft: Array.from({ length: 30 }, () => GIANT),
	}),
	'90 fields': modelOf(asking(itemsOf(90))),
	'90 giant fields': modelOf(asking(itemsOf(90, HOSTILE)), { draft: Array.from({ length: 90 }, () => GIANT) }),
	'91 fields, too many': modelOf(asking(itemsOf(91))),
	'a question too large to answer': modelOf(asking([asked(GIANT, GIANT)]), { dashboardUrl: null }),
	'everything hostile': modelOf(sessionOf(HOSTILE)),
	'everything giant': modelOf({ ...sessionOf(GIANT), sessionId: LONGEST_ID }),
	'everything giant and a question': modelOf(asking(itemsOf(12, GIANT.slice(0, 2_000)), sessionOf(GIANT))),
};

const QUESTION = present(openQuestion(asking(itemsOf(90, HOSTILE))));
const answers = Object.values(ANSWERS);
const historyOf = (model: Partial<Parameters<typeof historyView>[0]>): Parameters<typeof historyView> => [
	{ metadata: metadataOf(), answers: [], total: 0, names: NAMES, ...model },
];

/** Every kind of modal. */
export function modalShapes(): Shape[] {
	return [
		...shapesOf(loadingModal, {
			'an id': [SESSION_ID, metadataOf()],
			'the longest id': [LONGEST_ID, metadataOf({ sessionId: LONGEST_ID })],
			'a hostile id': [HOSTILE, metadataOf({ sessionId: HOSTILE })],
			'after a while': [SESSION_ID, metadataOf(), 124_000],
		}),
		...shapesOf(refusedModal, {
			...Object.fromEntries(REFUSAL_CODES.map((refusal) => [refusal, [refusal, metadataOf(), ERROR_CONTEXT] as const])),
			'a hostile contact': ['guest', metadataOf(), { kept: 'unchanged', adminContact: HOSTILE }],
		}),
		...shapesOf(errorModal, {
			...Object.fromEntries(ERROR_CODES.map((code) => [code, [code, metadataOf(), ERROR_CONTEXT] as const])),
			'an unknown code': ['never_heard_of', metadataOf({ sessionId: '' }), { ...ERROR_CONTEXT, adminContact: HOSTILE }],
		}),
		...shapesOf(sessionModal, SESSIONS),
		...shapesOf(chooseItemModal, {
			'two items': [QUESTION, [0, 1], 'The hall with the garden', metadataOf()],
			'90 items': [QUESTION, QUESTION.openItems, GIANT, metadataOf()],
		}),
		...shapesOf(handOverModal, {
			'any question': [HAND_OVER_METADATA, QUESTION_TO_HAND_OVER],
			'a discreet watch': [HAND_OVER_METADATA, { ...QUESTION_TO_HAND_OVER, discreet: true }],
			hostile: [HAND_OVER_METADATA, { ...QUESTION_TO_HAND_OVER, sessionName: HOSTILE }],
		}),
		...shapesOf(
			handOverNotice,
			casesOf(HAND_OVER_OUTCOMES, (outcome) => [handOverWords(outcome, NAMES), metadataOf()] as const),
		),
		...shapesOf(savedModal, { 'any answer': [answerOf()], giant: [GIANT_ANSWER] }),
		...shapesOf(receiptModal, RECEIPTS),
		...shapesOf(historyView, {
			'no answer': historyOf({}),
			'one answer': historyOf({ answers: answers.slice(0, 1), total: 1 }),
			'a middle page': historyOf({
				metadata: metadataOf({ offset: HISTORY_PAGE }),
				answers: answers.slice(-HISTORY_PAGE),
				total: 1_000,
			}),
			'a giant page': historyOf({ answers: Array.from({ length: HISTORY_PAGE }, () => GIANT_ANSWER), total: 7 }),
			'a page past the last': historyOf({ metadata: metadataOf({ offset: 60 }), total: 3 }),
		}),
	];
}
