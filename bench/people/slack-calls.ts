import type { FakeSlack } from '../../fake-slack/index.ts';

/** Calls of the app to Slack, and those that Slack's limits refused, by method. */
export interface Calls {
	readonly all: ReadonlyMap<string, number>;
	readonly limited: ReadonlyMap<string, number>;
}

/** The calls from this place in the traffic on (see `placeIn`), up to another. */
export function callsBetween({ traffic }: FakeSlack, from: number, to: number): Calls {
	const calls = traffic.all().filter(({ seq, direction }) => direction !== 'delivery' && seq > from && seq <= to);
	const counted = (some: typeof calls) =>
		new Map(
			Array.from(
				Map.groupBy(some, ({ name }) => name),
				([name, { length }]) => [name, length] as const,
			),
		);
	return { all: counted(calls), limited: counted(calls.filter(({ status }) => status === 429)) };
}

export const placeIn = ({ traffic }: FakeSlack) => traffic.all().at(-1)?.seq ?? 0;

/** `chat.update 40, users.info 12`: the most first. */
export function listed(counts: ReadonlyMap<string, number>, factor = 1): string {
	const found = [...counts].sort(([, one], [, other]) => other - one);
	return found.map(([name, count]) => `${name} ${(count * factor).toFixed(0)}`).join(', ') || 'none';
}

export const total = ({ all }: Calls) => [...all.values()].reduce((sum, count) => sum + count, 0);
