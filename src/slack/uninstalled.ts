import type { SlackClients } from './clients.ts';
import type { createListen } from './listen.ts';

/**
 * Has Slack asked whether it takes the token when it says that the app was uninstalled or its tokens revoked. The event
 * may be of a former installation, or of another token.
 */
export function registerUninstalled({
	listen,
	clients,
}: {
	readonly listen: ReturnType<typeof createListen>;
	readonly clients: SlackClients;
}) {
	for (const name of ['app_uninstalled', 'tokens_revoked']) listen.event(name, clients.checkToken);
}
