import { setTimeout as pause } from 'node:timers/promises';
import { HOSTILE_TEXTS } from '../../test/support/hostile-texts.ts';
import { bytes } from './front.ts';
import { type Scenario, unless } from './scenario.ts';

/** What a text may stop everything for. Parsing the body of a session with more than 5 MB may take longer. */
const MOST_MS = 100;
/** The read, the post, and the form. */
const WORK_MS = 3_000;

/** So many people open such sessions at once. */
const AT_ONCE = 20;

/** Sessions whose texts are made to take long are watched and opened, one after the other and many at once. */
const texts: Scenario = {
	name: 'texts',
	transport: 'socket',
	feltMs: 1_000,
	growthMiB: 300,
	async attack(arena) {
		const lag = async () => 1_000 * (await arena.program.metric('nodejs_eventloop_lag_max_seconds'));
		const blocks: (readonly [string, number])[] = [];
		for (const [index, [name, make]] of Object.entries(HOSTILE_TEXTS).entries()) {
			const id = `text-${index}-x`;
			arena.front.hostile.set(id, bytes(Buffer.from(JSON.stringify({ session: { sessionId: id, ...make() } }))));
			const mallory = arena.stranger();
			await lag();
			await mallory.command('#agents', `/session watch ${id}`);
			await mallory.command('#agents', `/session ${id}`);
			await pause(WORK_MS);
			blocks.push([name, await lag()]);
			await mallory.command('#agents', `/session unwatch ${id}`);
		}
		await Promise.all(
			Array.from({ length: AT_ONCE }, (_, at) => arena.stranger().command('#agents', `/session text-${at}-x`)),
		);
		await pause(AT_ONCE * 500);
		blocks.push([`${AT_ONCE} at once`, await lag()]);
		const sorted = blocks.toSorted(([, one], [, other]) => other - one);
		const words = ([name, ms]: readonly [string, number]) => `${ms.toFixed(0)} ms (${name})`;
		return {
			did: `${blocks.length} sessions; the longest blocks: ${sorted.slice(0, 3).map(words).join(', ')}`,
			broken: unless(
				sorted.every(([, ms]) => ms <= MOST_MS),
				sorted
					.filter(([, ms]) => ms > MOST_MS)
					.map(words)
					.join(', '),
			),
		};
	},
};

export const textAttacks: readonly Scenario[] = [texts];
