import { randomUUID } from 'node:crypto';
import { type Clock, uptimeOf } from '../clock.ts';
import { codeOf, HandraiseError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Answer, type Person, submissionKeyOf } from './answer.ts';
import type { Claims } from './claims.ts';
import type { AcceptResult, AnswerStore, DraftStore, NewAnswer, QuestionObserver } from './ports.ts';

/** What a submission says; the rest of an answer is ours to add. */
export type Submission = Omit<NewAnswer, 'id' | 'submissionKey' | 'acceptedAt' | 'giveUpAt'> & {
	/** The form within the view: a view that shows another form later is another submission. */
	readonly formId: string;
};

/** No second try after a failure that took longer: Slack waits three seconds for the acknowledgement. */
const ASK_AGAIN_WITHIN_MS = 1_000;

interface Dependencies {
	readonly store: AnswerStore;
	readonly drafts: DraftStore;
	readonly claims: Claims;
	readonly observer: QuestionObserver;
	readonly clock: Clock;
	/** Wakes the worker. */
	readonly wake: () => void;
	readonly metrics: { accepted(kind: AcceptResult['kind']): void };
	readonly giveUpMs: number;
	/** How long a PUT may be under way, see `mayLandForMs`. */
	readonly landsWithinMs: number;
	readonly log: Log;
}

/** What people do with their answers: submit, try again, give up. Everything is committed when the promise resolves. */
export function createAnswers(deps: Dependencies) {
	const { store, drafts, claims, observer, clock, wake, metrics, giveUpMs, landsWithinMs, log } = deps;

	/** Stores it, and asks once more when the reply was lost: its key finds a submission that was committed. */
	async function acceptSurely(answer: NewAnswer): Promise<AcceptResult> {
		const start = uptimeOf(clock);
		try {
			return await store.accept(answer);
		} catch (error) {
			if (!isCommitUnknown(error)) throw error;
			log.warn({ code: codeOf(error) }, 'the reply to storing an answer was lost');
			// Pressing again is the same submission, so nothing is sent twice.
			const unknown = new HandraiseError('the reply to storing an answer was lost', {
				code: 'acceptance_unknown',
				retryable: true,
				cause: error,
			});
			if (uptimeOf(clock) - start > ASK_AGAIN_WITHIN_MS) throw unknown;
			return await store.accept(answer).catch(() => {
				throw unknown;
			});
		}
	}

	return {
		/**
		 * Stores an answer durably: acknowledge a submission only after this.
		 * @throws HandraiseError `store_unavailable` when nothing was accepted, `acceptance_unknown` when it may have been
		 */
		async submit({ formId, ...submission }: Submission): Promise<AcceptResult> {
			const now = clock.now();
			const result = await acceptSurely({
				...submission,
				id: randomUUID(),
				submissionKey: submissionKeyOf(submission.viewId, formId),
				acceptedAt: now,
				giveUpAt: now + giveUpMs,
			});
			metrics.accepted(result.kind);
			return result;
		},

		/**
		 * What need not hold up the acknowledgement of an accepted answer: sending it, ending the claim, discarding the
		 * draft.
		 */
		async afterAccept(answer: Answer): Promise<void> {
			wake();
			observer.questionUpdated(answer.question, 'answer');
			await Promise.all([
				claims.release(answer.question, answer.person),
				drafts.discard(answer.person, answer.question),
			]);
		},

		/** Puts an answer that failed or waits back into the queue. Only its author can. */
		async tryAgain(id: string, person: Person) {
			const now = clock.now();
			const result = await store.retry(id, person, now, now + giveUpMs);
			if (result.kind === 'queued') {
				wake();
				observer.questionUpdated(result.answer.question, 'answer');
			}
			return result;
		},

		/** After a start with the right encryption key: what waited only because it could not be read is sent now. */
		async sendReadableAgain(): Promise<number> {
			const readable = (await store.waitingBecause('values_unreadable')).filter(
				({ content }) => content.kind === 'readable',
			);
			const now = clock.now();
			for (const { id, person } of readable) await store.retry(id, person, now, now + giveUpMs);
			if (readable.length > 0) wake();
			return readable.length;
		},

		/**
		 * Has a delivered answer sent once more, because the service said that it could not start the agent. Only its author
		 * can; null when there is nothing to start any more, or it was sent again a moment ago.
		 */
		async sendAgain(id: string, person: Person): Promise<Answer | null> {
			const now = clock.now();
			const answer = await store.askRestart(id, person, now, now - landsWithinMs);
			if (answer !== null) wake();
			return answer;
		},

		/** Its author gives an answer up; null when it is too late for that or not theirs. */
		async withdraw(id: string, person: Person): Promise<Answer | null> {
			const answer = await store.withdraw(id, person, clock.now());
			if (answer !== null) observer.questionUpdated(answer.question, 'answer');
			return answer;
		},
	};
}

export type Answers = ReturnType<typeof createAnswers>;

function isCommitUnknown(error: unknown): boolean {
	return error instanceof HandraiseError && 'commitUnknown' in error && error.commitUnknown === true;
}
