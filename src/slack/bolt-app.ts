import { App } from '@slack/bolt';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { createSlackLogger } from './clients.ts';
import type { Identity } from './identity.ts';
import { createHttpReceiver } from './receivers/http.ts';
import { createSocketReceiver, type SocketOptions } from './receivers/socket.ts';

interface Dependencies {
	readonly config: Config['slack'];
	readonly identity: Identity;
	readonly proxy: SocketOptions['proxy'];
	readonly clock: Clock;
	readonly log: Log;
	/** Called with the reason when an HTTP request is refused. */
	readonly onRefused: (reason: string) => void;
}

/** Creates Bolt with the receiver of the configured transport. No other folder uses Bolt's types. */
export function createBoltApp({ config, identity, proxy, clock, log, onRefused }: Dependencies) {
	const { transport, apiUrl, botToken } = config;
	const { teamId, botId, botUserId } = identity;
	const receiver =
		transport.kind === 'http'
			? createHttpReceiver({ signingSecret: transport.signingSecret, log, onRefused })
			: createSocketReceiver({ appToken: transport.appToken, apiUrl, proxy, clock, log });
	const app = new App({
		receiver,
		// Without this, Bolt calls auth.test itself, retries it for many minutes, and drops events when the token is bad.
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
		/** Receives Slack's requests from the process' HTTP server; null in Socket Mode. */
		listener: 'listener' in receiver ? receiver.listener : null,
		/** False in Socket Mode while there is no connection to Slack. */
		isServing: () => !('connected' in receiver) || receiver.connected() > 0,
	};
}
