import type { KnownBlock, ModalView } from '@slack/types';
import type { Answer, AnswerItem } from '../../answers/answer.ts';
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
	timelineLines,
} from '../words/answers.ts';
import { type Names, personMrkdwn } from '../words/people.ts';
import { sessionIdMrkdwn, sessionName, viewTitle } from '../words/sessions.ts';
import { agoText } from '../words/times.ts';
import { button, buttons, context, type MessageContent, message, modal, section } from './parts.ts';

/** What a receipt needs beside the answer. */
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

/** Headline, explanation, the other answer, the text itself in up to about `room` characters, the timeline. */
function receiptBlocks(answer: Answer, receipt: ReceiptContext, room: number): KnownBlock[] {
	return [
		...section(`*${receiptIcon(answer)} ${receiptHeadline(answer)}*`),
		...section(receiptExplanation(answer, receipt).trim()),
		...section(receipt.note ?? ''),
		...otherAnswer(answer, receipt),
		...ownText(answer, room),
		...context(timelineLines(answer).join('\n')),
	];
}

/** What can be done now; empty while everything goes well. */
function receiptButtons(answer: Answer, { postsText = true }: ReceiptContext): KnownBlock[] {
	const { state, id, origin } = answer;
	const target = { sessionId: answer.question.sessionId, messageIndex: null };
	const tryAgain = button(ACTIONS.tryAgain, 'Try again', { value: id, style: 'primary' });
	const giveUp = button(ACTIONS.giveUp, 'Give it up', { value: id });
	const open = button(ACTIONS.open, 'Open the session', { value: encodeTarget(target) });
	// The label says whether a whole channel will see it.
	const postLabel = origin.threadTs === null ? 'Post my text in the channel' : 'Post my text to the thread';
	const canPost = postsText && origin.channelId !== null && hasText(answer);
	const post = canPost ? button(ACTIONS.postToThread, postLabel, { value: id }) : null;
	switch (state) {
		case 'accepted':
			return answer.lastError === null ? [] : buttons(giveUp);
		case 'waiting':
			return buttons(tryAgain, giveUp);
		case 'refused':
			return buttons(tryAgain, post);
		case 'changed': {
			const extra = { value: encodeCarriage(id, target), style: 'primary' } as const;
			return buttons(button(ACTIONS.answerNew, 'Answer the new question', extra), post);
		}
		case 'conflicted':
		case 'ended':
			return buttons(open, post);
		default:
			// The press checks whether sending again still makes sense.
			if (agentMayStand(answer) && answer.restartAskedAt === null)
				return buttons(button(ACTIONS.sendAgain, 'Send again', { value: id, style: 'primary' }));
			return answer.agentOutcome === 'overwritten' ? buttons(open, post) : [];
	}
}

function receiptIcon(answer: Answer): string {
	const { state, agentOutcome } = answer;
	if (state === 'resumed') return '✅';
	if (agentMayStand(answer)) return '⚠️';
	if (state === 'delivered')
		return agentOutcome === null || agentOutcome === 'resumed' || agentOutcome === 'completed' ? '✅' : '⚠️';
	if (state === 'accepted') return '💾';
	if (state === 'delivering') return '📨';
	return state === 'withdrawn' ? '↩️' : '⚠️';
}

function otherAnswer(answer: Answer, { names, now }: ReceiptContext): KnownBlock[] {
	if (answer.content.kind !== 'readable' || answer.content.other === null) return [];
	const { items, other } = answer.content;
	const who = other.person === null ? 'Somebody outside Slack' : personMrkdwn(other.person.userId, names);
	const when = other.at === null ? '' : ` ${agoText(other.at, now)}`;
	if (other.same) return section(`${who} answered the very same${when}.`);
	const said = other.values.slice(0, MOST_ITEMS).map((value, position) => {
		const title = quotedNameMrkdwn(items[position]?.title ?? '', 80);
		return (
			(other.values.length > 1 && title !== '' ? `${title}\n` : '') +
			(value === null ? '> (hidden)' : isBlank(value) ? '> (left empty)' : quoted(value, 180))
		);
	});
	if (other.values.length > MOST_ITEMS) said.push(`and ${other.values.length - MOST_ITEMS} more`);
	return section(`${who} answered${when}:\n${said.join('\n')}`);
}

/** What the author wrote, in up to about `room` characters; never a secret. */
export function ownText(answer: Answer, room: number): KnownBlock[] {
	const { content } = answer;
	if (content.kind === 'removed') return context(TEXT_REMOVED);
	if (content.kind === 'unreadable') return context(TEXT_UNREADABLE);
	const items = content.items.filter((item) => item.value !== null || item.wiped);
	const each = Math.min(2700, Math.floor(room / Math.max(1, Math.min(items.length, MOST_ITEMS))));
	const shown = items.slice(0, MOST_ITEMS).flatMap((item) => {
		const title = quotedNameMrkdwn(item.title, 200) || 'Your answer';
		return section(`*${title}*\n${answerText(item, each)}`);
	});
	const rest = items.length - MOST_ITEMS;
	return [...shown, ...context(rest > 0 ? `and ${rest} more answers` : '')];
}

function answerText({ secret, value, wiped }: AnswerItem, limit: number): string {
	if (secret) return wiped ? '(hidden, and removed from Handraise)' : '(hidden)';
	return value === null || isBlank(value) ? '(left empty)' : quoted(value, limit);
}

/** What a submission is acknowledged with, once it is committed. */
export function savedModal(answer: Answer): ModalView {
	return modalOf(answer, [...section('*💾 Your answer is saved. Delivering…*'), ...section(CAN_CLOSE)]);
}

/** Saved, delivered, agent resumed: each with its time, or what went wrong with the text kept and what can be done. */
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

/** The author's own text, posted where the question was because it could not be sent. Never a secret. */
export function ownTextMessage(answer: Answer): MessageContent {
	const { text, headline } = ownTextWords(answer);
	return message(text, [...section(headline), ...ownText(answer, 6_000)]);
}
