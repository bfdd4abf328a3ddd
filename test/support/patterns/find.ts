import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');

/** A regular expression of the program, and where it stands. */
export interface Pattern {
	readonly at: string;
	readonly source: string;
	readonly flags: string;
}

export const sourceFiles = (): readonly string[] => globSync('src/**/*.ts', { cwd: ROOT }).sort();
export const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const COMMENT_OR_TEXT = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/y;
const LITERAL = /\/((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([a-z]*)/y;
/** What a literal can stand behind. Behind a name, a number or a bracket, `/` divides. */
const BEFORE_LITERAL = /(?:[=(,:[!&|?{};+]|=>|\breturn|\bof)\s*$/;

/** The literals of a file. Texts in templates are skipped, and what stands between their braces is code. */
export function literalsIn(path: string, text: string): readonly Pattern[] {
	return [...tokensIn(text)].flatMap(({ kind, line, source, flags = '' }) =>
		kind === 'pattern' ? [{ at: `${path}:${line}`, source, flags }] : [],
	);
}

/** The texts of a file: strings, and the parts of templates beside their braces; comments are none. */
export function textsIn(path: string, text: string): readonly Pick<Pattern, 'at' | 'source'>[] {
	return [...tokensIn(text)].flatMap(({ kind, line, source }) =>
		kind === 'text' ? [{ at: `${path}:${line}`, source }] : [],
	);
}

function* tokensIn(
	text: string,
): Generator<{ kind: 'text' | 'pattern'; line: number; source: string; flags?: string }> {
	/** Of open templates: how many braces are open within the newest `${`. */
	const braces: number[] = [];
	let line = 1;
	for (let at = 0; at < text.length; ) {
		const start = at;
		const next = text[at];
		COMMENT_OR_TEXT.lastIndex = at;
		LITERAL.lastIndex = at;
		if (next === '`' || (next === '}' && braces.at(-1) === 0)) {
			if (next === '}') braces.pop();
			at = endOfTemplatePart(text, at + 1);
			yield { kind: 'text', line, source: text.slice(start + 1, at) };
			if (text[at - 1] === '{') braces.push(0);
		} else if (COMMENT_OR_TEXT.test(text)) {
			at = COMMENT_OR_TEXT.lastIndex;
			if (next !== '/') yield { kind: 'text', line, source: text.slice(start + 1, at - 1) };
		} else if (next === '/' && BEFORE_LITERAL.test(text.slice(Math.max(0, at - 40), at))) {
			const [whole = '/', source = '', flags = ''] = LITERAL.exec(text) ?? [];
			yield { kind: 'pattern', line, source, flags };
			at += whole.length;
		} else {
			if (braces.length > 0 && next === '{') braces.push((braces.pop() ?? 0) + 1);
			if (braces.length > 0 && next === '}') braces.push((braces.pop() ?? 0) - 1);
			at++;
		}
		line += text.slice(start, at).split('\n').length - 1;
	}
}

/** The index behind the "`" or the "${" that ends a part of a template. */
function endOfTemplatePart(text: string, from: number): number {
	for (let at = from; at < text.length; at++) {
		if (text[at] === '\\') at++;
		else if (text[at] === '`') return at + 1;
		else if (text[at] === '$' && text[at + 1] === '{') return at + 2;
	}
	return text.length;
}

/** The lines on which patterns are built at run time. */
export function builtAt(path: string, text: string): readonly string[] {
	return text
		.split('\n')
		.flatMap((line, at) => (/\bnew RegExp\(|(?<!\w)RegExp\(/.test(line) ? [`${path}:${at + 1}`] : []));
}

/** The patterns that these files build when they are loaded. Has to run before any of them is. */
export async function builtBy(paths: readonly string[]): Promise<readonly Pattern[]> {
	const found: Pattern[] = [];
	const Original = globalThis.RegExp;
	globalThis.RegExp = new Proxy(Original, {
		construct(target, args, newTarget) {
			const made = Reflect.construct(target, args, newTarget) as RegExp;
			const frames = (new Error('where').stack ?? '').split('\n');
			const at = frames.map((frame) => /file:\/\/[^)]*\.ts:\d+/.exec(frame)?.[0]).find((one) => one?.includes('/src/'));
			if (at !== undefined) {
				const [, file = '', line = ''] = /^(.*):(\d+)$/.exec(at) ?? [];
				found.push({ at: `${relative(ROOT, fileURLToPath(file))}:${line}`, source: made.source, flags: made.flags });
			}
			return made;
		},
	});
	try {
		for (const path of paths) await import(pathToFileURL(join(ROOT, path)).href);
	} finally {
		globalThis.RegExp = Original;
	}
	return found;
}

/** Every pattern of `src` once. */
export async function allPatterns(): Promise<{
	readonly patterns: readonly Pattern[];
	readonly builders: readonly string[];
}> {
	const files = sourceFiles().map((path) => ({ path, text: textOf(path) }));
	const builders = files.flatMap(({ path, text }) => builtAt(path, text));
	const built = await builtBy(files.filter(({ path, text }) => builtAt(path, text).length > 0).map(({ path }) => path));
	const all = [...files.flatMap(({ path, text }) => literalsIn(path, text)), ...built];
	return { patterns: [...new Map(all.map((one) => [`/${one.source}/${one.flags}`, one])).values()], builders };
}

if (import.meta.main) process.stdout.write(JSON.stringify(await allPatterns()));
