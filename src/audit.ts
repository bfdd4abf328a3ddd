import { parseArgs } from 'node:util';
import { needSettings } from './config.ts';
import { createLog, HandraiseError } from './core/basics.ts';
import { BEFORE_ALL, cursorOf, lineOf, openAudit, readEvents } from './database/audit-reader.ts';

const USAGE = `Usage: npm run audit --silent -- [--since <day or time>] [--after <cursor>]
Prints what happened, a JSON object a line. --since 2026-11-01 or 2026-11-01T08:00Z, both UTC; --after goes on
behind the line with this "cursor".`;

function optionsIn(args: string[]) {
	try {
		const { values } = parseArgs({ args, options: { since: { type: 'string' }, after: { type: 'string' } } });
		const { since = '1970-01-01', after } = values;
		const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/.test(since);
		if (!isTime || Number.isNaN(Date.parse(since))) throw new Error('--since is no day or time.');
		const [, transactionId, number] = /^(\d{1,15})\.(\d{1,15})$/.exec(after ?? '') ?? [];
		if (after !== undefined && number === undefined) throw new Error('--after is no cursor.');
		const cursor = { transactionId: Number(transactionId), number: Number(number) };
		return { since: Date.parse(since), after: after === undefined ? BEFORE_ALL : cursor };
	} catch (error) {
		throw new HandraiseError(`${(error as Error).message}\n${USAGE}`, { code: 'usage' });
	}
}

/** Waits while whoever reads the output is slow. */
const print = (lines: string) =>
	new Promise<void>((done, failed) => process.stdout.write(lines, (error) => (error ? failed(error) : done())));

async function main(args: string[]): Promise<void> {
	const { since, ...options } = optionsIn(args);
	const { DATABASE_URL, DATA_DIR } = needSettings(process.env, /^(?:DATA_DIR|DATABASE_URL|PGSSLMODE)/);
	const db = await openAudit(DATABASE_URL, DATA_DIR, createLog('silent'));
	await using _ = { [Symbol.asyncDispose]: () => db.close() };
	for (let { after } = options; ; ) {
		const rows = await readEvents(db.read, after, { since });
		await print(rows.map((row) => `${JSON.stringify(lineOf(row))}\n`).join(''));
		const last = rows.at(-1);
		if (last === undefined) return;
		after = cursorOf(last);
	}
}

await main(process.argv.slice(2)).catch((error: Error & { readonly code?: unknown }) => {
	// Whoever reads may have seen enough.
	if (error.code === 'EPIPE') return;
	process.stderr.write(`${error instanceof HandraiseError ? error.message : `It failed (${error.name}).`}\n`);
	process.exitCode = 1;
});
