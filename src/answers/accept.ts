import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Answer, Person } from './answer.ts';
import type { Claims } from './claims.ts';
import type { AcceptResult, AnswerStore, DraftStore, NewAnswer, QuestionObserver } from './ports.ts';

/** What a submission says; the rest of an answer is ours to add. */
export type Submission = Omit<NewAnswer, 'id' | 'submissionKey' | 'acceptedAt' | 'giveUpAt'> & {
	/** The form within the view: a view that shows another form later is another submission. */
	readonly formId: string;
};

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
}

/** What people do with their answers: submit, try again, give up. Everything is committed when the promise resolves. */
export function createAnswers(deps: Dependencies) {
	const { store, drafts, claims, observer, clock, wake, metrics, giveUpMs } = deps;
	return {
		/**
		 * Stores an answer durably: acknowledge a submission only after this.
		 * @throws StoreUnavailableError when it could not be stored; nothing was accepted then
		 */
		async submit({ formId, ...submission }: Submission): Promise<AcceptResult> {
			const now = clock.now();
			const result = await store.accept({
				...submission,
				id: randomUUID(),
				submissionKey: `${submission.viewId}:${formId}`,
				acceptedAt: now,
				giveUpAt: now + giveUpMs,
			});
			metrics.accepted(result.kind);
			return result;
		},

		/**
		 * What follows an accepted answer and need not hold up the acknowledgement: it is sent, the claim is over, the
		 * draft has become the answer.
		 */
		async afterAccept(answer: Answer): Promise<void> {
			wake();
			await claims.release(answer.question, answer.person);
			await drafts.discard(answer.person, answer.question);
			observer.questionTouched(answer.question, 'answer');
		},

		/** Puts an answer that failed or waits back into the queue. Only its author can. */
		async tryAgain(id: string, person: Person) {
			const now = clock.now();
			const result = await store.retry(id, person, now, now + giveUpMs);
			if (result.kind === 'queued') {
				wake();
				observer.questionTouched(result.answer.question, 'answer');
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

		/** Its author gives an answer up; null when it is too late for that or not theirs. */
		async withdraw(id: string, person: Person): Promise<Answer | null> {
			const answer = await store.withdraw(id, person, clock.now());
			if (answer !== null) observer.questionTouched(answer.question, 'answer');
			return answer;
		},
	};
}

export type Answers = ReturnType<typeof createAnswers>;
