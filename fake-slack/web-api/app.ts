import type { Methods } from './method.ts';

export const appMethods: Methods = {
	'auth.test': {
		token: 'bot',
		scopes: [],
		run({ core }) {
			const { team, enterprise, app } = core.state;
			const isOrgInstall = enterprise?.isOrgInstall === true;
			// A token of the whole organisation belongs to no workspace: `team_id` is the organisation's. No source.
			const owner = isOrgInstall && enterprise ? enterprise : team;
			return {
				url: `https://${owner.domain}${isOrgInstall ? '.enterprise' : ''}.slack.com/`,
				team: owner.name,
				team_id: owner.id,
				user: app.name,
				user_id: app.botUser,
				bot_id: app.botId,
				...(enterprise ? { enterprise_id: enterprise.id } : {}),
				is_enterprise_install: isOrgInstall,
			};
		},
	},
	'apps.connections.open': {
		token: 'app',
		scopes: [],
		run: ({ sockets }) => ({ url: sockets.ticket() }),
	},
};
