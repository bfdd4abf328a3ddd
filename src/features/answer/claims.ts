import { codeOf } from '../../core/errors.ts';
import type { Core } from '../../core.ts';
import { isSamePerson, type Person, type QuestionKey, type QuestionUpdated } from '../../questions/answer.ts';
import type { Claim, ClaimStore } from './answering-store.ts';

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
		release: (question: QuestionKey, person: Person) => change(question, person, () => store.release(question, person)),
		/** The claims of other people, oldest first. */
		async others(question: QuestionKey, own: Person): Promise<readonly Claim[]> {
			const active = await store.active(question, clock.now());
			return active.filter(({ person }) => !isSamePerson(person, own));
		},
	};
}

export type Claims = ReturnType<typeof createClaims>;
