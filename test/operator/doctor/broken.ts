import { describe, expect, it } from 'vitest';
import { createHarness, type Env, type Harness } from './harness.ts';

interface Case {
	/** Breaks something in the harness. */
	readonly breaks?: (harness: Harness) => unknown;
	/** The settings that are wrong or that cause the problem. */
	readonly env?: (harness: Harness) => Env | Promise<Env>;
	/** Each matches exactly one line of the report. The exit code is 1 where one of them is a problem, and else 0. */
	readonly says: RegExp | readonly RegExp[];
}

/** By what is wrong: `when …`. */
export type Cases = Readonly<Record<string, Case>>;

/** Runs the command on one set-up per case. Everything but the case's problem is in order. */
export function testBroken(what: string, cases: Cases): void {
	describe(`says what is wrong with the ${what}`, () => {
		it.each(Object.entries(cases))('when %s', async (_, { breaks, env, says }) => {
			await using harness = await createHarness();
			await breaks?.(harness);
			const { lines, exit } = await harness.doctor(await env?.(harness));
			const report = lines.join('\n');
			const all = [says].flat();
			for (const one of all) expect(lines.filter((line) => one.test(line)).length, report).toBe(1);
			expect(exit, report).toBe(all.some(({ source }) => source.startsWith('^✗')) ? 1 : 0);
		});
	});
}
