/** One behaviour of the fake that is taken away, to show that its tests notice. */
export interface Sabotage {
	/** What the fake does wrong then. */
	readonly name: string;
	/** The place, relative to the fake's folder; `from` stands there exactly once. */
	readonly file: string;
	readonly from: string;
	readonly to: string;
	/** The test files, relative to the fake's folder, that have to fail, each of them. */
	readonly tests: readonly string[];
}
