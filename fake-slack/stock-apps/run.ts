import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { TransportName } from '../bolt-app.ts';
import type { FakeSlack } from '../fake-slack.ts';

/** A free port: the app is told its port, as anywhere else, and does not report one. */
async function freePort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const address = server.address();
	server.close();
	await once(server, 'close');
	if (address === null || typeof address === 'string') throw new Error('The system gave no port.');
	return address.port;
}

/** Resolves when the program has printed these words. Rejects with its output when it ends before. */
async function says(program: ChildProcess, words: string): Promise<void> {
	let said = '';
	await new Promise<void>((resolve, reject) => {
		const listen = (chunk: Buffer) => {
			said += chunk.toString('utf8');
			if (said.includes(words)) resolve();
		};
		program.stdout?.on('data', listen);
		program.stderr?.on('data', listen);
		program.once('exit', (code) => reject(new Error(`The app ended with ${code}. Its output:\n${said}`)));
	});
}

/**
 * Starts a stock app as its author would: a program that gets tokens, address and port from its environment. Resolves
 * when it says that it runs.
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
