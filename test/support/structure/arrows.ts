import { posix } from 'node:path';

/** Whom each folder of `src` knows besides itself, types included. What stands at the top of `src` knows everybody. */
const KNOWS: Readonly<Record<string, readonly string[]>> = {
	core: [],
	questions: ['core'],
	'session-service': ['core', 'questions', 'config.ts'],
	database: ['core', 'questions', 'config.ts'],
	slack: ['core', 'questions', 'config.ts', 'core.ts'],
	posts: ['core', 'questions', 'session-service', 'database', 'slack', 'config.ts', 'core.ts'],
	features: ['core', 'questions', 'session-service', 'database', 'slack', 'posts', 'config.ts', 'core.ts'],
	doctor: ['core', 'questions', 'session-service', 'database', 'slack', 'posts', 'features', 'config.ts'],
	ops: ['core', 'questions', 'session-service', 'database', 'slack', 'posts', 'features', 'core.ts'],
};
/** The features that other features may know. */
const SHARED_FEATURES = ['answer', 'watch'];

/** Who may use a package. */
const PACKAGES: readonly { readonly is: RegExp; readonly by: RegExp }[] = [
	{ is: /^(?:kysely|pg)(?:\/|$)/, by: /^database\// },
	{ is: /^@slack\//, by: /^(?:slack|posts|features|doctor)\// },
	{ is: /^undici$/, by: /^(?:session-service\/|core\/proxy\.ts$|app\.ts$)/ },
	{ is: /^pino$/, by: /^core\/basics\.ts$/ },
	{ is: /^prom-client$/, by: /^core\/metrics\.ts$/ },
	// `questions` is pure. One file reads its word lists.
	{ is: /^(?!(?:node:crypto|node:util|zod)$)/, by: /^(?!questions\/(?!word-list\.ts$))/ },
	{ is: /^(?!node:fs$)/, by: /^(?!questions\/word-list\.ts$)/ },
];

const IMPORT = /^(?:import|export) (?:type )?(?:\{[^}]*\}|\* as \w+|\*|\w+)(?:, \{[^}]*\})? from '([^']+)';/gm;

/** What a file imports, types too: packages by name, files of `src` by path. `path`: its own, like `features/inbox/view.ts`. */
export function importsOf(path: string, text: string): readonly string[] {
	const specifiers = Array.from(text.matchAll(IMPORT), ([, specifier = '']) => specifier);
	return [...new Set(specifiers.map((name) => (name.startsWith('.') ? posix.join(posix.dirname(path), name) : name)))];
}

/** A file and all that it imports, directly or not: what somebody may have to read to follow it. */
export function closureOf(path: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
	const reached = new Set([path]);
	for (const one of reached)
		for (const imported of imports.get(one) ?? []) if (imports.has(imported)) reached.add(imported);
	return reached;
}

/** One line for each import that the rules above refuse. */
export function wrongArrows(path: string, text: string): readonly string[] {
	return importsOf(path, text)
		.filter((imported) => !(imported.endsWith('.ts') ? mayKnow(path, imported) : mayUse(path, imported)))
		.map((imported) => `src/${path} must not import ${imported}`);
}

function mayUse(path: string, name: string): boolean {
	return PACKAGES.every(({ is, by }) => !is.test(name) || by.test(path));
}

function mayKnow(path: string, imported: string): boolean {
	if (imported.startsWith('slack/text/')) return path === 'slack/text.ts' || path.startsWith('slack/text/');
	const [layer = '', feature] = path.split('/');
	const [other = '', otherFeature = ''] = imported.split('/');
	if (feature === undefined) return true;
	if (layer !== 'features' || other !== 'features') return layer === other || KNOWS[layer]?.includes(other) === true;
	return feature === otherFeature || SHARED_FEATURES.includes(otherFeature);
}
