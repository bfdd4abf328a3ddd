import { isProvenRefusal } from '../../answers/access-policy.ts';
import {
	type AgentOutcome,
	type Answer,
	type AnswerState,
	type FAILED_STATES,
	type FirstEnding,
	firstDueAt,
	firstEndingOf,
	TAKES_LONG_MS,
	type TimelineEntry,
} from '../../answers/answer.ts';
import { isBlank, quoted } from '../text.ts';
import { errorWords } from './errors.ts';
import { contactMrkdwn, type Names, personMrkdwn } from './people.ts';
import { sessionIdMrkdwn, sessionName } from './sessions.ts';
import { momentMrkdwn } from './times.ts';

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
	resumed: ['▶️ The agent went on', 'Your answer was delivered and the agent went on.'],
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
const FIRST_WORDS: Readonly<Record<FirstEnding, Words>> = {
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

type SentAnswer = Pick<Answer, 'state'> & Partial<Pick<Answer, 'putStartedAt'>>;
type ReceiptAnswer = SentAnswer &
	Pick<Answer, 'agentOutcome' | 'lastError'> &
	Partial<Pick<Answer, 'startFailed' | 'person' | 'content' | 'timeline'>>;

/** Null unless the answer is no longer sent and nobody knows whether an earlier PUT arrived. */
function perhapsArrived({ state, putStartedAt }: SentAnswer): Words | null {
	if (putStartedAt == null || !Object.hasOwn(PERHAPS_ARRIVED, state)) return null;
	return PERHAPS_ARRIVED[state as keyof typeof PERHAPS_ARRIVED];
}

function isOwnFirst({ person, content }: Pick<ReceiptAnswer, 'person' | 'content'>): boolean {
	const first = content?.kind === 'readable' ? (content.other?.person ?? null) : null;
	return first !== null && first.userId === person?.userId;
}

/** The words for a state that the answer reached: the current one, or that of an entry of its timeline. */
function wordsOf(state: AnswerState, answer: ReceiptAnswer, entry = answer.timeline?.at(-1)): Words {
	if (state === 'refused' && isProvenRefusal(answer.lastError)) return MAY_NOT_ANSWER;
	if (state !== 'conflicted') return STATE_WORDS[state];
	return LOST_TO_WORDS[entry?.lostTo ?? (isOwnFirst(answer) ? 'own' : 'other')];
}

/** The last lines of an answer's timeline, each with its time, and what became of the agent. mrkdwn. */
export function timelineWords(answer: Answer): string {
	const { state, timeline, agentOutcome } = answer;
	const lines = timeline.slice(-8).map((entry) => {
		const [line] = (entry.state === state ? perhapsArrived(answer) : null) ?? wordsOf(entry.state, answer, entry);
		return `${line} · ${momentMrkdwn(entry.at)}`;
	});
	if (agentOutcome !== null && agentOutcome !== 'resumed') lines.push(AGENT_OUTCOME_WORDS[agentOutcome][0]);
	return lines.join('\n');
}

/** What became of an answer, in one line. mrkdwn. */
export function stateLine(answer: ReceiptAnswer): string {
	const { state, agentOutcome } = answer;
	const perhaps = perhapsArrived(answer);
	if (perhaps !== null) return perhaps[0];
	return (
		agentOutcome === null || state !== 'delivered' ? wordsOf(state, answer) : AGENT_OUTCOME_WORDS[agentOutcome]
	)[0];
}

/** The first sentence of a receipt, without mark-up. */
export function receiptHeadline(answer: ReceiptAnswer): string {
	const { state, agentOutcome, lastError } = answer;
	const perhaps = perhapsArrived(answer);
	if (perhaps !== null) return perhaps[1];
	const ending = firstEndingOf(answer);
	if (ending !== null) return `The first answer ${FIRST_WORDS[ending][0]}. Yours was not sent; you can send it now.`;
	if (lastError !== null && state === 'accepted') return 'Your answer is saved and not delivered yet.';
	if (lastError !== null && state === 'delivering')
		return 'Your answer is saved and was sent. Handraise is checking whether it arrived.';
	if (state !== 'delivered' && state !== 'resumed') return wordsOf(state, answer)[1];
	if (answer.startFailed && (agentOutcome === null || agentOutcome === 'unseen')) {
		return 'Your answer was delivered, but the session service reported a failure. The agent may not have been started.';
	}
	return (agentOutcome === null ? STATE_WORDS[state] : AGENT_OUTCOME_WORDS[agentOutcome])[1];
}

/** To the others who may answer: why a question is open again. Empty without such an answer. mrkdwn. */
export function notSentWords(refused: Answer | null, names: Names): string {
	if (refused === null) return '';
	const why = refused.lastError === 'deactivated' ? 'the account is deactivated' : 'this person may no longer answer';
	return `⛔ The answer of ${personMrkdwn(refused.person.userId, names)} was not sent: ${why}.`;
}

/** To somebody who came second: that the first answer, which could not be sent yet, is not delivered, and why. Else empty. */
export function notYetWords({ state, lastError }: Pick<Answer, 'state' | 'lastError'>): string {
	if (state !== 'accepted' || lastError === null) return '';
	const author = 'Handraise could not check with Slack whether its author may still answer.';
	const why = lastError === 'not_checked' ? author : whatHappened(lastError);
	return `⏳ The first answer is saved and not delivered yet. ${why} If it cannot be sent, you can send yours then.`;
}

export const CAN_CLOSE =
	'You can close this window. Your answer is still sent, and you get a message if it cannot be sent.';

/** The text below the headline: why, what was kept, what to do. mrkdwn; may be empty. */
export function receiptExplanation(
	answer: Answer,
	{ adminContact, now }: { readonly adminContact: string | null; readonly now: number },
): string {
	const { state, lastError, nextAttemptAt } = answer;
	const problem = lastError === null ? '' : whatHappened(lastError);
	const isCertain = perhapsArrived(answer) === null;
	switch (state) {
		case 'accepted':
		case 'delivering': {
			if (lastError === null) {
				return now - firstDueAt(answer) >= TAKES_LONG_MS
					? 'The session service is slow to respond. Handraise is still sending your answer. There is nothing to do: you get a message when it arrives or cannot be sent.'
					: CAN_CLOSE;
			}
			if (state === 'delivering') {
				return `${problem} Handraise reads the session again automatically. It sends your answer again only when it is certain that the first one did not arrive.`;
			}
			const retryAt = nextAttemptAt !== null && nextAttemptAt > now ? nextAttemptAt : null;
			return errorWords(lastError, { kept: 'answer', adminContact, retryAt }).text;
		}
		case 'waiting': {
			const ending = firstEndingOf(answer);
			if (ending !== null) return firstEndedText(answer, ending);
			const times = answer.attempts === 1 ? 'once' : `${answer.attempts} times`;
			return `${problem} Handraise tried ${times} since ${momentMrkdwn(answer.acceptedAt)}. ${wipedText(answer)}Try again, or discard it?`.trim();
		}
		case 'refused':
			return `${problem} ${keptText(answer)} Try again when this is fixed; ${contactMrkdwn(adminContact)} can help.`.trim();
		case 'conflicted':
			return `${isCertain ? 'Nothing was overwritten.' : 'It is not sent again.'} ${keptText(answer)}`;
		case 'changed':
			return `${isCertain ? 'The agent has changed its question.' : 'Look at the session before you answer again.'} ${keptText(answer)} *Answer the new question* fills it in where it fits.`;
		case 'ended':
			return `The agent of this session no longer reads answers. ${keptText(answer)}`;
		case 'delivered':
			return agentMayStand(answer) ? startFailedText(answer, adminContact) : '';
		default:
			return '';
	}
}

/** The answer to which this one lost is not sent any more. */
function firstEndedText(answer: Answer, ending: FirstEnding): string {
	const { content } = answer;
	const first = content.kind === 'readable' ? (content.other?.person ?? null) : null;
	const isWiped = content.kind === 'readable' && content.items.some((item) => item.wiped);
	const secrets = isWiped ? ' Passwords and codes were not kept: *Send mine* asks you to type them again.' : '';
	const who = first === null ? 'Somebody' : `<@${first.userId}>`;
	const what = isOwnFirst(answer) ? 'You had answered before' : `${who} answered before you`;
	const open = ending === 'first_over' || ending === 'first_unknown' ? '' : ' The question is open again.';
	return `${what}${FIRST_WORDS[ending][1]}${open} Your text is kept.${secrets}`;
}

function startFailedText({ restartAskedAt, lastError }: Answer, adminContact: string | null): string {
	if (restartAskedAt !== null) return 'It is being sent again, which may start the agent.';
	const failed =
		lastError === null
			? ''
			: `The last *Send again* failed. ${whatHappened(lastError)} Your answer is still in the session. `;
	return `${failed}*Send again* sends the same answer once more, if it is unchanged and the agent has not continued. That starts the agent with some versions of the session service only. If it does not, look at the session in the dashboard; ${contactMrkdwn(adminContact)} can help.`;
}

/** Retention removes secrets of a waiting answer first, then its whole text. */
function wipedText({ content }: Answer): string {
	if (content.kind === 'removed') return '*Try again* asks you to type it again. ';
	const isWiped = content.kind === 'readable' && content.items.some((item) => item.wiped);
	return isWiped ? 'Its passwords and codes were removed. *Try again* asks you to type them again. ' : '';
}

function keptText(answer: Answer): string {
	const hasSecret = answer.content.kind === 'readable' && answer.content.items.some((item) => item.secret);
	const secrets = 'Passwords and codes were not kept. Type them again.';
	if (!hasText(answer)) return hasSecret ? secrets : '';
	return hasSecret ? `Your text is below. ${secrets}` : 'Your text is below.';
}

function whatHappened(code: string): string {
	return errorWords(code, { kept: 'nothing', adminContact: null }).what;
}

/** The service saved the answer but reported a failure, and nobody has seen the agent continue. */
export function agentMayStand({ state, agentOutcome, startFailed }: Answer): boolean {
	return state === 'delivered' && startFailed && (agentOutcome === null || agentOutcome === 'unseen');
}

/** Whether the answer has a text that may be shown again. */
export function hasText({ content }: Answer): boolean {
	return content.kind === 'readable' && content.items.some((item) => !item.secret && !isBlank(item.value ?? ''));
}

export const TEXT_REMOVED = 'The text of this answer was removed because its retention time is over.';
export const TEXT_UNREADABLE = 'The text of this answer was stored with another encryption key and cannot be read.';

/** Above an author's own text that could not be sent. mrkdwn; `text` is for notifications. */
export function ownTextWords(answer: Answer): { readonly text: string; readonly headline: string } {
	const { sessionId } = answer.question;
	const isCertain = perhapsArrived(answer) === null;
	const fate = isCertain ? 'was not sent to the agent' : 'was sent to the agent and may have arrived';
	return {
		text: `An answer that ${fate} (session ${sessionIdMrkdwn(sessionId)})`,
		headline: `💬 <@${answer.person.userId}> wanted to answer ${sessionName(sessionId)}. This ${fate}:`,
	};
}

/** Above the history of a session. mrkdwn. */
export function historyWords(sessionId: string, total: number): string {
	const name = sessionName(sessionId);
	if (total === 0) return `Nobody has answered ${name} through Handraise yet.`;
	return `${total === 1 ? 'One answer' : `${total} answers`} to ${name}, newest first.`;
}

/** The result of pressing a receipt's button, if the receipt itself does not show it. */
export const PRESS_NOTES = {
	nothingToStart:
		'Your answer was not sent again: the agent has continued, the session is over, or it has a different answer now. Open the session to see it.',
	sentAgain: 'It was sent again a moment ago. Wait until the agent continues.',
	notInChannels: 'Nothing was posted: answers are not shown in channels here.',
	posted: '💬 Your text was posted.',
} as const;

/** *Send again* could not read the session. */
export function notSentAgainWords(code: string): string {
	return `Your answer was not sent again. ${whatHappened(code)} It is still in the session. Press *Send again* in a moment.`;
}

/** For a change after the first text was sent; shows the changed text so that it is not lost. mrkdwn. */
export function tooLateWords(texts: readonly string[]): string {
	const words = '✏️ Your change came too late: the text below was already being sent.';
	return texts.length === 0 ? words : `${words} You had changed it to:\n${quoted(texts.join('\n'), 1_500)}`;
}
