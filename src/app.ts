import type { Dispatcher } from 'undici';
import type { Config } from './config.ts';
import { type Clock, steadySince } from './core/clock.ts';
import type { Log } from './core/log.ts';
import { createMetrics } from './core/metrics.ts';
import { createRateLimiter } from './core/rate-limiter.ts';
import { OWN_SCHEMA } from './database/migrate.ts';
import { createDrawing } from './drawing.ts';
import { createAnswers } from './features/answer/accept.ts';
import { registerAnswerActions } from './features/answer/actions.ts';
import { createClaims, createDrafting } from './features/answer/drafts.ts';
import { ourAnswers } from './features/answer/earlier-answers.ts';
import { registerHistory } from './features/answer/history.ts';
import { createOpenWindows } from './features/answer/open-windows.ts';
import { createReceipts } from './features/answer/receipts.ts';
import { registerSubmission } from './features/answer/submission.ts';
import { createAnswerWorker, OTHER_SERVICE } from './features/answer/worker.ts';
import { createHandOvers } from './features/hand-over/hand-overs.ts';
import { registerHandOver } from './features/hand-over/handler.ts';
import { createInboxDisplay, registerInbox } from './features/inbox/handler.ts';
import { createInboxes } from './features/inbox/inboxes.ts';
import { registerSnooze } from './features/inbox/snooze.ts';
import { registerQuickAnswers } from './features/press/handler.ts';
import { createReminders } from './features/remind/reminders.ts';
import { registerTextAsAnswer } from './features/reply/text-as-answer.ts';
import { registerSessionActions } from './features/session/actions.ts';
import { registerSessionCommand } from './features/session/command.ts';
import { createSessionFlow } from './features/session/flow.ts';
import { registerChannelSettings } from './features/settings/handler.ts';
import { createUserGroups } from './features/settings/saving.ts';
import { registerWatching } from './features/watch/actions.ts';
import { createWatchCommands } from './features/watch/commands.ts';
import { registerChannelEvents, registerFallbacks } from './features/watch/events.ts';
import { createHousekeeping } from './ops/housekeeping.ts';
import { createEndpoints, createRefusedRequests } from './ops/http-server.ts';
import { createMessages } from './posts/messages.ts';
import type { Answer } from './questions/answer.ts';
import { disclosureOf } from './questions/secrecy.ts';
import { REASONS } from './session-service/errors.ts';
import { createSessionService, SERVICE_CALLS } from './session-service/health.ts';
import { createSlack } from './slack/access-policy.ts';
import { createBoltApp } from './slack/bolt-app.ts';
import { createChannelList } from './slack/channels.ts';
import { createInstallation, identify } from './slack/clients.ts';
import { createHandlerContext } from './slack/context.ts';
import { openStore } from './stores.ts';
import { createWatching } from './watching.ts';

/** How long `stop` waits for requests of people. The whole stop must take less than 10 s (`main.ts`). */
const DRAIN_MS = 5_000;
/** How long `stop` waits for acknowledgements, and at the end while people hear that they have to ask again. */
const TELL_MS = 1_000;

/** Puts the program together: the only place that knows every part. `stop` lets running work finish. */
export async function createHandraise({
	config,
	log,
	proxy = null,
	clock: ownClock,
}: {
	config: Config;
	log: Log;
	/** For what `fetch` does not send. Default: no proxy. */
	proxy?: Dispatcher | null;
	/** For tests. Default: the store's clock. */
	clock?: Clock;
}) {
	const serviceUrl = config.SESSION_SERVICE_URL;
	const metrics = createMetrics({
		build: { schema: OWN_SCHEMA, dialect: config.DATABASE_URL === null ? 'sqlite' : 'postgres' },
		serviceCalls: SERVICE_CALLS,
	});
	const installation = createInstallation();
	const workspace = () => installation.known()?.teamId ?? null;
	const store = await openStore({
		databaseUrl: config.DATABASE_URL,
		pool: { size: config.DATABASE_POOL_SIZE, statementMs: config.DATABASE_STATEMENT_TIMEOUT_MS },
		dataDir: config.DATA_DIR,
		encryptionKey: config.ENCRYPTION_KEY,
		formerKeys: config.ENCRYPTION_KEY_FORMER,
		writesFormer: config.ENCRYPTION_KEY_WRITE === 'former',
		workspace,
		clock: ownClock,
		onCheckpoint: metrics.checkpoint,
		onFormerValues: metrics.formerValues,
		log,
	});
	const { clock, answers: answerStore } = store;
	/** Replicas share the limits of the session service and of Slack. */
	const rateLimiter = createRateLimiter(
		clock,
		// In memory it makes its own, which come and go and so must not listen to the clock.
		store.db.dialect === 'postgres' ? (key) => store.cellOf(`rate:${key}`) : undefined,
	);
	const slack = createSlack({ config, clock, log, metrics }, installation);
	const { clients, mayAct } = slack;
	const base = { config, clock, log, metrics, store, serviceUrl, rateLimiter, ...slack };
	const openWindows = createOpenWindows(base);
	const service = createSessionService(base, { proxy, onChanged: openWindows.sessionRead });
	const { budget, health } = service;
	const core = { ...base, sessionService: service.client };

	const messages = createMessages(core);
	const userGroups = createUserGroups({ client: clients.people, clock, log });
	const watching = createWatching(core, {
		budget: budget.background,
		health,
		listCell: store.cellOf(`list:${serviceUrl}`),
		async ourAnswers(reading, wanted) {
			const { marks, ...ours } = await ourAnswers(answerStore, {
				serviceUrl,
				reading: { ...reading, steadySince: steadySince(clock) },
				wanted,
			});
			return { ...ours, disclosure: disclosureOf(marks, config.SHOW_ANSWERS) };
		},
		announcer: { draw: createDrawing(core, { mayAct, userGroups }), ...messages },
		listChannels: createChannelList(clients.background),
	});
	const inboxes = createInboxes(core, async () =>
		// Nobody opens a session from the inbox where only some channels are allowed.
		config.ALLOWED_CHANNELS.length > 0 ? null : watching.discoveries.discovered(),
	);
	const nextOf = ({ person, question }: Answer) => inboxes.next(person, question.sessionId);
	const receipts = createReceipts(core, { ...answerStore, nextOf }, messages);
	const reminders = createReminders(core);
	const worker = createAnswerWorker(core, {
		checkAuthor: slack.latePolicy.checkAbsent,
		missed: health.missed,
		receipts,
		isOurs: ({ teamId }) => teamId === workspace(),
	});
	const claims = createClaims(core);
	const answers = createAnswers(core, claims);
	const handOvers = createHandOvers(core, mayAct);
	const housekeeping = createHousekeeping(core, {
		isDiscovering: () => watching.discoveries.whyNot() === null,
		forgetInboxes: inboxes.forget,
	});
	health.onRecovered(() => void answers.hasten([...REASONS]));

	const refusedRequests = createRefusedRequests(core);
	const bolt = createBoltApp(installation.identity, { config, proxy, clock, log, onRefused: refusedRequests.add });
	const handlers = createHandlerContext(core, {
		app: bolt.app,
		onInboxPress: (inbox) => inboxes.ask(inbox, null),
		onPostPress(request, isChanged) {
			watching.showPressed(request, isChanged);
			void receipts.showRepeat(request);
		},
	});
	const { listen } = handlers;
	const drafting = createDrafting(core, claims);
	const flow = createSessionFlow(core, { ...handlers, claims, drafting }, handlers);
	const context = {
		...handlers,
		flow,
		drafting,
		answers,
		receipts,
		handOvers,
		inboxes,
		watching,
		userGroups,
	};
	const watchCommands = createWatchCommands(context);
	registerWatching(context, watchCommands);
	registerSessionCommand(context, {
		...watchCommands,
		openHistory: registerHistory(context),
		openInbox: registerInbox(context),
		openSettings: registerChannelSettings(context),
	});
	registerSessionActions(context);
	registerSubmission(context);
	registerAnswerActions(context);
	registerQuickAnswers(context);
	registerHandOver(context);
	registerSnooze(context);
	registerTextAsAnswer(context);
	registerChannelEvents(context);
	registerFallbacks(context);

	const http = createEndpoints(core, { bolt, budget, onRefused: refusedRequests.add });

	/** Starts what needs no Slack: stored answers are delivered even while Slack is unreachable. */
	async function startWorking(): Promise<void> {
		const elsewhereCount = await answerStore.unsentElsewhere(serviceUrl);
		if (elsewhereCount > 0) log.warn('answers_for_other_service', { answers: elsewhereCount });
		await answers.hasten([OTHER_SERVICE]);
		await answers.sendReadableAgain();
		store.reencryption?.start();
		worker.start();
		await watching.start();
		await reminders.start();
		housekeeping.start();
	}

	async function stopSlack(): Promise<void> {
		if (workspace() === null) return;
		// Before connections close: an acknowledgement needs the one on which its request came.
		await Promise.race([listen.drained(), clock.sleep(TELL_MS)]);
		await bolt.app.stop();
		await Promise.race([listen.drained(), clock.sleep(DRAIN_MS)]);
		flow.stop();
		await Promise.race([listen.drained(), clock.sleep(TELL_MS)]);
	}

	return {
		replaced: store.replaced,
		/** Resolves to the port of health and metrics when the app serves Slack's requests. */
		async start(signal: AbortSignal): Promise<{ port: number }> {
			const port = await http.start();
			await startWorking();
			const identity = await identify(clients.background, { clock, log, signal });
			await store.warnOfOthers(identity.teamId);
			installation.learn(identity);
			// What writes to Slack by itself needs to know where the app is installed.
			worker.wake();
			inboxes.start({
				display: createInboxDisplay(clients, receipts.context),
				memberships: handlers.memberships,
				mayAct,
			});
			openWindows.start();
			await watching.startPosting();
			await bolt.app.start();
			return { port };
		},
		async stop(): Promise<void> {
			await Promise.all([
				http.stop(),
				stopSlack(),
				worker.stop(),
				watching.stop(),
				reminders.stop(),
				inboxes.stop(),
				openWindows.stop(),
				housekeeping.stop(),
			]);
			refusedRequests.stop();
			// The worker has waited for running PUTs. One that still hangs must not prevent a clean end.
			await service.client.close();
			await store.close();
		},
	};
}
