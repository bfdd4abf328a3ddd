/** The value below which `share` of the sample lies (nearest rank). NaN for an empty sample. */
export function quantile(sample: readonly number[], share: number): number {
	const sorted = Float64Array.from(sample).sort();
	return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

function median(sample: readonly number[]): number {
	return quantile(sample, 0.5);
}

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

	/** The lowest and the highest value. */
	range(name: string): readonly [number, number] {
		const values = this.#values.get(name) ?? [];
		return [Math.min(...values), Math.max(...values)];
	}
}

export function ms(value: number): string {
	return Number.isNaN(value) ? '–' : value.toFixed(value < 9.95 ? 2 : 1);
}

/** `p50 / p99 ms` */
export function pair(rounds: Rounds, name: string): string {
	return `${ms(rounds.median(`${name} p50`))} / ${ms(rounds.median(`${name} p99`))} ms`;
}
