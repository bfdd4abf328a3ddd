import { describe, expect, it } from 'vitest';
import { createHarness, type Env, type Harness } from './harness.ts';

export interface Case {
	readonly name: string;
	/** Breaks something in the harness. */
	readonly breaks?: (harness: Harness) => unknown;
	/** The settings that are wrong or that cause the problem. */
	readonly env?: (harness: Harness) => Env | Promise<Env>;
	/** Each matches exactly one line of the report. */
	readonly says: RegExp | readonly RegExp[];
	/** The exit code; 1 by default. */
	readonly exit?: 0 | 1;
}

/** Runs the command on one set-up per case. Everything but the case's problem is in order. */
export function testBroken(what: string, cases: readonly Case[]): void {
	describe(`says what is wrong with the ${what}`, () => {
		it.each(cases)('when $name', async ({ breaks, env, says, exit = 1 }) => {
			await using harness = await createHarness();
			await breaks?.(harness);
			const { lines, exit: ended } = await harness.doctor(await env?.(harness));
			const report = lines.join('\n');
			for (const one of [says].flat()) expect(lines.filter((line) => one.test(line)).length, report).toBe(1);
			expect(ended, report).toBe(exit);
		});
	});
}
