import { App } from '@slack/bolt';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { createSlackLogger } from './clients.ts';
import type { Identity } from './identity.ts';
import { createHttpReceiver } from './receivers/http.ts';
import { createSocketReceiver } from './receivers/socket.ts';

interface Dependencies {
	readonly config: Config['slack'];
	readonly identity: Identity;
	readonly clock: Clock;
	readonly log: Log;
	/** Called with the reason when an HTTP request is refused. */
	readonly onRefused: (reason: string) => void;
}

/** Bolt with the receiver of the configured transport. Bolt's types go no further than this folder. */
export function createBoltApp({ config, identity, clock, log, onRefused }: Dependencies) {
	const { transport, apiUrl, botToken } = config;
	const { teamId, botId, botUserId } = identity;
	const http =
		transport.kind === 'http' ? createHttpReceiver({ signingSecret: transport.signingSecret, log, onRefused }) : null;
	const socket =
		transport.kind === 'socket' ? createSocketReceiver({ appToken: transport.appToken, apiUrl, clock, log }) : null;
	const receiver = http ?? socket;
	const app = new App({
		...(receiver === null ? {} : { receiver }),
		// Known already: Bolt's own auth.test would retry for many minutes, and drop events when the token is bad.
		authorize: async () => ({ botToken, botUserId, teamId, ...(botId === null ? {} : { botId }) }),
		logger: createSlackLogger(log),
		clientOptions: { slackApiUrl: apiUrl, timeout: 5_000, retryConfig: { retries: 0 } },
		convoStore: false,
	});
	app.error(async (error) => {
		log.error({ code: error.code, err: error }, 'Bolt could not handle a request');
	});
	return {
		app,
		/** Slack's requests in HTTP mode, for the process' server; null in Socket Mode. */
		listener: http?.listener ?? null,
		/** False while no connection to Slack serves. */
		isServing: () => socket === null || socket.connected() > 0,
	};
}
