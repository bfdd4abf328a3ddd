import { App } from '@slack/bolt';
import type { Config } from '../config.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { applyProxy } from '../kernel/proxy.ts';
import { createSlackLogger, type Identity } from './clients.ts';
import { createHttpReceiver } from './receivers/http.ts';
import { createSocketReceiver } from './receivers/socket.ts';

interface Options {
	readonly config: Pick<Config, 'transport' | 'SLACK_API_URL' | 'SLACK_BOT_TOKEN'>;
	readonly proxy: ReturnType<typeof applyProxy>;
	readonly clock: Clock;
	readonly log: Log;
	readonly onRefused: (reason: string) => void;
}

/** Bolt with the configured transport's receiver. `onRefused` is called for a refused HTTP request. */
export function createBoltApp(
	identity: () => Pick<Identity, 'teamId' | 'botId' | 'botUserId'>,
	{ config, proxy, clock, log, onRefused }: Options,
) {
	const { transport, SLACK_API_URL: apiUrl, SLACK_BOT_TOKEN: botToken } = config;
	const receiver =
		transport.kind === 'http'
			? createHttpReceiver(transport.signingSecret, log, onRefused)
			: createSocketReceiver({ appToken: transport.appToken, apiUrl, proxy }, clock, log);
	const app = new App({
		receiver,
		// Without `authorize`, Bolt calls auth.test itself, retries for many minutes, and drops events for a bad token.
		async authorize() {
			const { teamId, botId, botUserId } = identity();
			return { botToken, botUserId, teamId, ...(botId === null ? {} : { botId }) };
		},
		logger: createSlackLogger(log),
		clientOptions: { slackApiUrl: apiUrl, timeout: 5_000, retryConfig: { retries: 0 } },
		convoStore: false,
	});
	// Bolt knows no request without an inner event, and does not acknowledge it.
	const processEvent = app.processEvent.bind(app);
	app.processEvent = async (event) => {
		if (event.body.type !== 'app_rate_limited') return processEvent(event);
		log.warn('slack_events_limited');
		await event.ack();
	};
	app.error(async (error) => {
		log.error('bolt_failed', { code: error.code, err: error });
	});
	return { app, listener: receiver.listener, isServing: receiver.isServing };
}

type Body = Readonly<Record<string, unknown>>;
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT };

/** For `npm run doctor -- live`: acknowledges what Slack sends and passes it on. `auth`: the reply to `auth.test`. */
export function createArrivals(
	options: Pick<Options, 'config' | 'proxy'>,
	auth: Body,
	onArrival: (body: Body) => void,
) {
	const identity = { teamId: String(auth.team_id), botId: String(auth.bot_id), botUserId: String(auth.user_id) };
	const onRefused = (reason: string) => onArrival({ type: 'refused', reason });
	const { app, listener } = createBoltApp(() => identity, { ...options, clock: systemClock, log: SILENT, onRefused });
	app.use(async ({ body, ...args }) => {
		if ('ack' in args && typeof args.ack === 'function') await (args.ack as () => Promise<void>)();
		onArrival({ ...body });
	});
	return { app, listener };
}
