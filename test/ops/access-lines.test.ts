import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ACCESS_WORDS, oddAccessLines } from '../support/access-lines.ts';

// Each test with the whole program checks its lines: test/support/app.ts.

const LINE = {
	level: 'info',
	time: '2026-11-28T09:00:00.000Z',
	request: '0123456789ab',
	user: 'U0ADA',
	team: null,
	access: 'open',
	session: 'plan',
	channel: 'C0AGENTS',
	outcome: 'shown',
	msg: 'access',
};

it('finds the lines that do not fit the documented schema', () => {
	const { user: _, ...withoutUser } = LINE;
	const odd = [
		{ ...LINE, access: 'peek' },
		{ ...LINE, text: 'What now?' },
		{ ...LINE, outcome: 'It failed.' },
		withoutUser,
	];
	const others = [LINE, { ...LINE, session: null, channel: null }, { level: 'info', msg: 'another' }];
	expect(oddAccessLines([...odd, ...others].map((one) => JSON.stringify(one)))).toEqual(
		odd.map((one) => JSON.stringify(one)),
	);
});

it('names each word that the program logs, and no other', () => {
	const src = fileURLToPath(new URL('../../src', import.meta.url));
	const text = globSync(`${src}/**/*.ts`)
		.map((path) => readFileSync(path, 'utf8'))
		.join('\n');
	const calls = text.matchAll(
		/\b(?:logAccess|logged)\((?:\w+|\{[^}]*\}), ('[^']*'|[^,]*),|\brecordOperator\([^{]*\{[^}]*action: '([a-zA-Z]+)'|const access = ([^;]*);/g,
	);
	const words = [...calls].flatMap(([, asked = '', ofCommand = '', chosen = '']) =>
		[...`${asked} ${chosen}`.matchAll(/'([a-z]+)'/g), ...`'${ofCommand}'`.matchAll(/'([a-zA-Z]+)'/g)].map(
			([, word = '']) => word,
		),
	);
	const logged = new Set(words.filter((word) => word !== 'allowed'));
	expect([...logged].toSorted()).toEqual(ACCESS_WORDS.toSorted());
});
