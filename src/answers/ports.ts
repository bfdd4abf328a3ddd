import type { Lease } from '../lease-loop.ts';
import type { BeforePut } from '../questions/compare.ts';
import type { AnswerMarks } from '../questions/secrecy.ts';
import type { AnsweredItem, Session } from '../questions/session.ts';
import type {
	AgentOutcome,
	Answer,
	AnswerItem,
	AnswerState,
	Origin,
	OtherAnswer,
	Person,
	QuestionKey,
	ReceiptState,
} from './answer.ts';

/** What a submission brings. */
export interface NewAnswer {
	readonly id: string;
	readonly submissionKey: string;
	readonly viewId: string;
	readonly person: Person;
	readonly question: QuestionKey;
	readonly fingerprint: string;
	readonly items: readonly AnswerItem[];
	readonly leftEmpty: readonly number[];
	/** Whether its author had the box that says what is secret; without it `secret` of the items is the guess. */
	readonly boxed: boolean;
	readonly origin: Origin;
	/** When the session was read that the form showed: a delivery after it was news to this person. */
	readonly formReadAt: number;
	readonly acceptedAt: number;
	readonly giveUpAt: number;
}

export type AcceptResult =
	/** Committed. Answers of others that waited for their authors have given way (now `conflicted`). */
	| { readonly kind: 'accepted'; readonly answer: Answer }
	/** The same submission again; `edited` when its text was replaced (only while nothing was sent). */
	| { readonly kind: 'repeated'; readonly answer: Answer; readonly edited: boolean }
	/** The same submission with another text, after sending began: the stored (first) text stands. */
	| { readonly kind: 'tooLate'; readonly answer: Answer }
	/** Another answer is live or was delivered since the form was read. This one is kept as `conflicted`. */
	| { readonly kind: 'taken'; readonly by: Answer; readonly answer: Answer };

/** The fields a transition may write. A state change appends to the timeline. */
export interface AnswerPatch {
	readonly state?: AnswerState;
	readonly attempts?: number;
	readonly nextAttemptAt?: number | null;
	readonly putStartedAt?: number | null;
	readonly before?: BeforePut | null;
	readonly deliveredAt?: number;
	readonly agentOutcome?: AgentOutcome | null;
	readonly lastError?: string | null;
	readonly other?: OtherAnswer;
	readonly receiptState?: ReceiptState;
	readonly notBefore?: number | null;
	readonly missingCount?: number;
	readonly startFailed?: boolean;
	readonly restartAskedAt?: number | null;
}

export interface AnswerStats {
	readonly byState: Readonly<Record<AnswerState, number>>;
	/** `acceptedAt` of the oldest answer that is accepted, delivering or waiting; null when there is none. */
	readonly oldestUndeliveredAt: number | null;
}

export type RetryResult =
	| { readonly kind: 'queued'; readonly answer: Answer }
	| { readonly kind: 'taken'; readonly by: Answer; readonly answer: Answer }
	/** It is live, delivered or withdrawn: nothing to try again. */
	| { readonly kind: 'notRetryable'; readonly answer: Answer }
	/** A secret value was wiped, or the values can not be read: only the person can give it again. */
	| { readonly kind: 'valuesGone'; readonly answer: Answer }
	| { readonly kind: 'notFound' };

/**
 * The durable answers. Every method is one transaction; a resolved promise means committed (on SQLite: synced to
 * disk). Throws `StoreUnavailableError` (code `store_unavailable`, retryable) when it cannot.
 */
export interface AnswerStore {
	/** Idempotent by `submissionKey`; lets one answer for a question be live, whatever team it came from. */
	accept(answer: NewAnswer): Promise<AcceptResult>;
	/**
	 * Leases up to `limit` answers for `service` whose `nextAttemptAt` is due, oldest first, at most one for a session at a
	 * time. What another version of the program wrote is put off and holds up nothing else.
	 */
	takeDue(service: string, lease: Lease, limit: number, now: number): Promise<readonly Answer[]>;
	/**
	 * Writes `patch` if the lease `token` still holds the answer and it is still in the state of `answer`; returns it as it
	 * is now. With `editCount` it must be the same text too. Null when it was lost to another replica, its author has changed
	 * what is to be done (`retry`, `withdraw`), another answer has replaced it, or an earlier write has changed its state
	 * though its confirmation was lost. `release` gives the lease back in the same write. Ending states wipe secret values in
	 * the same write.
	 */
	update(
		answer: Pick<Answer, 'id' | 'state'>,
		token: string,
		patch: AnswerPatch,
		options: { now: number; release: boolean; editCount?: number },
	): Promise<Answer | null>;
	/** Prolongs the lease; false when it was lost. */
	renew(id: string, lease: Lease, now: number): Promise<boolean>;
	/** Gives back these leases, whatever became of their answers. */
	release(held: readonly { readonly id: string; readonly token: string }[]): Promise<void>;
	/**
	 * When `takeDue` may find something next, or null: the earliest `nextAttemptAt`, but not before a lease on the
	 * answer's session (one that a dead replica left behind, perhaps) lapses.
	 */
	nextDueAt(service: string, now: number): Promise<number | null>;
	get(id: string): Promise<Answer | null>;
	/** Answers that wait for their authors because of this error code, oldest first. */
	waitingBecause(lastError: string): Promise<readonly Answer[]>;
	/** The newest answer to this question that is live, waiting, delivered or resumed; null when there is none. */
	standing(question: QuestionKey): Promise<Answer | null>;
	/** Those that arrived for this question with this fingerprint, newest delivery first. */
	delivered(question: QuestionKey, fingerprint: string): Promise<readonly Answer[]>;
	/** The service is back: live answers whose last attempt failed with one of these codes are due now. Returns how many. */
	hasten(service: string, lastErrors: readonly string[], now: number): Promise<number>;
	/** The clock was set: whatever waits for a time is looked at now, since that time may mean nothing any more. */
	lookAtAll(service: string, now: number): Promise<void>;
	/** How many live answers are for another service's address: nothing sends them. */
	unsentElsewhere(service: string): Promise<number>;
	/** Positions that delivered answers of ours left empty on purpose, for questions with this fingerprint. */
	leftEmpty(question: QuestionKey, fingerprint: string): Promise<ReadonlySet<number>>;
	/** What the answers of a session tell about secrecy, whoever gave them and whatever became of them. Oldest first. */
	marks(service: string, sessionId: string): Promise<readonly AnswerMarks[]>;
	/** Puts an answer that failed or waits back into the queue, for its author alone. */
	retry(id: string, person: Person, now: number, giveUpAt: number): Promise<RetryResult>;
	/** Its author gives up an answer that waits, failed or was not yet sent; null when that is not possible. */
	withdraw(id: string, person: Person, now: number): Promise<Answer | null>;
	/**
	 * Notes that its author wants a delivered answer sent once more to start the agent. Null when that makes no sense, and
	 * while such a PUT that began after `quietSince` may be under way.
	 */
	askRestart(id: string, person: Person, now: number, quietSince: number): Promise<Answer | null>;
	/** Newest first; only what the people of the workspace `teamId` gave. */
	history(
		of: { service: string; sessionId: string; teamId: string },
		page: { offset: number; limit: number },
	): Promise<{ answers: readonly Answer[]; total: number }>;
	stats(): Promise<AnswerStats>;
	/**
	 * Wipes the secret values of answers that have waited for their authors since before `before`, and has the authors
	 * told. Returns how many.
	 */
	wipeWaitingSecrets(before: number, now: number): Promise<number>;
	/**
	 * Removes the values of answers that ended before `before`, or have waited for their authors since before it and have
	 * those told, keeping the rest; returns how many.
	 */
	removeValues(before: number, now: number): Promise<number>;
}

/** What a form shows as far as we know: offered text, overwritten by what was typed. Never secret fields. */
export interface Draft {
	/** The form's own id (in its private_metadata). */
	readonly formId: string;
	readonly person: Person;
	readonly question: QuestionKey;
	readonly fingerprint: string;
	/** By position. May be longer than an input holds: then the form shows it cut and it is sent whole. */
	readonly values: Readonly<Record<number, string>>;
	/** Positions whose box is ticked. */
	readonly secret?: readonly number[];
	readonly updatedAt: number;
}

export interface DraftStore {
	/**
	 * Writes or replaces the draft of this form. Nothing is written once the form was submitted: `submissionKey` names the
	 * submission that it would become, and what was typed may be heard of after it.
	 */
	save(draft: Draft, submissionKey?: string): Promise<void>;
	get(formId: string): Promise<Draft | null>;
	/** The newest draft of this person for this question, whatever its fingerprint (the text is carried over where it fits). */
	newest(person: Person, question: QuestionKey): Promise<Draft | null>;
	/** Takes these positions out of all drafts of this person for this question: their texts are secret now. */
	forget(person: Person, question: QuestionKey, positions: readonly number[]): Promise<void>;
	/** Removes all drafts of this person for this question (it was submitted or given up). */
	discard(person: Person, question: QuestionKey): Promise<void>;
	removeOlderThan(before: number): Promise<number>;
}

/** "(name) is answering": informs, never blocks. */
export interface Claim {
	readonly question: QuestionKey;
	readonly person: Person;
	/** Lapses by itself at this time. */
	readonly until: number;
}

export interface ClaimStore {
	/** Sets or prolongs. Returns true when this person had no active claim on it before. */
	claim(claim: Claim, now: number): Promise<boolean>;
	/** True when there was one. */
	release(question: QuestionKey, person: Person): Promise<boolean>;
	/** Those that have not lapsed, oldest first. */
	active(question: QuestionKey, now: number): Promise<readonly Claim[]>;
	removeLapsed(now: number): Promise<number>;
}

/** The part of the session service that delivering needs (`session-service/client.ts` fits). */
export interface DeliveryService {
	/** Waits for the budget of one read and one PUT at delivery priority, so that nothing waits between them. */
	reserveDelivery(signal?: AbortSignal): Promise<DeliveryPermit>;
	/** A read for confirming, behind everything else that wants the budget. */
	read(
		sessionId: string,
		options: { priority: 'background'; signal?: AbortSignal },
	): Promise<{ readonly session: Session }>;
	/** How long a call may take in all, in ms: that long after it left, a PUT cannot land any more. */
	readonly callTimeoutMs: number;
}

export interface DeliveryPermit {
	/** `endedAt`: clock milliseconds when the whole response had arrived. */
	read(sessionId: string): Promise<{ readonly session: Session; readonly endedAt: number }>;
	/**
	 * All items, in order. Sent once, never repeated by the service's client. `mayLeave` is asked in the moment in which
	 * the request would be written to its connection; when it says no, nothing is sent.
	 */
	putAnswers(
		sessionId: string,
		messageIndex: number,
		items: readonly AnsweredItem[],
		mayLeave: () => boolean,
	): Promise<void>;
}

/** What the author has been told after another try. */
export interface Telling {
	readonly receiptState: ReceiptState;
	/** How long Slack wants to be left alone, in ms, when it refused a call as one too many; else null. */
	readonly againAfterMs: number | null;
}

/** Tells people what became of an answer: in its modal or a DM. Returns what it managed to tell. Never throws. */
export interface Receipts {
	/** Once `shutdownSignal` is aborted it does not wait any more. */
	tell(answer: Answer, shutdownSignal: AbortSignal): Promise<Telling>;
}

/** Hears of everything that changes what a question's cards show. Called after the commit; must not throw. */
export interface QuestionObserver {
	/** `delivered`: the service has just got an answer, so the session will change soon. */
	questionUpdated(question: QuestionKey, what: 'claim' | 'answer' | 'delivered'): void;
}
