/** The value below which `share` of the sample lies (nearest rank). NaN for an empty sample. */
export function quantile(sample: readonly number[], share: number): number {
	const sorted = Float64Array.from(sample).sort();
	return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

export const median = (sample: readonly number[]) => quantile(sample, 0.5);

/** The figures of each round. The report gives the median over the rounds. */
export class Rounds {
	readonly #values = new Map<string, number[]>();

	add(name: string, value: number): void {
		const values = this.#values.get(name);
		if (values === undefined) this.#values.set(name, [value]);
		else values.push(value);
	}

	/** p50 and p99 of one round's sample, as `name p50` and `name p99`. */
	addSample(name: string, sample: readonly number[]): void {
		this.add(`${name} p50`, quantile(sample, 0.5));
		this.add(`${name} p99`, quantile(sample, 0.99));
	}

	median(name: string): number {
		return median(this.#values.get(name) ?? []);
	}

	/** The median, and the lowest and the highest value. */
	mebibytes(name: string): string {
		const values = this.#values.get(name) ?? [];
		return `${this.median(name).toFixed(0)} MiB (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`;
	}
}

/** So many rounds of all of them: every other round in the opposite order, so that none is always first. */
export async function interleaved<T>(
	count: number,
	all: readonly T[],
	takeRound: (one: T, round: number) => Promise<void>,
): Promise<void> {
	for (let round = 0; round < count; round++) {
		for (const one of round % 2 === 0 ? all : all.toReversed()) await takeRound(one, round);
	}
}

export function ms(value: number): string {
	return Number.isNaN(value) ? '–' : value.toFixed(value < 9.95 ? 2 : 1);
}

/** `p50 / p99 ms` */
export function pair(rounds: Rounds, name: string): string {
	return `${ms(rounds.median(`${name} p50`))} / ${ms(rounds.median(`${name} p99`))} ms`;
}

/** These milliseconds as seconds. */
export function seconds(value: number): string {
	return Number.isFinite(value) ? `${(value / 1_000).toFixed(value < 1_000 ? 2 : 1)} s` : 'never';
}

/** The quantiles of milliseconds: `p50 / p99 / longest` without others. */
export function spread(sample: readonly number[], shares: readonly number[] = [0.5, 0.99, 1]): string {
	return sample.length === 0 ? '–' : shares.map((share) => seconds(quantile(sample, share))).join(' / ');
}
