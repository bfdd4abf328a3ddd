import type { KnownBlock, ModalView } from '@slack/types';
import { type Answer, type AnswerItem, type AnswerState, firstEndingOf } from '../../answers/answer.ts';
import { ACTIONS, CALLBACKS, encodeCarriage, encodeTarget } from '../ids.ts';
import { newMetadata } from '../metadata.ts';
import { isBlank, quoted, quotedNameMrkdwn } from '../text.ts';
import {
	agentMayStand,
	CAN_CLOSE,
	hasText,
	ownTextWords,
	receiptExplanation,
	receiptHeadline,
	TEXT_REMOVED,
	TEXT_UNREADABLE,
	timelineWords,
} from '../words/answers.ts';
import { type Names, personMrkdwn } from '../words/people.ts';
import { andMoreWords, sessionIdMrkdwn, sessionName, viewTitle } from '../words/sessions.ts';
import { agoText } from '../words/times.ts';
import { button, buttons, context, type MessageContent, message, modal, section } from './parts.ts';

/** What a receipt needs besides the answer. */
export interface ReceiptContext {
	readonly names: Names;
	readonly now: number;
	readonly adminContact: string | null;
	/** Whether authors may post their own text to a channel. Default: true. */
	readonly postsText?: boolean;
	/** What the press that led here caused. mrkdwn. */
	readonly note?: string;
}

const MOST_ITEMS = 10;

/** Headline, explanation, the other answer, the text in up to about `room` characters, the timeline. */
function receiptBlocks(answer: Answer, receipt: ReceiptContext, room: number): KnownBlock[] {
	return [
		...section(`*${receiptIcon(answer)} ${receiptHeadline(answer)}*`),
		...section(receiptExplanation(answer, receipt).trim()),
		...section(receipt.note ?? ''),
		...otherAnswer(answer, receipt),
		...ownText(answer, room),
		...context(timelineWords(answer)),
	];
}

/** What the author can do; empty while everything goes well. */
export function receiptButtons(answer: Answer, { postsText = true }: ReceiptContext): KnownBlock[] {
	const { state, id, origin } = answer;
	const target = { sessionId: answer.question.sessionId, messageIndex: null };
	const tryAgain = button(ACTIONS.tryAgain, 'Try again', { value: id, style: 'primary' });
	const discard = button(ACTIONS.giveUp, 'Discard answer', { value: id });
	const open = button(ACTIONS.open, 'Open the session', { value: encodeTarget(target) });
	const postLabel = origin.threadTs === null ? 'Post my text in the channel' : 'Post my text to the thread';
	const canPost = postsText && origin.channelId !== null && hasText(answer);
	const post = canPost ? button(ACTIONS.postToThread, postLabel, { value: id }) : null;
	switch (state) {
		case 'accepted':
			return answer.lastError === null ? [] : buttons(discard);
		case 'waiting':
			return firstEndingOf(answer) !== null
				? buttons(
						button(ACTIONS.tryAgain, 'Send mine', { value: id, style: 'primary' }),
						button(ACTIONS.answerNew, 'Open the question', { value: encodeCarriage(id, target) }),
						discard,
					)
				: buttons(tryAgain, discard);
		case 'refused':
			return buttons(tryAgain, post);
		case 'changed':
			return buttons(
				button(ACTIONS.answerNew, 'Answer the new question', { value: encodeCarriage(id, target), style: 'primary' }),
				post,
			);
		case 'conflicted':
		case 'ended':
			return buttons(open, post);
		default:
			if (agentMayStand(answer) && answer.restartAskedAt === null)
				return buttons(button(ACTIONS.sendAgain, 'Send again', { value: id, style: 'primary' }));
			return answer.agentOutcome === 'overwritten' ? buttons(open, post) : [];
	}
}

const STATE_ICONS: Partial<Record<AnswerState, string>> = {
	accepted: '💾',
	delivering: '📨',
	resumed: '✅',
	withdrawn: '↩️',
};

export function receiptIcon(answer: Answer): string {
	const { state, agentOutcome } = answer;
	const isFine = agentOutcome === null || agentOutcome === 'resumed' || agentOutcome === 'completed';
	if (state === 'delivered' && isFine && !agentMayStand(answer)) return '✅';
	return STATE_ICONS[state] ?? '⚠️';
}

function otherAnswer(answer: Answer, { names, now }: ReceiptContext): KnownBlock[] {
	// Of a waiting answer, the other one was taken back.
	if (answer.state === 'waiting' || answer.content.kind !== 'readable' || answer.content.other === null) return [];
	const { items, other } = answer.content;
	const who = other.person === null ? 'Somebody outside Slack' : personMrkdwn(other.person.userId, names);
	const when = other.at === null ? '' : ` ${agoText(other.at, now)}`;
	if (other.same) return section(`${who} answered the same${when}.`);
	const lines = other.values.slice(0, MOST_ITEMS).flatMap((value, position) => {
		const title = other.values.length > 1 ? quotedNameMrkdwn(items[position]?.title ?? '', 80) : '';
		return [title, value === null ? '> (hidden)' : isBlank(value) ? '> (left empty)' : quoted(value, 180)];
	});
	lines.push(andMoreWords(other.values.length - MOST_ITEMS));
	return section(`${who} answered${when}:\n${lines.filter((line) => line !== '').join('\n')}`);
}

/** What the author wrote, in up to about `room` characters; never a secret. */
export function ownText(answer: Answer, room: number): KnownBlock[] {
	const { content } = answer;
	if (content.kind === 'removed') return context(TEXT_REMOVED);
	if (content.kind === 'unreadable') return context(TEXT_UNREADABLE);
	const items = content.items.filter((item) => item.value !== null || item.wiped);
	const itemRoom = Math.min(2700, Math.floor(room / Math.max(1, Math.min(items.length, MOST_ITEMS))));
	const shown = items.slice(0, MOST_ITEMS).flatMap((item) => {
		const title = quotedNameMrkdwn(item.title, 200) || 'Your answer';
		return section(`*${title}*\n${answerText(item, itemRoom)}`);
	});
	return [...shown, ...context(andMoreWords(items.length - MOST_ITEMS, 'answers'))];
}

/** In place of a secret that is not stored any more. */
export const REMOVED_ANSWER = '(hidden, and removed from Handraise)';

function answerText({ secret, value, wiped }: AnswerItem, limit: number): string {
	if (secret) return wiped ? REMOVED_ANSWER : '(hidden)';
	return value === null || isBlank(value) ? '(left empty)' : quoted(value, limit);
}

/** What a submission is acknowledged with, once it is committed. */
export function savedModal(answer: Answer): ModalView {
	return modalOf(answer, [...section('*💾 Your answer is saved. Delivering…*'), ...section(CAN_CLOSE)]);
}

/** What became of the answer, its text, and what the author can do. */
export function receiptModal(answer: Answer, receipt: ReceiptContext): ModalView {
	const settled = answer.state === 'resumed' || (answer.state === 'delivered' && answer.agentOutcome !== null);
	return modalOf(answer, [
		...receiptBlocks(answer, receipt, 20_000),
		...receiptButtons(answer, receipt),
		...(settled ? buttons(button(ACTIONS.refresh, 'Show the session')) : []),
		...context(`For ${sessionName(answer.question.sessionId)}`),
	]);
}

function modalOf({ id, question, origin }: Answer, blocks: readonly KnownBlock[]): ModalView {
	const { sessionId, messageIndex } = question;
	return modal({
		callbackId: CALLBACKS.receipt,
		title: viewTitle(sessionId),
		// A receipt has no form of its own: the answer's id identifies one that replaces it later.
		metadata: { ...newMetadata({ sessionId, messageIndex, formId: id, origin }), answerId: id },
		notifyOnClose: true,
		blocks,
	});
}

/** A receipt for a DM or a thread. */
export function receiptMessage(answer: Answer, receipt: ReceiptContext): MessageContent {
	return message(`${receiptHeadline(answer)} (session ${sessionIdMrkdwn(answer.question.sessionId)})`, [
		// Slack takes about 12,000 characters in all blocks of a message.
		...receiptBlocks(answer, receipt, 5000),
		...receiptButtons(answer, receipt),
		...context(`For ${sessionName(answer.question.sessionId)}`),
	]);
}

/** The author's own text that could not be sent, for the thread or channel of the question. Never a secret. */
export function ownTextMessage(answer: Answer): MessageContent {
	const { text, headline } = ownTextWords(answer);
	return message(text, [...section(headline), ...ownText(answer, 6_000)]);
}
