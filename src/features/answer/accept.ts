import { randomUUID } from 'node:crypto';
import { uptimeOf } from '../../core/clock.ts';
import { codeOf, HandraiseError } from '../../core/errors.ts';
import type { Core } from '../../core.ts';
import {
	type AcceptResult,
	type Answer,
	type NewAnswer,
	type Person,
	type QuestionKey,
	type QuestionUpdated,
	UNREADABLE,
} from '../../questions/answer.ts';
import type { AnswerStore } from './answer-store.ts';
import type { Claim, ClaimStore, DraftStore } from './answering-store.ts';
import { mayLandForMs } from './put.ts';

export type Submission = Omit<NewAnswer, 'id' | 'press' | 'acceptedAt' | 'giveUpAt'> & {
	/** How long a one-press answer can be taken back before it is sent; null for a form. */
	readonly undoMs: number | null;
};

/** A failure that took longer leaves no time for a second try: Slack waits 3 s for the acknowledgement. */
const ASK_AGAIN_WITHIN_MS = 1_000;

/** What people do with their answers. Everything is committed when the promise resolves. `wake` wakes the worker. */
export function createAnswers(
	core: Core<{ answers: AnswerStore; claims: ClaimStore; drafts: DraftStore }>,
	questionUpdated: QuestionUpdated,
	wake: () => void,
) {
	const { serviceUrl, clock, log, metrics } = core;
	const { answers: store, drafts } = core.store;
	const { giveUpMs, service } = core.config;
	const claims = createClaims(core, questionUpdated);

	/** Repeats the write once when its reply was lost. That is safe: the submission key finds a committed answer. */
	async function acceptDespiteLostReply(answer: NewAnswer): Promise<AcceptResult> {
		const start = uptimeOf(clock);
		try {
			return await store.accept(answer);
		} catch (error) {
			if (!isCommitUnknown(error)) throw error;
			log.warn({ code: codeOf(error) }, 'lost the reply of the database while storing an answer');
			// Retryable: pressing again repeats the same submission, so nothing is sent twice.
			const unknown = new HandraiseError('lost the reply of the database while storing an answer', {
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

	function answerChanged({ question, press, person }: Answer): void {
		questionUpdated(question, 'answer', person);
		if (press !== null) questionUpdated(question, 'choice', person);
	}

	return {
		claims,

		/** Acknowledge only after this. @throws `store_unavailable`: nothing is stored; `acceptance_unknown`: perhaps */
		async submit({ undoMs, ...submission }: Submission): Promise<AcceptResult> {
			const now = clock.now();
			const result = await acceptDespiteLostReply({
				...submission,
				id: randomUUID(),
				press: undoMs === null ? null : { undoUntil: now + undoMs },
				acceptedAt: now,
				giveUpAt: now + giveUpMs,
			});
			metrics.answers.accepted(result.kind);
			return result;
		},

		async afterAccept(answer: Answer): Promise<void> {
			wake();
			questionUpdated(answer.question, answer.press === null ? 'answer' : 'choice', answer.person);
			await Promise.all([
				claims.release(answer.question, answer.person),
				// A press sends no draft, and can be taken back.
				answer.press === null && drafts.discard(answer),
			]);
		},

		/** Puts a failed answer back into the queue, for its author alone. */
		async tryAgain(id: string, person: Person) {
			const now = clock.now();
			const result = await store.retry(id, person, now, now + giveUpMs);
			if (result?.kind === 'queued') {
				wake();
				answerChanged(result.answer);
			}
			return result;
		},

		/** Sends answers that waited only for the right encryption key. Returns how many. */
		async sendReadableAgain(): Promise<number> {
			const readable = (await store.waitingBecause(UNREADABLE)).filter(({ content }) => content.kind === 'readable');
			const now = clock.now();
			for (const { id, person } of readable) await store.retry(id, person, now, now + giveUpMs);
			if (readable.length > 0) {
				log.info({ answers: readable.length }, 'answers can be read again and are sent');
				wake();
			}
			return readable.length;
		},

		/** Sends answers that failed with these codes now, instead of at their next attempt. Never rejects. */
		async hasten(codes: readonly string[]): Promise<void> {
			try {
				if ((await store.hasten(serviceUrl, codes, clock.now())) > 0) wake();
			} catch (error) {
				log.warn({ code: codeOf(error) }, 'could not send waiting answers early; they are sent at their next attempt');
			}
		},

		/** Has a delivered answer sent again, to start the agent; null when that is done or a repeat may run. */
		async sendAgain(id: string, person: Person): Promise<Answer | null> {
			const now = clock.now();
			const answer = await store.askRestart(id, person, now, now - mayLandForMs(service.callTimeoutMs));
			if (answer !== null) wake();
			return answer;
		},

		/** For its author alone; null when it is too late. `onlyUnsent`: not one that may have arrived. */
		async withdraw(id: string, person: Person, options = { onlyUnsent: false }): Promise<Answer | null> {
			const answer = await store.withdraw(id, person, clock.now(), options);
			if (answer === null) return null;
			wake();
			answerChanged(answer);
			return answer;
		},
	};
}

export type Answers = ReturnType<typeof createAnswers>;

function isCommitUnknown(error: unknown): boolean {
	return error instanceof HandraiseError && 'commitUnknown' in error && error.commitUnknown === true;
}

/** A claim lapses after this long without an action of its person. */
const CLAIM_MS = 5 * 60_000;

/** Who has a question open. A claim only informs, so a failure to store one is only logged. */
export function createClaims(
	{ store: { claims: store }, clock, log }: Core<{ claims: ClaimStore }>,
	questionUpdated: QuestionUpdated,
) {
	async function change(question: QuestionKey, by: Person, write: () => Promise<boolean>): Promise<void> {
		try {
			if (await write()) questionUpdated(question, 'claim', by);
		} catch (error) {
			log.warn({ session: question.sessionId, code: codeOf(error) }, 'could not store who is answering');
		}
	}

	return {
		/** Sets or prolongs a claim. Cards are updated only for a new one. */
		async take(question: QuestionKey, person: Person): Promise<void> {
			const now = clock.now();
			await change(question, person, () => store.claim({ question, person, until: now + CLAIM_MS }, now));
		},
		async release(question: QuestionKey, person: Person): Promise<void> {
			await change(question, person, () => store.release(question, person));
		},
		/** The claims of other people, oldest first. */
		async others(question: QuestionKey, { teamId, userId }: Person): Promise<readonly Claim[]> {
			const active = await store.active(question, clock.now());
			return active.filter(({ person }) => person.userId !== userId || person.teamId !== teamId);
		},
	};
}

export type Claims = ReturnType<typeof createClaims>;
