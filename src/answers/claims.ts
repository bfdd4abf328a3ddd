import type { Clock } from '../clock.ts';
import type { Person, QuestionKey } from './answer.ts';
import type { Claim, ClaimStore, QuestionObserver } from './ports.ts';

/** "(name) is answering" lapses by itself after this long without an action. */
const CLAIM_MS = 5 * 60_000;

interface Dependencies {
	readonly store: ClaimStore;
	readonly observer: QuestionObserver;
	readonly clock: Clock;
}

/** Who has a question open. A claim informs, it never blocks. */
export function createClaims({ store, observer, clock }: Dependencies) {
	return {
		/** Sets or prolongs a claim; cards hear of it only when it is new. */
		async take(question: QuestionKey, person: Person): Promise<void> {
			const now = clock.now();
			if (await store.claim({ question, person, until: now + CLAIM_MS }, now))
				observer.questionTouched(question, 'claim');
		},
		async release(question: QuestionKey, person: Person): Promise<void> {
			if (await store.release(question, person)) observer.questionTouched(question, 'claim');
		},
		/** Those of other people, oldest first. */
		async others(question: QuestionKey, person: Person): Promise<readonly Claim[]> {
			const active = await store.active(question, clock.now());
			return active.filter((claim) => claim.person.userId !== person.userId || claim.person.teamId !== person.teamId);
		},
	};
}

export type Claims = ReturnType<typeof createClaims>;
