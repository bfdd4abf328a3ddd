import type { Dispatcher } from 'undici';
import type { Config } from './config.ts';
import { ourAnswers, type Reading } from './delivery/earlier-answers.ts';
import { disclosureOf } from './domain/disclosure.ts';
import { createViewDrawing } from './drawing.ts';
import { type Clock, steadySince } from './kernel/clock.ts';
import { createLeaseLoop } from './kernel/lease-loop.ts';
import type { Log } from './kernel/log.ts';
import { createMetrics } from './kernel/metrics.ts';
import { createRateLimiter } from './kernel/rate-limiter.ts';
import { createHousekeeping } from './operator/housekeeping.ts';
import { createEndpoints, createRefusedRequests } from './operator/http-server.ts';
import { registerAnswer } from './people/answering/answering.ts';
import { registerPress } from './people/answering/press.ts';
import { registerHandOver } from './people/hand-over/hand-over-handler.ts';
import { registerHelp } from './people/help.ts';
import { registerInbox } from './people/inbox/inbox.ts';
import { registerFiles } from './people/session/files.ts';
import { registerSession } from './people/session/session-actions.ts';
import { registerSettings } from './people/settings/settings.ts';
import { registerTextAsAnswer } from './people/thread-reply/text-as-answer.ts';
import { registerWatchActions } from './people/watching/watch-actions.ts';
import { registerWatch } from './people/watching/watching.ts';
import { createPosting } from './posting.ts';
import { createInboxContent } from './screens/inbox-content.ts';
import { createSessionService, SERVICE_CALLS } from './service/session-service.ts';
import { registerDiscovery } from './sessions/discovery.ts';
import { createReadNotes } from './sessions/read-notes.ts';
import { createBoltApp } from './slack/bolt-app.ts';
import { createInstallation, identify } from './slack/clients.ts';
import { createHandlerContext } from './slack/context.ts';
import { createSlack } from './slack/slack.ts';
import { registerUninstalled } from './slack/uninstalled.ts';
import { OWN_SCHEMA } from './store/migrate.ts';
import { openStore } from './stores.ts';
import { createSpreading } from './surfaces/marks.ts';
import { createViews, type ViewNews } from './surfaces/views.ts';

/** How long `stop` waits for requests of people. The whole stop must take less than `STOP_WITHIN_MS` of `main.ts`. */
const DRAIN_MS = 5_000;
/** How long `stop` waits for acknowledgements, and at its end for the message that people should ask again. */
const TELL_MS = 1_000;

interface Options {
	readonly config: Config;
	readonly log: Log;
	/** The dispatcher for requests that do not use `fetch`. Default: no proxy. */
	readonly proxy?: Dispatcher | null;
	/** For tests. Default: the store's clock. */
	readonly clock?: Clock;
}

/** Makes all parts of the program and connects them. `stop` lets running work finish. */
export async function createHandraise({ config, log, proxy = null, clock: ownClock }: Options) {
	const metrics = createMetrics({
		build: { schema: OWN_SCHEMA, dialect: config.DATABASE_URL === null ? 'sqlite' : 'postgres' },
		serviceCalls: SERVICE_CALLS,
	});
	const installation = createInstallation();
	const store = await openStore({
		databaseUrl: config.DATABASE_URL,
		pool: config.pool,
		dataDir: config.DATA_DIR,
		serviceUrl: config.SESSION_SERVICE_URL,
		encryptionKey: config.ENCRYPTION_KEY,
		formerKeys: config.ENCRYPTION_KEY_FORMER,
		workspace: () => installation.known()?.teamId ?? null,
		clock: ownClock,
		onCheckpoint: metrics.checkpoint,
		log,
	});
	const { clock, serviceUrl } = store;
	/** Replicas share the limits of the session service and of Slack. */
	const rateLimiter = createRateLimiter(clock, (key) => store.sharedStateOf(`rate:${key}`));
	const { channelSettings } = store;
	const slack = createSlack({ config, clock, log, metrics, rateLimiter, store }, installation, {
		ofSession: channelSettings.rulesOf,
		ofAll: channelSettings.rulesOfAll,
		ofChannel: async (teamId, channelId) => (await channelSettings.read({ teamId, channelId })).settings.answerers,
		tellNobodyLeft: channelSettings.tellNobodyLeft,
	});
	const base = { config, clock, log, metrics, store, serviceUrl, rateLimiter, ...slack };
	const changedSessions: ViewNews['changedSessions'] = new Map();
	const service = createSessionService(base, {
		proxy,
		onChanged: (key, session) => void changedSessions.set(session.sessionId, [key, session]),
	});
	const core = { ...base, sessionService: service.client };

	/** What our answers and earlier reads mean for a session that was read. */
	async function readAnswers(read: Omit<Reading, 'steadySince'>, isWatched = true) {
		const reading = { ...read, steadySince: steadySince(clock) };
		const { secrecy, ...ours } = await ourAnswers(store.answers, { serviceUrl, reading, isWatched });
		return { ...ours, disclosure: disclosureOf(secrecy, config.SHOW_ANSWERS) };
	}
	const noteRead = createReadNotes(core, readAnswers);

	const posting = createPosting(core);
	const refusedRequests = createRefusedRequests(core);
	const bolt = createBoltApp(installation.identity, { config, proxy, clock, log, onRefused: refusedRequests.add });
	const http = createEndpoints(core, { bolt, budget: service.budget, onRefused: refusedRequests.add });
	const context = createHandlerContext(core, {
		app: bolt.app,
		noteRead,
		onInboxPress: (inbox, page) => store.views.ask(inbox, page ?? null, clock.now()),
		onPostPress: posting.showPressed,
	});
	const { listen } = context;

	const discovery = registerDiscovery(core, service);
	const watching = registerWatch(context, posting, discovery, {
		...service,
		ourAnswers: (reading) => readAnswers(reading),
	});
	const inboxes = createInboxContent(core, { ...context, ...discovery });
	const openInbox = registerInbox(context);
	const openSettings = registerSettings(context);
	const { flow, drafting } = registerSession(context, { watching, openInbox, openSettings });
	registerWatchActions(context, watching, { flow, drafting });
	registerFiles(context);
	registerHelp(context);
	registerUninstalled(context);
	const { answers, ...answering } = registerAnswer(context, {
		...service,
		flow,
		drafting,
		nextOf: inboxes.nextOf,
		noteRead,
	});
	registerPress({ ...context, answers });
	registerTextAsAnswer({ ...context, flow, drafting, answers });
	registerHandOver(context);
	const spreading = createSpreading(core);
	const views = createViews(core, createViewDrawing(core, inboxes), { changedSessions, ...slack.directory });
	const shown = createLeaseLoop(core, posting.queue, views);
	const housekeeping = createHousekeeping(core, { isDiscovering: () => discovery.whyNot() === null });

	/** Starts what needs no Slack. */
	async function startWorking(): Promise<void> {
		await answering.start();
		await discovery.start();
		watching.start();
		spreading.start();
		housekeeping.start();
	}

	async function stopSlack(): Promise<void> {
		slack.directory.stop();
		if (installation.known() === null) return;
		// Before connections close, because an acknowledgement needs the connection of its request.
		await Promise.race([listen.drained(), clock.sleep(TELL_MS)]);
		await bolt.app.stop();
		await Promise.race([listen.drained(), clock.sleep(DRAIN_MS)]);
		flow.stop();
		await Promise.race([listen.drained(), clock.sleep(TELL_MS)]);
	}

	return {
		replaced: store.replaced,
		/** Resolves to the port of health and metrics once the app receives Slack's requests. */
		async start(signal: AbortSignal): Promise<{ port: number }> {
			const port = await http.start();
			await startWorking();
			const identity = await identify(slack.clients.background, { clock, log, signal });
			await store.warnOfOthers(identity.teamId);
			installation.learn(identity);
			// Loops that write to Slack need to know where the app is installed.
			answering.wake();
			shown.start();
			// The rules of who may see what may have changed. The start does not wait, because a command may lock the table.
			void store.views.markInboxes(clock.now()).catch(() => undefined);
			await posting.start(shown.wake);
			await bolt.app.start();
			return { port };
		},
		async stop(): Promise<void> {
			await Promise.all([
				http.stop(),
				stopSlack(),
				answering.stop(),
				discovery.stop(),
				watching.stop(),
				posting.stop(),
				spreading.stop(),
				shown.stop(),
				housekeeping.stop(),
			]);
			refusedRequests.stop();
			// `answering.stop` has waited for running PUTs. One that still hangs is aborted here.
			await service.client.close();
			await store.close();
		},
	};
}
