import { parseArgs } from 'node:util';
import { needSettings } from './config.ts';
import { systemClock } from './kernel/clock.ts';
import { createLog } from './kernel/log.ts';
import { repeatUntilAborted } from './kernel/retries.ts';
import { command, invalid, nameOf, print, runCommand, stoppedBy } from './operator/command.ts';
import { auditLineOf, BEFORE_ALL, cursorOf, openAudit, readEvents } from './store/audit-reader.ts';

const USAGE = `Usage: npm run audit --silent -- [--since <day or time>] [--after <cursor>] [--follow]
Prints what happened, a JSON object a line. --since 2026-11-01 or 2026-11-01T08:00Z, both UTC; --after goes on
behind the line with this "cursor"; --follow goes on with what happens next, until Ctrl-C.`;

const EVERY_MS = 1_000;
/** No transaction of the program is open for this long. */
const LAG_MS = 10_000;
const AWAY = 'The database cannot be read. Trying again each second.';
const LAGGING =
	'Lines wait for another transaction in PostgreSQL that is open for more than 10 s: see pg_stat_activity.';

function optionsIn(argv: readonly string[]) {
	try {
		const options = { since: { type: 'string' }, after: { type: 'string' }, follow: { type: 'boolean' } } as const;
		const { values } = parseArgs({ args: [...argv], options });
		const { since = '1970-01-01', after, follow = false } = values;
		const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/.test(since);
		if (!isTime || Number.isNaN(Date.parse(since))) throw new Error('--since is no day or time.');
		const [, transactionId, number] = /^(\d{1,15})\.(\d{1,15})$/.exec(after ?? '') ?? [];
		if (after !== undefined && number === undefined) throw new Error('--after is no cursor.');
		const cursor = { transactionId: Number(transactionId), number: Number(number) };
		return { since: Date.parse(since), after: after === undefined ? BEFORE_ALL : cursor, follow };
	} catch (error) {
		throw invalid(`${(error as Error).message}\n${USAGE}`);
	}
}

export const main = command(async (argv, io) => {
	const { since, follow, ...options } = optionsIn(argv);
	const { DATABASE_URL, DATA_DIR } = needSettings(io.env, /^(?:DATA_DIR|DATABASE_URL|PGSSLMODE)/);
	const open = () => openAudit(DATABASE_URL, DATA_DIR, createLog('silent'));
	const unread = new AbortController();
	const stopping = AbortSignal.any([stoppedBy(io, 'SIGINT', 'SIGTERM'), unread.signal]);
	const say = (words: string) => void io.stderr.write(`${words}\n`);
	let db = await open();
	await using _ = { [Symbol.asyncDispose]: () => db.close() };
	let { after } = options;
	let [waitedBehind, waitsSince] = [after, 0];

	async function printAll(): Promise<void> {
		while (!stopping.aborted) {
			const rows = await readEvents(db.read, after, { since });
			const last = rows.at(-1);
			if (last === undefined) return;
			// The reader may have closed the pipe.
			const lines = rows.map((row) => `${JSON.stringify(auditLineOf(row))}\n`);
			await print(io.stdout, lines.join('')).catch(() => unread.abort());
			after = cursorOf(last);
		}
	}

	async function turn(): Promise<number> {
		const former = db;
		// SQLite's file may have been replaced by a restore, or have a new write-ahead log.
		if (DATABASE_URL === null) db = await open();
		if (former !== db) await former.close();
		await printAll();
		const [waiting] = await readEvents(db.read, after, { since, limit: 1, isSettled: false });
		if (waiting === undefined || after !== waitedBehind) waitsSince = performance.now();
		else if (performance.now() - waitsSince >= LAG_MS) {
			say(LAGGING);
			waitsSince = Number.POSITIVE_INFINITY;
		}
		waitedBehind = after;
		return EVERY_MS;
	}

	if (!follow) await printAll();
	else await repeatUntilAborted(systemClock.sleep, stopping, turn, { retryMs: EVERY_MS, onFailure: () => say(AWAY) });
	return 0;
}, nameOf);

await runCommand(import.meta, main);
