import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import type { Answer } from '../../../src/domain/answer.ts';
import type { Log } from '../../../src/kernel/basics.ts';
import type { Metrics } from '../../../src/kernel/metrics.ts';
import type { StoreDatabase } from '../../../src/store/database.ts';
import type { Mention } from '../../../src/store/watch.ts';
import type { StoreOptions } from '../../../src/stores.ts';
import { coreOf } from '../../support/core.ts';
import type { Random } from '../../support/random.ts';
import type { Asked, Read } from './history.ts';
import { DEFAULT_MS } from './periods.ts';
import { SERVICE_URL, type Service } from './service.ts';
import type { createSlack } from './slack.ts';
import type { VirtualTime } from './virtual-time.ts';
import { createReader, createSender } from './workers.ts';

/** The parts of the program under test. `entry`: its `main.ts`, perhaps of a copy that was sabotaged. */
export async function loadProgram(entry: string) {
	const load = <Part>(path: string): Promise<Part> => import(new URL(path, pathToFileURL(entry)).href);
	return {
		...(await load<typeof import('../../../src/stores.ts')>('stores.ts')),
		...(await load<typeof import('../../../src/surfaces/reminders.ts')>('surfaces/reminders.ts')),
		...(await load<typeof import('../../../src/surfaces/outbox.ts')>('surfaces/outbox.ts')),
		...(await load<typeof import('../../../src/surfaces/marks.ts')>('surfaces/marks.ts')),
		...(await load<typeof import('../../../src/surfaces/messages.ts')>('surfaces/messages.ts')),
		...(await load<typeof import('../../../src/drawing.ts')>('drawing.ts')),
		...(await load<typeof import('../../../src/sessions/endings.ts')>('sessions/endings.ts')),
		...(await load<typeof import('../../../src/sessions/reading.ts')>('sessions/reading.ts')),
		...(await load<typeof import('../../../src/domain/session-snapshot.ts')>('domain/session-snapshot.ts')),
		...(await load<typeof import('../../../src/kernel/rate-limiter.ts')>('kernel/rate-limiter.ts')),
		...(await load<typeof import('../../../src/kernel/lease-loop.ts')>('kernel/lease-loop.ts')),
		...(await load<typeof import('../../../src/delivery/earlier-answers.ts')>('delivery/earlier-answers.ts')),
	};
}

export type Program = Awaited<ReturnType<typeof loadProgram>>;

export interface ProcessOptions {
	readonly program: Program;
	readonly storeOptions: Pick<StoreOptions, 'dataDir' | 'databaseUrl' | 'encryptionKey'>;
	readonly time: VirtualTime;
	readonly service: Service;
	readonly slack: ReturnType<typeof createSlack>;
	readonly reads: Read[];
	readonly questionOf: (answer: Answer) => Asked;
	/** The answer is not on its way any more, and did not arrive. */
	readonly onFailed: (answer: Answer) => void;
	/** From the time that a reminder was due to its post, as the program's metric gets it. */
	readonly onLate: (ms: number) => void;
	/** The process was killed at the point that `aim` named. */
	readonly onKilled: () => void;
	readonly random: Random;
}

/** The process was killed during a call. */
export class ProcessEnded extends Error {}

const NEVER = new Promise<never>(() => {});

/** JSON has no words for an error. */
const asWords = (_key: string, value: unknown) => (value instanceof Error ? value.stack : value);
const told = (event: string, fields?: object) =>
	void process.stderr.write(`${event} ${JSON.stringify(fields, asWords)}\n`);

/** A log that says what went wrong, also in a part of the program that this run gave too little. */
const LOG: Log = {
	debug() {},
	info() {},
	warn: (event, fields) => event === 'work_failed' && told(event, fields),
	error: told,
	child: () => LOG,
};

/** Runs the parts of the program that remind, on a store that outlives it. */
export async function startProcess(options: ProcessOptions) {
	const { program, time, slack } = options;
	const { clock, stop: stopClock } = time.startClock();
	const store = await time.during(program.openStore({ ...options.storeOptions, clock, log: LOG }));
	// A process that is killed loses nothing that it gave to the operating system.
	if (store.db.dialect === 'sqlite') await time.during(sql`pragma synchronous = off`.execute(store.db.read));
	const ended = Promise.withResolvers<never>();
	ended.promise.catch(() => undefined);
	let isDead = false;
	/** Writes and posts until the process is killed; null: it is not. */
	let countdown: number | null = null;
	/** The same, counted from the moment that the next reminder is about to be posted. */
	let aimedAt: number | null = null;

	function die(): void {
		if (isDead) return;
		isDead = true;
		stopClock();
		ended.reject(new ProcessEnded());
	}

	async function crashPoint(): Promise<void> {
		if (!isDead && countdown !== null) {
			countdown -= 1;
			if (countdown <= 0) {
				die();
				options.onKilled();
			}
		}
		if (isDead) await NEVER;
	}

	/** The result of a call, during which no time passes. A dead process gets none. */
	function result<T>(call: Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			time.during(Promise.race([call, ended.promise])).then(
				(value) => !isDead && resolve(value),
				(error: unknown) => !isDead && reject(error),
			);
		});
	}

	function guarded<Part extends object>(part: Part): Part {
		return new Proxy(part, {
			get(target, name) {
				const method: unknown = Reflect.get(target, name);
				if (typeof method !== 'function') return method;
				return (...values: unknown[]) => (isDead ? NEVER : result(method.apply(target, values)));
			},
		});
	}

	const { write, writeOne } = store.db;
	const crashing =
		(commit: StoreDatabase['write']): StoreDatabase['write'] =>
		async (work) => {
			await crashPoint();
			const written = await commit(work);
			await crashPoint();
			return written;
		};
	// The stores call the methods of this object.
	Object.assign(store.db, { write: crashing(write), writeOne: crashing(writeOne) });

	const posts = guarded<typeof store.posts>({
		...store.posts,
		beginAttempt(id, token, attempt) {
			if (aimedAt !== null && attempt.content?.kind === 'reminder') {
				countdown = aimedAt;
				aimedAt = null;
			}
			return store.posts.beginAttempt(id, token, attempt);
		},
	});

	const metrics = new Proxy({ reminderLate: options.onLate } as Metrics['watches'], {
		get: (given, name) => Reflect.get(given, name) ?? (() => {}),
	});
	const core = coreOf({
		store: {
			reminders: guarded(store.reminders),
			marks: guarded(store.marks),
			answers: guarded(store.answers),
			views: guarded(store.views),
			watches: guarded(store.watches),
			sessions: guarded(store.sessions),
			reads: guarded(store.reads),
			posts,
			discoveries: guarded(store.discoveries),
			handOvers: guarded(store.handOvers),
			channelSettings: guarded(store.channelSettings),
		},
		clients: { background: slack.clientFor(clock, crashPoint), slackNow: () => time.now() },
		directChannelOf: async () => 'D0REMINDED',
		directory: { displayName: () => 'somebody', learnName: async () => null, recallNames: async () => {} },
		rateLimiter: program.createRateLimiter(clock),
		metrics: { watches: metrics },
		serviceUrl: SERVICE_URL,
		config: {
			REMIND_AFTER: DEFAULT_MS,
			SESSION_DASHBOARD_URL: null,
			SHOW_ANSWERS: 'auto',
			QUICK_ANSWERS: true,
			ADMIN_CONTACT: null,
			ALLOWED_CHANNELS: [],
		},
		clock,
		log: LOG,
	});
	const draw = program.createDrawing(
		Object.assign(core, {
			mayAct: async () => null,
			whoMayAnswer: { of: async () => null, stillThere: async (list: Mention) => list },
			userGroups: { list: async () => ({ kind: 'listed' as const, groups: [] }) },
		}),
	);
	const announcer = { draw, remind: program.createReminding(core), ...program.createMessages(core) };
	const { endChannel } = program.createEndings(core);
	const outbox = program.createOutbox(core, announcer, endChannel);
	const loop = program.createLeaseLoop(core, outbox.queue);
	const spreading = program.createSpreading(core);
	const reader = createReader(core, options);
	const sender = createSender(core, options);

	const stopping = new AbortController();
	outbox.allow();
	loop.start();
	spreading.start();
	const running = [reader.run(stopping.signal), sender.run(stopping.signal)];

	return {
		answers: core.store.answers,
		views: core.store.views,
		watches: core.store.watches,
		channelSettings: core.store.channelSettings,
		db: guarded<StoreDatabase>(store.db),
		reader,
		sender,
		outbox,
		/** The outcome of something that this process does for a person. Rejects with `ProcessEnded` when it is killed. */
		outcome: <T>(work: Promise<T>): Promise<T> => Promise.race([work, ended.promise]),
		/** Kills the process around the next reminder: after so many further writes and posts. */
		aim(points: number): void {
			aimedAt = points;
		},
		/** Finishes its work, as after SIGTERM. */
		async stop(): Promise<void> {
			stopping.abort();
			await Promise.all([...running, loop.stop(), outbox.stop(), spreading.stop()]);
			die();
			await time.during(store.close());
		},
		/** Ends it at once, as SIGKILL does. */
		async kill(): Promise<void> {
			die();
			await time.during(store.close());
		},
	};
}

export type Process = Awaited<ReturnType<typeof startProcess>>;
