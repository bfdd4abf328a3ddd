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
	{ is: /^(?:kysely|pg)(?:\/|$)/, by: /^database\/|[/-]store\.ts$/ },
	{ is: /^@slack\//, by: /^(?:slack|posts|features|doctor)\// },
	{ is: /^undici$/, by: /^(?:session-service\/|core\/proxy\.ts$|app\.ts$)/ },
	{ is: /^pino$/, by: /^core\/log\.ts$/ },
	{ is: /^prom-client$/, by: /^core\/metrics\.ts$/ },
	// `questions` is pure. One file reads its word lists.
	{ is: /^(?!(?:node:crypto|node:util|zod)$)/, by: /^(?!questions\/(?!word-list\.ts$))/ },
	{ is: /^(?!node:fs$)/, by: /^(?!questions\/word-list\.ts$)/ },
];

const IMPORT = /^(?:import|export) (?:type )?(?:\{[^}]*\}|\* as \w+|\*|\w+)(?:, \{[^}]*\})? from '([^']+)';/gm;

/** One line for each import that the rules above refuse. `path`: of a file of `src`, like `features/inbox/view.ts`. */
export function wrongArrows(path: string, text: string): readonly string[] {
	const wrong = Array.from(text.matchAll(IMPORT), ([, specifier = '']) => specifier).flatMap((specifier) => {
		if (!specifier.startsWith('.')) return mayUse(path, specifier) ? [] : [specifier];
		const imported = posix.join(posix.dirname(path), specifier);
		return mayKnow(path, imported) ? [] : [imported];
	});
	return [...new Set(wrong)].map((imported) => `src/${path} must not import ${imported}`);
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
