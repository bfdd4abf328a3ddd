import { createFakeSessionService, type FakeSessionService } from '../fake-session-service/fake-session-service.ts';
import { createFakeSlack, type FakeSlack, readManifest } from '../fake-slack/index.ts';
import { ActionError, type Actions, createActions } from './actions.ts';
import { type AppProcess, createAppProcess } from './app-process.ts';
import { bundlePage } from './bundle.ts';
import { connectionEnv } from './connection-env.ts';
import { createKeeper } from './keeper.ts';
import { manifestPath } from './manifest-path.ts';
import { createMovedClock, type MovedClock } from './moved-clock.ts';
import { createPageServer } from './page-server.ts';
import { type ReadMarks, readKey } from './person-view.ts';
import { onPortOrFree } from './port.ts';
import { createStream, type Stream } from './stream.ts';
import { createTroubles, type Troubles } from './troubles.ts';
import { sandboxWorkspace } from './workspace.ts';

export interface SandboxOptions {
	/** The page's port; a free one when it is busy. */
	port?: number;
	/** False when the app is started elsewhere. */
	withBot?: boolean;
	/** The folder that keeps everything from one start to the next; absent to keep nothing. */
	keepIn?: string;
	/** The app's program; the project's own by default. */
	entry?: string;
	/** Settings of the app besides those that connect it: `UNDO_SECONDS`. */
	appEnv?: Readonly<Record<string, string>>;
	/** Starts the app otherwise than as a process of its own. */
	createApp?: typeof createAppProcess;
	/** The time of everything; the machine's by default, which people can move. */
	clock?: MovedClock;
	/** Multiplies the waits of the agents' scripts. */
	pace?: number;
	/** Gets every line of the app's log. */
	onLine?: (line: string, isProblem: boolean) => void;
}

export interface Sandbox {
	readonly url: string;
	/** The settings with which an app connects to this sandbox. */
	readonly env: Readonly<Record<string, string>>;
	readonly slack: FakeSlack;
	readonly service: FakeSessionService;
	readonly troubles: Troubles;
	readonly bot: AppProcess | null;
	close(): Promise<void>;
}

/** A Slack workspace, a session service with agents, the app between them, and the page. */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const files = bundlePage();
	const manifest = readManifest(manifestPath);
	const keeper = await createKeeper(options.keepIn ?? null);
	const { kept } = keeper;
	const clock = options.clock ?? createMovedClock(kept?.clockOffsetMs ?? 0);
	const port = options.port ?? 0;
	// The app knows a session by its service's address, so the address has to stay the same over a restart.
	const service = await onPortOrFree(kept?.servicePort ?? (port === 0 ? 0 : port + 2), async (own) => {
		const created = createFakeSessionService({
			port: own,
			clock,
			list: { mode: 'on' },
			...(options.pace === undefined ? {} : { pace: options.pace }),
		});
		await created.start();
		return created;
	});
	if (kept !== null) service.sessions.restore(kept.sessions);
	const isOnSandbox = (url: string) => URL.parse(url)?.origin === service.url;
	const slackOptions = {
		clock,
		state: kept?.slack ?? sandboxWorkspace(clock.now()),
		manifest: manifestPath,
		trafficLimit: 1000,
		settings: { undownloadable: (url: string) => !isOnSandbox(url) },
	};
	const slack = await onPortOrFree(port === 0 ? 0 : port + 1, (own) => createFakeSlack({ ...slackOptions, port: own }));
	const marks: ReadMarks = new Map(kept?.marks);
	for (const { channel, ts } of kept === null ? slack.state.messages : []) {
		for (const person of slack.state.people) marks.set(readKey(person.id, channel), ts);
	}
	const troubles = createTroubles({ slack, service });

	let parts: { actions: Actions; stream: Stream } | null = null;
	function ready(): { actions: Actions; stream: Stream } {
		if (parts === null) throw new ActionError('The sandbox is still starting.');
		return parts;
	}
	const page = await createPageServer({
		port,
		files,
		actions: () => ready().actions,
		stream: () => ready().stream,
		viewer(person, window) {
			const found = slack.state.people.find((one) => one.name === (person ?? 'ada') || one.id === person);
			if (found === undefined || found.isBot) throw new ActionError(`There is no person called ${person}.`);
			return { user: found.id, window: window ?? 'main' };
		},
	});
	const dashboardUrl = `${page.url}/dashboard`;
	const env = {
		...connectionEnv({ slack, service }),
		// Shorter than the app's own 20 s: a visitor of the page does not wait that long for a service that hangs.
		SESSION_SERVICE_TIMEOUT_MS: '8000',
		SESSION_DASHBOARD_URL: dashboardUrl,
		DATA_DIR: keeper.dataDir,
		PORT: '0',
		...options.appEnv,
	};
	const bot =
		options.withBot === false
			? null
			: (options.createApp ?? createAppProcess)({
					env,
					clockOffsetMs: clock.offsetMs,
					...(options.entry === undefined ? {} : { entry: options.entry }),
					onChange: () => parts?.stream.changed(),
					onLine: options.onLine ?? (() => undefined),
				});
	const stopListening = slack.changes.listen((change) => {
		if (change.kind === 'socket' && slack.sockets.count() > 0) bot?.connected();
	});
	const stream = createStream({
		slack,
		service,
		manifest,
		marks,
		troubles,
		clock,
		dashboardUrl,
		bot: () => bot?.status() ?? { status: 'external', pid: null, ended: null, problems: [] },
	});
	parts = { stream, actions: createActions({ slack, service, troubles, marks, bot, clock, stream }) };
	const servicePort = Number(new URL(service.url).port);
	const now = () => ({
		slack: slack.snapshot(),
		marks: [...marks],
		sessions: service.sessions.snapshot(),
		servicePort,
		clockOffsetMs: clock.offsetMs,
	});
	keeper.watch(now);
	bot?.start();

	return {
		url: page.url,
		env,
		slack,
		service,
		troubles,
		bot,
		async close() {
			await bot?.stop();
			await keeper.close(now);
			stopListening();
			stream.close();
			await Promise.all([page.close(), slack.close(), service.stop()]);
		},
	};
}
