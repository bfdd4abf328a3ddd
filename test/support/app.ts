import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeSessionService, type FakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import { createFakeSlack, type FakeSlackOptions, readManifest } from '../../fake-slack/index.ts';
import { connectionEnv } from '../../sandbox/connection-env.ts';
import { manifestPath } from '../../sandbox/manifest-path.ts';
import { createHandraise } from '../../src/app.ts';
import { parseConfig } from '../../src/config.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { createLog } from '../../src/kernel/log.ts';
import { applyProxy } from '../../src/kernel/proxy.ts';
import { notAsWritten } from './as-written.ts';
import { oddAuditLines } from './audit-lines.ts';
import { putDatabase } from './made-database.ts';
import { type Limits, ownLimits } from './no-limits.ts';
import { questionsNotAsRead } from './questions-as-read.ts';
import { unlabelledButtons } from './unlabelled.ts';

/** Read once for all cases. */
const manifest = readManifest(manifestPath);

type ServiceOptions = NonNullable<Parameters<typeof createFakeSessionService>[0]>;

export interface AppOptions {
	readonly transport?: 'socket' | 'http';
	readonly env?: Readonly<Record<string, string>>;
	/** Constants of the program. People have no limits otherwise. */
	readonly limits?: Limits;
	readonly service?: ServiceOptions;
	readonly slack?: FakeSlackOptions;
	/** The clock of the program. Slack and the session service use the machine's. */
	readonly clock?: Clock;
	/** Runs before the program first starts: may put a database where the program finds it. */
	readonly prepare?: (place: { readonly dataDir: string; readonly service: FakeSessionService }) => Promise<void>;
}

/**
 * The whole program in this process, between the fake Slack and the fake session service, over real HTTP and WebSocket.
 * `log` keeps its log lines for "appears nowhere" assertions.
 */
export async function startApp({
	transport = 'socket',
	env = {},
	limits = {},
	service: some = {},
	slack: someSlack = {},
	clock,
	prepare,
}: AppOptions = {}) {
	const service = createFakeSessionService({ resumeAfterMs: 50, pace: 0.02, ...some });
	await service.start();
	const slack = await createFakeSlack({ waitMs: 45_000, manifest, ...someSlack });
	const dataDir = await mkdtemp(join(tmpdir(), 'handraise-test-'));
	const isMade = prepare === undefined && env.DATABASE_URL === undefined;
	await (isMade ? putDatabase(dataDir) : prepare?.({ dataDir, service }));
	const log: string[] = [];
	function configOf(changedEnv: Readonly<Record<string, string>>, changedLimits: Limits) {
		const own = ownLimits({ ...limits, ...changedLimits });
		const all = {
			...connectionEnv({ slack, service, transport }),
			SESSION_SERVICE_TIMEOUT_MS: '2000',
			SESSION_DASHBOARD_URL: 'https://dashboard.example.com',
			DATA_DIR: dataDir,
			PORT: '0',
			...own.env,
			...env,
			...changedEnv,
		};
		return parseConfig(all, own.limits);
	}

	async function run(changedEnv: Readonly<Record<string, string>> = {}, changedLimits: Limits = {}) {
		const config = configOf(changedEnv, changedLimits);
		const handraise = await createHandraise({
			config,
			log: createLog('debug', { write: (line) => void log.push(line) }),
			proxy: applyProxy(config.proxy),
			...(clock === undefined ? {} : { clock }),
		});
		const { port } = await handraise.start(new AbortController().signal);
		if (transport === 'http') slack.setRequestUrl(`http://127.0.0.1:${port}/slack/events`);
		else await slack.connected(1);
		let stopped: Promise<void> | null = null;
		const stop = () => {
			stopped ??= handraise.stop();
			return stopped;
		};
		return { stop, port };
	}

	/** Everything that left the program: calls, replies and acknowledgements to Slack, log lines, metrics. */
	async function said(): Promise<string> {
		const sent = slack.traffic.all().map((entry) => (entry.direction === 'delivery' ? entry.answer : entry.request));
		const metrics = await fetch(`http://127.0.0.1:${app.port}/metrics`).then((response) => response.text());
		return [JSON.stringify(sent), ...log, metrics].join('\n');
	}

	let app = await run();
	const others: (typeof app)[] = [];
	return {
		said,
		service,
		slack,
		log,
		dataDir,
		get url() {
			return `http://127.0.0.1:${app.port}`;
		},
		/** Stops the program and starts it again on the same data, from then on with these settings and constants. */
		async restart(changedEnv: Readonly<Record<string, string>> = {}, changedLimits: Limits = {}) {
			await app.stop();
			app = await run(changedEnv, changedLimits);
		},
		/** Starts another replica, which needs a database of its own to share. Resolves to what stops it. */
		async startOther(changedEnv: Readonly<Record<string, string>> = {}) {
			const other = await run(changedEnv);
			await slack.connected(others.length + 2);
			others.push(other);
			return other;
		},
		/** Stops the program and leaves Slack and the session service running. */
		stop: () => app.stop(),
		async [Symbol.asyncDispose]() {
			await app.stop();
			for (const other of others) await other.stop();
			await slack.close();
			await service.stop();
			const questions = questionsNotAsRead(dataDir);
			await rm(dataDir, { recursive: true, force: true });
			// Checked in every test, so that a new post cannot be forgotten.
			const violations = slack.violations();
			if (violations.length > 0) throw new Error(`Slack refuses this:\n${JSON.stringify(violations, null, 1)}`);
			if (questions.length > 0) throw new Error(`Questions are not stored as they were read:\n${questions.join('\n')}`);
			const unlabelled = unlabelledButtons(slack.traffic.all());
			if (unlabelled.length > 0) {
				const lines = unlabelled.slice(0, 5).join('\n');
				throw new Error(`On one screen, somebody who hears them cannot tell these buttons apart:\n${lines}`);
			}
			const odd = oddAuditLines(log);
			if (odd.length > 0) throw new Error(`These are no lines of the audit:\n${odd.slice(0, 5).join('\n')}`);
			const loose = notAsWritten(slack.traffic.all());
			if (loose.length > 0)
				throw new Error(
					`Slack can turn these bare names and addresses into mentions and links:\n${loose.slice(0, 5).join('\n')}`,
				);
		},
	};
}
