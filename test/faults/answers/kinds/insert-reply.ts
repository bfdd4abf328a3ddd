import type { Round } from '../round.ts';
import type { FaultKind } from '../turn.ts';

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
