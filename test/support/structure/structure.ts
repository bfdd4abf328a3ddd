import { readFileSync } from 'node:fs';

/** The most that a file, a part and all of `src` may have. An issue that allows growth raises a number by that and no more. */
export const LIMITS = {
	lines: 37_837,
	bytes: 1_804_603,
	files: 195,
	linesOfFile: 400,
	columns: 120,
	imports: 30,
	dependencies: 10,
} as const;

/** Why some may have more, and how much. Numbers may only shrink. */
const EXCEPTIONS: Readonly<Record<string, { readonly lines?: number; readonly dependencies?: number }>> = {
	// The only place that knows every part.
	'src/app.ts': { dependencies: 28 },
	// Opens the database with every store.
	'src/stores.ts': { dependencies: 21 },
	// What reaches Slack is made here, for all.
	'src/slack/slack.ts': { dependencies: 11 },
	// Each table's rows are removed by its owner.
	'src/ops/housekeeping.ts': { dependencies: 11 },
	// The Home tab hears of people, channels and accounts.
	'src/features/inbox/handler.ts': { dependencies: 11 },
	// Explains the policy from outside of the program, so it makes all that the policy needs.
	'src/doctor/may.ts': { dependencies: 11 },
	// Whoever is forgotten is in most tables, and asks their owners.
	'src/ops/person-store.ts': { dependencies: 15 },
};

/** What handlers get beside their context. */
const PARTS = 'flow drafting answers receipts handOvers inboxes watching userGroups settingsSaving'.split(' ');
/** What `Core` and `HandlerContext` have. */
const CORE_NAMES: ReadonlySet<string> = new Set(
	['core.ts', 'slack/listen.ts', 'slack/slack.ts', 'slack/context.ts']
		.map((path) => readFileSync(new URL(`../../../src/${path}`, import.meta.url), 'utf8'))
		.flatMap((text) => Array.from(text.matchAll(/^\t(?:readonly |\t)(\w+)[:,]/gm), ([, name]) => name ?? ''))
		.concat(PARTS),
);

/** A file of `src` as it was counted. */
export interface Part {
	readonly path: string;
	readonly lines: number;
	readonly bytes: number;
	/** The modules that give it functions or classes, and what it takes from `core`. */
	readonly dependencies: readonly string[];
}

const IMPORT = /^import (?:\{([^}]*)\}|\* as \w+) from '(\.[^']*)';/gm;

/** Counts one file. Its imports stand as the formatter writes them. */
export function measure(path: string, text: string): Part {
	const modules = Array.from(text.matchAll(IMPORT), ([, names, specifier]) => ({ names, specifier }))
		.filter(({ names }) => names === undefined || names.split(',').some(isFunction))
		.map(({ specifier }) => specifier ?? '');
	return {
		path,
		lines: text.split('\n').length - 1,
		bytes: Buffer.byteLength(text),
		dependencies: [...modules, ...takenFromCore(text)],
	};
}

/** Not a type, nor a constant. */
function isFunction(imported: string): boolean {
	const name = imported.trim();
	return name !== '' && !name.startsWith('type ') && !/^[A-Z0-9_]+$/.test(name);
}

/**
 * The names in `{ clock, store: { answers } }: Core` or `: HandlerContext`, in `} = core`, and after `core.`; of a nested
 * pattern, the inner names.
 */
function takenFromCore(text: string): readonly string[] {
	const inner = Array.from(
		text.matchAll(/\{([^{}]*)\} = core\.(\w+);/g),
		([, pattern = '', key]) => `{ ${key}: {${pattern}} } = core;`,
	);
	const all = [text.replace(/\{[^{}]*\} = core\.\w+;/g, ''), ...inner].join('\n');
	const read = Array.from(all.matchAll(/\bcore\.(\w+)/g), ([, name]) => name ?? '');
	const names = new Set(read.filter((name) => CORE_NAMES.has(name)));
	for (const { index } of all.matchAll(/\}(?:: (?:Core|Pick<Core|HandlerContext)\b| = core\b)/g)) {
		for (const [, key = '', inner] of patternEndingAt(all, index).matchAll(/(\w+)(?::\s*(?:\{([^}]*)\}|\w+))?/g)) {
			if (!CORE_NAMES.has(key)) continue;
			if (inner === undefined) names.add(key);
			else for (const [, name] of inner.matchAll(/(?:^|,)\s*(\w+)/g)) names.add(`${key}.${name}`);
		}
	}
	return Array.from(names, (name) => `core.${name}`);
}

/** What stands between the brace at `end` and the one that opens it. */
function patternEndingAt(text: string, end: number): string {
	let depth = 0;
	for (let at = end; at >= 0; at--) {
		if (text[at] === '}') depth++;
		if (text[at] === '{') depth--;
		if (depth === 0) return text.slice(at + 1, end);
	}
	return '';
}

/** One line for each limit that is exceeded. */
export function problemsOf(parts: readonly Part[], limits = LIMITS, exceptions = EXCEPTIONS): readonly string[] {
	const total = (what: 'lines' | 'bytes') => parts.reduce((sum, part) => sum + part[what], 0);
	return [
		...exceeded('src: lines', total('lines'), limits.lines),
		...exceeded('src: bytes', total('bytes'), limits.bytes),
		...exceeded('src: files', parts.length, limits.files),
		...parts.flatMap(({ path, lines, dependencies }) => [
			...exceeded(`${path}: lines`, lines, exceptions[path]?.lines ?? limits.linesOfFile),
			...exceeded(
				`${path}: dependencies`,
				dependencies.length,
				exceptions[path]?.dependencies ?? limits.dependencies,
			).map((problem) => `${problem} (${dependencies.join(', ')})`),
		]),
	];
}

function exceeded(what: string, count: number, most: number): string[] {
	return count > most ? [`${what}: ${count}, at most ${most}`] : [];
}

/** One line for each line of code that is wider than `columns`, where a tab takes two. Word lists are no code. */
export function wideLines(path: string, text: string, columns: number = LIMITS.columns): readonly string[] {
	return text.split('\n').flatMap((line, index) => {
		const width = line.replaceAll('\t', '  ').length;
		return width > columns ? [`src/${path}:${index + 1}: ${width} columns, at most ${columns}`] : [];
	});
}

/** Each line whose words name the command or the app as they are by default: an installation may call them otherwise. */
export function fixedNames(path: string, text: string): readonly string[] {
	if (path === 'core/command-name.ts') return [];
	return text.split('\n').flatMap((line, index) => {
		const isComment = /^\s*(\/\*|\*|\/\/)/.test(line);
		const [name] = (isComment ? null : /(?<![\w.\\])\/session(?![\w/-])|@Handraise\b/.exec(line)) ?? [];
		const constant = name === '/session' ? 'COMMAND' : 'APP_NAME';
		return name === undefined ? [] : [`src/${path}:${index + 1}: ${name}, use ${constant} of core/command-name.ts`];
	});
}
