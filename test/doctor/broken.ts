import { describe, expect, it } from 'vitest';
import { createWorld, type Env, type World } from './world.ts';

export interface Case {
	readonly name: string;
	/** Breaks something in the world. */
	readonly breaks?: (world: World) => unknown;
	/** The settings that are wrong, or that lead to what is wrong. */
	readonly env?: (world: World) => Env | Promise<Env>;
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
			await using world = await createWorld();
			await breaks?.(world);
			const { lines, exit: ended } = await world.doctor(await env?.(world));
			const report = lines.join('\n');
			expect(
				lines.filter((line) => says.test(line)),
				report,
			).toHaveLength(1);
			expect(ended, report).toBe(exit);
		});
	});
}
