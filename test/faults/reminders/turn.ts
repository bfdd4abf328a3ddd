import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresServer } from '../../support/postgres.ts';
import { shortened } from '../frame.ts';
import type { StoreKind } from '../stores.ts';
import type { Stop } from './history.ts';
import { FAULTS } from './judge.ts';
import { loadProgram } from './process.ts';
import { type RunOptions, type RunResult, runReminders } from './run.ts';
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

/** The result of a run around one change of daylight-saving time, as lines for the terminal. */
function reportOf(
	name: string,
	{ history, virtualMs }: RunResult,
	verdict: Verdict,
	{ kind, realMs }: { kind: StoreKind; realMs: number },
): string[] {
	const { messages, crowded, leased } = verdict;
	const count = (how: string) => history.stops.filter((stop) => stop.how === how).length;
	const awayMs = history.outages.reduce((sum, { from, to }) => sum + to - from, 0);
	return [
		'',
		`${name}, ${kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'}: ${hours(virtualMs)} h in ${Math.round(realMs / 1000)} s`,
		`  ${verdict.questions} questions, ${history.claims.length} claims, ${history.answers.length} answers in Handraise, ${history.settings.length} settings, ${history.outages.length} outages (${hours(awayMs)} h), ${count('stopped')} restarts, ${count('killed')} kills`,
		`  ${verdict.reminders} reminders in ${messages.single} messages of one and ${messages.several} of several; read ${history.reads.length} times`,
		`  from due to Slack: median ${seconds(verdict.medianMs)}, longest ${seconds(verdict.worstMs)}; the program's metric: longest ${seconds(verdict.metricMs)}`,
		`  later than 30 s: ${verdict.late}; missed: ${verdict.missed}`,
		`  due while more than 60 a minute were: ${crowded.reminders}, later than 30 s ${crowded.late}, longest ${seconds(crowded.worstMs)}, after a younger one ${verdict.overtaken}`,
		...(kind === 'postgres'
			? [`  waited for the leases of a killed process: ${leased.reminders}, longest ${seconds(leased.worstMs)}`]
			: []),
		...FAULTS.map((fault) => `  ${fault}: ${verdict.faults[fault]}`),
		`  mentions of others than the settings name: ${verdict.wrongMentions}; at a wrong place: ${verdict.wrongPlaces}; marked as repeats: ${verdict.markedRepeats}; due together and apart: ${verdict.apart}`,
		...(verdict.problems.length > 0 ? [`    starts again: ${history.stops.map(stopWords).join(', ')}`] : []),
		...shortened(verdict.problems),
	];
}

function stopWords({ how, from, to }: Stop): string {
	return `${how} ${new Date(Math.round(from)).toISOString().slice(11)} for ${seconds(to - from)}`;
}

function hours(ms: number): string {
	return (ms / 3_600_000).toFixed(1);
}

function seconds(ms: number): string {
	return `${(ms / 1000).toFixed(1)} s`;
}
