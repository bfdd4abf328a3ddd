import { posix } from 'node:path';

/** The folders of `src` from the ground up: each knows those before it, types included. Of one line none knows another. */
const LAYERS = [
	['kernel'],
	['domain'],
	['store', 'service', 'slack'],
	['surfaces'],
	['delivery'],
	['sessions'],
	['screens'],
	['people'],
	['operator'],
] as const;
/** Who knows a file at the top of `src`. What stands there knows everybody. */
const TOP: Readonly<Record<string, (folder: string) => boolean>> = {
	'config.ts': (folder) => heightOf(folder) >= heightOf('slack'),
	'core.ts': (folder) => folder === 'slack' || heightOf(folder) > heightOf('slack'),
};

/** Who may use a package. */
const PACKAGES: readonly { readonly is: RegExp; readonly by: RegExp }[] = [
	{ is: /^(?:kysely|pg)(?:\/|$)/, by: /^store\// },
	{ is: /^@slack\//, by: /^(?:slack|operator)\// },
	{ is: /^undici$/, by: /^(?:service\/|kernel\/proxy\.ts$|app\.ts$)/ },
	{ is: /^pino$/, by: /^kernel\/log\.ts$/ },
	{ is: /^prom-client$/, by: /^kernel\/metrics\.ts$/ },
	// `domain` is pure. One file reads its word lists.
	{ is: /^(?!(?:node:crypto|node:util|zod)$)/, by: /^(?!domain\/(?!word-list\.ts$))/ },
	{ is: /^(?!node:fs$)/, by: /^(?!domain\/word-list\.ts$)/ },
];

/** Folders beside `src` that others may not import, but for these files, and folders that know no other. */
const ENTRANCES: Readonly<Record<string, string>> = { 'fake-slack': 'fake-slack/index.ts', bench: 'nothing of it' };
const ALONE: readonly string[] = ['src', 'fake-slack'];

const IMPORT = /^(?:import|export) (?:type )?(?:\{[^}]*\}|\* as \w+|\*|\w+)(?:, \{[^}]*\})? from '([^']+)';/gm;

/** What a file imports, types too: packages by name, files of `src` by path. `path`: its own, like `screens/inbox.ts`. */
export function importsOf(path: string, text: string): readonly string[] {
	const specifiers = Array.from(text.matchAll(IMPORT), ([, specifier = '']) => specifier);
	return [...new Set(specifiers.map((name) => (name.startsWith('.') ? posix.join(posix.dirname(path), name) : name)))];
}

/** One line for each import between the folders of the repository that is refused. `path`: like `test/config.test.ts`. */
export function wrongEntrances(path: string, text: string): readonly string[] {
	const [own = ''] = path.split('/');
	return importsOf(path, text)
		.filter((imported) => {
			const [folder = '', ...rest] = imported.split('/');
			if (rest.length === 0 || folder === own || !imported.endsWith('.ts')) return false;
			return ALONE.includes(own) || (ENTRANCES[folder] ?? imported) !== imported;
		})
		.map((imported) => `${path} must not import ${imported}`);
}

/** A file and all that it imports, directly or not: what somebody may have to read to follow it. */
export function closureOf(path: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
	const reached = new Set([path]);
	for (const one of reached)
		for (const imported of imports.get(one) ?? []) if (imports.has(imported)) reached.add(imported);
	return reached;
}

/** One line for each file that imports itself by way of others, types too: none of them can be read first. */
export function circles(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
	const isAround = (path: string) =>
		imports.get(path)?.some((imported) => imported === path || closureOf(imported, imports).has(path)) === true;
	return [...imports.keys()].filter(isAround).map((path) => `src/${path} imports itself by way of others`);
}

/** One line for each import that the rules above refuse. */
export function wrongArrows(path: string, text: string): readonly string[] {
	const refused = importsOf(path, text).filter(
		(imported) => !(imported.endsWith('.ts') ? mayKnow(path, imported) : mayUse(path, imported)),
	);
	const isSqlElsewhere = SQL.test(text) && !/^store\/|-store\.ts$/.test(path);
	return [...refused, ...(isSqlElsewhere ? ['sql'] : [])].map((one) => `src/${path} must not import ${one}`);
}

/** The import of Kysely's `sql`, which the database passes on to the stores. */
const SQL = /^import \{[^}]*\bsql\b[^}]*\} from '[^']*\/database\.ts'/m;

function mayUse(path: string, name: string): boolean {
	return PACKAGES.every(({ is, by }) => !is.test(name) || by.test(path));
}

const heightOf = (folder: string) => LAYERS.findIndex((layer) => layer.some((name) => name === folder));

function mayKnow(path: string, imported: string): boolean {
	const [folder = '', file] = path.split('/');
	const [other = '', otherFile] = imported.split('/');
	// Slack's parts take the core, so it knows none of them.
	if (path === 'core.ts') return other !== 'slack';
	if (file === undefined || folder === other) return true;
	if (otherFile !== undefined) return heightOf(other) < heightOf(folder);
	return TOP[other]?.(folder) === true;
}
