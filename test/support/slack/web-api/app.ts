import { SlackError } from '../core.ts';
import { validateBlocks, validateMessage, validateView } from '../validation/index.ts';
import type { Methods } from './method.ts';

export const appMethods: Methods = {
	'auth.test': {
		token: 'bot',
		scopes: [],
		run: ({ core }) => ({
			url: `https://${core.state.team.domain}.slack.com/`,
			team: core.state.team.name,
			team_id: core.state.team.id,
			user: core.state.app.name,
			user_id: core.state.app.botUser,
			bot_id: core.state.app.botId,
			is_enterprise_install: false,
		}),
	},
	'apps.connections.open': {
		token: 'app',
		scopes: [],
		run: ({ sockets }) => ({ url: sockets.ticket() }),
	},
	'blocks.validate': {
		token: 'bot',
		scopes: [],
		run({ args }) {
			const problems =
				args.view !== undefined
					? validateView(args.view)
					: args.message !== undefined
						? validateMessage(args.message)
						: validateBlocks(args.blocks, 'message');
			if (problems.length === 0) return {};
			const messages = problems.map((problem) => `[ERROR] ${problem.message}`);
			throw new SlackError(problems[0]?.error ?? 'invalid_blocks', {
				errors: messages,
				response_metadata: { messages },
			});
		},
	},
};
