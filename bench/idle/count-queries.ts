import { writeFileSync } from 'node:fs';
import { StatementSync } from 'node:sqlite';
import pg from 'pg';

/**
 * Loaded before the measured program (`node --import`): counts what it asks its database, whatever its version, and writes
 * the total into the file that `QUERY_COUNT_FILE` names, once a second.
 */
let count = 0;

type Method = (this: unknown, ...values: unknown[]) => unknown;

function countCalls(prototype: object, name: string): void {
	const methods = prototype as Record<string, Method>;
	const original = methods[name] as Method;
	methods[name] = function counted(...values) {
		count += 1;
		return original.apply(this, values);
	};
}

for (const name of ['all', 'get', 'run', 'iterate']) countCalls(StatementSync.prototype, name);
countCalls(pg.Client.prototype, 'query');

const file = process.env.QUERY_COUNT_FILE;
if (file !== undefined) setInterval(() => writeFileSync(file, String(count)), 1_000).unref();
