import { mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { askingSession } from '../../fake-session-service/builders.ts';
import { createFakeSessionService, type FakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import {
	type Actor,
	createFakeSlack,
	type FakeSlack,
	sampleWorkspace,
	seedState,
	withMembers,
} from '../../fake-slack/index.ts';
import { connectionEnv } from '../../sandbox/connection-env.ts';
import { manifestPath } from '../../sandbox/manifest-path.ts';
import { type AppProcess, startAppProcess, takesRequests } from '../figures/app-process.ts';
import { createFront, type Front } from './front.ts';

/** How long the session service takes for every request. */
export const SERVICE_MS = 300;
/** Somebody who sees nothing within this time counts as having seen nothing. */
const GIVE_UP_MS = 8_000;
const SAMPLE_MS = 100;
const PEOPLE = Array.from({ length: 400 }, (_, index) => `person${index}`);

export interface Arena extends AsyncDisposable {
	readonly slack: FakeSlack;
	readonly service: FakeSessionService;
	/** A proxy between the program and the service that answers for hostile sessions itself. */
	readonly front: Front;
	readonly program: AppProcess;
	/** A person whom the program has never met. */
	stranger(): Actor;
	/** Adds a session with a question to the service. Returns its id. */
	calmSession(): string;
	/**
	 * Somebody types `/session` for a calm session. Milliseconds until they see its content; infinite when they do not.
	 */
	open(): Promise<number>;
	/** GETs over a connection of its own. Milliseconds until the response 200; infinite when it does not come. */
	check(path: '/healthz' | '/readyz' | '/metrics'): Promise<number>;
	/** The highest resident memory since the last call, in MiB. */
	peak(): number;
}

export interface ArenaOptions {
	readonly entry: string;
	readonly transport: 'http' | 'socket';
	readonly env?: Readonly<Record<string, string>>;
}

/** The program in its own process, with the default limits, between the fake Slack and the fake session service. */
export async function createArena({ entry, transport, env = {} }: ArenaOptions): Promise<Arena> {
	await using stack = new AsyncDisposableStack();
	const directory = await mkdtemp(join(tmpdir(), 'handraise-attack-'));
	stack.defer(() => rm(directory, { recursive: true, force: true }));
	const service = createFakeSessionService({ scenarios: [], startOnRead: false });
	await service.start();
	stack.defer(() => service.stop());
	service.faults.add({ kind: 'slow', ms: SERVICE_MS });
	const front = await createFront(service.url);
	stack.defer(() => front.close());
	const slack = await createFakeSlack({
		manifest: manifestPath,
		state: seedState(withMembers(sampleWorkspace(), 'agents', PEOPLE), manifestPath),
		waitMs: GIVE_UP_MS,
	});
	stack.defer(() => slack.close());
	const program = await startAppProcess({
		entry,
		logDirectory: directory,
		env: {
			...connectionEnv({ slack, service: { url: front.url, apiKey: service.apiKey }, transport }),
			DATA_DIR: join(directory, 'data'),
			...env,
		},
	});
	stack.defer(() => program.stop());
	if (transport === 'http') slack.setRequestUrl(`${program.url}/slack/events`);
	await Promise.race([
		takesRequests(program).then(() => (transport === 'http' ? undefined : slack.connected(2))),
		program.endedEarly,
	]);

	let people = 0;
	let sessions = 0;
	let peak = 0;
	const sampler = setInterval(() => {
		program.memory().then(
			(mib) => {
				peak = Math.max(peak, mib);
			},
			() => {},
		);
	}, SAMPLE_MS);
	stack.defer(() => clearInterval(sampler));

	function stranger(): Actor {
		const name = PEOPLE[people++];
		if (name === undefined) throw new Error('The program has met every person already.');
		return slack.as(name);
	}
	function calmSession(): string {
		const id = `calm-${sessions++}-x`;
		service.sessions.put(id, askingSession([`What is the name of ${id}?`], { name: id }));
		return id;
	}
	const parts = stack.move();
	return {
		slack,
		service,
		front,
		program,
		stranger,
		calmSession,
		async open() {
			const actor = stranger();
			const id = calmSession();
			const start = performance.now();
			const failed = (why: string) => {
				process.stderr.write(`${actor.user} did not see ${id}: ${why.slice(0, 400)}\n`);
				return Number.POSITIVE_INFINITY;
			};
			const { ok, error } = await actor.command('#agents', `/session ${id}`);
			if (!ok) return failed(error ?? 'not acknowledged');
			return actor.waitForModal(`What is the name of ${id}?`).then(
				() => performance.now() - start,
				(reason: Error) => failed(reason.message),
			);
		},
		check(path) {
			const start = performance.now();
			return new Promise((resolve) => {
				const fail = () => resolve(Number.POSITIVE_INFINITY);
				get(`${program.url}${path}`, { agent: false, timeout: GIVE_UP_MS }, (response) => {
					const end = () => (response.statusCode === 200 ? resolve(performance.now() - start) : fail());
					response.resume().once('end', end);
				})
					.once('timeout', fail)
					.once('error', fail);
			});
		},
		peak() {
			const most = peak;
			peak = 0;
			return most;
		},
		[Symbol.asyncDispose]: () => parts.disposeAsync(),
	};
}

/** Repeats an action until the signal is aborted, at least `times` times. Returns what each call returned. */
export async function repeat<T>(
	act: () => Promise<T>,
	{ everyMs, times, signal }: { everyMs: number; times: number; signal: AbortSignal },
): Promise<T[]> {
	const results: T[] = [];
	while (!signal.aborted || results.length < times) {
		results.push(await act());
		await pause(everyMs);
	}
	return results;
}
