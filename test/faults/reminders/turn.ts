import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresServer } from '../../support/postgres.ts';
import type { StoreKind } from '../stores.ts';
import { loadProgram } from './program.ts';
import { reportOf } from './report.ts';
import { type RunOptions, runReminders } from './run.ts';
import { type Verdict, verdictOf } from './verdict.ts';

/** Runs the program at `entry` around one change on a new store: on SQLite, or in a new database of `postgres`. */
export async function runTurn({
	entry,
	postgres,
	...options
}: Omit<RunOptions, 'program' | 'storeOptions'> & {
	readonly entry: string;
	readonly postgres: PostgresServer | null;
}): Promise<{ verdict: Verdict; report: string[] }> {
	const program = await loadProgram(entry);
	const dataDir = await mkdtemp(join(tmpdir(), 'handraise-reminders-'));
	const kind: StoreKind = postgres === null ? 'sqlite' : 'postgres';
	try {
		const databaseUrl = postgres === null ? null : await postgres.createDatabase();
		const encryptionKey = databaseUrl === null ? null : randomBytes(32).toString('base64');
		const beganAt = performance.now();
		const result = await runReminders({ ...options, program, storeOptions: { dataDir, databaseUrl, encryptionKey } });
		const realMs = performance.now() - beganAt;
		const verdict = verdictOf(result, kind);
		return { verdict, report: reportOf(options.change.name, result, verdict, { kind, realMs }) };
	} finally {
		await rm(dataDir, { recursive: true, force: true });
	}
}
