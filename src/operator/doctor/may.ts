import { type UsersConversationsResponse, WebClient } from '@slack/web-api';
import type { Settings } from '../../config.ts';
import { CHECK_COUNTS_MS } from '../../delivery/author-check.ts';
import type { Answerers } from '../../domain/answerers.ts';
import { createLog } from '../../kernel/log.ts';
import { createMemoryState } from '../../kernel/memory.ts';
import { createRateLimiter } from '../../kernel/rate-limiter.ts';
import { whyNoSettings } from '../../people/settings/settings-saving.ts';
import { CHECK_INTERVAL_MS } from '../../sessions/endings.ts';
import { ANYWHERE, createAccessPolicy, type Ground } from '../../slack/access-policy.ts';
import { createSlackCalls, type SlackCalls } from '../../slack/calls.ts';
import * as slackChannels from '../../slack/channels.ts';
import { createDirectChannels, createSlackLogger, type SlackClients, slackCodeOf } from '../../slack/clients.ts';
import { createDirectory, type Directory, FACTS_MAX_AGE_MS, FRESH_MS } from '../../slack/directory.ts';
import { errorWords } from '../../slack/error-view.ts';
import { durationText } from '../../slack/phrases.ts';
import { plainWords } from '../../slack/rich-text.ts';
import { type Finding, inspect } from './check.ts';
import { at, type Bot, type SlackReply } from './requests.ts';

const old = (ms: number) => `up to ${durationText(ms)} old`;
const JOINED = `users.conversations ${old(FACTS_MAX_AGE_MS)} (new before a refusal)`;
const LATER = `all of it new where sending begins more than ${durationText(CHECK_COUNTS_MS)} later`;
const GUARDED = `of a watched channel, who else reads it every ${durationText(CHECK_INTERVAL_MS)}`;
const POSTING = 'is_member is_archived is_shared is_org_shared is_ext_shared is_pending_ext_shared';

/** What is checked of a channel after the person. `fields`: of `conversations.info`. `age`: how old facts may be. */
const PLACES = {
	anywhere: null,
	here: null,
	there: { fields: 'is_private', age: `is_private ${old(slackChannels.PRIVACY_MAX_AGE_MS)}, ${JOINED}; ${LATER}` },
	copy: { fields: '', age: JOINED },
	watched: { fields: POSTING, age: `conversations.info new each time; ${GUARDED}` },
	configured: { fields: POSTING, age: 'conversations.info and users.conversations new each time' },
} as const;
type Place = keyof typeof PLACES;

/** `maxAgeMs`: of facts about people and user groups. `needs`: settings that switch it off for everybody. */
type Action = readonly [name: string, maxAgeMs: number, place: Place, ...needs: readonly (keyof Settings)[]];

const STOPS = 'Stop watching';
const LISTS_UNKNOWN =
	'no database can be read with these settings, so it is not known whether a channel names who may answer: a yes ' +
	'holds where it names nobody';

/** The checks of the handlers. `test/operator/doctor/may-front-door.test.ts` compares them with these. */
const ACTIONS: readonly Action[] = [
	['Open a session', FACTS_MAX_AGE_MS, 'here'],
	['Send an answer', FRESH_MS, 'there'],
	['Answer by one press', FRESH_MS, 'here', 'QUICK_ANSWERS'],
	['Answer from the inbox', FRESH_MS, 'copy'],
	['Watch', FACTS_MAX_AGE_MS, 'watched'],
	['Watch all', FACTS_MAX_AGE_MS, 'watched', 'DISCOVER_SESSIONS'],
	['Channel settings', FACTS_MAX_AGE_MS, 'configured'],
	[STOPS, FACTS_MAX_AGE_MS, 'anywhere'],
	['Open the inbox', FACTS_MAX_AGE_MS, 'anywhere'],
];

/** The rules that are built in, by what lets somebody pass. */
const BUILT_IN: Readonly<Partial<Record<Ground, string>>> = {
	team_id: "a member of the app's workspace",
	enterprise_user: "a member of the app's workspace",
	'is_restricted is_ultra_restricted': 'no guest',
};
/** By the code of a refusal, the setting that would lift it. */
const LIFTED_BY: Readonly<Record<string, keyof Settings>> = {
	guest: 'ALLOW_GUESTS',
	external: 'ALLOW_EXTERNAL',
	unclear_sharing: 'ALLOW_EXTERNAL',
};
/** Slack's codes that say something about a person or a channel. Others are failures. */
const TELLING = /^(channel_not_found|user_disabled|cannot_dm_bot)$/;

/** A client for the program's parts, and what Slack said to it. */
function createWitness({ settings: { SLACK_API_URL: slackApiUrl }, call }: Bot) {
	const replies = new Map<string, SlackReply>();
	const client = new WebClient(undefined, {
		slackApiUrl,
		retryConfig: { retries: 0 },
		logger: createSlackLogger(createLog('silent')),
		async fetch(url, init) {
			const method = String(url).slice(slackApiUrl.length);
			const form = typeof init?.body === 'string' ? init.body : '';
			const reply = await call(method, Object.fromEntries(new URLSearchParams(form)));
			replies.set(method, reply);
			if (reply.kind === 'unreachable') throw new Error(reply.why);
			return Response.json(reply.data);
		},
	});

	function problemOf([method, reply]: readonly [string, SlackReply]): readonly string[] {
		if (reply.kind === 'unreachable') return [reply.why];
		if (reply.kind === 'ok' || TELLING.test(reply.code)) return [];
		const nobody = `there is no such person, or Slack does not show them to the app (${reply.code})`;
		if (/^users?_not_(found|visible)$/.test(reply.code)) return [`${nobody}: copy the member ID from their profile`];
		const needed = reply.code === 'missing_scope' ? ` ${reply.data.needed}` : '';
		// These scopes are for conversations between people: manifest.yml does not ask for them.
		if (/^ (im|mpim):read$/.test(needed)) return [];
		return [`Slack refuses ${method} (${reply.code}${needed}): see npm run doctor`];
	}

	return {
		client,
		/** Why Slack did not tell something; null when it told everything. */
		problem: () => [...replies].flatMap(problemOf)[0] ?? null,
		/** Fields of the `user` or the `channel` in a reply. */
		facts(method: string, of: string, fields: string): string {
			const reply = replies.get(method);
			if (reply?.kind === 'refused') return `${method} says ${reply.code}`;
			const data = reply?.kind === 'ok' ? reply.data : {};
			const value = (field: string) => JSON.stringify(at(data, `${of}.${field}`)) ?? 'left out';
			return (fields.match(/\S+/g) ?? []).map((field) => `${field} is ${value(field)}`).join(', ');
		},
	};
}

/** The id in a text: bare, in a link, or in a mention. `kinds`: its first letters. Null without one. */
function idIn(text: string, kinds: string): string | null {
	return new RegExp(`(?:^|[/@#])([${kinds}][A-Z0-9]{2,})(?=$|[/|>?])`).exec(text)?.[1] ?? null;
}

/** The id of a channel by its name, among the channels of the app and of the person. */
async function channelNamed(client: WebClient, name: string, user: string): Promise<string | null> {
	const types = { types: 'public_channel,private_channel', limit: 999 };
	for (const asked of [types, { ...types, user }]) {
		for await (const page of client.paginate('users.conversations', asked)) {
			const found = (page as UsersConversationsResponse).channels?.find((one) => one.name === name);
			if (found?.id !== undefined) return found.id;
		}
	}
	return null;
}

/** Makes the check of what a person may do in a channel. Null when `user` names nobody. */
export function mayBy(user: string, channel: string) {
	const userId = idIn(user, 'UW');
	return userId === null ? null : (bot: Bot) => checkMay(userId, channel, bot);
}

interface Subject {
	readonly clients: Pick<SlackClients, 'people' | 'background'>;
	readonly calls: SlackCalls;
	readonly directory: Directory;
	readonly userId: string;
	readonly channelId: string;
	/** Whom the channel names as those who may answer. */
	readonly named: Answerers | undefined;
}

/** The program's own rules. `whyNotIn`: what is checked of the channel; each resolves to why not, or to null. */
function createRules(bot: Bot, { userId, channelId, named, ...slack }: Subject) {
	const { settings: config, clock, teamId } = bot;
	const directChannelOf = createDirectChannels(slack.clients.people, clock);
	const parts = { ...slack, directChannelOf, config, clock, serviceUrl: '' };
	const policy = createAccessPolicy(parts, () => bot, {
		// The session is one that this channel was the first to watch.
		ofSession: async () => (named === undefined ? [] : [{ channelId, revision: 0, ...named }]),
		ofAll: async () => new Map(),
		ofChannel: async () => named ?? { userIds: [], groupIds: [] },
	});
	const channels = slackChannels.createChannels(parts);
	const memberships = slackChannels.createMemberships(
		{ ...parts, store: { handOvers: { holds: async () => false } } },
		{ changes: createMemoryState(clock), turn: async () => null },
	);
	const request = { person: { teamId, userId }, channelId };
	const question = { channelId, sessionId: 'any' };
	const whyNotIn: Readonly<Record<Place, () => Promise<unknown>>> = {
		anywhere: async () => null,
		here: async () => null,
		there: () => memberships.whyNotThere(request, question),
		copy: () => memberships.whyNotThere(request, { ...question, isCopy: true }),
		async watched() {
			const verdict = await channels.mayWatch(request);
			return verdict.ok ? null : verdict.reason;
		},
		configured: () => whyNoSettings(request, { channels, memberships }),
	};
	return { policy, memberships, whyNotIn };
}

/** Asks the program's own rules, with what Slack says now. */
async function* checkMay(userId: string, given: string, bot: Bot): AsyncGenerator<Finding> {
	const { settings: config, clock, teamId } = bot;
	const { client, problem, facts } = createWitness(bot);
	const found = (verdict: Finding['verdict'], text: string, check = 'Asked') => ({ verdict, check, text: `${text}.` });
	const clients = { people: client, background: client };
	const calls = createSlackCalls({ rateLimiter: createRateLimiter(clock), clock }, () => teamId);
	const directory = createDirectory({ clients, calls, clock });
	const parts = { clients, calls, directory };
	await directory.person(userId).catch(() => null);
	const name = given.replace(/^#/, '');
	const channelId = idIn(given, 'CGD') ?? (await channelNamed(client, name, userId).catch(() => null));
	const untold = problem();
	if (untold !== null) return yield found('failure', untold);
	if (channelId === null) {
		const nowhere = `neither the app nor ${userId} is in a channel named ${name}`;
		return yield found('failure', `${nowhere}: give its id, from the end of its "About"`);
	}

	const look = await inspect(config.DATABASE_URL, config.DATA_DIR);
	const lists = 'answerers' in look ? look.answerers : null;
	const named = lists?.get(channelId);
	const { policy, memberships, whyNotIn } = createRules(bot, { ...parts, userId, channelId, named });

	const isDirect = channelId.startsWith('D');
	if (!isDirect) await client.conversations.info({ channel: channelId }).catch(() => null);
	const isIn = await memberships.isMemberNow(userId, channelId).catch(() => null);
	const joined = `they are ${isIn === null ? 'perhaps in' : isIn ? 'in' : 'not in'} it`;
	const where = idIn(given, 'CGD') === null ? `${name} (${channelId})` : channelId;
	const who = `${directory.displayName(userId)} (${userId}) in ${where}, for the app of ${teamId}`;
	const older = 'Slack told this now; facts that the running program uses may be older, as each line says';
	yield found('skipped', `${who}. ${older}`);
	const isNew = 'kind' in look && look.kind === 'absent';
	if (lists === null) yield found(isNew ? 'skipped' : 'failure', LISTS_UNKNOWN);

	const isSetting = (ground: string): ground is keyof Settings => /^[A-Z_]+$/.test(ground);
	const names = Object.values(named ?? {}).flat();
	const factsOf = (ground: Ground | keyof Settings) => {
		if (ground === 'list') return `the channel names ${names.join(' ')} as those who may answer`;
		return isSetting(ground)
			? `${ground} is ${[config[ground]].flat().join(' ')}`
			: facts('users.info', 'user', ground);
	};
	const passed = (ground: Ground) => {
		const rule = BUILT_IN[ground];
		return rule === undefined ? factsOf(ground) : `${rule} (${factsOf(ground)})`;
	};

	/** Throws when Slack did not tell what decides. */
	async function judge([check, maxAgeMs, place]: Action): Promise<Finding> {
		const where = place === 'anywhere' ? { ...ANYWHERE, channelId } : { channelId };
		const ofLists = maxAgeMs === FRESH_MS ? { answers: 'any' } : check === STOPS ? ({ unwatches: true } as const) : {};
		const asked = { ...where, ...ofLists };
		const { refusal, grounds } = await policy.check({ userId, claimedTeamId: null }, asked, 'late');
		const more = refusal === null ? PLACES[place] : null;
		const why = more === null ? refusal : await whyNotIn[place]();
		if (grounds.at(-1) === 'no_answer' || (more !== null && why !== null && problem() !== null))
			throw new Error('untold');

		const code = why === null ? null : slackCodeOf(why);
		const decisive = code === null ? grounds : more === null ? grounds.slice(-1) : [];
		const lifting = LIFTED_BY[code ?? ''];
		const because = [
			...decisive.map(code === null ? passed : factsOf),
			...(lifting === undefined ? [] : [factsOf(lifting)]),
			...(more === null || isDirect ? [] : [facts('conversations.info', 'channel', more.fields)]),
			...(more === null || (place === 'watched' && !isDirect) ? [] : [joined]),
		];
		const ages = [
			...(decisive.every(isSetting) ? [] : [`users.info ${old(maxAgeMs)}`]),
			...(decisive.includes('ALLOWED_USERGROUPS') || decisive.includes('list') ? [`user groups ${old(maxAgeMs)}`] : []),
			...(more === null ? [] : [isDirect ? 'conversations.open, asked once' : more.age]),
		];
		const { what } = errorWords(more?.fields === POSTING ? `watch_${code}` : String(code));
		const told = code === 'not_a_member' ? 'Only for people in the channel' : plainWords(what).replace(/^\W+|\.$/g, '');
		const verdict = code === null ? 'yes' : `no (${code}), “${told}”`;
		const reasons = because.filter((fact) => fact !== '').join(', ');
		const text = `${verdict}: ${reasons}. The program uses ${ages.join(', ') || 'the settings of its start'}`;
		return found(code === null ? 'ok' : 'refused', text, check);
	}

	for (const action of ACTIONS) {
		const [check, , , ...needs] = action;
		const off = needs.find((name) => config[name] !== true);
		const untold = () => found('failure', `not found out: ${problem() ?? 'Slack is too slow'}`, check);
		if (off === undefined) yield await judge(action).catch(untold);
		else yield found('skipped', `switched off for everybody by ${off}`, check);
	}
}
