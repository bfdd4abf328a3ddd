/** One behaviour of the fake that is removed, to show that its tests notice. */
export interface Sabotage {
	/** What the fake then does wrong. */
	readonly name: string;
	/** The place, relative to the fake's folder; it holds `from` exactly once. */
	readonly file: string;
	readonly from: string;
	readonly to: string;
	/** The test files, relative to the fake's folder. Each of them has to fail. */
	readonly tests: readonly string[];
}
