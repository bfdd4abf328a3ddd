// Owns `answers`, with the other stores of this folder: what reads show of what became of delivered answers.

import { type Answer, awaitsAgentOutcome, BAD_OUTCOMES } from '../domain/answer.ts';
import { type CipherTx, from } from '../store/database.ts';
import { tellAuthor } from '../surfaces/view-plan-store.ts';
import type { AnswerOutcome } from './earlier-answers.ts';
import { recordChange } from './recorded.ts';
import { type AnswerRow, changeAnswer, contentWith, enterState, readAnswer } from './rows-store.ts';

/**
 * Notes what a read shows of answers, and has their authors told. Returns those that it changed. Comes before the lock
 * of their session: the order in which all writes lock them.
 */
export async function noteOutcomes(tx: CipherTx, outcomes: readonly AnswerOutcome[]): Promise<Answer[]> {
	const { trx, cipher, now } = tx;
	const changed: Answer[] = [];
	for (const { answerId, outcome, repeats } of outcomes.toSorted((a, b) => (a.answerId < b.answerId ? -1 : 1))) {
		const row = await from(trx, 'answers', { id: answerId, state: 'delivered' })
			.selectAll()
			.forUpdate()
			.executeTakeFirst();
		const answer = row === undefined ? null : readAnswer(row, cipher);
		if (answer === null || !awaitsAgentOutcome(answer)) continue;
		const resumed = outcome === 'resumed' && { ...enterState(answer, 'resumed', now), startFailed: 0 };
		const isOver = outcome !== null && !awaitsAgentOutcome({ state: 'delivered', agentOutcome: outcome });
		const told = outcome !== null && { agentOutcome: outcome, ...(isOver && { nextAttemptAt: null }), ...resumed };
		const content = repeats && contentWith(row as AnswerRow, { repeats }, cipher);
		const after = await changeAnswer(trx, cipher, answer, { ...told, content });
		recordChange(tx, answer, after, false);
		// Its receipt may have no row any more, because those are kept for two days: then this adds one.
		if (outcome !== null && BAD_OUTCOMES.includes(outcome)) await tellAuthor(trx, answer, now);
		changed.push(after);
	}
	return changed;
}
