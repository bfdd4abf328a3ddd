import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { statusWords } from '../../src/slack/phrases.ts';
import { expect, openSession, WATCHING, type WatchingApp, watchingApp, withApp } from '../kit.ts';

const it = withApp(() => watchingApp({ mayFail: true }));

/** The lines of the reply to a watch of these sessions. */
const watch = async (app: WatchingApp, ...ids: string[]) =>
	(await app.command(`/session watch ${ids.join(' ')}`)).text();

const nested = (levels: number, inner = '"x"') => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;
const asking = (value: string, messages = '') =>
	`{"session":{"status":"humanInput","name":"Odd","messages":[{"role":"user","content":"Go."}${messages},` +
	`{"role":"assistant","content":"Two things.","human_input":[{"title":"Size","description":"","value":${value}},` +
	'{"title":"Colour","description":"Which?"}]}]}}';

/** Response bodies that are expensive or difficult to read. */
const BODIES: Readonly<Record<string, string>> = {
	'a value nested 20,000 deep': asking(nested(20_000)),
	'a value of objects nested 20,000 deep': asking(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`),
	'a title and a description nested 20,000 deep': asking('""').replace(
		'"Size","description":""',
		`${nested(20_000)},"description":${nested(20_000)}`,
	),
	'an action nested 20,000 deep': asking(
		'""',
		`,{"role":"assistant","agent_data":{"action":[{"click":${nested(20_000)}}]}}`,
	),
	'a content nested 20,000 deep': asking('""', `,{"role":"assistant","content":${nested(20_000)}}`),
	'a field nobody knows, nested 20,000 deep': asking('""').replace('"status"', `"z":${nested(20_000)},"status"`),
	'100,000 keys in one value': asking(`{${Array.from({ length: 100_000 }, (_, n) => `"k${n}":${n}`).join(',')}}`),
	'100,000 actions': asking(
		'""',
		`,{"role":"assistant","agent_data":{"action":[${'{"x":1},'.repeat(99_999)}{"y":1}]}}`,
	),
	'a value of 10 MB': asking(`"${'x'.repeat(10_000_000)}"`),
	'a title of 10 MB': asking('""').replace('Colour', 'Colour '.repeat(1_400_000)),
	'lone surrogates and NUL everywhere': asking('""')
		.replace('Two things', '\\ud800\\u0000\\udc00')
		.replace('Colour', '\\udfff\\u0000'),
	'a value of 1e400': asking('1e400'),
	'a __proto__ with our fields': asking('""').replace(
		'{"role":"user"',
		'{"__proto__":{"role":"user","human_input":[{"title":"evil"}]},"constructor":1,"role":"user"',
	),
	'messages, files and variables in odd forms': asking('""').replace(
		'"name":"Odd"',
		'"name":["Odd"],"files":{"length":3},"sessionVariables":[[1]],"maxSteps":1e400',
	),
	'a million messages': asking('""', ',0'.repeat(1_000_000)),
	'arrays in messages': asking('""', `,${nested(1_000_000)}`),
	'three million levels in a field nobody knows': asking('""').replace('"status"', `"z":${nested(3_000_000)},"status"`),
	'a million different keys in a field nobody knows': asking('""').replace(
		'"status"',
		`"z":[${Array.from({ length: 1_000_000 }, (_, n) => `${n % 100 === 0 ? '{' : ''}"${n.toString(36)}":1${n % 100 === 99 ? '}' : ''}`).join(',')}],"status"`,
	),
	'keys twice': asking('""').replace('"status"', '"status":"active","messages":[],"status"'),
};

/** The bodies that are refused. */
const TOO_MANY = new Set([
	'100,000 keys in one value',
	'100,000 actions',
	'a million messages',
	'arrays in messages',
	'three million levels in a field nobody knows',
	'a million different keys in a field nobody knows',
]);

it('watches the other ids of a command when one body is difficult to read', async ({ app }) => {
	const bad = Object.entries(BODIES).map(([, body]) => {
		const id = app.session();
		app.service.faults.add({ kind: 'body', body, sessionId: id, method: 'GET' });
		return id;
	});
	const [good, last] = [app.session(), app.session()];
	const half = Math.ceil(bad.length / 2);
	const told = [await watch(app, good, ...bad.slice(0, half)), await watch(app, ...bad.slice(half), last)].join('\n');
	expect(told).not.toContain('Something went wrong');
	await app.until(() => app.card(good) && app.card(last));
	expect(told.match(/has too many parts/g)).toHaveLength(TOO_MANY.size);
	app.step(last, 'I am still read.');
	await app.cardSays(last, 'I am still read.');
	expect(app.log.filter((line) => line.includes('"internal"'))).toEqual([]);
});

it.for(Object.keys(BODIES))('opens a session or says why not: %s', async (name, { app }) => {
	const id = app.session();
	app.service.faults.add({ kind: 'body', body: BODIES[name] ?? '', sessionId: id, method: 'GET' });
	const modal = await openSession(app, id);
	expect(modal.text()).not.toContain('Something went wrong');
	if (TOO_MANY.has(name)) expect(modal.text()).toContain('This session has too many parts to show here.');
	else expect(modal.text()).toMatch(new RegExp(`Which\\?|Two things|${statusWords('active').meaning}`));
});

it('watches the other ids when one watch cannot be stored', async ({ app }) => {
	const [bad, good] = [app.session(), app.session()];
	using database = new DatabaseSync(join(app.dataDir, 'handraise.db'));
	database.exec(
		`CREATE TRIGGER refuses BEFORE INSERT ON watches WHEN NEW.session_id = '${bad}' BEGIN SELECT RAISE(ABORT, 'no'); END`,
	);
	const told = await watch(app, bad, good);
	expect(told).toContain(WATCHING);
	expect(told).toMatch(new RegExp(`session ${bad}: \\S`));
});
