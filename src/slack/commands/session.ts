import { helpMessage } from '../blocks/messages.ts';
import type { Listen } from '../listen.ts';
import type { Reply } from '../reply.ts';
import { originOf } from '../request.ts';
import type { SessionFlow } from '../session/flow.ts';
import type { HistoryFlow } from '../session/history.ts';
import { forAnybody, ifAllowed, ifAllowedAnywhere } from '../task.ts';
import { parseSessionCommand } from './parse.ts';
import type { WatchCommands } from './watch.ts';

interface Dependencies {
	readonly flow: SessionFlow;
	readonly history: HistoryFlow;
	readonly watches: WatchCommands;
	readonly reply: Reply;
	readonly dashboardUrl: string | null;
}

/** `/session …` */
export function registerSessionCommand(listen: Listen, deps: Dependencies): void {
	const { flow, history, watches, reply, dashboardUrl } = deps;
	listen.command('/session', (asked, text) => {
		const command = parseSessionCommand(text, dashboardUrl);
		switch (command.kind) {
			case 'help':
				return forAnybody(async () => {
					await reply.toPerson(asked, helpMessage(command.reason, command.word ?? text.trim()));
				});
			case 'open':
				return flow.open(asked, { sessionId: command.sessionId, messageIndex: null, origin: originOf(asked) });
			case 'history':
				return ifAllowed(asked.channelId, (request) => history.open(request, command.sessionId));
			case 'list':
				return ifAllowed(asked.channelId, (request) => watches.list(request, 0, false));
			case 'watch': {
				const { sessionIds, options } = command;
				return ifAllowed(asked.channelId, (request) => watches.watch(request, request.channelId, sessionIds, options));
			}
			case 'unwatch':
				return ifAllowedAnywhere((request) => watches.unwatch(request, request.channelId, command.sessionIds));
		}
	});
}
