import { expect, it } from 'vitest';
import { amount, count, flag, oneOf, parseOptions, someOf, text, usageOf } from './options.ts';

const OPTIONS = {
	kills: count(20, 'kills'),
	rounds: count(5, 'rounds', { least: 1 }),
	minutes: amount(1, 'minutes'),
	store: oneOf(['sqlite', 'postgres', 'both'], 'both', 'stores'),
	sabotage: oneOf(['no-read', 'no-claims'], null, 'breaks the program first'),
	only: someOf(['acks', 'memory'], 'measures these'),
	commit: text(null, 'takes the program from a commit'),
	list: flag('with a list'),
};

it('gives what the command line says, and else what each option says', () => {
	expect(parseOptions(OPTIONS, [])).toEqual({
		kills: 20,
		rounds: 5,
		minutes: 1,
		store: 'both',
		sabotage: null,
		only: ['acks', 'memory'],
		commit: null,
		list: false,
	});
	const args = '--kills 0 --minutes 0.5 --store sqlite --sabotage no-read --only memory --commit HEAD --list';
	expect(parseOptions(OPTIONS, args.split(' '))).toEqual({
		kills: 0,
		rounds: 5,
		minutes: 0.5,
		store: 'sqlite',
		sabotage: 'no-read',
		only: ['memory'],
		commit: 'HEAD',
		list: true,
	});
});

it.each([
	['--kills few', '--kills cannot be "few".'],
	['--kills 1.5', '--kills cannot be "1.5".'],
	['--rounds 0', '--rounds cannot be "0".'],
	['--minutes 0', '--minutes cannot be "0".'],
	['--store mysql', '--store cannot be "mysql".'],
	['--only memory,disk', '--only cannot be "memory,disk".'],
	['--speed 3', "Unknown option '--speed'"],
	['memory', "Unexpected argument 'memory'"],
])('refuses %s', (args, words) => {
	expect(() => parseOptions(OPTIONS, args.split(' '))).toThrow(words);
});

it('shows each option with its value and what it is for', () => {
	const lines = usageOf('npm run bench -- idle', OPTIONS).split('\n');
	expect(lines).toHaveLength(1 + Object.keys(OPTIONS).length);
	expect(lines[0]).toBe('npm run bench -- idle [options]');
	expect(lines[1]).toBe('  --kills 20    kills');
	expect(lines[4]).toBe('  --store both  stores: sqlite, postgres, both');
	expect(lines.at(-1)).toBe('  --list        with a list');
});
