import type { KnownBlock } from '@slack/types';
import { type Answer, type AnswerItem, TAKES_LONG_MS } from '../../answers/answer.ts';
import { ACTIONS, encodeCarriage, encodeTarget } from '../ids.ts';
import { isBlank, quoted, quotedNameMrkdwn } from '../text.ts';
import {
	AFTERMATH_WORDS,
	agoText,
	contactMrkdwn,
	errorWords,
	mayHaveArrived,
	momentMrkdwn,
	type Names,
	personMrkdwn,
	receiptHeadline,
	timelineWords,
} from '../words.ts';
import { button, buttons, context, section } from './parts.ts';

/** What the receipt's words need beside the answer. */
export interface ReceiptContext {
	readonly names: Names;
	readonly now: number;
	readonly adminContact: string | null;
	/** Whether an author may put their own text before a channel; left out: they may. */
	readonly postsText?: boolean;
	/** Something to say about the press that brought this up. mrkdwn. */
	readonly note?: string;
}

const mostItems = 10;

/** Where it would stand: nobody's words go before a whole channel unasked. */
const POST_LABELS = { thread: 'Post my text to the thread', channel: 'Post my text in the channel' } as const;

/** Headline, what happened when, the other answer, and the text itself in up to about `room` characters. */
export function receiptBlocks(answer: Answer, context: ReceiptContext, room: number): KnownBlock[] {
	return [
		...section(`*${receiptIcon(answer)} ${receiptHeadline(answer)}*`),
		...section(explanation(answer, context).trim()),
		...section(context.note ?? ''),
		...otherAnswer(answer, context),
		...ownText(answer, room),
		...timeline(answer),
	];
}

/** What can be done now; empty while everything goes well. */
export function receiptButtons(answer: Answer, { postsText = true }: ReceiptContext): KnownBlock[] {
	const { state, id, question } = answer;
	const target = encodeTarget({ sessionId: question.sessionId, messageIndex: null });
	const tryAgain = button(ACTIONS.tryAgain, 'Try again', { value: id, style: 'primary' });
	const giveUp = button(ACTIONS.giveUp, 'Give it up', { value: id });
	const post =
		!postsText || answer.origin.channelId === null || !hasText(answer)
			? null
			: button(ACTIONS.postToThread, POST_LABELS[answer.origin.threadTs === null ? 'channel' : 'thread'], {
					value: id,
				});
	switch (state) {
		case 'accepted':
			return answer.lastError === null ? [] : buttons(giveUp);
		case 'waiting':
			return buttons(tryAgain, giveUp);
		case 'refused':
			return buttons(tryAgain, post);
		case 'changed':
			return buttons(
				button(ACTIONS.answerNew, 'Answer the new question', {
					value: encodeCarriage(id, { sessionId: question.sessionId, messageIndex: null }),
					style: 'primary',
				}),
				post,
			);
		case 'conflicted':
		case 'ended':
			return buttons(button(ACTIONS.open, 'Open the session', { value: target }), post);
		default:
			if (canSendAgain(answer))
				return buttons(button(ACTIONS.sendAgain, 'Send again', { value: id, style: 'primary' }));
			return answer.aftermath === 'overwritten'
				? buttons(button(ACTIONS.open, 'Open the session', { value: target }), post)
				: [];
	}
}

/** Saved by the service, which reported a failure, and no sign of the agent since. */
export function agentMayStand({ state, aftermath, startFailed }: Answer): boolean {
	return state === 'delivered' && startFailed && (aftermath === null || aftermath === 'unseen');
}

/** Offered after the service saved an answer and reported a failure; whether it still makes sense is checked at the press. */
function canSendAgain(answer: Answer): boolean {
	return agentMayStand(answer) && answer.restartAskedAt === null;
}

function receiptIcon(answer: Answer): string {
	const { state, aftermath } = answer;
	if (state === 'resumed') return '✅';
	if (agentMayStand(answer)) return '⚠️';
	if (state === 'delivered')
		return aftermath === null || aftermath === 'resumed' || aftermath === 'completed' ? '✅' : '⚠️';
	if (state === 'accepted') return '💾';
	if (state === 'delivering') return '📨';
	return state === 'withdrawn' ? '↩️' : '⚠️';
}

/** Why, what was kept, what to do. */
function explanation(answer: Answer, { adminContact, now }: ReceiptContext): string {
	const { state, lastError, nextAttemptAt } = answer;
	switch (state) {
		case 'accepted':
		case 'delivering': {
			if (lastError === null) {
				return now - answer.acceptedAt >= TAKES_LONG_MS
					? 'The session service is slow to respond. Handraise is still sending your answer. There is nothing to do: you get a message when it arrives or cannot be sent.'
					: 'You can close this: it is sent in any case, and you are told if it cannot be.';
			}
			if (state === 'delivering') {
				const { what } = errorWords(lastError, { kept: 'nothing', adminContact });
				return `${what} Handraise reads the session again by itself, and sends your answer again only once it is certain that it did not arrive.`;
			}
			const retryAt = nextAttemptAt !== null && nextAttemptAt > now ? nextAttemptAt : null;
			return errorWords(lastError, { kept: 'answer', adminContact, retryAt }).text;
		}
		case 'waiting': {
			const why = lastError === null ? '' : `${errorWords(lastError, { kept: 'nothing', adminContact }).what} `;
			return `${why}It was tried ${times(answer.attempts)} since ${momentMrkdwn(answer.acceptedAt)}. ${wipedText(answer)}Try again, or give it up?`;
		}
		case 'refused': {
			const why = lastError === null ? '' : `${errorWords(lastError, { kept: 'nothing', adminContact }).what} `;
			return `${why}${keptText(answer)} Trying again helps once that has been mended; ${contactMrkdwn(adminContact)} can tell.`;
		}
		case 'conflicted':
			return mayHaveArrived(answer)
				? `It is not sent again. ${keptText(answer)}`
				: `Nothing was overwritten. ${keptText(answer)}`;
		case 'changed':
			return mayHaveArrived(answer)
				? `Look at the session before you answer again. ${keptText(answer)} It is carried over where it fits.`
				: `The agent asks something else now. ${keptText(answer)} It is carried over where it fits.`;
		case 'ended':
			return `No agent reads answers of this session any more. ${keptText(answer)}`;
		case 'delivered':
			return agentMayStand(answer) ? startFailedText({ ...answer, adminContact }) : '';
		default:
			return '';
	}
}

function startFailedText({
	restartAskedAt,
	lastError,
	adminContact,
}: Answer & Pick<ReceiptContext, 'adminContact'>): string {
	if (restartAskedAt !== null) return 'It is sent again now, to start the agent.';
	const failed =
		lastError === null
			? ''
			: `The last *Send again* failed. ${errorWords(lastError, { kept: 'nothing', adminContact }).what} Your answer is still in the session. `;
	return (
		failed +
		'*Send again* sends the same answer once more, which starts the agent. It works only if your answer is unchanged and the agent has not continued.'
	);
}

/** What an answer that waits for its author says is kept for some time only, its secrets for some days. */
function wipedText({ content }: Answer): string {
	if (content.kind === 'removed') return '*Try again* asks you to type it again. ';
	const isWiped = content.kind === 'readable' && content.items.some((item) => item.wiped);
	return isWiped ? 'Its passwords and codes were removed. *Try again* asks you to type them again. ' : '';
}

/** What of the typed text is still there. */
function keptText(answer: Answer): string {
	const hasSecret = answer.content.kind === 'readable' && answer.content.items.some((item) => item.secret);
	const secrets = 'Passwords and codes are not kept: they have to be typed again.';
	if (!hasText(answer)) return hasSecret ? secrets : '';
	return hasSecret ? `Your text is below. ${secrets}` : 'Your text is below.';
}

function times(attempts: number): string {
	return attempts === 1 ? 'once' : `${attempts} times`;
}

function otherAnswer(answer: Answer, { names, now }: ReceiptContext): KnownBlock[] {
	if (answer.content.kind !== 'readable' || answer.content.other === null) return [];
	const { items, other } = answer.content;
	const who = other.person === null ? 'Somebody outside Slack' : personMrkdwn(other.person.userId, names);
	const when = other.at === null ? '' : ` ${agoText(other.at, now)}`;
	if (other.same) return section(`${who} answered the very same${when}.`);
	const said = other.values.slice(0, mostItems).map((value, position) => {
		const title = quotedNameMrkdwn(items[position]?.title ?? '', 80);
		return (
			(other.values.length > 1 && title !== '' ? `${title}\n` : '') +
			(value === null ? '> (hidden)' : isBlank(value) ? '> (left empty)' : quoted(value, 180))
		);
	});
	if (other.values.length > mostItems) said.push(`and ${other.values.length - mostItems} more`);
	return section(`${who} answered${when}:\n${said.join('\n')}`);
}

/** What its author wrote, in up to about `room` characters; never a secret. */
export function ownText(answer: Answer, room: number): KnownBlock[] {
	const { content } = answer;
	if (content.kind === 'removed') return context('The text of this answer was removed after the time it is kept.');
	if (content.kind === 'unreadable')
		return context('The text of this answer was stored with another key and cannot be read.');
	const items = content.items.filter((item) => item.value !== null || item.wiped);
	const each = Math.min(2700, Math.floor(room / Math.max(1, Math.min(items.length, mostItems))));
	const shown = items.slice(0, mostItems).flatMap((item) => section(`*${titleOf(item)}*\n${answerText(item, each)}`));
	const rest = items.length - mostItems;
	return [...shown, ...context(rest > 0 ? `and ${rest} more answers` : '')];
}

function titleOf({ title }: AnswerItem): string {
	return quotedNameMrkdwn(title, 200) || 'Your answer';
}

function answerText({ secret, value, wiped }: AnswerItem, limit: number): string {
	if (secret) return wiped ? '(hidden, and removed from Handraise)' : '(hidden)';
	return value === null || isBlank(value) ? '(left empty)' : quoted(value, limit);
}

/** Whether there is any text of its author that may be shown again. */
function hasText({ content }: Answer): boolean {
	return content.kind === 'readable' && content.items.some((item) => !item.secret && !isBlank(item.value ?? ''));
}

/** Each state with its time, in the reader's time zone. */
export function timeline(answer: Answer): KnownBlock[] {
	const { timeline: entries, aftermath } = answer;
	const lines = entries.slice(-8).map(({ state, at }) => `${timelineWords(answer, state)} · ${momentMrkdwn(at)}`);
	if (aftermath !== null && aftermath !== 'resumed') lines.push(AFTERMATH_WORDS[aftermath]);
	return context(lines.join('\n'));
}
