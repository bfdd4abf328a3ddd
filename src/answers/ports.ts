import type { Lease, QueuedRows } from '../lease-loop.ts';
import type { BeforePut } from '../questions/compare.ts';
import type { AnswerMarks } from '../questions/secrecy.ts';
import type { AnsweredItem, Session } from '../questions/session.ts';
import type {
	AgentOutcome,
	Answer,
	AnswerItem,
	AnswerState,
	OtherAnswer,
	Person,
	QuestionKey,
	ReceiptState,
	SubmittedAnswer,
} from './answer.ts';

/** An answer as submitted. */
export interface NewAnswer extends SubmittedAnswer {
	readonly items: readonly AnswerItem[];
	/** Whether the form had the box for secret answers. Without it, `secret` of the items is a guess. */
	readonly boxed: boolean;
	/** When the session of the form was read. The author has not seen later deliveries. */
	readonly formReadAt: number;
}

export type AcceptResult =
	/** Committed. Waiting answers to the same question are `conflicted` now. */
	| { readonly kind: 'accepted'; readonly answer: Answer }
	/** The same submission again. `edited`: its text was replaced, because nothing was sent yet. */
	| { readonly kind: 'repeated'; readonly answer: Answer; readonly edited: boolean }
	/** The same submission with another text, after sending began. The first text stays. */
	| { readonly kind: 'tooLate'; readonly answer: Answer }
	/** Another answer is live or was delivered since the form was read. This one is stored as `conflicted`. */
	| { readonly kind: 'taken'; readonly by: Answer; readonly answer: Answer };

/** The fields that a step may write. A change of the state appends to the timeline. */
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
	/** It is live, delivered or withdrawn. */
	| { readonly kind: 'notRetryable'; readonly answer: Answer }
	/** A secret value was wiped or the values are unreadable, so the person has to answer again. */
	| { readonly kind: 'valuesGone'; readonly answer: Answer }
	| { readonly kind: 'notFound' };

/**
 * Stores answers. Every method is one transaction, committed (on SQLite: synced to disk) when its promise resolves. Throws
 * `StoreUnavailableError` (code `store_unavailable`, retryable).
 */
export interface AnswerStore {
	readonly rows: QueuedRows;
	/**
	 * Idempotent by `submissionKey`. Only one answer to a question is live, across all teams. A one-press answer that comes
	 * second to somebody else's is due after `TOLD_WITHIN_MS`, unless `noteTold` says before that its author knows.
	 */
	accept(answer: NewAnswer): Promise<AcceptResult>;
	/** Notes that the author of a `conflicted` answer was told so. Changes nothing once the worker has taken it. */
	noteTold(id: string): Promise<void>;
	/**
	 * Leases up to `limit` due answers for `service`, oldest first, at most one per session at a time; where only the author is
	 * to be told, only if they are of `StoreOptions.workspace`. Damaged answers are put off and
	 * block nothing.
	 */
	takeDue(service: string, lease: Lease, limit: number, now: number): Promise<readonly Answer[]>;
	/**
	 * Writes `patch` if the lease `token` still holds the answer and its state is still that of `answer`; with `editCount`,
	 * only if its text is the same too. Returns the stored answer. Null when another replica has it, its author changed it
	 * (`retry`, `withdraw`), another answer replaced it, or an earlier write changed the state although its reply was lost.
	 * `release` gives the lease back in the same write. Ending states wipe secret values in the same write.
	 */
	update(
		answer: Pick<Answer, 'id' | 'state'>,
		token: string,
		patch: AnswerPatch,
		options: { now: number; release: boolean; editCount?: number },
	): Promise<Answer | null>;
	/** Prolongs the lease; false when it was lost. */
	renew(id: string, lease: Lease, now: number): Promise<boolean>;
	/** Gives these leases back, in any state of their answers. */
	release(held: readonly { readonly id: string; readonly token: string }[]): Promise<void>;
	/**
	 * When `takeDue` may find an answer next, or null: the earliest `nextAttemptAt`, but not before a lease on the answer's
	 * session lapses.
	 */
	nextDueAt(service: string): Promise<number | null>;
	get(id: string): Promise<Answer | null>;
	/** Answers in the state `waiting` with this `lastError`, oldest first. */
	waitingBecause(lastError: string): Promise<readonly Answer[]>;
	/** The newest answer to this question that is live, waiting, delivered or resumed; null when there is none. */
	standing(question: QuestionKey): Promise<Answer | null>;
	/** The newest answer to this question, with this fingerprint, whose author was not allowed to send it any more. */
	refused(question: QuestionKey, fingerprint: string): Promise<Answer | null>;
	/** Answers that arrived for this question with this fingerprint, newest delivery first. */
	delivered(question: QuestionKey, fingerprint: string): Promise<readonly Answer[]>;
	/** Makes live answers due whose last attempt failed with one of these codes, because the service is back. Returns how many. */
	hasten(service: string, lastErrors: readonly string[], now: number): Promise<number>;
	/** How many live answers are for another service's address, so that nothing sends them. */
	unsentElsewhere(service: string): Promise<number>;
	/** Positions that delivered answers of ours left empty on purpose, for questions with this fingerprint. */
	leftEmpty(question: QuestionKey, fingerprint: string): Promise<ReadonlySet<number>>;
	/** What all answers of a session say about secrecy, oldest first. */
	marks(service: string, sessionId: string): Promise<readonly AnswerMarks[]>;
	/** Puts a failed answer back into the queue, for its author alone. */
	retry(id: string, person: Person, now: number, giveUpAt: number): Promise<RetryResult>;
	/**
	 * Discards an answer that was not sent yet or (unless `onlyUnsent`) failed, for its author alone; null when that is not
	 * possible. In the same transaction the newest answer of each person that lost to it waits for its author
	 * (`FIRST_ENDINGS`), and its text becomes a draft. So does an update to a failed state other than `conflicted`; for
	 * `changed`, only of answers to another version of the question.
	 */
	withdraw(id: string, person: Person, now: number, options?: { onlyUnsent: boolean }): Promise<Answer | null>;
	/**
	 * Notes that its author wants a delivered answer sent again to start the agent. Null when the service reported no
	 * failure to start, and when such a PUT began after `quietSince` and may still be under way.
	 */
	askRestart(id: string, person: Person, now: number, quietSince: number): Promise<Answer | null>;
	/** The answers of people of the workspace `teamId`, newest first. */
	history(
		of: { service: string; sessionId: string; teamId: string },
		page: { offset: number; limit: number },
	): Promise<{ answers: readonly Answer[]; total: number }>;
	stats(): Promise<AnswerStats>;
	/**
	 * Wipes the secret values of answers that have been `waiting` since before `before`, and makes their receipts due.
	 * Returns how many.
	 */
	wipeWaitingSecrets(before: number, now: number): Promise<number>;
	/**
	 * Removes only the values of answers that ended before `before` or have been `waiting` since before it, and makes the
	 * receipts of the latter due. Returns how many.
	 */
	removeValues(before: number, now: number): Promise<number>;
}

/** What a form shows, as far as Slack has told: offered text and typed text. Never secret fields. */
export interface Draft {
	/** The form's own id (in its private_metadata). */
	readonly formId: string;
	readonly person: Person;
	readonly question: QuestionKey;
	readonly fingerprint: string;
	/** Of what the form shows; null when that is not known. */
	readonly shownHash: string | null;
	/** By position. A text longer than an input holds is shown cut and sent whole. */
	readonly values: Readonly<Record<number, string>>;
	/** Positions whose box is ticked. */
	readonly secret?: readonly number[];
	readonly updatedAt: number;
}

export interface DraftStore {
	/**
	 * Writes or replaces the draft of this form. Writes nothing when `submissionKey` was submitted, because events of typing
	 * can arrive after the submission.
	 */
	save(draft: Draft, submissionKey?: string): Promise<void>;
	get(formId: string): Promise<Draft | null>;
	/** The newest draft of this person for this question, with any fingerprint. */
	newest(person: Person, question: QuestionKey): Promise<Draft | null>;
	/** Removes these positions from all drafts of this person for this question, because their texts are secret now. */
	forget(person: Person, question: QuestionKey, positions: readonly number[]): Promise<void>;
	/**
	 * Removes the drafts of this person for this question, because `answer` was submitted. The draft that it became itself
	 * when the first answer was withdrawn stays.
	 */
	discard(answer: Pick<Answer, 'id' | 'person' | 'question'>): Promise<void>;
	removeOlderThan(before: number): Promise<number>;
}

/** "(name) is answering": it informs and never blocks. */
export interface Claim {
	readonly question: QuestionKey;
	readonly person: Person;
	/** When it lapses. */
	readonly until: number;
}

export interface ClaimStore {
	/** Sets or prolongs a claim. True when this person had no active claim before. */
	claim(claim: Claim, now: number): Promise<boolean>;
	/** True when there was a claim. */
	release(question: QuestionKey, person: Person): Promise<boolean>;
	/** The claims that have not lapsed, oldest first. */
	active(question: QuestionKey, now: number): Promise<readonly Claim[]>;
	removeLapsed(now: number): Promise<number>;
}

/** What delivery needs of `session-service/client.ts`. */
export interface DeliveryService {
	/** Waits for the budget of one read and one PUT at delivery priority, so that the PUT does not wait after the read. */
	reserveDelivery(signal?: AbortSignal): Promise<DeliveryPermit>;
	/** A read for a confirmation check, at the lowest priority. */
	read(
		sessionId: string,
		options: { priority: 'background'; signal?: AbortSignal },
	): Promise<{ readonly session: Session }>;
	/** How long a call may take in total, in ms. A PUT cannot land later than that after it left. */
	readonly callTimeoutMs: number;
}

export interface DeliveryPermit {
	/** `endedAt`: when the whole response had arrived. */
	read(sessionId: string): Promise<{ readonly session: Session; readonly endedAt: number }>;
	/**
	 * Sends all items, in order, once: the client never repeats it. `maySend` is called just before the request is written
	 * to its connection. When it returns false, nothing is sent.
	 */
	putAnswers(
		sessionId: string,
		messageIndex: number,
		items: readonly AnsweredItem[],
		maySend: () => boolean,
	): Promise<void>;
}

/** The result of sending a receipt. */
export interface Telling {
	readonly receiptState: ReceiptState;
	/** The pause that Slack asks for, in ms, when it limits the calls; else null. */
	readonly againAfterMs: number | null;
}

/** Tells people what became of an answer, in its modal or a DM. */
export interface Receipts {
	/** Never throws. Stops waiting once `shutdownSignal` is aborted. */
	tell(answer: Answer, shutdownSignal: AbortSignal): Promise<Telling>;
}

/** Called after the commit of every change that a question's cards show. Must not throw. */
export interface QuestionObserver {
	/**
	 * `delivered`: the service has just received an answer, so the session will change soon. `choice`: a one-press answer
	 * was given, taken back or has failed, so the question's posts change. `by`: whose claim or answer it is.
	 */
	questionUpdated(question: QuestionKey, what: 'claim' | 'answer' | 'delivered' | 'choice', by: Person): void;
}
