import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from './support/documented-commands.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCE_FOLDERS = ['src', 'test', 'bench', 'sandbox', 'fake-session-service', 'fake-slack', 'tools'];
const filesBelow = (folder: string) =>
	readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
const DOCUMENTS = [
	...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
	...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
	...SOURCE_FOLDERS.flatMap(filesBelow).filter((name) => basename(name) === 'RESULTS.md'),
	'fake-slack/README.md',
	'ops/README.md',
	'sandbox/README.md',
	'test/README.md',
];
/** What stands beside the sources: folders and files that documents name. */
const PATH = /^(?:src|test|tools|bench|sandbox|fake-session-service|fake-slack|ops|docs|\.ci)\/[\w./-]*$/;
const PROGRAMS = /^(?:[A-Z_]+=\S+ )?(?:npm|npx|node|bash|docker|kubectl|systemctl|openssl|sqlite3)(?: |$)/;

const text = (name: string) => readFileSync(join(ROOT, name), 'utf8');
/** Without the released versions of the changelog: they name what was there then. */
const current = (name: string) => (name === 'CHANGELOG.md' ? (text(name).split(/^## \d/m)[0] ?? '') : text(name));
const withoutFences = (markdown: string) => markdown.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
const codeSpans = (name: string) =>
	[...withoutFences(current(name)).matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' '));

/** As GitHub makes them from titles. */
function anchorsOf(markdown: string): Set<string> {
	const titles = [...withoutFences(markdown).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
	return new Set(
		titles.map((title) =>
			title
				.toLowerCase()
				.replaceAll(/[^\p{L}\p{N} _-]/gu, '')
				.replaceAll(' ', '-'),
		),
	);
}

/** Commands of the fenced blocks (`sh`), a continued line joined, and of code spans. */
function commandsOf(name: string): string[] {
	const blocks = [...current(name).matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].map(([, block = '']) => block);
	const lines = blocks.flatMap((block) => block.replaceAll(/(?:\\|(?<=&&))\n/g, ' ').split('\n'));
	const single = [
		...lines,
		...codeSpans(name).filter((code) => PROGRAMS.test(code) && !/^npm (run|exec)$|^\w+$/.test(code)),
	];
	return single
		.flatMap((line) => line.split('&&'))
		.map((one) => one.trim().replaceAll(/\s+/g, ' '))
		.filter(Boolean);
}

describe.each(DOCUMENTS)('%s', (name) => {
	it('links to files and titles that exist', () => {
		const links = /(?:\]\(|<img src=")(?!https?:)([^)"#]*)(?:#([^)]+))?[)"]/g;
		const broken = [...withoutFences(text(name)).matchAll(links)]
			.map(([, path = '', anchor]) => ({
				file: path === '' ? name : relative(ROOT, join(ROOT, dirname(name), path)),
				anchor,
			}))
			.filter(
				({ file, anchor }) =>
					!existsSync(join(ROOT, file)) || (anchor !== undefined && !anchorsOf(text(file)).has(anchor)),
			);
		expect(broken).toEqual([]);
	});

	it('names files and folders that exist', () => {
		expect(codeSpans(name).filter((code) => PATH.test(code) && !existsSync(join(ROOT, code)))).toEqual([]);
	});

	it('names commands that a test or a script runs', () => {
		expect(commandsOf(name).filter((command) => !COMMANDS.some(({ is }) => is.test(command)))).toEqual([]);
	});
});

it('every setting stands in the configuration page and in the example file', () => {
	const settings = [
		...new Set(
			[...text('docs/configuration.md').matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
				[...cell.matchAll(/[A-Z_]{4,}/g)].map(([setting]) => setting),
			),
		),
	];
	const example = [...text('.env.example').matchAll(/^(?:# ?)?([A-Z_]{4,})=/gm)].map(([, setting = '']) => setting);
	const read = [...text('src/config.ts').matchAll(/^\t([A-Z_]{4,}): /gm)].map(([, setting = '']) => setting);
	expect([settings.toSorted(), example.toSorted()]).toEqual([read.toSorted(), read.toSorted()]);
});

const MOST_WORDS = { sentence: 30, cell: 40 };

/** What a person reads of Markdown: a code span is one word, a link is its text. Tables that a test makes are left out. */
const readAloud = (markdown: string) =>
	withoutFences(markdown)
		.replaceAll(/<!-- generated: begin -->[\s\S]*<!-- generated: end -->|<img [^>]*>/g, '')
		.replaceAll(/`[^`]+`/g, 'Code')
		.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
		.replaceAll('*', '');
const countWords = (words: string) => words.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** Each paragraph, item of a list or title ends a sentence, as a full stop does before a capital letter or a digit. */
function sentencesOf(markdown: string): string[] {
	const prose = readAloud(markdown)
		.replaceAll(/^ *\|.*$/gm, '')
		.replaceAll(/^#+ .*$/gm, '\n$&\n')
		.replaceAll(/^ *(?:[->]|\d+\.) /gm, '\n\n');
	return prose
		.split(/\n\s*\n|(?<=[.!?]["”)]*)\s+(?=["“(]*[\p{Lu}\p{N}◦])/u)
		.map((sentence) => sentence.replaceAll(/\s+/g, ' ').trim());
}

const cellsOf = (markdown: string) =>
	[...readAloud(markdown).matchAll(/^ *\|(.*)\|$/gm)].flatMap(([, row = '']) => row.split('|'));

describe('lengths', () => {
	it('counts a code span and a link as they are read', () => {
		const page =
			'One `a b c` two.\nThree [four five](six.md) *seven*.\n\n- Eight\n- **Nine.** Ten\n\n| a b | `c d` e |\n';
		expect(sentencesOf(page).filter(Boolean).map(countWords)).toEqual([3, 4, 1, 1, 1]);
		expect(cellsOf(page).map(countWords)).toEqual([2, 2]);
	});

	it.each(DOCUMENTS)(
		`%s has sentences of at most ${MOST_WORDS.sentence} words, and cells of at most ${MOST_WORDS.cell}`,
		(name) => {
			const page = text(name);
			expect({
				sentences: sentencesOf(page).filter((sentence) => countWords(sentence) > MOST_WORDS.sentence),
				cells: cellsOf(page).filter((cell) => countWords(cell) > MOST_WORDS.cell),
			}).toEqual({ sentences: [], cells: [] });
		},
	);

	it('the README has at most 110 lines', () => {
		// As `wc -l` counts.
		expect(text('README.md').split('\n').length - 1).toBeLessThanOrEqual(110);
	});

	it('the glossary has at most 20 words', () => {
		const [, glossary = ''] = /^## Words\n([\s\S]*?)^## /m.exec(text('ARCHITECTURE.md')) ?? [];
		const words = [...glossary.matchAll(/^\| ([^|]+) \|/gm)].slice(1).flatMap(([, cell = '']) => cell.split(', '));
		expect(words.length).toBeGreaterThan(0);
		expect(words.length).toBeLessThanOrEqual(20);
	});

	it('lines have at most 140 characters, except in tables, commands and for pictures', () => {
		const long = DOCUMENTS.flatMap((name) =>
			withoutFences(text(name))
				.split('\n')
				.filter((line) => line.length > 140 && !/^(?:\||<img )/.test(line)),
		);
		expect(long).toEqual([]);
	});
});

it('sources name documents that exist', () => {
	const files = ['.env.example', '.ci/run', 'Dockerfile', 'manifest.yml', 'package.json'].concat(
		SOURCE_FOLDERS.flatMap(filesBelow).filter((name) => /\.(?:ts|tsx|js)$/.test(name)),
	);
	const named = files.flatMap((file) =>
		[...text(file).matchAll(/(?<![\w./-])(?:docs|test|bench|sandbox|fake-slack)\/[\w/-]+\.md\b/g)].map(
			([document]) => ({ file, document }),
		),
	);
	expect(named).not.toEqual([]);
	expect(named.filter(({ document }) => !existsSync(join(ROOT, document)))).toEqual([]);
});

it('every documented command is one that somebody runs', () => {
	const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
	const documented = DOCUMENTS.flatMap(commandsOf);
	for (const { is, ranBy } of COMMANDS) {
		expect(
			documented.some((command) => is.test(command)),
			`${is} stands in no document`,
		).toBe(true);
		if (ranBy.startsWith('test/') || ranBy.startsWith('.ci/')) expect(existsSync(join(ROOT, ranBy)), ranBy).toBe(true);
	}
	const named = documented.flatMap((command) => /npm run ([\w:-]+)/.exec(command)?.[1] ?? []);
	expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
});
