import { parseArgs } from 'node:util';
import { needSettings } from './config.ts';
import { createLog, HandraiseError, repeat, systemClock } from './kernel/basics.ts';
import { print } from './kernel/output.ts';
import { BEFORE_ALL, cursorOf, lineOf, openAudit, readEvents } from './store/audit-reader.ts';

const USAGE = `Usage: npm run audit --silent -- [--since <day or time>] [--after <cursor>] [--follow]
Prints what happened, a JSON object a line. --since 2026-11-01 or 2026-11-01T08:00Z, both UTC; --after goes on
behind the line with this "cursor"; --follow goes on with what happens next, until Ctrl-C.`;

const EVERY_MS = 1_000;
/** The program's own transactions are over sooner. */
const LAG_MS = 10_000;
const AWAY = 'The database cannot be read. Trying again each second.';
const LAGGING =
	'Lines wait for another transaction in PostgreSQL that is open for more than 10 s: see pg_stat_activity.';

function optionsIn(args: string[]) {
	try {
		const options = { since: { type: 'string' }, after: { type: 'string' }, follow: { type: 'boolean' } } as const;
		const { values } = parseArgs({ args, options });
		const { since = '1970-01-01', after, follow = false } = values;
		const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/.test(since);
		if (!isTime || Number.isNaN(Date.parse(since))) throw new Error('--since is no day or time.');
		const [, transactionId, number] = /^(\d{1,15})\.(\d{1,15})$/.exec(after ?? '') ?? [];
		if (after !== undefined && number === undefined) throw new Error('--after is no cursor.');
		const cursor = { transactionId: Number(transactionId), number: Number(number) };
		return { since: Date.parse(since), after: after === undefined ? BEFORE_ALL : cursor, follow };
	} catch (error) {
		throw new HandraiseError(`${(error as Error).message}\n${USAGE}`, { code: 'usage' });
	}
}

async function main(args: string[]): Promise<void> {
	const { since, follow, ...options } = optionsIn(args);
	const { DATABASE_URL, DATA_DIR } = needSettings(process.env, /^(?:DATA_DIR|DATABASE_URL|PGSSLMODE)/);
	const open = () => openAudit(DATABASE_URL, DATA_DIR, createLog('silent'));
	const stopping = new AbortController();
	const stop = () => stopping.abort();
	for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
	process.stdout.on('error', stop);
	const say = (words: string) => void process.stderr.write(`${words}\n`);
	let db = await open();
	await using _ = { [Symbol.asyncDispose]: () => db.close() };
	let { after } = options;
	let [waitedBehind, waitsSince] = [after, 0];

	async function printAll(): Promise<void> {
		while (!stopping.signal.aborted) {
			const rows = await readEvents(db.read, after, { since });
			const last = rows.at(-1);
			if (last === undefined) return;
			// Whoever reads may have seen enough.
			await print(rows.map((row) => `${JSON.stringify(lineOf(row))}\n`).join('')).catch(stop);
			after = cursorOf(last);
		}
	}

	async function turn(): Promise<number> {
		const former = db;
		// SQLite's file may be another by now, or have a log that it had not.
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

	if (!follow) return await printAll();
	await repeat(systemClock.sleep, stopping.signal, turn, { retryMs: EVERY_MS, onFailure: () => say(AWAY) });
}

await main(process.argv.slice(2)).catch((error: Error) => {
	process.stderr.write(`${error instanceof HandraiseError ? error.message : `It failed (${error.name}).`}\n`);
	process.exitCode = 1;
});
