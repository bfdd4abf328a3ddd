import { liveSecret } from '../config.ts';
import type { Core } from '../core.ts';
import { createAccessPolicy, type Lists, type MayAct } from './access-policy.ts';
import { createWhoMayAnswer } from './answerers.ts';
import { createSlackCalls } from './calls.ts';
import { createDirectChannels, createSlackClients, type Installation } from './clients.ts';
import { createDirectory, type Shared } from './directory.ts';

type SlackStores = {
	readonly db: { readonly dialect: string };
	readonly people: Shared['store'];
	sharedStateOf(name: 'people-list'): Shared['listing'];
};

/** What reaches Slack, and who may do what there. */
export function createSlack(
	core: Pick<Core<SlackStores>, 'config' | 'clock' | 'log' | 'metrics' | 'rateLimiter' | 'store'>,
	installation: Installation,
	lists: Lists,
) {
	const { config, clock, log, metrics, store } = core;
	const address = { apiUrl: config.SLACK_API_URL, botToken: liveSecret('SLACK_BOT_TOKEN', config, log) };
	const clients = createSlackClients(address, { clock, log }, metrics.slackCall);
	const teamId = () => installation.known()?.teamId;
	const calls = createSlackCalls(core, teamId);
	const hasReplicas = store.db.dialect === 'postgres';
	const shared = { store: store.people, listing: store.sharedStateOf('people-list'), teamId, hasReplicas };
	const directory = createDirectory({ clients, calls, clock }, shared);
	const accessPolicy = createAccessPolicy({ config, clock, directory }, installation.known, lists);
	const parts = { clients, calls, installation, lists, policy: accessPolicy };
	const { userGroups, ...whoMayAnswer } = createWhoMayAnswer({ clock, log, directory }, parts);
	const mayAct: MayAct = async (...asked) => (await accessPolicy.checkAbsent(...asked)).refusal;
	const directChannelOf = createDirectChannels(clients.people, clock);
	return { installation, clients, calls, directory, directChannelOf, accessPolicy, mayAct, userGroups, whoMayAnswer };
}
