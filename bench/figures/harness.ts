import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
	type Actor,
	createFakeSlack,
	type FakeSlack,
	type Json,
	sampleWorkspace,
	seedState,
	type TrafficEntry,
	withMembers,
} from '../../fake-slack/index.ts';
import { connectionEnv } from '../../sandbox/connection-env.ts';
import { CALLBACKS } from '../../src/slack/ids.ts';
import { NO_LIMITS_ENV } from '../../test/support/no-limits.ts';
import { type AppProcess, BARE_APP, startAppProcess, takesRequests } from './app-process.ts';
import { preciseClock } from './precise-clock.ts';
import type { BenchService } from './service.ts';

export type Transport = 'socket' | 'http';

export interface HarnessOptions {
	readonly program: 'handraise' | 'bare';
	/** Its `main.ts`. Default: that of the working tree. */
	readonly entry?: string;
	readonly transport: Transport;
	readonly service: BenchService;
	/** PostgreSQL instead of SQLite. */
	readonly databaseUrl?: string;
	/** More settings of the program. */
	readonly env?: Readonly<Record<string, string>>;
	readonly replicas?: number;
}

/** One program between a fake Slack in this process and the session service. */
export interface Harness extends AsyncDisposable {
	readonly program: 'handraise' | 'bare';
	readonly slack: FakeSlack;
	readonly processes: readonly AppProcess[];
	/** Forgets everything that happened in Slack and fills the workspace with that many people, new ones or the same. */
	meet(people: number, who?: 'new' | 'same'): Actor[];
	/**
	 * Everybody types the command for their session at once, no faster than Slack tells who they are. Milliseconds from
	 * sending to acknowledgement for each.
	 */
	command(actors: readonly Actor[], sessionIds: readonly string[]): Promise<number[]>;
	/** Resolves when that many calls of a Web API method have responses since `meet`. */
	called(method: string, times: number): Promise<void>;
	/** Resolves when that many people see the content. A slow service causes updates of the view before it. */
	shown(times: number): Promise<void>;
	/** The deliveries of a kind since `meet`. @throws Error when one was not acknowledged */
	acknowledged(name: string): readonly TrafficEntry[];
}

const LONGEST_WAIT_MS = 60_000;
/** Of people, by `users.info`, within Slack's tier of 100 a minute; for how long the program knows them for a window. */
const [TOLD_AT_ONCE, TOLD_EVERY_MS, KNOWN_MS] = [90, 800, 4 * 60_000];
export const OWN_ENTRY = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export async function createHarness(options: HarnessOptions): Promise<Harness> {
	const { program, transport, service, databaseUrl, replicas = 1 } = options;
	const slack = await createFakeSlack({ clock: preciseClock, waitMs: LONGEST_WAIT_MS, trafficLimit: 50_000 });
	const directory = await mkdtemp(join(tmpdir(), `handraise-bench-${program}-`));
	const env = {
		...connectionEnv({ slack, service, transport }),
		// The real limit would be all that is measured.
		SESSION_SERVICE_RPM: '100000',
		...NO_LIMITS_ENV,
		...(databaseUrl === undefined
			? { DATA_DIR: directory }
			: { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }),
		...options.env,
	};
	const entry = program === 'bare' ? BARE_APP : (options.entry ?? OWN_ENTRY);
	const processes = await Promise.all(
		Array.from({ length: replicas }, () => startAppProcess({ entry, env, logDirectory: directory })),
	);
	const [first] = processes;
	if (first === undefined) throw new Error('At least one process is needed.');
	// The program opens two connections in each process.
	const serves = transport === 'http' ? takesRequests(first) : slack.connected(program === 'bare' ? 1 : replicas * 2);
	await Promise.race([serves, ...processes.map((one) => one.endedEarly)]);
	if (transport === 'http') slack.setRequestUrl(`${first.url}/slack/events`);
	let generation = 0;

	const toldAt = new Map<string, number>();
	let room = TOLD_AT_ONCE;
	let roomAt = preciseClock.now();
	/** Waits until Slack tells who these people are: the program asks, and refuses commands of whom it cannot know. */
	async function told(actors: readonly Actor[]): Promise<void> {
		const now = preciseClock.now();
		const asked = actors.filter(({ user }) => now - (toldAt.get(user) ?? Number.NEGATIVE_INFINITY) > KNOWN_MS);
		room = Math.min(TOLD_AT_ONCE, room + (now - roomAt) / TOLD_EVERY_MS) - asked.length;
		roomAt = now;
		for (const { user } of asked) toldAt.set(user, now);
		if (room < 0) await pause(-room * TOLD_EVERY_MS);
	}

	return {
		program,
		slack,
		processes,
		meet(people, who = 'new') {
			slack.traffic.clear();
			const prefix = who === 'same' ? 'known' : `person${generation}x`;
			const names = Array.from({ length: people }, (_, index) => `${prefix}${index}`);
			generation++;
			slack.restore(seedState(withMembers(sampleWorkspace(), 'agents', names)));
			return names.map((name) => slack.as(name));
		},
		async command(actors, sessionIds) {
			if (program === 'handraise') await told(actors);
			const outcomes = await Promise.all(
				actors.map((actor, index) => actor.command('#agents', `/session ${sessionIds[index]}`)),
			);
			const failed = outcomes.find((outcome) => !outcome.ok);
			if (failed !== undefined) throw new Error(`A command failed: ${failed.error}`);
			return slack.traffic
				.deliveries('slash_commands')
				.slice(-actors.length)
				.map((entry) => entry.tookMs ?? Number.NaN);
		},
		async called(method, times) {
			const done = () => slack.traffic.calls(method).filter((call) => call.doneAt !== null).length;
			await slack.changes.until(
				() => done() >= times,
				() => `${done()} of ${times} calls of ${method} came.`,
			);
			const refused = slack.traffic
				.calls(method)
				.find((call) => (call.answer as { ok?: boolean } | null)?.ok === false);
			if (refused !== undefined) throw new Error(`Slack refused ${method}: ${JSON.stringify(refused.answer)}`);
		},
		async shown(times) {
			const isLoading = ({ payload }: { payload: Json }) => payload.callback_id === CALLBACKS.loading;
			const done = () => Object.values(slack.state.views).filter((view) => !isLoading(view)).length;
			await slack.changes.until(
				() => done() >= times,
				() => `${done()} of ${times} people see what they asked for.`,
			);
		},
		acknowledged(name) {
			const deliveries = slack.traffic.deliveries(name);
			const missed = deliveries.find((entry) => entry.acked !== true);
			if (missed !== undefined) throw new Error(`${name} was not acknowledged: ${JSON.stringify(missed.answer)}`);
			return deliveries;
		},
		async [Symbol.asyncDispose]() {
			await Promise.all(processes.map((one) => one.stop()));
			await slack.close();
			await rm(directory, { recursive: true, force: true });
		},
	};
}

/** The last call that answers a command: what the person waits for. */
export function lastCall({ program }: Harness): 'views.open' | 'views.update' {
	return program === 'bare' ? 'views.open' : 'views.update';
}
