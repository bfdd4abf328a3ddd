import type { KnownBlock, ModalView } from '@slack/types';
import {
	type AgentOutcome,
	type Answer,
	type AnswerItem,
	type AnswerState,
	agentMayStand,
	type FAILED_STATES,
	type FirstEnding,
	firstEndingOf,
	itemsOf,
	type Person,
	type TimelineEntry,
} from '../../questions/answer.ts';
import { isProvenRefusal } from '../../slack/access-policy.ts';
import { ACTIONS, CALLBACKS, type ViewMetadata } from '../../slack/ids.ts';
import { button, buttons, context, divider, modal, section } from '../../slack/parts.ts';
import { isBlank, quoted, quotedTitleMrkdwn } from '../../slack/text.ts';
import { andMoreWords, momentMrkdwn, personMrkdwn, sessionName } from '../../slack/words.ts';

type Words = readonly [line: string, headline: string];

/** For each state, the line in the timeline and the first sentence of the receipt. */
const STATE_WORDS: Readonly<Record<AnswerState, Words>> = {
	accepted: ['💾 Saved', 'Your answer is saved. Delivering…'],
	delivering: ['📨 Being delivered', 'Your answer is saved. Delivering…'],
	waiting: ['⏳ Not delivered yet; waiting for its author', 'Your answer is saved, but could not be delivered.'],
	delivered: ['✅ Delivered', 'Your answer was delivered. Waiting for the agent to go on…'],
	resumed: ['▶️ The agent went on', 'Your answer was delivered and the agent went on.'],
	conflicted: ['🔀 Not sent: somebody else answered first', 'Your answer was not sent: somebody else answered first.'],
	changed: ['✏️ Not sent: the question changed', 'Your answer was not sent: the question has changed.'],
	refused: [
		// The timeline of an answer that was sent again does not know why.
		'⛔ Not delivered: it was refused',
		'Your answer could not be delivered: the session service refused it.',
	],
	ended: ['🏁 Not sent: the session was over', 'Your answer was not sent: the session is over.'],
	withdrawn: ['↩️ Discarded by its author', 'You discarded this answer. Nothing was sent.'],
};

/** The same for an answer that is no longer sent, if an earlier PUT may have arrived. */
const PERHAPS_ARRIVED: Readonly<Record<(typeof FAILED_STATES)[number] | 'withdrawn', Words>> = {
	waiting: [
		'⏳ Sent, and may have arrived; waiting for its author',
		'Your answer is saved. It was sent and may have arrived, but Handraise could not check.',
	],
	conflicted: [
		'🔀 Sent, and may have arrived before the other answer',
		'The session has a different answer now. Yours was sent and may have arrived first.',
	],
	changed: [
		'✏️ Sent, and may have arrived before the agent went on',
		'The agent has gone on or asks something else. Your answer was sent before that and may have arrived.',
	],
	refused: [
		'⛔ Sent, and may have arrived; then the session service refused it',
		'Your answer was sent and may have arrived. The session service now refuses it.',
	],
	ended: [
		'🏁 Sent, and may have arrived before the session ended',
		'The session is over. Your answer was sent before that and may have arrived.',
	],
	withdrawn: [
		'↩️ Discarded by its author; it may have arrived',
		'You discarded this answer. It was sent before and may have arrived.',
	],
};

/** How the session went on after delivery. */
const AGENT_OUTCOME_WORDS: Readonly<Record<AgentOutcome, Words>> = {
	resumed: STATE_WORDS.resumed,
	failed: ['❌ Then the session failed', 'Your answer was delivered, then the session failed.'],
	stopped: ['⏹️ Then the session was stopped', 'Your answer was delivered, then the session was stopped.'],
	paused: ['⏸️ Then the session was paused', 'Your answer was delivered, then the session was paused.'],
	completed: ['✅ Then the session completed', 'Your answer was delivered and the session is complete.'],
	overwritten: [
		'⚠️ Then it was overwritten from outside Handraise',
		'Your answer was delivered, then somebody outside Handraise overwrote it.',
	],
	unseen: [
		'👀 The agent has not gone on yet. The answer is in the session; look at it later',
		'Your answer was delivered. The agent has not gone on yet.',
	],
};

/** The words for `conflicted`. */
const LOST_TO_WORDS: Readonly<Record<NonNullable<TimelineEntry['lostTo']>, Words>> = {
	other: STATE_WORDS.conflicted,
	own: ['🔀 Not sent: the same person had already answered', 'Your answer was not sent: you had already answered.'],
	ownInstead: [
		'🔀 Not sent: its author then answered in another way',
		'This answer was not sent: you have answered in another way, and that answer counts.',
	],
};

/** For an answer that lost: what became of the first one, and how the sentence "(name) answered before you" goes on. */
export const FIRST_WORDS: Readonly<Record<FirstEnding, Words>> = {
	first_withdrawn: ['was taken back', ' and took that back.'],
	first_outdated: ['was for an older question and was not sent', ' but to the question before the agent changed it.'],
	first_over: [
		'was not delivered because the session was over',
		', but the session was over. Send yours if it goes on.',
	],
	first_failed: ['was not delivered', ', and that could not be delivered.'],
	first_unknown: ['may have arrived', '. Look at the session before you send yours.'],
};

/** Instead of the words for `refused` when the access policy said no. */
const MAY_NOT_ANSWER: Words = [
	'⛔ Not sent: its author may no longer answer',
	'Your answer was not sent: you may no longer answer here.',
];

type ToldAnswer = Pick<Answer, 'state' | 'agentOutcome' | 'lastError'> & Partial<Answer>;

/** Whether the answer is no longer sent and nobody knows whether an earlier PUT arrived. */
export function mayHaveArrived({ state, putStartedAt }: Pick<ToldAnswer, 'state' | 'putStartedAt'>): boolean {
	return putStartedAt != null && Object.hasOwn(PERHAPS_ARRIVED, state);
}

/** Whose answer was first, where this one lost to somebody in Slack. */
export function firstPersonOf({ content }: Partial<Answer>): Person | null {
	return content?.kind === 'readable' ? (content.other?.person ?? null) : null;
}

/** The words for a state that the answer reached: the current one, or that of an entry of its timeline. */
function wordsOf(state: AnswerState, answer: ToldAnswer, entry = answer.timeline?.at(-1)): Words {
	if (state === answer.state && mayHaveArrived(answer)) return PERHAPS_ARRIVED[state as keyof typeof PERHAPS_ARRIVED];
	if (state === 'refused' && isProvenRefusal(answer.lastError)) return MAY_NOT_ANSWER;
	if (state !== 'conflicted') return STATE_WORDS[state];
	const first = firstPersonOf(answer);
	return LOST_TO_WORDS[entry?.lostTo ?? (first !== null && first.userId === answer.person?.userId ? 'own' : 'other')];
}

/** The last lines of an answer's timeline, each with its time, and what became of the agent. mrkdwn. */
export function timelineWords(answer: Answer): string {
	const { agentOutcome } = answer;
	const lineOf = (entry: TimelineEntry) => `${wordsOf(entry.state, answer, entry)[0]} · ${momentMrkdwn(entry.at)}`;
	const lines = answer.timeline.slice(-8).map(lineOf);
	if (agentOutcome !== null && agentOutcome !== 'resumed') lines.push(AGENT_OUTCOME_WORDS[agentOutcome][0]);
	return lines.join('\n');
}

function currentWords(answer: ToldAnswer): Words {
	const { state, agentOutcome } = answer;
	return state === 'delivered' && agentOutcome !== null ? AGENT_OUTCOME_WORDS[agentOutcome] : wordsOf(state, answer);
}

/** What became of an answer, in one line. mrkdwn. */
export function stateLine(answer: ToldAnswer): string {
	return currentWords(answer)[0];
}

/** The first sentence of a receipt, without mark-up. */
export function receiptHeadline(answer: ToldAnswer): string {
	const { state, lastError } = answer;
	const ending = mayHaveArrived(answer) ? null : firstEndingOf(answer);
	if (ending !== null) return `The first answer ${FIRST_WORDS[ending][0]}. Yours was not sent; you can send it now.`;
	if (lastError !== null && state === 'accepted') return 'Your answer is saved and not delivered yet.';
	if (lastError !== null && state === 'delivering')
		return 'Your answer is saved and was sent. Handraise is checking whether it arrived.';
	if (agentMayStand(answer))
		return 'Your answer was delivered, but the session service reported a failure. The agent may not have been started.';
	return currentWords(answer)[1];
}

/** To the others who may answer: why a question is open again. Empty without such an answer. mrkdwn. */
export function notSentWords(refused: Answer | null): string {
	if (refused === null) return '';
	const why = refused.lastError === 'deactivated' ? 'the account is deactivated' : 'this person may no longer answer';
	return `⛔ The answer of ${personMrkdwn(refused.person.userId)} was not sent: ${why}.`;
}

/** Whether the answer has a text that may be shown again. */
export function hasText(answer: Answer): boolean {
	return itemsOf(answer).some((item) => !item.secret && !isBlank(item.value ?? ''));
}

export const TEXT_REMOVED = 'The text of this answer was removed because its retention time is over.';
export const MOST_ITEMS = 10;

/** What the author wrote, in up to about `room` characters; never a secret. */
export function ownText(answer: Answer, room: number): KnownBlock[] {
	const { content } = answer;
	if (content.kind === 'removed') return context(TEXT_REMOVED);
	if (content.kind === 'unreadable')
		return context('The text of this answer was stored with another encryption key and cannot be read.');
	const items = content.items.filter((item) => item.value !== null || item.wiped);
	const itemRoom = Math.min(2700, Math.floor(room / Math.max(1, Math.min(items.length, MOST_ITEMS))));
	const shown = items.slice(0, MOST_ITEMS).flatMap((item) => {
		const title = quotedTitleMrkdwn(item.title, 200) || 'Your answer';
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

/** Answers on a page of the history: each takes up to 14 blocks of the 100. */
export const HISTORY_PAGE = 6;

/** Above the history of a session. mrkdwn. */
export function historyWords(sessionId: string, total: number): string {
	const name = sessionName(sessionId);
	if (total === 0) return `Nobody has answered ${name} through Handraise yet.`;
	return `${total === 1 ? 'One answer' : `${total} answers`} to ${name}, newest first.`;
}

/** Who answered what and when; secrets stay hidden. `answers`: newest first, from `metadata.offset` on. */
export function historyView(metadata: ViewMetadata, answers: readonly Answer[], total: number): ModalView {
	const { offset } = metadata;
	const next = offset + HISTORY_PAGE;
	const shown = answers.slice(0, HISTORY_PAGE);
	return modal({
		callbackId: CALLBACKS.history,
		title: 'History',
		metadata,
		blocks: [
			...section(historyWords(metadata.sessionId, total)),
			...shown.flatMap((answer): KnownBlock[] => [
				divider(),
				...section(personMrkdwn(answer.person.userId)),
				...ownText(answer, 3000),
				...context(timelineWords(answer)),
			]),
			...buttons(
				offset > 0 ? button(ACTIONS.historyNewer, 'Newer answers', { value: String(offset - HISTORY_PAGE) }) : null,
				next < total ? button(ACTIONS.historyOlder, 'Older answers', { value: String(next) }) : null,
			),
			...context(shown.length === 0 && total > 0 ? 'No more answers here.' : ''),
		],
	});
}
