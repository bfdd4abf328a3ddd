import { COMMAND } from '../../kernel/command-name.ts';
import { helpMessage, mistypedMessage } from '../../screens/help.ts';
import { ANYWHERE } from '../../slack/access-policy.ts';
import type { HandlerContext } from '../../slack/context.ts';
import { type AllowedRequest, forAnybody, ifAllowed, type PersonRequest, type Task } from '../../slack/request.ts';
import type { WatchCommands } from '../watching/watch-commands.ts';
import { parseSessionCommand } from './parse-command.ts';
import type { SessionFlow } from './session-flow.ts';

export interface Commands extends WatchCommands {
	readonly openHistory: (request: AllowedRequest, sessionId: string) => Promise<void>;
	readonly openInbox: () => Task;
	readonly openSettings: (request: PersonRequest) => Task;
}

export function registerSessionCommand(core: HandlerContext & { flow: SessionFlow }, others: Commands): void {
	const { listen, flow, reply, config } = core;

	listen.command(COMMAND, (asked, text) => {
		const command = parseSessionCommand(text, config.SESSION_DASHBOARD_URL);
		switch (command.kind) {
			case 'help':
				return forAnybody(async () => {
					const { reason, word = text.trim(), meant } = command;
					await reply.toPerson(asked, reason === 'asked' ? helpMessage() : mistypedMessage(reason, word, meant));
				});
			case 'open':
				return flow.open(asked, { sessionId: command.sessionId, messageIndex: null });
			case 'history':
				return ifAllowed(asked.channelId, (request) => others.openHistory(request, command.sessionId));
			case 'list':
				return ifAllowed(asked.channelId, (request) => others.list(request, 0));
			case 'inbox':
				return others.openInbox();
			case 'settings':
				return others.openSettings(asked);
			case 'watch': {
				const { sessionIds } = command;
				const [sessionId] = sessionIds;
				if (sessionId === undefined) return ifAllowed(asked.channelId, others.choose);
				const options = { changes: true, about: { sessionId, others: sessionIds.length - 1 } } as const;
				return ifAllowed(asked.channelId, (request) => others.watch(request, sessionIds), options);
			}
			case 'watchAll':
				return ifAllowed(asked.channelId, others.watchAll, { changes: true });
			case 'unwatch':
				return ifAllowed(
					{ ...ANYWHERE, channelId: asked.channelId, unwatches: true },
					(request) =>
						command.sessionIds === 'all'
							? others.offerUnwatchAll(request)
							: others.unwatch(request, command.sessionIds),
					{ changes: true },
				);
		}
	});
}
