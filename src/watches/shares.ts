/**
 * The sessions of everybody but the one person whose sessions together ask for most; none where one person watches all.
 * A session that several people watch belongs to whoever of them watches fewest: it has what the most entitled of them
 * gives it.
 */
export function besidesTheHeaviest<T extends { readonly watchers: readonly string[] }>(
	sessions: readonly T[],
	asks: (sessions: readonly T[]) => number,
): readonly T[] {
	const counts = new Map<string, number>();
	for (const { watchers } of sessions) for (const who of watchers) counts.set(who, (counts.get(who) ?? 0) + 1);
	const fewestFirst = (one: string, other: string) =>
		(counts.get(one) ?? 0) - (counts.get(other) ?? 0) || (one < other ? -1 : 1);
	const byOwner = [...Map.groupBy(sessions, ({ watchers }) => watchers.toSorted(fewestFirst)[0] ?? '').values()];
	if (byOwner.length < 2) return [];
	const asked = byOwner.map(asks);
	const heaviest = asked.indexOf(Math.max(...asked));
	return byOwner.filter((_, index) => index !== heaviest).flat();
}
