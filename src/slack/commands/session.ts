import type { Gatekeeper } from '../../answers/who-may.ts';
import { helpMessage, refusedMessage } from '../blocks/messages.ts';
import type { Listen } from '../listen.ts';
import type { Reply } from '../reply.ts';
import { originOf } from '../request.ts';
import type { SessionFlow } from '../session/flow.ts';
import type { HistoryFlow } from '../session/history.ts';
import { parseSessionCommand } from './parse.ts';
import type { WatchCommands } from './watch.ts';

interface Dependencies {
	readonly flow: SessionFlow;
	readonly history: HistoryFlow;
	readonly watches: WatchCommands;
	readonly gatekeeper: Gatekeeper;
	readonly reply: Reply;
	readonly dashboardUrl: string | null;
	readonly adminContact: string | null;
}

/** `/session …` */
export function registerSessionCommand(listen: Listen, deps: Dependencies): void {
	const { flow, history, watches, gatekeeper, reply, dashboardUrl, adminContact } = deps;
	listen.command('/session', async (request, text) => {
		const command = parseSessionCommand(text, dashboardUrl);
		switch (command.kind) {
			case 'help':
				await reply.toPerson(request, helpMessage(command.reason, command.word ?? text.trim()));
				return;
			case 'open':
				await flow.open(request, { sessionId: command.sessionId, messageIndex: null, origin: originOf(request) });
				return;
			case 'history':
				await history.open(request, command.sessionId);
				return;
			default: {
				const verdict = await gatekeeper.check(request.person, request.channelId);
				if (verdict.allowed) await watches.run(request, command);
				else await reply.toPerson(request, refusedMessage(verdict.refusal, adminContact));
			}
		}
	});
}
