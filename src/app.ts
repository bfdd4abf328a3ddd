import type { Dispatcher } from 'undici';
import { createAnswers } from './answers/accept.ts';
import { type AccessPolicy, createAccessPolicy, type MayAct, NOT_CHECKED } from './answers/access-policy.ts';
import type { QuestionUpdated } from './answers/answer.ts';
import { ourAnswers } from './answers/earlier-answers.ts';
import { createHousekeeping } from './answers/housekeeping.ts';
import { createAnswerWorker } from './answers/worker.ts';
import { createMemoryCell } from './cell.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Core } from './core.ts';
import { createHandOvers } from './inbox/hand-overs.ts';
import type { InboxPlace } from './inbox/inbox.ts';
import { createInboxes } from './inbox/inboxes.ts';
import { createReminders } from './inbox/reminders.ts';
import type { Log } from './log.ts';
import { createHttpServer, createRefusedRequests } from './ops/http-server.ts';
import { createMetrics } from './ops/metrics.ts';
import { disclosureOf } from './questions/secrecy.ts';
import { createRateLimiter } from './rate-limiter.ts';
import { createRequestBudget } from './session-service/budget.ts';
import { type BudgetState, keptFromWatching } from './session-service/budget-state.ts';
import { createSessionServiceClient } from './session-service/client.ts';
import { SERVICE_CODES } from './session-service/errors.ts';
import { createBoltApp } from './slack/bolt-app.ts';
import { createChannelList, createChannels, createDirectChannels, createMemberships } from './slack/channels.ts';
import { createSlackClients, type Identity, identify } from './slack/clients.ts';
import { createDirectory } from './slack/directory.ts';
import { registerAnswerActions } from './slack/handlers/answer-actions.ts';
import type { HandlerContext } from './slack/handlers/context.ts';
import { registerHandOver } from './slack/handlers/hand-over.ts';
import { registerChannelEvents, registerFallbacks } from './slack/handlers/other-events.ts';
import { registerQuickAnswers } from './slack/handlers/quick-answers.ts';
import { registerSessionActions } from './slack/handlers/session-actions.ts';
import { registerSessionCommand } from './slack/handlers/session-command.ts';
import { registerSnooze } from './slack/handlers/snooze.ts';
import { registerSubmission } from './slack/handlers/submission.ts';
import { registerTextAsAnswer } from './slack/handlers/text-as-answer.ts';
import { createInboxDisplay } from './slack/inbox-display.ts';
import { createLinks } from './slack/links.ts';
import { createListen } from './slack/listen.ts';
import { createPersonReads } from './slack/person-reads.ts';
import { createAnnouncer } from './slack/posts/announcer.ts';
import { createReceipts } from './slack/receipts.ts';
import { createReply } from './slack/reply.ts';
import { createDrafting } from './slack/session/drafts.ts';
import { createSessionFlow } from './slack/session/flow.ts';
import { createPatientReads } from './slack/session/open-view.ts';
import { createPresenter } from './slack/session/presenter.ts';
import { createUserGroups } from './slack/settings/mentions.ts';
import { createSettingsSaving } from './slack/settings/saving.ts';
import { openStore } from './store/open.ts';
import { createSharedState } from './store/shared-cells.ts';
import { createServiceHealth } from './watches/service-health.ts';
import { createWatching } from './watches/watching.ts';

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
	const serviceUrl = config.service.url;

	const metrics = createMetrics({
		answers: () => answerStore.stats(),
		now: () => clock.now(),
		budgetUsed() {
			const { delivery, person, background } = budget.stats().used;
			return delivery + person + background;
		},
	});
	/** Where the app is installed, and the rules there; null until Slack has told. */
	let workspace: string | null = null;
	let policy: AccessPolicy | null = null;
	let latePolicy: AccessPolicy | null = null;
	const storeOptions = { workspace: () => workspace, clock: ownClock, onCheckpoint: metrics.checkpoint, log };
	const store = await openStore({ ...config.store, ...storeOptions });
	const { clock, answers: answerStore } = store;
	/** Replicas share the limits of the session service and of Slack. */
	const hasReplicas = store.db.dialect === 'postgres';
	const cellOf = <S>(key: string) => (hasReplicas ? createSharedState<S>(store, key) : createMemoryCell<S>(clock));
	let reservedPerSecond = () => 0;
	const budget = createRequestBudget({
		requestsPerMinute: config.service.requestsPerMinute,
		reservedPerSecond: () => reservedPerSecond(),
		clock,
		cell: cellOf<BudgetState>(serviceUrl),
	});
	const health = createServiceHealth({ clock });
	const sessionService = createSessionServiceClient({
		baseUrl: serviceUrl,
		apiKey: config.service.apiKey,
		clock,
		log,
		budget,
		timeouts: { call: config.service.callTimeoutMs },
		proxy,
		onCall({ priority, outcome }) {
			metrics.serviceRequest(priority, outcome);
			// Watching reports its own reads, also those that were never sent.
			if (priority === 'background') return;
			if (outcome === 'ok' || outcome === 'unchanged') health.succeeded();
			else health.failed(outcome);
		},
	});
	const clients = createSlackClients(config.slack, log, metrics.slackCall);
	const directory = createDirectory(clients.people);
	const directChannelOf = createDirectChannels(clients.people, clock);
	const userGroups = createUserGroups({ client: clients.people, clock, log });
	const rateLimiter = createRateLimiter(
		clock,
		hasReplicas ? (key) => createSharedState(store, `rate:${key}`) : undefined,
	);
	const core: Core = {
		config,
		clock,
		log,
		metrics,
		store,
		serviceUrl,
		sessionService,
		rateLimiter,
		clients,
		directory,
		directChannelOf,
	};
	const receipts = createReceipts(core);
	const personReads = createPersonReads(core);
	const inboxes = createInboxes(core, async () =>
		// Nobody opens a session from the inbox where only some channels are allowed.
		config.access.channels.length > 0 ? null : watching.discoveries.discovered(),
	);
	const reminders = createReminders(core, {
		onNews: () => watching.wakeOutbox(),
		onEarlyRead: () => watching.wakePoller(),
	});
	const watching = createWatching(core, {
		budget: { figures: () => budget.stats(), keptFor: keptFromWatching },
		health,
		listCell: cellOf(`list:${serviceUrl}`),
		async ourAnswers(session, known) {
			const { marks, ...ours } = await ourAnswers(answerStore, { serviceUrl, session, known });
			return { ...ours, disclosure: disclosureOf(marks, config.showAnswers) };
		},
		onQuestions: inboxes.touch,
	});
	reservedPerSecond = watching.reservedPerSecond;
	const questionUpdated: QuestionUpdated = (question, what, by) => {
		if (what === 'choice') watching.choiceUpdated(question);
		else watching.questionUpdated(question, { readEarly: what === 'delivered' });
		inboxes.touch(what === 'delivered' ? null : by);
		reminders.questionUpdated(question);
	};
	const mayAct: MayAct = async (...asked) => ((await policy?.checkAbsent(...asked)) ?? NOT_CHECKED).refusal;
	const worker = createAnswerWorker(core, {
		checkAuthor: async (...asked) => (await latePolicy?.checkAbsent(...asked)) ?? NOT_CHECKED,
		receipts,
		isOurs: ({ teamId }) => teamId === workspace,
		questionUpdated,
	});
	const answers = createAnswers(core, questionUpdated, worker.wake);
	const handOvers = createHandOvers(core, {
		mayAct,
		onNews() {
			watching.wakeOutbox();
			inboxes.touch();
		},
	});
	const housekeeping = createHousekeeping(core, async () => {
		await watching.forget();
		await inboxes.forget();
	});

	health.onRecovered(() => void answers.hasten(SERVICE_CODES));

	/** Starts what needs no Slack: stored answers are delivered even while Slack is unreachable. */
	async function startWorking(): Promise<void> {
		const elsewhereCount = await answerStore.unsentElsewhere(serviceUrl);
		if (elsewhereCount > 0) {
			log.warn(
				{ answers: elsewhereCount },
				'answers in the database are for another SESSION_SERVICE_URL and are not sent to this one',
			);
		}
		await answers.sendReadableAgain();
		worker.start();
		await watching.start();
		await reminders.start();
		housekeeping.start();
	}

	/** Everything that serves people. It needs the app's identity in Slack. */
	function createSlackApp(identity: Identity) {
		const { teamId, botUserId } = identity;
		const bolt = createBoltApp(identity, { config: config.slack, proxy, clock, log, onRefused: refusedRequests.add });
		const client = clients.people;
		const reply = createReply(core, personReads);
		const rules = { rules: config.access, installation: identity, directory, clock };
		const accessPolicy = createAccessPolicy(rules);
		const patient = createDirectory(clients.background);
		latePolicy = createAccessPolicy({ ...rules, directory: patient, isPatient: true });
		policy = accessPolicy;
		const memberships = createMemberships(core, { changes: cellOf('memberships'), turn: personReads.turn });
		const { isThere } = memberships;
		const onInboxPress = (inbox: InboxPlace) => inboxes.ask(inbox, null);
		const { app } = bolt;
		const listen = createListen(core, { app, teamId, accessPolicy, isThere, personReads, reply, onInboxPress });
		const drafting = createDrafting(core, answers.claims);
		const links = createLinks({ serviceUrl, dashboardUrl: config.dashboardUrl });
		const presenter = createPresenter(core, { claims: answers.claims, drafting, links });
		const reads = createPatientReads({ clock });
		const flow = createSessionFlow(core, presenter, { personReads, reads, reply });
		const channels = createChannels(core);
		function onChanged(): void {
			watching.wakeOutbox();
			reminders.wake();
		}
		const settingsSaving = createSettingsSaving(core, accessPolicy, { memberships, channels, userGroups }, onChanged);
		const context: HandlerContext = {
			...core,
			listen,
			reply,
			flow,
			drafting,
			personReads,
			client,
			botUserId,
			mayAct,
			memberships,
			channels,
			links,
			answers,
			receipts,
			handOvers,
			inboxes,
			watching,
			userGroups,
			settingsSaving,
		};
		registerSessionCommand(context);
		registerSessionActions(context);
		registerSubmission(context);
		registerAnswerActions(context);
		registerQuickAnswers(context);
		registerHandOver(context);
		registerSnooze(context);
		registerTextAsAnswer(context);
		registerChannelEvents(context);
		registerFallbacks(context);

		const display = createInboxDisplay(clients, config.quickAnswers, receipts.context);
		inboxes.start({ display, memberships, mayAct });

		return {
			...bolt,
			async stop(): Promise<void> {
				// Before connections close: an acknowledgement needs the one on which its request came.
				await Promise.race([listen.drained(), clock.sleep(TELL_MS)]);
				await bolt.app.stop();
				await Promise.race([listen.drained(), clock.sleep(DRAIN_MS)]);
				reads.stop();
				await Promise.race([listen.drained(), clock.sleep(TELL_MS)]);
			},
		};
	}

	let slack: ReturnType<typeof createSlackApp> | null = null;
	const refusedRequests = createRefusedRequests(core);
	const http = createHttpServer({
		port: config.port,
		slack:
			config.slack.transport.kind === 'socket'
				? null
				: (request, response, verified) => {
						if (slack?.listener != null) slack.listener(request, response, verified);
						else response.writeHead(503, { connection: 'close', 'retry-after': '1' }).end();
					},
		onRefused: refusedRequests.add,
		metrics: metrics.expose,
		async notReady() {
			const reasons: string[] = [];
			if (slack === null || !slack.isServing()) reasons.push('no connection to Slack');
			await store.db.ping().catch(() => reasons.push('the database does not answer'));
			return reasons;
		},
	});

	return {
		replaced: store.replaced,
		/** Resolves to the port of health and metrics when the app serves Slack's requests. */
		async start(signal: AbortSignal): Promise<{ port: number }> {
			const port = await http.start();
			await startWorking();
			const identity = await identify(clients.background, { clock, log, signal });
			workspace = identity.teamId;
			await store.warnOfOthers(workspace);
			slack = createSlackApp(identity);
			// What writes to Slack by itself needs `workspace` and the access policy.
			worker.wake();
			const announcer = createAnnouncer(core, { mayAct, userGroups });
			await watching.startPosting(announcer, createChannelList(clients.background));
			await slack.app.start();
			return { port };
		},
		async stop(): Promise<void> {
			await Promise.all([
				http.stop(),
				slack?.stop(),
				worker.stop(),
				watching.stop(),
				reminders.stop(),
				inboxes.stop(),
				housekeeping.stop(),
			]);
			refusedRequests.stop();
			// The worker has waited for running PUTs. One that still hangs must not prevent a clean end.
			await sessionService.close();
			await store.close();
		},
	};
}
