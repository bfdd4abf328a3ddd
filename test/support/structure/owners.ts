/** The only file or folder of `src` that writes the rows of each table. Its first line says so, of a folder that of one file. */
const OWNERS: Readonly<Record<string, string>> = {
	migrations: 'database/migrate.ts',
	meta: 'database/',
	shared_states: 'database/',
	questions: 'database/question-store.ts',
	snoozes: 'database/question-store.ts',
	watches: 'database/watch-store.ts',
	watched_sessions: 'database/watch-store.ts',
	ladders: 'database/ladders.ts',
	people: 'database/people-store.ts',
	posts: 'posts/',
	answers: 'features/answer/',
	drafts: 'features/answer/answering-store.ts',
	claims: 'features/answer/answering-store.ts',
	windows: 'features/answer/answering-store.ts',
	channel_settings: 'features/watch/channel-store.ts',
	discoveries: 'features/watch/channel-store.ts',
	answer_rules: 'features/watch/answerers-store.ts',
	waiting_sessions: 'features/watch/channel-store.ts',
	service_outages: 'features/watch/recording-store.ts',
	inboxes: 'features/inbox/inbox-store.ts',
	audit_events: 'database/audit.ts',
	refusals: 'database/audit.ts',
};
/** Who writes rows of any table: leases, encryption, ids of people, the repair of times. */
const OF_ANY = 'database/';
/** Migrations change rows of any table, when nobody else writes. */
const MIGRATIONS = ['database/migrate.ts', 'database/to-two.ts', 'database/one-form.ts'];

const HELPER = /(?<![.\w])(?:add|addNew|addIf|change|remove)\(\s*(?:\w+\.)?(?:trx|db|read),\s*(?:'(\w+)')?/g;
const QUERY = /\.(?:insertInto|updateTable|deleteFrom)\((?:'(\w+)')?/g;
const RAW = /\bsql(?:<[^`]*>)?`\s*(?:insert into|update|delete from) (\w+)?/g;

/** One line for each table that a file of `src` writes and does not own. `path`: like `features/inbox/view.ts`. */
export function foreignWrites(path: string, text: string): readonly string[] {
	if (MIGRATIONS.includes(path)) return [];
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
