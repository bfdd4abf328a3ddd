import { App } from '@slack/bolt';
import type { Answers } from '../answers/accept.ts';
import type { AccessPolicy } from '../answers/access-policy.ts';
import type { Claims } from '../answers/claims.ts';
import type { AnswerStore, DraftStore } from '../answers/ports.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { GoneReason, WatchStore } from '../watches/ports.ts';
import type { Subscriptions } from '../watches/subscribe.ts';
import { registerAnswerActions } from './actions/answer-actions.ts';
import { registerHistoryActions } from './actions/history-actions.ts';
import { registerOtherActions } from './actions/other-actions.ts';
import { registerSessionActions } from './actions/session-actions.ts';
import { registerWatchActions } from './actions/watch-actions.ts';
import { createChannels } from './channels.ts';
import type { SlackClients } from './clients.ts';
import { registerSessionCommand } from './commands/session.ts';
import { createWatchCommands } from './commands/watch.ts';
import { createDrafting } from './drafting.ts';
import { registerChannelEvents } from './events/channels.ts';
import { registerMention } from './events/mention.ts';
import { registerTalk } from './events/talk.ts';
import type { Identity } from './identity.ts';
import { createLinks } from './links.ts';
import { createListen } from './listen.ts';
import type { PersonReads } from './person-reads.ts';
import type { SlackReceipts } from './receipts.ts';
import { createHttpReceiver, type HttpReceiver } from './receivers/http.ts';
import { createSocketReceiver, type SocketReceiver } from './receivers/socket.ts';
import { createRefusing } from './refusing.ts';
import { createReply } from './reply.ts';
import { createSessionFlow } from './session/flow.ts';
import { createHistoryFlow } from './session/history.ts';
import { createViewOpener } from './session/open-view.ts';
import { createPatientReads } from './session/patient-reads.ts';
import { createPresenter } from './session/presenter.ts';
import { createWatchButton } from './session/watch-button.ts';
import { registerUseAsAnswer } from './shortcuts/use-as-answer.ts';
import { createSlackLogger } from './slack-logger.ts';
import { registerSubmission } from './views/submission.ts';
import { registerTyping } from './views/typing.ts';
import type { Names } from './words.ts';

/** What people asked for and is not done by then is cut: whoever stops the process waits ten seconds in all. */
const DRAIN_MS = 5_000;
/** Those who still wait for a session to be read are told that they have to ask again. */
const TELL_MS = 1_000;

export interface SlackAppOptions {
	readonly transport:
		| { readonly kind: 'socket'; readonly appToken: string }
		| { readonly kind: 'http'; readonly signingSecret: string };
	readonly botToken: string;
	readonly apiUrl: string;
	readonly identity: Identity;
	readonly clients: SlackClients;
	/** The session service's address, by which the store names it too. */
	readonly service: string;
	readonly personReads: PersonReads;
	/** The session as it was last read, while it is at hand. */
	readonly latest: Parameters<typeof createSessionFlow>[0]['latest'];
	readonly answers: Answers;
	readonly answerStore: AnswerStore;
	readonly drafts: DraftStore;
	readonly claims: Claims;
	readonly accessPolicy: AccessPolicy;
	readonly receipts: SlackReceipts;
	readonly watching: {
		readonly store: Pick<WatchStore, 'find' | 'findByPost'>;
		readonly subscriptions: Subscriptions;
		channelGone(teamId: string, channelId: string, reason: GoneReason): Promise<void>;
		channelShared(channelId: string): Promise<void>;
	};
	/** Whether channels shared with other organisations may hold watches. */
	readonly allowExternal: boolean;
	readonly names: Names;
	readonly dashboardUrl: string | null;
	readonly adminContact: string | null;
	/** Whether authors may put their own texts before a channel. */
	readonly postsText: boolean;
	readonly clock: Clock;
	readonly log: Log;
	readonly onAcknowledged: (ms: number) => void;
	/** Hears why an HTTP request was refused. */
	readonly onRefused: (reason: string) => void;
}

/** The Bolt app with everything that listens on it. Bolt's types go no further than this folder. */
export function createSlackApp(options: SlackAppOptions) {
	const { transport, apiUrl, identity, clients, log, clock, adminContact } = options;
	let http: HttpReceiver | null = null;
	let socket: SocketReceiver | null = null;
	if (transport.kind === 'http') {
		http = createHttpReceiver({ signingSecret: transport.signingSecret, log, onRefused: options.onRefused });
	} else socket = createSocketReceiver({ appToken: transport.appToken, apiUrl, clock, log });
	const receiver = http ?? socket;
	const { teamId, botId, botUserId } = identity;
	const app = new App({
		...(receiver === null ? {} : { receiver }),
		// Known already: Bolt's own auth.test would retry for many minutes, and drop events when the token is bad.
		authorize: async () => ({ botToken: options.botToken, botUserId, teamId, ...(botId === null ? {} : { botId }) }),
		logger: createSlackLogger(log),
		clientOptions: { slackApiUrl: apiUrl, timeout: 5_000, retryConfig: { retries: 0 } },
		convoStore: false,
	});
	app.error(async (error) => {
		log.error({ code: error.code, err: error }, 'Bolt could not handle a request');
	});

	const client = clients.people;
	const reply = createReply({ client });
	const openView = createViewOpener(client);
	const refuse = createRefusing({ openView, reply, adminContact });
	const listen = createListen({ ...options, app, teamId, refuse, reply });
	const drafting = createDrafting(options);
	const watchButton = createWatchButton({ store: options.watching.store, service: options.service });
	const links = createLinks({ serviceUrl: options.service, dashboardUrl: options.dashboardUrl });
	const presenter = createPresenter({ ...options, answers: options.answerStore, watching: watchButton, links });
	const patientReads = createPatientReads({ clock });
	const flow = createSessionFlow({
		client,
		openView,
		presenter,
		latest: options.latest,
		personReads: options.personReads,
		patientReads,
		reply,
		adminContact,
		clock,
	});
	const history = createHistoryFlow({ ...options, client, store: options.answerStore, reply });

	const { watching, allowExternal } = options;
	const channels = createChannels({ client, allowExternal });
	const commands = createWatchCommands({
		subscriptions: watching.subscriptions,
		personReads: options.personReads,
		channels,
		reply,
		adminContact,
		clock,
	});

	registerSessionCommand(listen, { ...options, flow, history, watches: commands, reply });
	registerSubmission(listen, { ...options, drafting });
	registerTyping(listen, { drafting, flow });
	registerSessionActions(listen, { flow, drafting, drafts: options.drafts });
	registerAnswerActions(listen, { ...options, client, store: options.answerStore, flow, reply });
	registerHistoryActions(listen, { history });
	registerOtherActions(listen, { reply, adminContact });
	registerWatchActions(listen, {
		commands,
		flow,
		drafting,
		personReads: options.personReads,
		links,
		reply,
		adminContact,
		clock,
	});
	registerChannelEvents(listen, { ...watching, channels, allowExternal });
	registerUseAsAnswer(listen, { botUserId, watches: options.watching.store, flow, reply });
	registerMention(listen, { ...options, teamId, botUserId, watches: options.watching.store, flow, reply });
	registerTalk(listen, { client: clients.background, personReads: options.personReads, teamId, log });

	return {
		/** Slack's requests in HTTP mode, for the process' server; null in Socket Mode. */
		listener: http?.listener ?? null,
		/** False while no connection to Slack serves. */
		isServing: () => socket === null || socket.connected() > 0,
		/** Resolves when Slack's requests can come. */
		async start(): Promise<void> {
			await app.start();
		},
		/** Takes nothing more and lets what was taken finish. */
		async stop(): Promise<void> {
			await app.stop();
			await Promise.race([listen.drained(), clock.sleep(DRAIN_MS)]);
			patientReads.stop();
			await Promise.race([listen.drained(), clock.sleep(TELL_MS)]);
		},
	};
}

export type SlackApp = ReturnType<typeof createSlackApp>;
