import type { Core } from '../core.ts';
import type { AnswerStore } from '../delivery/answer-store.ts';
import {
	type AgentOutcome,
	type Answer,
	agentMayBeIdle,
	type FirstEnding,
	firstAnswerOf,
	firstDueAt,
	firstEndingOf,
	isBlocking,
	isUndelivered,
	itemsOf,
	mayHaveArrived,
	QUESTION_MOVED,
	secondAuthorOf,
	sessionNameOf,
	TAKES_LONG_MS,
} from '../domain/answer.ts';
import { SOMEBODY } from '../domain/person.ts';
import { hashOf } from '../kernel/values.ts';
import {
	type Button,
	button,
	buttons,
	context,
	fitting,
	type KnownBlock,
	type MessageContent,
	type ModalView,
	message,
	modal,
	section,
} from '../slack/blocks.ts';
import { errorWords } from '../slack/error-view.ts';
import { ACTIONS, CALLBACKS, encodeTarget, encodeTextTarget, newMetadata } from '../slack/ids.ts';
import { agoText, andMoreWords, contactOf, mentionOf, smallId, valuePieces } from '../slack/phrases.ts';
import {
	bold,
	joined,
	line,
	type Piece,
	quotedText,
	rich,
	richText,
	sentences,
	template,
	type Words,
} from '../slack/rich-text.ts';
import { type Drawing, lookOf } from '../surfaces/post.ts';
import type { ViewLook } from '../surfaces/views.ts';
import {
	answerTitle,
	firstPersonOf,
	hasText,
	labelAboutAnswer,
	MOST_SHOWN_ITEMS,
	ownText,
	stateLine,
	storedTitle,
	timelineWords,
} from './answer.ts';

export interface ReceiptContext {
	readonly now: number;
	readonly adminContact: string | null;
	/** Whether another question waits for the author, as a window may say. */
	readonly offersNext?: boolean;
	/** What came of the press that opened the receipt. */
	readonly note?: readonly Piece[];
}

/** Draws a receipt in a window. `nextOf`: another question that waits for its author, or null. */
export function createReceiptView(core: Pick<Core, 'config' | 'clock'>, nextOf: (answer: Answer) => Promise<unknown>) {
	return async (answer: Answer): Promise<ViewLook> => {
		const next = await nextOf(answer).catch(() => null);
		const context = { ...receiptContext(core), offersNext: next !== null };
		const view = receiptModal(answer, context);
		const isLong = isBlocking(answer.state) && context.now - firstDueAt(answer) >= TAKES_LONG_MS;
		// The key is drawn at a fixed time, so that passing time alone updates nothing.
		const key = JSON.stringify([receiptModal(answer, { ...context, now: answer.acceptedAt }), isLong]);
		return { view, key: hashOf(key) };
	};
}

/** Draws the direct message about an answer, until neither the program nor its author can change its state. */
export function createReceiptDrawing(core: Core<{ answers: Pick<AnswerStore, 'get'> }>) {
	return {
		async receipt({ answerId }) {
			const answer = await core.store.answers.get(answerId);
			if (answer === null) return null;
			const context = receiptContext(core);
			// The key is drawn at a fixed time, so that passing time alone updates nothing.
			const { key } = lookOf(receiptMessage(answer, { ...context, now: answer.acceptedAt }));
			const { state, agentOutcome } = answer;
			const isWaiting = state === 'waiting' && hasText(answer);
			// A `lost` answer can still become `replaced`.
			const isOpen = isBlocking(state) || isWaiting || (state === 'delivered' && OPEN_OUTCOMES.includes(agentOutcome));
			return lookOf(receiptMessage(answer, context), { key, isLast: !isOpen });
		},
	} satisfies Drawing<'receipt'>;
}

const OPEN_OUTCOMES: readonly (AgentOutcome | null)[] = [null, 'lost'];

export function receiptContext(
	{ config, clock }: Pick<Core, 'config' | 'clock'>,
	note: readonly Piece[] = [],
): ReceiptContext {
	return { adminContact: config.ADMIN_CONTACT, now: clock.now(), note };
}

/** The receipt as blocks. `more`: blocks below the author's buttons in a window; null: in a message. */
function receiptBlocks(
	answer: Answer,
	receipt: ReceiptContext,
	more: KnownBlock[] | null,
	room = 20_000,
): KnownBlock[] {
	const isSaved = answer.state === 'accepted' && answer.lastError !== null;
	const explanation = receiptExplanation(answer, receipt);
	const headline = stateLine(answer, 'author');
	const other = otherAnswer(answer, receipt, room);
	const named = more === null && sessionNameOf(answer) !== '' ? `For ${answerTitle(answer)}` : '';
	return [
		...section(isSaved ? rich`⏳ *Saved, not delivered yet.* ${explanation}` : bold(headline)),
		...section(isSaved ? '' : explanation),
		...richText(...(receipt.note ?? []), ...other, ...line(other.length > 0 && hasText(answer) ? 'Your text:' : '')),
		...ownText(answer, room, { isOwn: true }),
		...context(timelineWords(answer, 'author'), joined(named, smallId(answer.question.sessionId))),
		...buttons(...receiptButtons(answer)),
		...(more ?? []),
	];
}

/** What the author can do; empty while everything goes well. */
export const receiptButtons = (answer: Answer) => buttonsOf(answer).map(labelAboutAnswer(answer));

function buttonsOf(answer: Answer): Button[] {
	const { state, lastError, id } = answer;
	const target = { sessionId: answer.question.sessionId, messageIndex: null };
	const again = encodeTextTarget({ id, ...target });
	const tryAgain = button(ACTIONS.tryAgain, 'Try again', { value: id });
	const discard = button(ACTIONS.giveUp, 'Discard answer', { value: id });
	const open = button(ACTIONS.open, 'Open session', { value: encodeTarget(target) });
	switch (state) {
		case 'accepted':
			return answer.lastError === null ? [] : [discard];
		case 'waiting':
			return [tryAgain, discard];
		case 'refused':
			return [tryAgain];
		case 'changed': {
			const isSame = lastError === QUESTION_MOVED || mayHaveArrived(answer);
			const label = isSame ? 'Answer again' : 'Answer the new question';
			return [button(ACTIONS.answerNew, label, { value: again })];
		}
		case 'conflicted':
			return [isDraft(answer) ? button(ACTIONS.answerNew, 'Open the question', { value: again }) : open];
		case 'ended':
			return [open];
		default:
			if (agentMayBeIdle(answer)) return [open];
			if (answer.agentOutcome === 'lost') return [button(ACTIONS.answerNew, 'Answer again', { value: again })];
			return answer.agentOutcome === 'overwritten' ? [open] : [];
	}
}

function otherAnswer(answer: Answer, { now }: ReceiptContext, room: number): Piece[] {
	// An answer that did not arrive is not shown, and a second author did not answer.
	const other = firstEndingOf(answer) !== null || isUndelivered(answer.state) ? null : firstAnswerOf(answer);
	if (other === null) return [];
	const items = itemsOf(answer);
	const who = other.person === null ? 'Somebody in the dashboard' : mentionOf(other.person.userId);
	const when = other.at === null ? '' : ` ${agoText(other.at, now)}`;
	if (other.same) return line(rich`${who} answered the same${when}.`);
	const values = other.values.slice(0, MOST_SHOWN_ITEMS).flatMap((value, position) => {
		const title = other.values.length > 1 ? storedTitle(items[position]?.title ?? '', Math.min(80, room / 12)) : '';
		const length = Math.max(60, Math.min(180, room / 25));
		return [...line(bold(title)), ...valuePieces({ value, secret: value === null }, length)];
	});
	const more = andMoreWords(other.values.length - MOST_SHOWN_ITEMS);
	return [...line(rich`${who} answered${when}:`), ...values, ...line(more)];
}

const CAN_CLOSE = 'Your answer is saved. You can close this window: you get a message if it cannot be sent.';

const TAKES_LONG =
	'The session service is slow to respond. Handraise is still sending your answer. There is nothing to do: you ' +
	'get a message when it arrives or cannot be sent.';

/** Why, what was kept and what to do, below the headline; may be empty. */
export function receiptExplanation(answer: Answer, { adminContact, now }: ReceiptContext): Words {
	const { state, lastError, nextAttemptAt } = answer;
	const problem = lastError === null ? '' : errorWords(lastError).what;
	const isCertain = !mayHaveArrived(answer);
	switch (state) {
		case 'accepted':
		case 'delivering': {
			if (lastError === null) return now - firstDueAt(answer) >= TAKES_LONG_MS ? TAKES_LONG : CAN_CLOSE;
			if (state === 'delivering') {
				return sentences(
					problem,
					'Handraise reads the session again automatically. It sends your answer again only when it is certain that ' +
						'the first one did not arrive.',
				);
			}
			const retryAt = nextAttemptAt !== null && nextAttemptAt > now ? nextAttemptAt : null;
			return errorWords(lastError, { kept: 'answer', adminContact, retryAt }).text;
		}
		case 'waiting': {
			const times = answer.attempts === 1 ? 'once' : `${answer.attempts} times`;
			const tried = answer.attempts === 0 ? '' : `Handraise tried ${times}.`;
			return sentences(problem, tried, typeAgainText(answer), secondText(answer), 'Try again, or discard it?');
		}
		case 'refused': {
			const advice = rich`Try again when this is fixed; ${contactOf(adminContact)} can help.`;
			return sentences(problem, keptText(answer), secondText(answer), advice);
		}
		case 'conflicted': {
			const ending = firstEndingOf(answer);
			if (ending !== null) return firstEndedText(answer, ending);
			return sentences(isCertain ? 'Nothing was overwritten.' : 'It is not sent again.', keptText(answer));
		}
		case 'changed': {
			if (!isCertain) {
				const todo = rich`*Answer again* opens what the agent asked last, with your text where it fits.`;
				return sentences('Look at the session before you answer again.', keptText(answer), todo);
			}
			return lastError === QUESTION_MOVED
				? sentences(MOVED, keptText(answer), rich`*Answer again* fills it in there.`)
				: sentences(
						'The agent has changed its question.',
						keptText(answer),
						rich`*Answer the new question* fills it in where it fits.`,
					);
		}
		case 'ended':
			return sentences('The agent of this session no longer reads answers.', keptText(answer));
		case 'delivered':
			if (agentMayBeIdle(answer)) return startFailedText(adminContact);
			return answer.agentOutcome === null ? '' : (OUTCOME_EXPLANATIONS[answer.agentOutcome] ?? '');
		default:
			return '';
	}
}

const MOVED =
	'The question has another place in the session now: messages before it were added or removed, or the agent ' +
	'asked it again.';

const OUTCOME_EXPLANATIONS: Partial<Record<AgentOutcome, Words>> = {
	lost: rich`The agent asks again, and anybody can answer. *Answer again* opens the question with your text.`,
	overwritten: 'Somebody changed it outside Handraise.',
	replaced: 'It was answered again since.',
};

const FIRST_ENDED: Readonly<Record<FirstEnding, string>> = {
	first_failed: 'That answer was not delivered.',
	first_over: 'That answer was not delivered, because the session was over.',
	first_unknown: 'That answer may have arrived: look at the session first.',
};

/** The words if the answer that came first is not sent any more. */
function firstEndedText(answer: Answer, ending: FirstEnding): Words {
	const first = firstPersonOf(answer);
	const who = first === null ? SOMEBODY : mentionOf(first.userId);
	const what = first?.userId === answer.person.userId ? 'You had answered before.' : rich`${who} answered before you.`;
	if (!isDraft(answer)) return sentences(what, FIRST_ENDED[ending], keptText(answer));
	const draft = template(
		'Your text is a draft now, and nothing is sent by itself. *Open the question* fills it in where it fits.',
	);
	return sentences(what, FIRST_ENDED[ending], hasText(answer) ? draft : '', secretText(answer));
}

/** Whether an answer that came second is a draft, because its question may be open again. */
function isDraft(answer: Answer): boolean {
	const ending = firstEndingOf(answer);
	return ending !== null && ending !== 'first_over';
}

/** Names the second author, whom the author of an undelivered answer may ask. */
function secondText(answer: Answer): Words {
	const second = secondAuthorOf(answer);
	return second === null ? '' : rich`${mentionOf(second.userId)} wanted to answer too: ask them.`;
}

function startFailedText(adminContact: string | null): Words {
	const contact = contactOf(adminContact);
	const todo = rich`If the agent does not continue, ${contact} can start it in the dashboard.`;
	return sentences('Your answer is saved in the session.', todo);
}

/** Retention removes secrets of a waiting answer first, then its whole text. */
function typeAgainText(answer: Answer): Words {
	if (answer.content.kind === 'removed') return rich`*Try again* asks you to type it again.`;
	const isWiped = itemsOf(answer).some((item) => item.wiped);
	return isWiped ? rich`Its passwords and codes were removed. *Try again* asks you to type them again.` : '';
}

const keptText = (answer: Answer) => sentences(hasText(answer) ? 'Your text is below.' : '', secretText(answer));

const secretText = (answer: Answer) =>
	itemsOf(answer).some((item) => item.secret) ? 'Passwords and codes were not kept. Type them again.' : '';

/** Tells a second author that the first answer is not delivered yet, and why. Empty otherwise. */
export function notYetWords({ state, lastError }: Pick<Answer, 'state' | 'lastError'>): Words {
	if (state !== 'accepted' || lastError === null) return '';
	const author = 'Handraise could not check with Slack whether its author may still answer.';
	const why = lastError === 'not_checked' ? author : errorWords(lastError).what;
	const then = 'If it cannot be sent, yours becomes a draft, and you are told.';
	return sentences('⏳ The first answer is saved and not delivered yet.', why, then);
}

export function receiptModal(answer: Answer, receipt: ReceiptContext): ModalView {
	const settled = answer.state === 'resumed' || (answer.state === 'delivered' && answer.agentOutcome !== null);
	const { id, origin } = answer;
	const opensSession = buttonsOf(answer).some(({ action_id }) => action_id === ACTIONS.open);
	const more = buttons(
		receipt.offersNext === true ? button(ACTIONS.nextQuestion, 'Next question', { value: id }) : null,
		settled && !opensSession ? labelAboutAnswer(answer)(button(ACTIONS.refresh, 'Open session')) : null,
	);
	const { sessionId, messageIndex } = answer.question;
	return modal({
		callbackId: CALLBACKS.receipt,
		title: 'Answer',
		// A receipt has no form of its own: the answer's id identifies one that replaces it later.
		metadata: newMetadata({ sessionId, messageIndex, formId: id, origin }),
		notifyOnClose: true,
		blocks: receiptBlocks(answer, receipt, more),
	});
}

export function receiptMessage(answer: Answer, receipt: ReceiptContext): MessageContent {
	const text = `${stateLine(answer, 'author')} (your answer for ${answerTitle(answer)})`;
	const blocks = fitting([5_000, 2_500, 1_000, 500], (room) => receiptBlocks(answer, receipt, null, room));
	return message(text, blocks);
}

/** The outcome of a press on *Next question*. */
export const NOTHING_ELSE_ASKS = 'Nothing else asks you now.';

/** The author changed the text after it was sent. Shows the new text, so that it is not lost. */
export function tooLateNote(texts: readonly string[]): Piece[] {
	const words = '✏️ Your change came too late: the text below was already being sent.';
	if (texts.length === 0) return line(words);
	return [...line(`${words} You had changed it to:`), ...quotedText(texts.join('\n'), 1_500)];
}
