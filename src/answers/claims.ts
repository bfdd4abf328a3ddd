import type { Clock } from '../clock.ts';
import { codeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Person, QuestionKey } from './answer.ts';
import type { Claim, ClaimStore, QuestionObserver } from './ports.ts';

/** "(name) is answering" lapses by itself after this long without an action. */
const CLAIM_MS = 5 * 60_000;

interface Dependencies {
	readonly store: ClaimStore;
	readonly observer: QuestionObserver;
	readonly clock: Clock;
	readonly log: Log;
}

/** Who has a question open. A claim informs, it never blocks: one that cannot be stored is logged and nothing else. */
export function createClaims({ store, observer, clock, log }: Dependencies) {
	async function note(question: QuestionKey, change: () => Promise<boolean>): Promise<void> {
		try {
			if (await change()) observer.questionUpdated(question, 'claim');
		} catch (error) {
			log.warn({ session: question.sessionId, code: codeOf(error) }, 'who is answering could not be noted');
		}
	}

	return {
		/** Sets or prolongs a claim; cards hear of it only when it is new. */
		async take(question: QuestionKey, person: Person): Promise<void> {
			const now = clock.now();
			await note(question, () => store.claim({ question, person, until: now + CLAIM_MS }, now));
		},
		async release(question: QuestionKey, person: Person): Promise<void> {
			await note(question, () => store.release(question, person));
		},
		/** Those of other people, oldest first. */
		async others(question: QuestionKey, person: Person): Promise<readonly Claim[]> {
			const active = await store.active(question, clock.now());
			return active.filter((claim) => claim.person.userId !== person.userId || claim.person.teamId !== person.teamId);
		},
	};
}

export type Claims = ReturnType<typeof createClaims>;
