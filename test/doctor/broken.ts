import { describe, expect, it } from 'vitest';
import { createHarness, type Env, type Harness } from './harness.ts';

export interface Case {
	readonly name: string;
	/** Breaks something in the harness. */
	readonly breaks?: (harness: Harness) => unknown;
	/** The settings that are wrong, or that lead to what is wrong. */
	readonly env?: (harness: Harness) => Env | Promise<Env>;
	/** How the line begins and what else it holds. */
	readonly says: RegExp;
	/** 1 unless it is only a warning. */
	readonly exit?: 0 | 1;
}

/** Breaks one thing after the other in a set-up that is well otherwise, and runs the command on each. */
export function testBroken(what: string, cases: readonly Case[]): void {
	describe.concurrent(`says what is wrong with the ${what}`, () => {
		// A start of the program each, several at a time: on a machine with other work to do that takes long.
		it.each(cases)('when $name', { timeout: 120_000 }, async ({ breaks, env, says, exit = 1 }) => {
			await using harness = await createHarness();
			await breaks?.(harness);
			const { lines, exit: ended } = await harness.doctor(await env?.(harness));
			const report = lines.join('\n');
			expect(
				lines.filter((line) => says.test(line)),
				report,
			).toHaveLength(1);
			expect(ended, report).toBe(exit);
		});
	});
}
