import { needSettings } from './config.ts';
import { createLog, HandraiseError } from './core/basics.ts';
import { BEFORE_ALL, cursorOf, lineOf, openAudit, readEvents } from './database/audit-reader.ts';

const USAGE = `Usage: npm run audit --silent -- [--since <day or time>] [--after <cursor>]
prints what happened, one JSON object a line, oldest first. --since 2026-11-01 or 2026-11-01T08:00:00Z, in UTC;
--after: the "cursor" of the last line that was read.`;

const usage = (words: string) => new HandraiseError(`${words}\n${USAGE}`, { code: 'usage' });

/** Milliseconds since the epoch. */
function timeOf(given: string): number {
	const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/.test(given);
	const at = isTime ? Date.parse(given) : Number.NaN;
	if (Number.isNaN(at)) throw usage('--since needs a day, such as 2026-11-01, or a time in UTC: 2026-11-01T08:00:00Z.');
	return at;
}

function cursorIn(given: string) {
	const [, transactionId, number] = /^(\d{1,15})\.(\d{1,15})$/.exec(given) ?? [];
	if (number === undefined) throw usage('--after needs the "cursor" of a line, such as 0.17.');
	return { transactionId: Number(transactionId), number: Number(number) };
}

function optionsIn(args: readonly string[]) {
	const options = { since: 0, after: BEFORE_ALL };
	for (let at = 0; at < args.length; at += 2) {
		const [name, given = ''] = args.slice(at);
		if (name === '--since') options.since = timeOf(given);
		else if (name === '--after') options.after = cursorIn(given);
		else throw usage('That is no option.');
	}
	return options;
}

/** Waits while whoever reads the output is slow. */
const print = (lines: string) =>
	new Promise<void>((done, failed) => process.stdout.write(lines, (error) => (error ? failed(error) : done())));

async function main(args: readonly string[]): Promise<void> {
	const { since, ...options } = optionsIn(args);
	const { DATABASE_URL, DATA_DIR } = needSettings(process.env, /^(?:DATA_DIR|DATABASE_URL|PGSSLMODE)/);
	const db = await openAudit({ databaseUrl: DATABASE_URL, dataDir: DATA_DIR, log: createLog('silent') });
	try {
		for (let { after } = options; ; ) {
			const rows = await readEvents(db.read, after, { since });
			const last = rows.at(-1);
			if (last === undefined) return;
			await print(rows.map((row) => `${JSON.stringify(lineOf(row))}\n`).join(''));
			after = cursorOf(last);
		}
	} finally {
		await db.close();
	}
}

await main(process.argv.slice(2)).catch((error: Error & { readonly code?: unknown }) => {
	// Whoever reads may have seen enough.
	if (error.code === 'EPIPE') return;
	const words = error instanceof HandraiseError ? error.message : `It failed (${error.name}).`;
	process.stderr.write(`${words}\n`);
	process.exitCode = 1;
});
