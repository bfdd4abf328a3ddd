import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { TransportName } from '../bolt-app.ts';
import type { FakeSlack } from '../fake-slack.ts';

/** A free port: the app is told one, as it would be anywhere else, and does not say which it took. */
async function freePort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const address = server.address();
	server.close();
	await once(server, 'close');
	if (address === null || typeof address === 'string') throw new Error('No port was given.');
	return address.port;
}

/** Resolves when the program has said these words. Rejects, with all it said, when it ends before. */
async function says(program: ChildProcess, words: string): Promise<void> {
	let said = '';
	await new Promise<void>((resolve, reject) => {
		const listen = (chunk: Buffer) => {
			said += chunk.toString('utf8');
			if (said.includes(words)) resolve();
		};
		program.stdout?.on('data', listen);
		program.stderr?.on('data', listen);
		program.once('exit', (code) => reject(new Error(`The app ended with ${code}. It said:\n${said}`)));
	});
}

/**
 * Starts a stock app as its author would: a program of its own that knows tokens, address and port from its environment.
 * Resolves when it says that it runs.
 */
export async function startStockApp(
	slack: FakeSlack,
	transport: TransportName,
	folder: string,
): Promise<{ stop(): Promise<void> }> {
	const port = await freePort();
	const entry = new URL(`./${folder}/${transport === 'socket' ? 'socket-mode' : 'http'}.ts`, import.meta.url);
	const program = spawn(process.execPath, [fileURLToPath(entry)], {
		env: {
			SLACK_BOT_TOKEN: slack.tokens.bot,
			SLACK_APP_TOKEN: slack.tokens.app,
			SLACK_SIGNING_SECRET: slack.tokens.signingSecret,
			SLACK_API_URL: slack.apiUrl,
			PORT: String(port),
		},
	});
	const ended = once(program, 'exit');
	await says(program, 'Bolt app is running');
	if (transport === 'http') slack.setRequestUrl(`http://127.0.0.1:${port}/slack/events`);
	else await slack.connected();
	return {
		async stop() {
			program.kill();
			await ended;
		},
	};
}
