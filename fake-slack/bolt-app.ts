import { App, HTTPReceiver, LogLevel, SocketModeReceiver } from '@slack/bolt';
import type { FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';

/** The transports that Slack offers to an app. */
export const TRANSPORTS = ['socket', 'http'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

export interface RunningApp {
	app: App;
	stop(): Promise<void>;
}

/** A silent logger for Bolt: the tests cause errors on purpose. */
const silent = {
	debug() {},
	info() {},
	warn() {},
	error() {},
	setLevel() {},
	getLevel: () => LogLevel.ERROR,
	setName() {},
};

/**
 * Starts a plain Bolt app against the fake; `register` adds its listeners. It does not retry, so that a test sees each
 * response of the fake as it is.
 */
export async function startBoltApp(
	slack: FakeSlack,
	transport: TransportName,
	register: (app: App) => void,
): Promise<RunningApp> {
	const clientOptions = () => ({ slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 }, timeout: 10_000 });
	const receiver =
		transport === 'socket'
			? new SocketModeReceiver({
					appToken: slack.tokens.app,
					logger: silent,
					installerOptions: { clientOptions: clientOptions() },
				})
			: new HTTPReceiver({ signingSecret: slack.tokens.signingSecret, logger: silent, port: 0 });
	const app = new App({
		token: slack.tokens.bot,
		receiver,
		logger: silent,
		clientOptions: clientOptions(),
		deferInitialization: true,
	});
	register(app);
	app.error(async () => {});
	await app.init();
	const server: unknown = await app.start({ port: 0, host: '127.0.0.1' });
	if (transport === 'http') {
		const address = (server as { address(): { port: number } }).address();
		slack.setRequestUrl(`http://127.0.0.1:${address.port}/slack/events`);
	} else {
		await slack.connected();
	}
	return {
		app,
		async stop() {
			await app.stop();
		},
	};
}

/** A Bolt app that acknowledges everything, with the bodies that it got. */
export async function startHearingApp(
	slack: FakeSlack,
	transport: TransportName = 'socket',
): Promise<RunningApp & { heard: Json[] }> {
	const heard: Json[] = [];
	const running = await startBoltApp(slack, transport, (app) => {
		app.use(async ({ body, next }) => {
			heard.push(body as unknown as Json);
			await next();
		});
		app.action(/.*/, async ({ ack }) => ack());
		app.shortcut(/.*/, async ({ ack }) => ack());
		app.command(/.*/, async ({ ack }) => ack());
		app.view(/.*/, async ({ ack }) => ack());
	});
	return { ...running, heard };
}
