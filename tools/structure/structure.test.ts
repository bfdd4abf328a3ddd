import { describe, expect, it } from 'vitest';
import { circles, closureOf, importsOf, wrongArrows, wrongEntrances } from './arrows.ts';
import { foreignWrites, unowned } from './owners.ts';
import { fixedNames, longFiles, tooManyPackages, wideLines } from './structure.ts';

it('asks about files of more than 500 lines', () => {
	const file = (path: string, lines: number) => ({ path, text: 'x;\n'.repeat(lines) });
	expect(longFiles([file('a.ts', 500), file('b.ts', 501)])).toEqual([
		'warning: src/b.ts has 501 lines: is it one concept?',
	]);
});

it('finds more than 12 packages of production', () => {
	const packages = (count: number) =>
		Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, '1']));
	expect(tooManyPackages({ dependencies: packages(12) })).toEqual([]);
	expect(tooManyPackages({ dependencies: packages(13) })).toEqual([
		expect.stringMatching(/^package\.json: 13 dependencies, at most 12 \(p0, .*p12\)$/),
	]);
});

const importing = (...specifiers: readonly string[]) =>
	specifiers.map((specifier) => `import type { Some } from '${specifier}';\n`).join('');

describe('arrows', () => {
	it('lead from a file to all that it needs, once', () => {
		const texts = {
			'a.ts': importing('./sub/b.ts', 'kysely'),
			'sub/b.ts': importing('../a.ts', './c.ts', './c.ts'),
			'sub/c.ts': '',
			'd.ts': importing('./a.ts'),
		};
		const imports = new Map(Object.entries(texts).map(([path, text]) => [path, importsOf(path, text)]));
		expect(imports.get('sub/b.ts')).toEqual(['a.ts', 'sub/c.ts']);
		expect([...closureOf('a.ts', imports)]).toEqual(['a.ts', 'sub/b.ts', 'sub/c.ts']);
		expect(circles(imports)).toEqual([
			expect.stringMatching(/^src\/a\.ts /),
			expect.stringMatching(/^src\/sub\/b\.ts /),
		]);
	});

	it.each([
		['kernel/values.ts', '../domain/session.ts'],
		['domain/session.ts', '../store/watch.ts'],
		['slack/reply.ts', '../store/watch.ts'],
		['store/due.ts', '../core.ts'],
		['core.ts', './slack/clients.ts'],
		['surfaces/outbox.ts', '../sessions/poller.ts'],
		['delivery/answer.ts', '../sessions/poller.ts'],
		['screens/inbox.ts', '../app.ts'],
		['domain/session.ts', 'undici'],
		['domain/session.ts', 'node:fs'],
		['domain/word-list.ts', 'undici'],
		['slack/reply.ts', 'kysely'],
		['screens/inbox-store.ts', 'kysely'],
		['service/client.ts', '@slack/bolt'],
	])('%s must not import %s', (path, specifier) => {
		expect(wrongArrows(path, importing('./other.ts', specifier))).toHaveLength(1);
	});

	it('keep SQL in stores', () => {
		const text = "import {\n\ttype Row,\n\tsql,\n} from '../store/database.ts';\n";
		expect(wrongArrows('surfaces/post.ts', text)).toEqual(['src/surfaces/post.ts must not import sql']);
		expect(wrongArrows('surfaces/post-store.ts', text)).toEqual([]);
	});

	it('go one way, also those of types', () => {
		const text = importing(
			'../core.ts',
			'../surfaces/post.ts',
			'../delivery/view.ts',
			'../sessions/view.ts',
			'./other.ts',
		);
		expect(wrongArrows('screens/inbox.ts', text)).toEqual([]);
		expect(wrongArrows('screens/inbox-store.ts', importing('../store/due.ts'))).toEqual([]);
		expect(wrongArrows('app.ts', importing('./people/answering/press.ts'))).toEqual([]);
		expect(wrongArrows('domain/word-list.ts', importing('node:fs'))).toEqual([]);
	});
});

describe('a folder beside src', () => {
	it.each([
		['src/app.ts', '../test/support/app.ts'],
		['fake-slack/state.ts', '../src/app.ts'],
		['fake-slack/state.ts', '../fake-session-service/json.ts'],
		['test/main.test.ts', '../fake-slack/state.ts'],
		['sandbox/main.ts', '../fake-slack/driver/modal.ts'],
		['test/main.test.ts', '../bench/main.ts'],
	])('%s must not import %s', (path, specifier) => {
		expect(wrongEntrances(path, importing(specifier, './own.ts'))).toHaveLength(1);
	});

	it('is imported by its entrance, and others by any file', () => {
		const text = importing('../fake-slack/index.ts', '../fake-session-service/json.ts', '../src/app.ts', 'vitest');
		expect(wrongEntrances('test/main.test.ts', text)).toEqual([]);
		expect(wrongEntrances('fake-slack/a/b.ts', importing('../state.ts', '../../fake-slack/index.ts'))).toEqual([]);
	});
});

describe('a table', () => {
	it.each([
		['screens/inbox-store.ts', "await change(trx, 'questions', { id }, columns).execute();"],
		['sessions/watch-store.ts', "remove(\n\ttx.trx,\n\t'posts',\n);"],
		['surfaces/post-store.ts', "trx.deleteFrom('shared_states')"],
		['store/question-store.ts', "db.insertInto('answers')"],
		['operator/person-store.ts', 'for (const table of tables) await remove(trx, table, { userId });'],
		['stores.ts', 'trx.updateTable(table)'],
		['people/press-store.ts', 'sql`update answers set state = 1`'],
	])('is not written by others than its owner: %s', (path, text) => {
		expect(foreignWrites(path, text)).toHaveLength(1);
	});

	it('is written by its owner, and with its name in a variable by the database', () => {
		const text = "await add(trx, 'questions', row).execute();\nhasChanged(change(trx, 'snoozes', {}, {}));";
		expect(foreignWrites('store/question-store.ts', text)).toEqual([]);
		expect(foreignWrites('delivery/retention-store.ts', "remove(trx, 'answers', {})")).toEqual([]);
		expect(foreignWrites('store/due.ts', 'change(trx, table, {}, {}); trx.updateTable(table)')).toEqual([]);
		expect(foreignWrites('surfaces/outbox.ts', 'seen.add(post); remove(orders, key); store.change(db, 1);')).toEqual(
			[],
		);
	});

	it('has an owner that says so in its first line', () => {
		const owner = { path: 'surfaces/plan-store.ts', text: '// Owns `posts`, with `post-store.ts`.\n' };
		expect(unowned([owner], ['posts'])).toEqual([]);
		expect(unowned([{ ...owner, path: 'screens/inbox.ts' }], ['posts'])).toHaveLength(1);
		expect(unowned([owner], ['posts', 'parcels'])).toHaveLength(1);
	});
});

it('finds lines that are too wide, with tabs as the formatter counts them', () => {
	expect(wideLines('a.ts', `${'x'.repeat(120)}\n\t${'x'.repeat(118)}`)).toEqual([]);
	expect(wideLines('a.ts', `short\n\t${'x'.repeat(119)}`)).toEqual(['src/a.ts:2: 121 columns, at most 120']);
});

it('finds words that name the command or the app as an installation may not call them', () => {
	const fixed = [
		"text('`/session list` shows them');",
		'text(`Type /session.`);',
		"text('Invite it: `/invite @Handraise`');",
	];
	expect(fixedNames('screens/watch.ts', fixed.join('\n'))).toEqual([
		'src/screens/watch.ts:1: /session, use COMMAND of kernel/command-name.ts',
		'src/screens/watch.ts:2: /session, use COMMAND of kernel/command-name.ts',
		'src/screens/watch.ts:3: @Handraise, use APP_NAME of kernel/command-name.ts',
	]);
	expect(fixedNames('kernel/command-name.ts', fixed.join('\n'))).toEqual([]);
	const fine = [
		'/** What `/session` understands. */',
		'\t * Parses the text after `/session`.',
		"import type { Session } from '../../questions/session.ts';",
		"import { flow } from '../session/flow.ts';",
		"parse('https://dashboard.example/sessions/session');",
		"get('/sessions/1');",
		'/\\/sessions\\/session\\/?$/.test(pathname);',
	];
	expect(fixedNames('screens/watch.ts', fine.join('\n'))).toEqual([]);
});
