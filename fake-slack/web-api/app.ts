import type { Methods } from './method.ts';

export const appMethods: Methods = {
	'auth.test': {
		token: 'bot',
		scopes: [],
		run({ core }) {
			const { team, enterprise, app } = core.state;
			return {
				url: `https://${team.domain}.slack.com/`,
				team: team.name,
				team_id: team.id,
				user: app.name,
				user_id: app.botUser,
				bot_id: app.botId,
				...(enterprise ? { enterprise_id: enterprise.id } : {}),
				is_enterprise_install: false,
			};
		},
	},
	'apps.connections.open': {
		token: 'app',
		scopes: [],
		run: ({ sockets }) => ({ url: sockets.ticket() }),
	},
};
