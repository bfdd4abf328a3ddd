import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoggedRequest, ServiceCommand, ServiceReply } from './service-process.ts';

/** The session service in its own process. It runs commands one after another. */
export interface BenchService extends AsyncDisposable {
	readonly url: string;
	readonly apiKey: string;
	tell(command: ServiceCommand): Promise<void>;
	/** Every request since `clear`, oldest first. Times are in milliseconds with fractions. */
	log(): Promise<readonly LoggedRequest[]>;
}

export async function startService(): Promise<BenchService> {
	const child = fork(fileURLToPath(new URL('service-process.ts', import.meta.url)), { execArgv: [] });
	const reply = async () => {
		const [message] = (await once(child, 'message')) as [ServiceReply];
		return message;
	};
	const { url, apiKey } = await reply();
	let last: Promise<unknown> = Promise.resolve();

	function send(command: ServiceCommand): Promise<ServiceReply> {
		const sent = last.then(() => {
			child.send(command);
			return reply();
		});
		last = sent;
		return sent;
	}

	return {
		url,
		apiKey,
		async tell(command) {
			await send(command);
		},
		log: async () => (await send({ do: 'log' })).log,
		async [Symbol.asyncDispose]() {
			const gone = once(child, 'exit');
			child.disconnect();
			await gone;
		},
	};
}
