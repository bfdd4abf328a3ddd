import type { Core } from './core.ts';
import type { Deliverer } from './delivery.ts';
import { tell } from './people/tell.ts';
import type { Sockets } from './sockets.ts';

/** Tells that the token of the bot was revoked. */
async function tellOfRevoked(core: Core, deliverer: Deliverer): Promise<void> {
	const event = { type: 'tokens_revoked', tokens: { bot: [core.state.app.botUser] } };
	await tell(core, deliverer, 'tokens_revoked', { event });
}

async function tellOfUninstalled(core: Core, deliverer: Deliverer): Promise<void> {
	await tell(core, deliverer, 'app_uninstalled', { event: { type: 'app_uninstalled' } });
}

/** Both events of an uninstalled app, in either order (docs.slack.dev, app_uninstalled). */
export async function tellOfRemoval(core: Core, deliverer: Deliverer): Promise<void> {
	await Promise.all([tellOfUninstalled(core, deliverer), tellOfRevoked(core, deliverer)]);
}

/** Somebody revokes the bot's token. Connections stay. */
export async function revokeTokens(core: Core, deliverer: Deliverer): Promise<void> {
	core.refusals.bot = 'token_revoked';
	await tellOfRevoked(core, deliverer);
}

/** Somebody removes the app from the workspace: its events come first, then its connections end. */
export async function uninstall(core: Core, deliverer: Deliverer, sockets: Sockets): Promise<void> {
	core.refusals.bot = 'account_inactive';
	await tellOfRemoval(core, deliverer);
	core.refusals.app = 'invalid_auth';
	sockets.drop('all');
}

/** Somebody installs the app again. With `botToken`, Slack takes that token instead of the former one. */
export function install(core: Core, botToken: string = core.tokens.bot): void {
	core.tokens.bot = botToken;
	core.refusals.bot = null;
	core.refusals.app = null;
}

/** Slack limits the app's events (docs.slack.dev, app_rate_limited): a delivery without an inner event. */
export async function limitEvents(core: Core, deliverer: Deliverer): Promise<void> {
	await deliverer.deliverEvent('app_rate_limited', {
		token: 'verification',
		type: 'app_rate_limited',
		team_id: core.state.team.id,
		minute_rate_limited: Math.floor(core.clock.now() / 60_000) * 60,
		api_app_id: core.state.app.id,
	});
}
