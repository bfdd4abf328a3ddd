import type { FakeSlack, TrafficEntry } from '../../fake-slack/index.ts';

export interface MethodCount {
	readonly calls: number;
	/** 429s. */
	readonly limited: number;
	/** Of the requests, as JSON. */
	readonly bytes: number;
}
export type MethodCounts = ReadonlyMap<string, MethodCount>;

const NONE: MethodCount = { calls: 0, limited: 0, bytes: 0 };

/** Counts the calls of each method as they end, from now on. Returns the counts so far. */
export function countCalls(slack: FakeSlack): () => MethodCounts {
	const counts = new Map<string, MethodCount>();
	const open = new Set<TrafficEntry>();
	let last = slack.traffic.all().at(-1)?.seq ?? 0;

	function count({ name, status, request }: TrafficEntry): void {
		const { calls, limited, bytes } = counts.get(name) ?? NONE;
		counts.set(name, {
			calls: calls + 1,
			limited: limited + (status === 429 ? 1 : 0),
			bytes: bytes + JSON.stringify(request).length,
		});
	}

	slack.changes.listen(({ kind }) => {
		if (kind !== 'call') return;
		const entries = slack.traffic.all();
		for (let at = entries.length - 1; at >= 0; at--) {
			const entry = entries[at];
			if (entry === undefined || entry.seq <= last) break;
			if (entry.direction !== 'delivery') open.add(entry);
		}
		last = entries.at(-1)?.seq ?? last;
		for (const entry of open) {
			if (entry.doneAt === null) continue;
			open.delete(entry);
			count(entry);
		}
	});
	return () => new Map(counts);
}

/** What was counted between two times. */
export function between(before: MethodCounts, after: MethodCounts): MethodCounts {
	return new Map(
		[...after].map(([name, now]) => {
			const then = before.get(name) ?? NONE;
			const since = {
				calls: now.calls - then.calls,
				limited: now.limited - then.limited,
				bytes: now.bytes - then.bytes,
			};
			return [name, since] as const;
		}),
	);
}

export function total(counts: MethodCounts, key: keyof MethodCount): number {
	return [...counts.values()].reduce((sum, one) => sum + one[key], 0);
}

/** `chat.update 40, users.info 12`: the most first, without those that have none. */
export function listed(counts: MethodCounts, key: keyof MethodCount, factor = 1): string {
	const found = [...counts].filter(([, one]) => one[key] > 0).sort(([, one], [, other]) => other[key] - one[key]);
	return found.map(([name, one]) => `${name} ${(one[key] * factor).toFixed(0)}`).join(', ') || 'none';
}
