import { describe, expect, it } from 'vitest';
import { closureOf, importsOf, wrongArrows } from './arrows.ts';
import { foreignWrites, unowned } from './owners.ts';
import { fixedNames, measure, problemsOf, wideLines } from './structure.ts';

describe('what a part depends on', () => {
	it('is each module that gives it a function, not those that give types and constants', () => {
		const text = [
			"import { readFileSync } from 'node:fs';",
			"import type { Clock } from '../clock.ts';",
			"import { CLOCK_ALLOWANCE_MS, type Log } from '../log.ts';",
			"import { codeOf, HandraiseError, type Other } from '../errors.ts';",
			'import {',
			'\ttype Answer,',
			'\titemsOf,',
			"} from './answer.ts';",
			"import * as words from './words.ts';",
			'',
		].join('\n');
		const { dependencies, lines, bytes } = measure('src/some/part.ts', text);
		expect(dependencies).toEqual(['../errors.ts', './answer.ts', './words.ts']);
		expect(lines).toBe(9);
		expect(bytes).toBe(text.length);
	});

	it('is each name that it takes from core, or from what handlers share', () => {
		const text = `export function createPart({ clock, store: { answers, drafts } }: Core, { own }: { own: string }) {}
export function createOther({
	clock,
	log,
}: Core) {
	const { answers: store, claims } = core.store;
}
export function registerIt({ listen, log }: HandlerContext) {}
export function registerMore(core: HandlerContext) {
	const { flow, reply } = core;
}
const { metrics } = core;
core.sessionService.close();
`;
		const taken = measure('src/part.ts', text).dependencies;
		expect([...taken].sort()).toEqual(
			[
				'clock',
				'flow',
				'listen',
				'log',
				'metrics',
				'reply',
				'sessionService',
				'store.answers',
				'store.claims',
				'store.drafts',
			].map((name) => `core.${name}`),
		);
	});
});

it('names every limit that is exceeded, and lets exceptions have as much as their table says', () => {
	const parts = [
		{ path: 'src/a.ts', lines: 60, bytes: 900, dependencies: ['./b.ts', './c.ts'] },
		{ path: 'src/b.ts', lines: 45, bytes: 101, dependencies: ['./c.ts', 'core.log'] },
	];
	const limits = { lines: 100, bytes: 1_000, files: 1, linesOfFile: 50, dependencies: 1 } as const;
	expect(problemsOf(parts, limits as never, { 'src/a.ts': { lines: 60, dependencies: 2 } })).toEqual([
		'src: lines: 105, at most 100',
		'src: bytes: 1001, at most 1000',
		'src: files: 2, at most 1',
		'src/b.ts: dependencies: 2, at most 1 (./c.ts, core.log)',
	]);
	expect(problemsOf(parts, { ...limits, lines: 105, bytes: 1_001, files: 2 } as never, {})).toHaveLength(3);
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
	});

	it.each([
		['core/basics.ts', '../questions/session.ts'],
		['questions/session.ts', '../database/watch.ts'],
		['slack/reply.ts', '../database/watch.ts'],
		['database/due.ts', '../core.ts'],
		['slack/reply.ts', './text/mrkdwn.ts'],
		['posts/outbox.ts', '../features/watch/announcer.ts'],
		['features/answer/view.ts', '../inbox/view.ts'],
		['features/inbox/view.ts', '../../app.ts'],
		['questions/session.ts', 'undici'],
		['questions/session.ts', 'node:fs'],
		['questions/word-list.ts', 'undici'],
		['slack/reply.ts', 'kysely'],
		['features/inbox/inbox-store.ts', 'kysely'],
		['session-service/client.ts', '@slack/bolt'],
	])('%s must not import %s', (path, specifier) => {
		expect(wrongArrows(path, importing('./other.ts', specifier))).toHaveLength(1);
	});

	it('go one way, also those of types; a feature knows answer and watch', () => {
		const text = importing(
			'../../core.ts',
			'../../posts/post.ts',
			'../answer/view.ts',
			'../watch/view.ts',
			'./store.ts',
		);
		expect(wrongArrows('features/inbox/view.ts', text)).toEqual([]);
		expect(wrongArrows('features/inbox/inbox-store.ts', importing('../../database/due.ts'))).toEqual([]);
		expect(wrongArrows('app.ts', importing('./features/press/handler.ts'))).toEqual([]);
		expect(wrongArrows('questions/word-list.ts', importing('node:fs'))).toEqual([]);
	});
});

describe('a table', () => {
	it.each([
		['features/inbox/inbox-store.ts', "await change(trx, 'questions', { id }, columns).execute();"],
		['features/watch/watch-store.ts', "remove(\n\ttx.trx,\n\t'posts',\n);"],
		['posts/store.ts', "trx.deleteFrom('shared_states')"],
		['database/question-store.ts', "db.insertInto('answers')"],
		['ops/person-store.ts', 'for (const table of tables) await remove(trx, table, { userId });'],
		['stores.ts', 'trx.updateTable(table)'],
		['features/press/press-store.ts', 'sql`update answers set state = 1`'],
	])('is not written by others than its owner: %s', (path, text) => {
		expect(foreignWrites(path, text)).toHaveLength(1);
	});

	it('is written by its owner, and with its name in a variable by the database', () => {
		const text = "await add(trx, 'questions', row).execute();\nhasChanged(change(trx, 'snoozes', {}, {}));";
		expect(foreignWrites('database/question-store.ts', text)).toEqual([]);
		expect(foreignWrites('features/answer/retention-store.ts', "remove(trx, 'answers', {})")).toEqual([]);
		expect(foreignWrites('database/due.ts', 'change(trx, table, {}, {}); trx.updateTable(table)')).toEqual([]);
		expect(foreignWrites('posts/outbox.ts', 'seen.add(post); remove(orders, key); store.change(db, 1);')).toEqual([]);
	});

	it('has an owner that says so in its first line', () => {
		const owner = { path: 'posts/plan-store.ts', text: '// Owns `posts`, with `store.ts`.\n' };
		expect(unowned([owner], ['posts'])).toEqual([]);
		expect(unowned([{ ...owner, path: 'features/inbox/view.ts' }], ['posts'])).toHaveLength(1);
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
	expect(fixedNames('features/watch/view.ts', fixed.join('\n'))).toEqual([
		'src/features/watch/view.ts:1: /session, use COMMAND of core/command-name.ts',
		'src/features/watch/view.ts:2: /session, use COMMAND of core/command-name.ts',
		'src/features/watch/view.ts:3: @Handraise, use APP_NAME of core/command-name.ts',
	]);
	expect(fixedNames('core/command-name.ts', fixed.join('\n'))).toEqual([]);
	const fine = [
		'/** What `/session` understands. */',
		'\t * Parses the text after `/session`.',
		"import type { Session } from '../../questions/session.ts';",
		"import { flow } from '../session/flow.ts';",
		"parse('https://dashboard.example/sessions/session');",
		"get('/sessions/1');",
		'/\\/sessions\\/session\\/?$/.test(pathname);',
	];
	expect(fixedNames('features/watch/view.ts', fine.join('\n'))).toEqual([]);
});
