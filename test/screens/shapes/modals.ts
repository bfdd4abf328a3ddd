import {
	AT_WORK,
	agentMessage,
	answerOf,
	asked,
	asking,
	FIELD_DRAFTS,
	FIELDS,
	GIANT,
	HAND_OVER,
	HOSTILE,
	itemsOf,
	LONG_LIST,
	LONGEST_ID,
	MODEL,
	metadataOf,
	NOW,
	QUESTION,
	questionOf,
	type Shape,
	sessionOf,
	shapesOf,
} from '../../../sandbox/gallery/shapes/samples.ts';
import { HAND_OVER_METADATA, sessionModelOf as modelOf } from '../../../sandbox/gallery/shapes/views.ts';
import { HISTORY_PAGE, historyView, questionModal } from '../../../src/screens/answer.ts';
import { chooseItemModal, loadingModal, type SessionModel, sessionModal } from '../../../src/screens/form.ts';
import { NOTICES } from '../../../src/screens/form-notices.ts';
import { handOverModal, handOverNotice, handOverWords } from '../../../src/screens/hand-over.ts';
import { receiptModal } from '../../../src/screens/receipt.ts';
import { errorModal, errorWords, FAILURES, REFUSAL_CODES, refusedModal } from '../../../src/slack/error-view.ts';
import { STATUSES } from '../../../src/slack/phrases.ts';
import { line } from '../../../src/slack/rich-text.ts';
import { ANSWERS, casesOf, OTHER_RECEIPTS, REFUSED_LINKS } from './samples.ts';

const QUESTION_TO_HAND_OVER = { question: questionOf(FIELDS), sessionName: GIANT, discreet: false };

const SHOWN_NOTICES: Readonly<Record<keyof typeof NOTICES, SessionModel['notices']>> = {
	stored: [NOTICES.stored("The session service isn't responding.", NOW - 600_000)],
	questionChanged: [true, false].map(NOTICES.questionChanged),
	answeredMeanwhile: [NOTICES.answeredMeanwhile(null, [HOSTILE, null, ''], NOW - 60_000, NOW)],
	draftRestored: [NOTICES.draftRestored(NOW - 60_000)],
	draftLeft: NOTICES.draftLeft({ 0: HOSTILE }),
	prefilled: [NOTICES.prefilled('The message'), NOTICES.prefilled('Your earlier answer')],
	nothingOpen: [NOTICES.nothingOpen],
	onlySecrets: [NOTICES.onlySecrets],
	anotherAsked: [NOTICES.anotherAsked],
	lost: [NOTICES.lost(null, []), NOTICES.lost('U0EXAMPLE1', [HOSTILE, null, ''])],
	emptied: [NOTICES.emptied('U0EXAMPLE1', [HOSTILE, null, ''], 'The field is empty now')],
	emptiedElsewhere: [NOTICES.emptiedElsewhere('The field is empty now')],
	standsThere: [NOTICES.standsThere([HOSTILE, null, ''], false), NOTICES.standsThere([HOSTILE], true)],
	mayHaveArrived: [NOTICES.mayHaveArrived('U0OURS2', [HOSTILE, null, ''])],
	underWay: [null, 'U0EXAMPLE1'].map((userId) => line(NOTICES.underWay(userId))),
	lostElsewhere: [NOTICES.lostElsewhere],
	stillWaiting: [NOTICES.stillWaiting(12_000)],
	readAgain: [NOTICES.readAgain],
	stale: [NOTICES.stale(errorWords('unavailable').what, NOW - 300_000, NOW)],
	ownAnswer: [NOTICES.ownAnswer(answerOf({ state: 'delivering' })), NOTICES.ownAnswer(answerOf({ state: 'waiting' }))],
};

const HAND_OVER_OUTCOMES: Readonly<Record<string, Parameters<typeof handOverWords>[0]>> = {
	'in another workspace': { kind: 'elsewhere' },
	'handed over': { kind: 'handedOver', handOver: HAND_OVER },
	'somebody else has it': { kind: 'taken', handOver: HAND_OVER },
	'handed over too often': { kind: 'limit', handOver: HAND_OVER },
	'answered by somebody': { kind: 'closed', by: answerOf() },
	closed: { kind: 'closed', by: null },
};

const SHOWN_STATUSES: Readonly<Record<string, string>> = {
	...Object.fromEntries(Object.keys(STATUSES).map((status) => [status, status])),
	unknown: HOSTILE,
};

const CLAIMS = Array.from({ length: 5 }, (_, index) => `U0EXAMPLE${index}`);
const HOSTILE_ITEMS = itemsOf(20, HOSTILE);

const SESSIONS: Readonly<Record<string, [SessionModel]>> = {
	'a middle page of steps': modelOf(AT_WORK, { metadata: metadataOf({ page: 1 }) }),
	'every field optional': modelOf(FIELDS, { metadata: metadataOf({ partial: true }) }),
	'every field': modelOf(FIELDS),
	'every field as plain text': modelOf(FIELDS, { draft: FIELD_DRAFTS, metadata: metadataOf({ plainText: true }) }),
	...casesOf(SHOWN_STATUSES, (status) => modelOf({ ...AT_WORK, status })),
	...casesOf(SHOWN_NOTICES, (notices) => modelOf(FIELDS, { notices })),
	'all notices': modelOf(FIELDS, { notices: Object.values(SHOWN_NOTICES).flat() }),
	'one person answers': modelOf(FIELDS, { claims: CLAIMS.slice(0, 1) }),
	'many people answer': modelOf(FIELDS, { claims: CLAIMS }),
	'watched, read long ago': modelOf(AT_WORK, { readAt: NOW - 600_000, offersWatch: false }),
	'the last page of steps': modelOf(AT_WORK, { metadata: metadataOf({ page: 1_000 }) }),
	'something hidden': modelOf({ ...AT_WORK, messages: [agentMessage('I log in with password: made-up-7.')] }),
	'no screenshot': modelOf(AT_WORK, { withoutImages: true }),
	'links that are refused': modelOf(REFUSED_LINKS),
	'a result': modelOf({ ...AT_WORK, messages: [agentMessage('Done.', { actions: [{ kind: 'done', text: GIANT }] })] }),
	'paused, with a question that the agent left behind': modelOf(
		{ ...FIELDS, status: 'paused', messages: [...FIELDS.messages, agentMessage('I go on.')] },
		{ claims: CLAIMS },
	),
	'a list of 99 options': modelOf(asking([LONG_LIST])),
	'fields without titles': modelOf(asking([asked(''), asked(''), asked(' \n')])),
	'fields with hostile texts': modelOf(asking(HOSTILE_ITEMS), { draft: HOSTILE_ITEMS.map(() => HOSTILE) }),
	'90 fields': modelOf(asking(itemsOf(90))),
	'91 fields, too many': modelOf(asking(itemsOf(91))),
	'a question too large to answer': modelOf(asking([asked(GIANT, GIANT)]), { dashboardUrl: null }),
	'everything hostile': modelOf(sessionOf(HOSTILE)),
};

const answers = Object.values(ANSWERS);

/** Other modals than the doctor's. */
export function modalVariants(): Shape[] {
	return [
		...shapesOf(loadingModal, {
			'the longest id': [metadataOf({ sessionId: LONGEST_ID })],
			'an id': [metadataOf()],
			'a hostile id': [metadataOf({ sessionId: HOSTILE })],
			'a hostile name': [metadataOf({ sessionName: HOSTILE })],
			'after a while': [metadataOf(), { waitedMs: 124_000 }],
			'while Slack is asked': [metadataOf(), { isKnown: false }],
		}),
		...shapesOf(errorModal, {
			'a refusal with a hostile contact': ['guest', metadataOf(), { kept: 'unchanged', adminContact: HOSTILE }],
		}),
		...shapesOf(refusedModal, { 'with a hostile contact': ['could_not_check', { adminContact: HOSTILE }] }),
		...shapesOf(
			errorModal,
			Object.fromEntries(
				[...REFUSAL_CODES, ...Object.keys(FAILURES)].map((code) => [code, [code, metadataOf(), MODEL] as const]),
			),
		),
		...shapesOf(sessionModal, SESSIONS),
		...shapesOf(chooseItemModal, {
			'two items': [QUESTION, [0, 1], { text: 'The hall with the garden', withFiles: true }, metadataOf()],
		}),
		...shapesOf(handOverModal, {
			'any question': [HAND_OVER_METADATA, QUESTION_TO_HAND_OVER],
			'a discreet watch': [HAND_OVER_METADATA, { ...QUESTION_TO_HAND_OVER, discreet: true }],
		}),
		...shapesOf(
			handOverNotice,
			casesOf(HAND_OVER_OUTCOMES, (outcome) => [handOverWords(outcome), metadataOf()] as const),
		),
		...shapesOf(receiptModal, OTHER_RECEIPTS),
		...shapesOf(
			questionModal,
			casesOf(ANSWERS, (answer) => [answer] as const),
		),
		...shapesOf(historyView, {
			'no answer': [metadataOf(), [], 0],
			'one answer': [metadataOf(), answers.slice(0, 1), 1],
			'a middle page': [metadataOf({ offset: HISTORY_PAGE }), answers.slice(-HISTORY_PAGE), 1_000],
			'a page past the last': [metadataOf({ offset: 60 }), [], 3],
		}),
	];
}
