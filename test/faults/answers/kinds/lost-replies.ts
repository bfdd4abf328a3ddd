import { hasParameter } from '../../../support/lossy-proxy.ts';
import { until } from '../../until.ts';
import { savedOf } from '../receipt-watch.ts';
import { QUESTION, type Round, SECRET_QUESTION } from '../round.ts';
import type { FaultKind } from '../turn.ts';

const SAVED_WITHIN_MS = 15_000;
/** By then the program has stored a delivery and what the agent did after it. */
const NOTED_WITHIN_MS = 8_000;
/**
 * Half of the agents think until an answer whose COMMIT reply was lost has been leased again: no sign of its arrival
 * exists yet.
 */
const AGENT_PAUSE_MS = 4_000;

/**
 * States that an answer reaches. "delivered" is listed more often: it wipes secrets, and a repeat could no longer
 * compare.
 */
const STATES = ['delivered', 'delivered', 'delivered', 'delivering', 'accepted', 'resumed', 'conflicted'] as const;

/** PostgreSQL commits a change of an answer's state, and the reply is lost. */
export const commitReply: FaultKind = {
	stores: ['postgres'],
	async run({ harness, random, size, begin, press, quiet }) {
		const { proxy } = harness.store;
		if (proxy === null) throw new Error('This store has no TCP proxy.');
		const before = proxy.lost;
		const rounds = await Promise.all(
			Array.from({ length: size }, (_, index) => begin({ question: index % 2 === 0 ? QUESTION : SECRET_QUESTION })),
		);
		for (const { sessionId } of rounds) if (random.chance(0.5)) harness.agentPauses.set(sessionId, AGENT_PAUSE_MS);
		for (let losses = 0; losses < size; losses++) {
			const state = random.pick(STATES);
			proxy.lose((statement) => statement.includes('update "answers"') && hasParameter(statement, state), 1);
		}
		await Promise.all(rounds.map((round) => press(round)));
		await until(() => rounds.every((round) => savedOf(harness, round).length > 0), SAVED_WITHIN_MS);
		await quiet(NOTED_WITHIN_MS);
		proxy.heal();
		return proxy.lost - before;
	},
};

/** "Nothing was sent", "not sent", "was not saved" and the like. */
const SAYS_NO = /nothing (was|is|has been) (sent|saved)|not (sent|saved)/i;
/** What a window says when the outcome is unknown. */
const NOT_KNOWN = /not certain|could not check|may have/i;

/**
 * PostgreSQL commits the row of a new answer, and the reply is lost. Half of the people press again. The others believe
 * the window and close it.
 */
export const insertReply: FaultKind = {
	stores: ['postgres'],
	async run({ harness, random, size, beginAll, press }) {
		const { proxy } = harness.store;
		if (proxy === null) throw new Error('This store has no TCP proxy.');
		const before = proxy.lost;
		const rounds = await beginAll(size);
		proxy.lose((statement) => statement.includes('insert into "answers"'), size);
		await Promise.all(
			rounds.map(async (round) => {
				const leaves = random.chance(0.5);
				await press(round, leaves ? 1 : undefined);
				if (leaves && round.ackedText === null) await leave(round);
			}),
		);
		proxy.heal();
		return proxy.lost - before;
	},
};

async function leave(round: Round): Promise<void> {
	const shown = round.modal.text();
	round.left = SAYS_NO.test(shown) && !NOT_KNOWN.test(shown) ? 'nothing was sent' : 'not known';
	round.troubles.push(`the window said: ${shown.replaceAll('\n', ' ')}`);
	await round.modal.close().catch(() => undefined);
}
