import { filesMessage, screenshotMessage } from '../blocks/links.ts';
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
import { ownTextMessage, receiptMessage } from '../blocks/receipt.ts';
import type { HelpReason } from '../handlers/session-command.ts';
import { watchOutcomeWords } from '../words/watching.ts';
import { RECEIPTS } from './answers.ts';
import {
	ANSWER_ID,
	AT_WORK,
	answerItem,
	answerOf,
	EMPTY,
	ERROR_CONTEXT,
	GIANT,
	HOSTILE,
	LINKS,
	LONGEST_ID,
	NOW,
	REFUSED_LINKS,
	SESSION_ID,
	sessionOf,
	USER_ID,
} from './samples.ts';
import { type Shape, shapesOf } from './shape.ts';

const HELP: Readonly<Record<HelpReason, Parameters<typeof helpMessage>>> = {
	asked: ['asked'],
	unclear: ['unclear', HOSTILE],
	missing_id: ['missing_id'],
	too_many_ids: ['too_many_ids'],
	foreign_link: ['foreign_link'],
	link_without_id: ['link_without_id'],
	id_too_long: ['id_too_long', GIANT],
	reserved_id: ['reserved_id', 'query'],
};

const MOST_IDS = 20;
const giantText = answerOf({
	state: 'refused',
	content: { kind: 'readable', items: Array.from({ length: 20 }, () => answerItem(GIANT, GIANT)), other: null },
});

/** Every kind of message that is no post of a watch. */
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
			'a contact': ['guest', USER_ID],
			'a hostile contact': ['could_not_check', HOSTILE],
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
