/** The only file or folder of `src` that writes the rows of each table. Its first line says so, of a folder that of one file. */
const OWNERS: Readonly<Record<string, string>> = {
	migrations: 'store/migrate.ts',
	meta: 'store/',
	shared_states: 'store/',
	questions: 'store/question-store.ts',
	snoozes: 'store/question-store.ts',
	watches: 'store/watches.ts',
	watched_sessions: 'store/watched-sessions.ts',
	people: 'store/people-store.ts',
	posts: 'surfaces/',
	answers: 'delivery/',
	drafts: 'delivery/draft-store.ts',
	channel_settings: 'sessions/channel-settings-store.ts',
	discoveries: 'sessions/discovery-store.ts',
	answer_rules: 'sessions/answerers-store.ts',
	waiting_sessions: 'sessions/discovery-store.ts',
	service_outages: 'sessions/outage-store.ts',
	marks: 'store/marks.ts',
	views: 'surfaces/',
	audit_events: 'store/audit.ts',
	refusals: 'store/audit.ts',
};
/** Who writes rows of any table: leases, encryption, ids of people, the repair of times. */
const OF_ANY = 'store/';
/** Migrations change rows of any table, when nobody else writes. */
const MIGRATIONS = 'store/migrate.ts';

const HELPER = /(?<![.\w])(?:add|addNew|addIf|change|remove)\(\s*(?:\w+\.)?(?:trx|db|read),\s*(?:'(\w+)')?/g;
const QUERY = /\.(?:insertInto|updateTable|deleteFrom)\((?:'(\w+)')?/g;
const RAW = /\bsql(?:<[^`]*>)?`\s*(?:insert into|update|delete from) (\w+)?/g;

/** One line for each table that a file of `src` writes and does not own. `path`: like `screens/inbox.ts`. */
export function foreignWrites(path: string, text: string): readonly string[] {
	if (path === MIGRATIONS) return [];
	const writes = [HELPER, QUERY, RAW].flatMap((pattern) => Array.from(text.matchAll(pattern), ([, table]) => table));
	return [...new Set(writes)].flatMap((table) => {
		const owner = (table !== undefined && OWNERS[table]) || OF_ANY;
		return path.startsWith(owner) ? [] : [`src/${path} must not write ${table ?? 'any table'}: ${owner} does`];
	});
}

/** One line for each table of which no owner says so. */
export function unowned(files: readonly { readonly path: string; readonly text: string }[], tables: readonly string[]) {
	return tables
		.filter((table) => {
			const owner = OWNERS[table] ?? 'nobody';
			const owned = (text: string) => /^\/\/ Owns [^\n]*/.exec(text)?.[0].includes(`\`${table}\``);
			return !files.some(({ path, text }) => path.startsWith(owner) && owned(text));
		})
		.map((table) => `no first line of ${OWNERS[table] ?? 'a file'} says that it owns ${table}`);
}
