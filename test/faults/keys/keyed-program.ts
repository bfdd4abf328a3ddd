import { setTimeout as pause } from 'node:timers/promises';
import type { Harness } from '../harness.ts';
import type { Replica } from '../replica.ts';

const LOOK_EVERY_MS = 250;

export interface Figures {
	/** The longest blocks of the event loop in ms: of starts, and while the program serves. */
	longestStartMs: number;
	longestBlockMs: number;
	/** The bucket of the longest step of a wipe, a compaction included, in seconds. */
	longestWipeBucket: string;
}

/** Reads metrics of replicas all the time. The block of the event loop is the longest since the reading before. */
export function watchMetrics({ replicas }: Harness) {
	const figures: Figures = { longestStartMs: 0, longestBlockMs: 0, longestWipeBucket: '0' };
	const left = new Map<Replica, number>();
	const seen = new WeakMap<Replica, number>();
	let isOver = false;
	let most = 0;

	async function look(replica: Replica): Promise<void> {
		const port = portOf(replica);
		if (port === null) return void left.delete(replica);
		const text = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(5_000) }).then(
			(response) => response.text(),
			() => null,
		);
		if (text === null) return void left.delete(replica);
		const count = valueIn(text, 'handraise_values_under_former_keys');
		left.set(replica, count);
		if (count > most) most = count;
		const blockMs = 1_000 * valueIn(text, 'nodejs_eventloop_lag_max_seconds');
		const isFirst = seen.get(replica) !== replica.pid;
		seen.set(replica, replica.pid);
		const name = isFirst ? 'longestStartMs' : 'longestBlockMs';
		figures[name] = Math.max(figures[name], blockMs);
		const wipes = [...text.matchAll(/^handraise_wipe_checkpoint_seconds_bucket\{le="([^"]+)"\} (\d+)/gm)];
		const [, bucket = '0'] = wipes.find(([, , count]) => count === wipes.at(-1)?.[2]) ?? [];
		if (wipes.at(-1)?.[2] !== '0' && Number(bucket) > Number(figures.longestWipeBucket))
			figures.longestWipeBucket = bucket;
	}

	const watching = Promise.all(
		replicas.map(async (replica) => {
			while (!isOver) {
				await look(replica);
				await pause(LOOK_EVERY_MS);
			}
		}),
	);
	return {
		figures,
		/** The values that need a former key, by the replica that knows of fewest; null: no running one has counted. */
		left(): number | null {
			const counts = [...left.values()].filter((count) => !Number.isNaN(count));
			return counts.length === 0 ? null : Math.min(...counts);
		},
		/** The most that any has counted. */
		most: () => most,
		async stop(): Promise<void> {
			isOver = true;
			await watching;
		},
	};
}

/** Where it serves; of a program that has not begun to, where it served last. */
function portOf({ running, lines }: Replica): number | null {
	const ready = running ? lines.findLast((line) => line.includes('Handraise is ready')) : undefined;
	return ready === undefined ? null : (JSON.parse(ready) as { port: number }).port;
}

function valueIn(text: string, name: string): number {
	const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
	return Number(value);
}
