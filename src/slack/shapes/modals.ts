import type { QuestionToHandOver } from '../../inbox/hand-overs.ts';
import { openQuestion } from '../../questions/open-question.ts';
import type { Session } from '../../questions/session.ts';
import { handOverMetadata, handOverModal, handOverNotice } from '../blocks/hand-over.ts';
import { HISTORY_PAGE, historyView } from '../blocks/lists.ts';
import { receiptModal, savedModal } from '../blocks/receipt.ts';
import { type SessionModel, sessionModal } from '../blocks/session-modal.ts';
import { chooseItemModal, errorModal, loadingModal, refusedModal } from '../blocks/small-modals.ts';
import { handOverWords } from '../words/hand-over.ts';
import {
	AT_WORK,
	answerOf,
	asked,
	asking,
	DASHBOARD_URL,
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
	RECEIPT_CONTEXT,
	type Shape,
	sessionOf,
	shapesOf,
	snapshotAtNow,
	USER_ID,
} from './samples.ts';

export const HAND_OVER_METADATA = handOverMetadata({ sessionId: LONGEST_ID, fingerprint: '0' }, 'C0');
export const QUESTION_TO_HAND_OVER: QuestionToHandOver = {
	question: present(snapshotAtNow(asking(Object.values(FIELD_ITEMS))).question),
	sessionName: GIANT,
	discreet: false,
};
export function modelOf(session: Session, overrides: Partial<SessionModel> = {}): [SessionModel] {
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

export const FIELDS = asking(Object.values(FIELD_ITEMS));
export const LONG_LIST = asked(
	'Which?',
	`One of: ${Array.from({ length: 99 }, (_, index) => `option ${index} ${'x'.repeat(40)}`).join(', ')}`,
);
const SESSIONS: Readonly<Record<string, [SessionModel]>> = {
	'a middle page of steps': modelOf(AT_WORK, { metadata: metadataOf({ page: 1 }) }),
	'every field optional': modelOf(FIELDS, { metadata: metadataOf({ partial: true }) }),
	'every field': modelOf(FIELDS),
	'every field filled': modelOf(FIELDS, { draft: FIELD_DRAFTS }),
	'every field with a text that does not fit': modelOf(FIELDS, { draft: FIELD_DRAFTS.map(() => HOSTILE) }),
	'every field as plain text': modelOf(FIELDS, { draft: FIELD_DRAFTS, metadata: metadataOf({ plainText: true }) }),
	'a list of 99 options, another answer': modelOf(asking([LONG_LIST]), { draft: { 0: GIANT } }),
	'30 giant fields': modelOf(asking(itemsOf(30, GIANT.slice(0, 400))), {
		draft: Array.from({ length: 30 }, () => GIANT),
	}),
	'90 giant fields': modelOf(asking(itemsOf(90, HOSTILE)), { draft: Array.from({ length: 90 }, () => GIANT) }),
	'everything giant': modelOf({ ...sessionOf(GIANT), sessionId: LONGEST_ID }),
	'everything giant and a question': modelOf(asking(itemsOf(12, GIANT.slice(0, 2_000)), sessionOf(GIANT))),
};

export const QUESTION = present(openQuestion(asking(itemsOf(90, HOSTILE))));
export const historyOf = (model: Partial<Parameters<typeof historyView>[0]>): Parameters<typeof historyView> => [
	{ metadata: metadataOf(), answers: [], total: 0, names: NAMES, ...model },
];

/** Every kind of modal at its extreme. */
export function modalShapes(): Shape[] {
	return [
		...shapesOf(loadingModal, { 'the longest id': [LONGEST_ID, metadataOf({ sessionId: LONGEST_ID })] }),
		...shapesOf(refusedModal, {
			'a hostile contact': ['guest', metadataOf(), { kept: 'unchanged', adminContact: HOSTILE }],
		}),
		...shapesOf(errorModal, {
			'an unknown code': ['never_heard_of', metadataOf({ sessionId: '' }), { ...ERROR_CONTEXT, adminContact: HOSTILE }],
		}),
		...shapesOf(sessionModal, SESSIONS),
		...shapesOf(chooseItemModal, { '90 items': [QUESTION, QUESTION.openItems, GIANT, metadataOf()] }),
		...shapesOf(handOverModal, {
			hostile: [HAND_OVER_METADATA, { ...QUESTION_TO_HAND_OVER, sessionName: HOSTILE }],
		}),
		...shapesOf(handOverNotice, {
			'handed over': [handOverWords({ kind: 'handedOver', handOver: HAND_OVER }, NAMES), metadataOf()],
		}),
		...shapesOf(savedModal, { giant: [GIANT_ANSWER] }),
		...shapesOf(receiptModal, {
			giant: [GIANT_ANSWER, RECEIPT_CONTEXT],
			'waiting for its author': [answerOf({ state: 'waiting' }), RECEIPT_CONTEXT],
			'to a changed question': [answerOf({ state: 'changed' }), RECEIPT_CONTEXT],
			'an agent that was not started': [answerOf({ state: 'delivered', startFailed: true }), RECEIPT_CONTEXT],
		}),
		...shapesOf(historyView, {
			'a giant page': historyOf({
				metadata: metadataOf({ offset: HISTORY_PAGE }),
				answers: Array.from({ length: HISTORY_PAGE }, () => GIANT_ANSWER),
				total: 1_000,
			}),
		}),
	];
}
