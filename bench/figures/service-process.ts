import { createFakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import type { LogEntry } from '../../fake-session-service/log.ts';
import { preciseClock } from './precise-clock.ts';
import { reportSession } from './sessions.ts';

/**
 * The session service in its own process, so that its work does not slow the measuring process. Times in its log have
 * fractions of a millisecond.
 */
export type ServiceCommand =
	/** Has these sessions alone, as new ones, and an empty log. */
	| { readonly do: 'renew'; readonly ids: readonly string[] }
	/** Every response takes this long from now on. */
	| { readonly do: 'slow'; readonly ms: number }
	/** Holds requests until they are released. */
	| { readonly do: 'hold' }
	| { readonly do: 'release' }
	| { readonly do: 'log' };

export interface ServiceReply {
	readonly url: string;
	readonly apiKey: string;
	readonly log: readonly LogEntry[];
}

let slowMs = 0;
let held: Promise<void> = Promise.resolve();
let letGo = () => {};
const service = createFakeSessionService({
	clock: preciseClock,
	rateLimit: false,
	resumeAfterMs: 50,
	scenarios: [],
	startOnRead: false,
	hooks: {
		async onRequest() {
			await held;
			if (slowMs > 0) await preciseClock.sleep(slowMs);
		},
	},
});
await service.start();

function obey(command: ServiceCommand): void {
	switch (command.do) {
		case 'renew':
			for (const id of service.sessions.ids()) service.sessions.remove(id);
			service.log.clear();
			for (const id of command.ids) service.sessions.put(id, reportSession());
			return;
		case 'slow':
			slowMs = command.ms;
			return;
		case 'hold':
			held = new Promise((resolve) => {
				letGo = resolve;
			});
			return;
		case 'release':
			letGo();
			return;
		case 'log':
	}
}

function reply(log: readonly LogEntry[] = []): void {
	process.send?.({ url: service.url, apiKey: service.apiKey, log } satisfies ServiceReply);
}

process.on('message', (command: ServiceCommand) => {
	obey(command);
	reply(command.do === 'log' ? service.log.list() : []);
});
process.on('disconnect', () => process.exit());
reply();
