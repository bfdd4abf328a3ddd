import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import { item } from '../../fake-session-service/builders.ts';
import { inboxApp } from '../people/inbox/harness.ts';
import { settingsOf } from '../people/settings/harness.ts';
import { ESCALATION, REMINDER } from '../support/sentences.ts';

/** The tables whose rows stay when what they are about has ended. Limits of the program bound the others. */
const GROWING = ['answers', 'drafts', 'watches', 'watched_sessions', 'questions', 'posts'] as const;
const ROWS = 5_000;
/** SQLite, which the program lets collect no statistics, plans the same for any number of rows. */
const SQLITE_ROWS = 1_000;

/** How the copies of a table's row differ from it: SQL for some columns, with the number `n.i` of the copy. */
const COPIES: Record<(typeof GROWING)[number], Readonly<Record<string, string>>> = {
	answers: {
		id: `'a' || n.i`,
		submission_key: `'k' || n.i`,
		user_id: `'U' || (n.i % 500)`,
		session_id: `'s' || n.i`,
		state: `'resumed'`,
		agent_outcome: `'resumed'`,
		ended_at: 'copied.accepted_at',
		delivered_at: 'copied.accepted_at',
		next_attempt_at: 'null',
		lease_token: 'null',
	},
	drafts: { form_id: `'f' || n.i`, user_id: `'U' || (n.i % 500)`, session_id: `'s' || n.i` },
	watches: {
		id: `'w' || n.i`,
		channel_id: `'C' || (n.i % 500)`,
		session_id: `'s' || n.i`,
		ended_at: 'copied.created_at',
		ended_reason: `'noChange'`,
	},
	watched_sessions: { session_id: `'s' || n.i`, next_read_at: 'null', lease_token: 'null' },
	// Half of them are of one session.
	questions: {
		id: `'q' || n.i`,
		session_id: `case when n.i % 2 = 0 then copied.session_id else 's' || n.i end`,
		number: 'copied.number - n.i',
		// Settled too late to be removed.
		asked_at: 'copied.asked_at - 1000000000 - n.i',
		settled_at: 'copied.asked_at',
		settled_how: `'answered'`,
	},
	// Half of them are of one live watch.
	posts: {
		id: `'p' || n.i`,
		stream: `case when n.i % 2 = 0 then copied.stream else 'watch:w' || n.i end`,
		watch_id: `case when n.i % 2 = 0 then copied.watch_id else 'w' || n.i end`,
		number: 'n.i + 1000',
		unique_key: `'k' || n.i`,
		kind: `'status'`,
		service: `case when n.i % 2 = 0 then copied.service else 'service' end`,
		session_id: `case when n.i % 2 = 0 then copied.session_id else 's' || n.i end`,
		question_id: `'q' || n.i`,
		ts: `'ts' || n.i`,
		state: `'closed'`,
		due_at: 'null',
		sending_since: 'null',
		lease_token: 'null',
	},
};

/** Columns of which half of a table's rows have the same value. */
const OFTEN = ['session_id', 'watch_id', 'stream'] as const;

/** What may read a table whole. */
const MAY_BE_WHOLE = [
	// At a start or a stop nobody waits.
	// Leases of what was at work when a stop's time was over: a stop that finds nothing at work sends none of them.
	/\bwhere "lease_token" in \([^()]*\)$/,
	/^update "\w+" set "lease_token" = \S+, "leased_until" = \S+ where .*\bwhere "lease_token" in \([^()]*\) order by/,
	// SQLite: leases of a process that was killed; drafts that the former key of secrets seals.
	/^update "\w+" set "lease_token" = \?, "leased_until" = \? where "lease_token" is not null$/,
	/^select form_id as "formId", [^()]* content as sealed from drafts where content is not null$/,
	// Times that are further ahead than legal.
	/^update "\w+" set "\w+" = case when "\w+" > \S+ then \S+ else "\w+" end/,
	// Nothing is asked for.
	/\bwhere \("service" = \S+ and false\)/,
	// Answers for another address of the service.
	/^select count\(\*\) as "count" from "answers" where "service" != \? and "state" in/,
];

interface Statement {
	readonly text: string;
	readonly parameters: readonly unknown[];
}

/** A database whose plans are examined while the program does not run. */
export interface ExaminedDatabase {
	rows(text: string): Promise<readonly Record<string, unknown>[]>;
	/** Fills the growing tables with copies of rows that the program wrote. Resolves to ids that half of a table's rows have. */
	fill(): Promise<ReadonlySet<unknown>>;
	/** The statements of the program that read a growing table whole. */
	scansOf(statements: readonly Statement[]): Promise<string[]>;
	close(): Promise<void>;
}

/**
 * Records, until the end of the test, what this process sends to SQLite and PostgreSQL: each text once, and not about the ids in
 * `often` when it is sent about others too. Of these, half of a table is asked, and a whole read is right.
 */
function recordStatements(often: ReadonlySet<unknown>): ReadonlyMap<string, Statement> {
	const statements = new Map<string, Statement>();
	const note = (text: unknown, parameters: unknown) => {
		if (typeof text !== 'string' || !/^\s*(?:select|insert|update|delete|with)\b/i.test(text)) return;
		if (MAY_BE_WHOLE.some((pattern) => pattern.test(text))) return;
		const values: readonly unknown[] = Array.isArray(parameters) ? parameters : [];
		if (statements.has(text) && values.some((value) => often.has(value))) return;
		statements.set(text, { text, parameters: values });
	};
	const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
	const prepare = DatabaseSync.prototype.prepare;
	const spies = [
		vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...given: unknown[]) {
			const [asked, parameters] = given as [string | pg.QueryConfig, unknown];
			if (typeof asked === 'string') note(asked, parameters);
			else note(asked.text, asked.values);
			return query.apply(this, given);
		} as never),
		vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (this: DatabaseSync, text: string) {
			const statement = prepare.call(this, text);
			for (const name of ['all', 'run', 'iterate'] as const) {
				const original = statement[name].bind(statement) as (...given: unknown[]) => unknown;
				Object.assign(statement, {
					[name](...given: unknown[]) {
						note(text, given);
						return original(...given);
					},
				});
			}
			return statement;
		}),
	];
	onTestFinished(() => {
		for (const spy of spies) spy.mockRestore();
	});
	return statements;
}

/** The same SQL for both databases. */
function copying(table: (typeof GROWING)[number], columns: readonly string[], count: number): string {
	const values = columns.map((column) => COPIES[table][column] ?? `copied.${column}`);
	return `insert into ${table} (${columns.join(', ')})
		with recursive n(i) as (select 1 union all select n.i + 1 from n where n.i < ${count})
		select ${values.join(', ')} from (select * from ${table} limit 1) as copied, n`;
}

async function fill(database: Pick<ExaminedDatabase, 'rows'>, count: number): Promise<ReadonlySet<unknown>> {
	const often = new Set<unknown>();
	for (const table of GROWING) {
		const [row] = await database.rows(`select * from ${table} limit 1`);
		if (row === undefined) throw new Error(`the program has written no row of ${table}`);
		await database.rows(copying(table, Object.keys(row), count));
		for (const column of OFTEN) if (column in row) often.add(row[column]);
	}
	return often;
}

const isGrowing = (name: string) => (GROWING as readonly string[]).includes(name);

/** The table that a statement calls so. */
function tableOf(name: string, text: string): string {
	const bare = text.replaceAll('"', '');
	return new RegExp(`\\b(?:from|join|update|into)\\s+(\\w+)\\s+(?:as\\s+)?${name}\\b`, 'i').exec(bare)?.[1] ?? name;
}

/**
 * In a plan of SQLite. All rows are of one service. Live watches are found among all that are kept, which SQLite takes for as
 * few: 2 to 19 ms for 50,000.
 */
const WHOLE_READ =
	/^(?:SCAN |SEARCH (?=.* INDEX (?!watches_of_session)\w+ \(service=\?\)$))(\w+)(?: USING (?:COVERING )?INDEX (\w+))?/;

export function examineSqlite(path: string): ExaminedDatabase {
	const database = new DatabaseSync(path);
	const rows = async (text: string, parameters: readonly unknown[] = []) =>
		database.prepare(text).all(...(parameters as readonly string[])) as Record<string, unknown>[];
	return {
		rows,
		fill: () => fill({ rows }, SQLITE_ROWS),
		async scansOf(statements) {
			const partial = new Set(
				(await rows(`select name from sqlite_master where type = 'index' and sql like '%where%'`)).map(
					({ name }) => name,
				),
			);
			const found: string[] = [];
			for (const { text, parameters } of statements) {
				if (/limit \?(?! \+ 0)/.test(text))
					found.push(`a limit that is bound, so that each run plans anew, in ${text}`);
				for (const { detail } of await rows(`explain query plan ${text}`, parameters)) {
					const [, name, index] = WHOLE_READ.exec(String(detail)) ?? [];
					const isWhole = name !== undefined && isGrowing(tableOf(name, text)) && !partial.has(index);
					if (isWhole) found.push(`${detail} in ${text}`);
				}
			}
			return found;
		},
		async close() {
			database.close();
		},
	};
}

export async function examinePostgres(databaseUrl: string): Promise<ExaminedDatabase> {
	const client = new pg.Client({ connectionString: databaseUrl });
	await client.connect();
	const rows = async (text: string, parameters: readonly unknown[] = []) =>
		(await client.query(text, [...parameters])).rows as Record<string, unknown>[];
	return {
		rows,
		async fill() {
			const often = await fill({ rows }, ROWS);
			await rows('analyze');
			return often;
		},
		async scansOf(statements) {
			const found: string[] = [];
			for (const { text, parameters } of statements) {
				const plan = (await rows(`explain ${text}`, parameters)).map((row) => String(row['QUERY PLAN']));
				for (const line of plan) {
					const [, name = ''] = /Seq Scan on (\w+)/.exec(line) ?? [];
					if (isGrowing(name)) found.push(`${line.trim()} in ${text}`);
				}
			}
			return found;
		},
		close: () => client.end(),
	};
}

const FLIGHT = item('Which flight should I book?', 'One of: LH 1173, TP 570');
const COLOUR = 'Which colour?';

/** The program on a database, everything that people do with it often, and what its loops do meanwhile. */
export async function busyApp(env: Readonly<Record<string, string>>) {
	const app = await inboxApp({
		env: { DISCOVER_SESSIONS: 'true', REMIND_AFTER: '40s', UNDO_SECONDS: '5', ...env },
		service: { list: { mode: 'on' } },
	});

	async function asked(name: string, question: string | typeof FLIGHT = FLIGHT) {
		const id = await app.watched({ name });
		app.ask(id, [question], '');
		return { id, post: await app.threadSays(id, /Which (?:flight|colour)/) };
	}

	/** Two people have the form open, and one of them answers: this writes rows of all growing tables. */
	async function answeredByForm(): Promise<void> {
		const typed = await asked('By form', COLOUR);
		for (const who of ['ada', 'grace']) {
			await app.seenBy(who, typed.post).press('Answer…');
			await app.until(() => app.slack.as(who).modal()?.text().includes(COLOUR));
			await app.slack.as(who).modal()?.fill(0, 'grey');
			await app.pass(3_000);
		}
		await app.slack.as('grace').modal()?.submit();
		await app.answered(typed.id);
	}

	async function everything(): Promise<void> {
		for (const who of ['ada', 'grace']) await app.slack.as(who).modal()?.close(true);
		await settingsOf(app, '5 min').save({ Mention: ['grace'] });
		await app.openHome('ada');
		await app.command('/session watch all', 'ada', '#secret');
		const pressed = await asked('By press');
		await pressed.post.press('LH 1173');
		await app.answered(pressed.id);
		await answeredByForm();
		const open = await asked('Nobody answers');
		await app.threadSays(open.id, REMINDER);
		await app.threadSays(open.id, ESCALATION);
		await app.openHome('ada');
		await app.slack.as('ada').modal()?.close(true);
		await open.post.press('Other answer…');
		await app.command('/session list');
		await app.command('/session history');
		await app.toldAfter(() => app.slack.as('ada').mention('#agents', 'TP 570', { thread: app.card(open.id) ?? '' }));
		app.ask(app.session({ name: 'Raised hand' }), [FLIGHT], '');
		await app.until(() => app.inChannel('#secret').find((post) => post.text().includes('Raised hand')));
		await app.command(`/session unwatch ${open.id}`);
		await app.pass(60_000);
	}

	return { ...app, answeredByForm, everything };
}

/** What the program does with tables that have grown, as statements that read one whole. */
export async function scansOfProgram(
	app: Awaited<ReturnType<typeof busyApp>>,
	examine: () => Promise<ExaminedDatabase>,
): Promise<string[]> {
	await app.answeredByForm();
	await app.stop();
	const filled = await examine();
	const often = await filled.fill();
	await filled.close();
	const statements = recordStatements(often);
	await app.restart();
	await app.everything();
	await app.stop();
	if (statements.size < 100) throw new Error(`only ${statements.size} statements were recorded`);
	const examined = await examine();
	const scans = await examined.scansOf([...statements.values()]);
	await examined.close();
	return [...new Set(scans)];
}
