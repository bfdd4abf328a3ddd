import type { BeforePut } from '../questions/compare.ts';

/** A question of the service, wherever it is shown: known by service, session and message index. */
export interface QuestionKey {
	/** Identifies the service by its base address, so that one database can serve a service that moved or two of them. */
	readonly service: string;
	readonly sessionId: string;
	readonly messageIndex: number;
}

/** Names one press of Submit in one form, however often it is repeated: a view that shows another form is another. */
export function submissionKeyOf(viewId: string, formId: string): string {
	return `${viewId}:${formId}`;
}

/** A person in Slack. */
export interface Person {
	readonly teamId: string;
	readonly userId: string;
}

/** Where a form was opened, so that receipts can go back there. All null when it was opened in a DM or by id alone. */
export interface Origin {
	readonly channelId: string | null;
	/** The thread of the question or card in that channel. */
	readonly threadTs: string | null;
}

/**
 * - `accepted`: committed, not sent (or known not to have been saved); its text may still be replaced by its author.
 * - `delivering`: a PUT may have begun; its outcome may be unknown.
 * - `waiting`: nothing worked for a long time; waits for its author, blocks nobody.
 * - `delivered`: the service has it. `resumed`: and the agent went on.
 * - `conflicted`: somebody else's answer was there first. `changed`: the question is another now.
 * - `refused`: the service says no for good. `ended`: the session was over. `withdrawn`: its author gave it up.
 */
export const ANSWER_STATES = [
	'accepted',
	'delivering',
	'waiting',
	'delivered',
	'resumed',
	'conflicted',
	'changed',
	'refused',
	'ended',
	'withdrawn',
] as const;
export type AnswerState = (typeof ANSWER_STATES)[number];

/** The states of which a question can have only one answer at a time. */
export const BLOCKING_STATES = ['accepted', 'delivering'] as const satisfies readonly AnswerState[];

/** The states in which nothing more is sent unless the author asks for it. */
export const FAILED_STATES = [
	'waiting',
	'conflicted',
	'changed',
	'refused',
	'ended',
] as const satisfies readonly AnswerState[];

/** One item of the question as its author saw it, with what they said. */
export interface AnswerItem {
	/** As shown above the field; may be cut. Only for people to read: the PUT takes titles from the service. */
	readonly title: string;
	/** What its author wrote; '' when they left it empty on purpose; null when it was not theirs to fill, or was wiped. */
	readonly value: string | null;
	/** Looks like a password or a code: never shown again, wiped when the answer ends. */
	readonly secret: boolean;
	/** True once a secret value was removed from the store. */
	readonly wiped: boolean;
}

/** The answer that was there first, for telling the second person. */
export interface OtherAnswer {
	/** Who gave it, or null: somebody outside Handraise (the service's own web page). */
	readonly person: Person | null;
	/** By position, secret ones null. */
	readonly values: readonly (string | null)[];
	readonly at: number | null;
	/** Word for word what this person wanted to send. */
	readonly same: boolean;
}

/**
 * How the session went on after delivery. `unseen`: no sign within ten minutes. `overwritten`: another text stands in the
 * answer's place now, put there by somebody outside Handraise (the service's last writer wins).
 */
export const AGENT_OUTCOMES = ['resumed', 'failed', 'stopped', 'paused', 'completed', 'unseen', 'overwritten'] as const;
export type AgentOutcome = (typeof AGENT_OUTCOMES)[number];

/** A state with the time it was reached: the audit trail. */
export interface TimelineEntry {
	readonly state: AnswerState;
	/** Milliseconds since the epoch. */
	readonly at: number;
}

/** Values live encrypted; they can be gone (retention) or written with another key. */
export type AnswerContent =
	| { readonly kind: 'readable'; readonly items: readonly AnswerItem[]; readonly other: OtherAnswer | null }
	| { readonly kind: 'removed' }
	| { readonly kind: 'unreadable' };

/** What the author was last told about an answer, and where: after a restart receipts go on without repeating themselves. */
export interface ReceiptState {
	/** The last state told, anywhere. */
	readonly state: AnswerState | null;
	readonly agentOutcome: AgentOutcome | null;
	/** The DM that carries the receipt, once there is one: it is updated, not repeated. */
	readonly dm: { readonly channelId: string; readonly ts: string } | null;
	/** False once Slack said that the modal is gone. */
	readonly modalOpen: boolean;
}

/** An answer that a person gave. All times are milliseconds since the epoch. */
export interface Answer {
	readonly id: string;
	/** One press of Submit in one form, however often Slack or the person repeats it: the view's id and the form's. */
	readonly submissionKey: string;
	readonly viewId: string;
	readonly person: Person;
	readonly question: QuestionKey;
	readonly fingerprint: string;
	readonly content: AnswerContent;
	/** Positions its author left empty on purpose: they count as answered. */
	readonly leftEmpty: readonly number[];
	readonly origin: Origin;
	readonly state: AnswerState;
	readonly attempts: number;
	/** How often its author replaced the text before sending began. */
	readonly editCount: number;
	readonly acceptedAt: number;
	/** When its author is asked, if nothing worked until then. */
	readonly giveUpAt: number;
	/** When the worker looks at it again; null when there is nothing left to do. */
	readonly nextAttemptAt: number | null;
	/**
	 * Set before a PUT begins, cleared when it is known that nothing was saved. In a final state it says that the answer may
	 * have arrived all the same.
	 */
	readonly putStartedAt: number | null;
	readonly before: BeforePut | null;
	readonly deliveredAt: number | null;
	readonly agentOutcome: AgentOutcome | null;
	readonly endedAt: number | null;
	/** The stable code of the last failure. */
	readonly lastError: string | null;
	readonly timeline: readonly TimelineEntry[];
	readonly receiptState: ReceiptState;
	/** The service asked not to be asked before this time; null when it did not. */
	readonly notBefore: number | null;
	/** Attempts in a row for which the service did not know the session. */
	readonly missingCount: number;
	/** The service saved it and reported a failure, most likely to start the agent's machine. */
	readonly startFailed: boolean;
	/** Its author asked to have it sent once more, to start the agent; null once that has begun. */
	readonly restartAskedAt: number | null;
}

/** After this long an author is told that their answer takes long: they will have left the modal. */
export const TAKES_LONG_MS = 30_000;

/** True while the answer may still reach the service by itself. */
export function isBlocking(state: AnswerState): boolean {
	return (BLOCKING_STATES as readonly AnswerState[]).includes(state);
}

/** True when nothing more is sent by itself and the author has to know; they can have it tried again. */
export function isFailed(state: AnswerState): boolean {
	return (FAILED_STATES as readonly AnswerState[]).includes(state);
}

/** True once nothing will be sent any more (a `delivered` one may still be confirmed). */
export function isSettled(state: AnswerState): boolean {
	return !isBlocking(state) && state !== 'waiting';
}

/** What it says; nothing once the values are gone, or while they cannot be read. */
export function itemsOf({ content }: Answer): readonly AnswerItem[] {
	return content.kind === 'readable' ? content.items : [];
}
