import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LogEntry } from '../../fake-session-service/log.ts';
import type { ServiceCommand, ServiceReply } from './service-process.ts';

/** The session service in its own process. It runs commands one after another. */
export interface BenchService extends AsyncDisposable {
	readonly url: string;
	readonly apiKey: string;
	tell(command: ServiceCommand): Promise<ServiceReply>;
	/** From now on it has these sessions alone, as new ones. */
	renew(ids: readonly string[]): Promise<unknown>;
	/** Every request since `renew`, oldest first. Times are in milliseconds with fractions. */
	log(): Promise<readonly LogEntry[]>;
}

export async function startService(): Promise<BenchService> {
	const child = fork(fileURLToPath(new URL('service-process.ts', import.meta.url)), { execArgv: [] });
	const reply = async () => {
		const [message] = (await once(child, 'message')) as [ServiceReply];
		return message;
	};
	const { url, apiKey } = await reply();
	let last: Promise<unknown> = Promise.resolve();

	function tell(command: ServiceCommand): Promise<ServiceReply> {
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
		tell,
		renew: (ids) => tell({ do: 'renew', ids }),
		log: async () => (await tell({ do: 'log' })).log,
		async [Symbol.asyncDispose]() {
			const gone = once(child, 'exit');
			child.disconnect();
			await gone;
		},
	};
}
