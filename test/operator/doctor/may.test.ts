import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callSlack, sampleOrganisation } from '../../../fake-slack/index.ts';
import { CHECK_COUNTS_MS } from '../../../src/delivery/author-check.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { CHECK_INTERVAL_MS } from '../../../src/sessions/endings.ts';
import { PRIVACY_MAX_AGE_MS } from '../../../src/slack/channels.ts';
import { FACTS_MAX_AGE_MS, FRESH_MS } from '../../../src/slack/directory.ts';
import { durationText } from '../../../src/slack/phrases.ts';
import { namesAnswerers } from './databases.ts';
import { createHarness, type Env, type Harness, nobody } from './harness.ts';
import { expectLists, outcomesOf } from './may.ts';

const ALL = [
	'Open a session',
	'Send an answer',
	'Answer by one press',
	'Answer from the inbox',
	'Watch',
	'Watch all',
	'Channel settings',
	'Stop watching',
	'Open the inbox',
];

/** The same for every action, but for these. */
const every = (outcome: string, others: Readonly<Record<string, string>> = {}) => ({
	...Object.fromEntries(ALL.map((action) => [action, outcome])),
	'Watch all': 'off',
	...others,
});

/** For every action of people in a channel; those that belong to no channel are allowed. */
const inChannel = (outcome: string) => every(outcome, { 'Stop watching': 'yes', 'Open the inbox': 'yes' });
/** The app cannot post there. */
const noPosts = (code: string) => ({ Watch: code, 'Channel settings': code });
const unseen = (code: string) => every('yes', { ...noPosts(code), 'Answer from the inbox': 'not_there' });
const OUTSIDE = every('yes', {
	'Send an answer': 'not_there',
	'Answer from the inbox': 'not_there',
	'Channel settings': 'not_a_member',
});
const guest = (isUltra: boolean) => `is_restricted is true, is_ultra_restricted is ${isUltra}, ALLOW_GUESTS is false`;
const UNKNOWN = 'conversations.info says channel_not_found';

async function may(harness: Harness, args: readonly string[], env: Env = {}) {
	const { exit, lines } = await harness.doctor(env, ['may', ...args], { clock: systemClock });
	return {
		exit,
		lines,
		outcomes: outcomesOf(lines),
		lineOf: (action: string) => lines.find((one) => one.includes(` ${action}: `)),
	};
}

let harness: Harness;
let organisation: Harness;
beforeAll(async () => {
	harness = await createHarness();
	organisation = await createHarness({ workspace: sampleOrganisation() });
});
afterAll(async () => {
	await harness[Symbol.asyncDispose]();
	await organisation[Symbol.asyncDispose]();
});

describe('doctor may', () => {
	it('says for each action why, and how old each fact may be in the program', async () => {
		const { exit, lines } = await may(harness, ['U0ADA', 'agents'], { DISCOVER_SESSIONS: 'true' });
		const old = (ms: number) => `up to ${durationText(ms)} old`;
		const who = `yes: a member of the app's workspace (team_id is "T0ACME"), no guest (is_restricted is false, is_ultra_restricted is false)`;
		const known = (ms: number) => `The program uses users.info ${old(ms)}`;
		const joined = `users.conversations ${old(FACTS_MAX_AGE_MS)} (new before a refusal)`;
		const posting =
			'is_member is true, is_archived is false, is_shared is false, is_org_shared is false, is_ext_shared is false, is_pending_ext_shared is false';
		const watched = `${who}, ${posting}. ${known(FACTS_MAX_AGE_MS)}, conversations.info new each time; of a watched channel, who else reads it every ${durationText(CHECK_INTERVAL_MS)}.`;
		expect(lines).toEqual([
			'✓ Bot token: it is handraise in the workspace Acme.',
			'- Asked: ada (U0ADA) in agents (C0AGENTS), for the app of T0ACME. Slack told this now; facts that the running program uses may be older, as each line says.',
			'- Asked: no database can be read with these settings, so it is not known whether a channel names who may answer: a yes holds where it names nobody.',
			`✓ Open a session: ${who}. ${known(FACTS_MAX_AGE_MS)}.`,
			`✓ Send an answer: ${who}, is_private is false, they are in it. ${known(FRESH_MS)}, is_private ${old(PRIVACY_MAX_AGE_MS)}, ${joined}; all of it new where sending begins more than ${durationText(CHECK_COUNTS_MS)} later.`,
			`✓ Answer by one press: ${who}. ${known(FRESH_MS)}.`,
			`✓ Answer from the inbox: ${who}, they are in it. ${known(FRESH_MS)}, ${joined}.`,
			`✓ Watch: ${watched}`,
			`✓ Watch all: ${watched}`,
			`✓ Channel settings: ${who}, ${posting}, they are in it. ${known(FACTS_MAX_AGE_MS)}, conversations.info and users.conversations new each time.`,
			`✓ Stop watching: ${who}. ${known(FACTS_MAX_AGE_MS)}.`,
			`✓ Open the inbox: ${who}. ${known(FACTS_MAX_AGE_MS)}.`,
			'All is allowed.',
		]);
		expect(exit).toBe(0);
	});

	it.each([
		['links', 'https://acme.slack.com/team/U0ADA', 'https://acme.slack.com/archives/C0AGENTS/p1'],
		['mentions', '<@U0ADA|ada>', '<#C0AGENTS|agents>'],
		['ids', 'U0ADA', 'C0AGENTS'],
		['a name with its #', '@U0ADA', '#agents'],
	])('takes %s', async (_, user, channel) => {
		const { exit, lines, outcomes } = await may(harness, [user, channel]);
		expect(lines[1]).toMatch(/^- Asked: ada \(U0ADA\) in .*C0AGENTS/);
		expect(outcomes).toEqual(every('yes'));
		expect(exit).toBe(0);
	});

	it('finds a channel by its name on a later page, and an archived one', async () => {
		harness.slack.settings.conversationsPageSize = 1;
		expect((await may(harness, ['U0ADA', 'old'])).outcomes).toEqual(unseen('archived'));
		harness.slack.settings.conversationsPageSize = 999;
	});

	it.each<[who: string, where: string, outcomes: Record<string, string>, fact: string]>([
		['a multi-channel guest', 'U0GUS agents', every('guest'), guest(false)],
		['a single-channel guest', 'U0UNA agents', every('guest'), guest(true)],
		['a bot', 'U0OTHERBOT agents', every('bot'), '“Apps and bots cannot use Handraise”: is_bot is true'],
		['a deactivated person', 'U0DORA agents', every('deactivated'), 'deleted is true'],
		['an outsider', 'U0EVE shared', every('external'), 'team_id is "T0OTHER", ALLOW_EXTERNAL is false'],
		['a stranger', 'U0SID agents', every('external'), 'is_stranger is true, ALLOW_EXTERNAL is false'],
		['a channel without the app', 'U0ADA general', every('yes', noPosts('not_member')), 'is_member is false'],
		['a private channel without the app', 'U0ADA C0VAULT', unseen('not_member'), UNKNOWN],
		['an unknown channel', 'U0ADA C0NOSUCH', unseen('not_member'), UNKNOWN],
		['somebody outside of a private channel', 'U0GRACE secret', OUTSIDE, 'is_private is true, they are not in it'],
		['somebody outside of a public channel', 'U0GRACE C0AGENTS', every('yes'), 'they are in it'],
		['a shared channel', 'U0ADA shared', every('yes', noPosts('external')), 'is_ext_shared is true'],
		['a direct message of somebody else', 'U0ADA D0OTHER', unseen('direct'), 'they are not in it'],
		[
			'a colleague of another workspace of an organisation',
			'U0HANA together',
			every('yes'),
			`a member of the app's workspace (enterprise_user is {"id":"U0HANA","enterprise_id":"E0ACME"`,
		],
		['a colleague who is no member of the workspace', 'U0HENRY together', every('external'), '"teams":["T0APEX"]'],
	])('decides by what Slack says: %s', async (_, where, outcomes, fact) => {
		const asked = where.endsWith('together') ? organisation : harness;
		const { exit, lines, outcomes: said } = await may(asked, where.split(' '));
		expect(said).toEqual(outcomes);
		expect(lines.join('\n')).toContain(fact);
		const count = Object.values(outcomes).filter((one) => !['yes', 'off'].includes(one)).length;
		expect([exit, lines.at(-1)]).toEqual(count === 0 ? [0, 'All is allowed.'] : [3, `${count} actions not allowed.`]);
	});

	it('knows whom the channel names as those who may answer, by id and by user group', async () => {
		await using own = await createHarness();
		await expectLists(own, { dataDir: own.dataDir });
	});

	it('knows a list that cannot be read as one of nobody', async () => {
		await using own = await createHarness();
		await namesAnswerers({ dataDir: own.dataDir }, 'C0AGENTS', { userIds: ['U0GRACE'], groupIds: [] });
		{
			using db = new DatabaseSync(join(own.dataDir, 'handraise.db'));
			db.exec("update channel_settings set settings = '{'");
			expect((await may(own, ['U0GRACE', 'agents'])).outcomes['Send an answer']).toBe('yes');
			db.exec("insert into answer_rules values ('T0ACME', 'C0AGENTS', 'http://x', 's1', 0)");
		}
		expect((await may(own, ['U0GRACE', 'agents'])).outcomes['Send an answer']).toBe('not_named');
	});

	it('says that it knows no list where it cannot read the database', async () => {
		await using own = await createHarness();
		writeFileSync(join(own.dataDir, 'handraise.db'), 'no database');
		const { exit, lines } = await may(own, ['U0ADA', 'agents']);
		expect(exit).toBe(1);
		expect(
			lines.filter((line) => line.includes('it is not known whether a channel names who may answer')),
		).toHaveLength(1);
		await expectLists(harness, { dataDir: harness.dataDir });
		const known = await may(harness, ['U0ADA', 'agents']);
		expect(known.lines.join()).not.toContain('it is not known');
	});

	it('knows the direct message of somebody and the app', async () => {
		const { channel } = await callSlack(harness.slack, 'conversations.open', { users: 'U0ADA' });
		const { exit, lines, outcomes } = await may(harness, ['U0ADA', (channel as { id: string }).id]);
		expect(outcomes).toEqual(every('yes'));
		expect(lines.join('\n')).toContain(
			'they are in it. The program uses users.info up to 5 min old, conversations.open, asked once',
		);
		expect(exit).toBe(0);
	});

	it('knows a conversation between people, of which Slack tells the app nothing', async () => {
		await using own = await createHarness();
		const { channels } = own.slack.state;
		const [agents] = channels;
		if (agents === undefined) throw new Error('there is no channel');
		const members = ['U0ADA', 'U0GRACE'];
		channels.push({ ...agents, id: 'G0GROUP', name: 'mpdm-ada', members, isMpim: true, isPrivate: true });
		const { exit, lines, outcomes } = await may(own, ['U0ADA', 'G0GROUP']);
		expect(outcomes).toEqual(unseen('direct'));
		expect(lines.join('\n')).toContain('conversations.info says missing_scope');
		expect(exit).toBe(3);
	});

	it.each<[setting: string, env: Env, outcomes: Record<string, string>, fact: string]>([
		['ALLOW_GUESTS', { ALLOW_GUESTS: 'true', WHO: 'U0GUS' }, every('yes'), 'ALLOW_GUESTS is true'],
		[
			'ALLOW_EXTERNAL',
			{ ALLOW_EXTERNAL: 'true', WHO: 'U0EVE' },
			every('yes', { 'Answer from the inbox': 'not_there', 'Channel settings': 'not_a_member' }),
			'ALLOW_EXTERNAL is true',
		],
		['ALLOWED_CHANNELS', { ALLOWED_CHANNELS: 'C0AGENTS C0OLD' }, every('yes'), 'ALLOWED_CHANNELS is C0AGENTS C0OLD'],
		[
			'ALLOWED_CHANNELS, for others',
			{ ALLOWED_CHANNELS: 'C0OLD' },
			inChannel('channel_not_allowed'),
			'ALLOWED_CHANNELS is C0OLD. The program uses the settings of its start',
		],
		['ALLOWED_USERS', { ALLOWED_USERS: 'U0ADA' }, every('yes'), 'ALLOWED_USERS is U0ADA'],
		['… for others', { ALLOWED_USERS: 'U0ADA', WHO: 'U0GRACE' }, every('user_not_allowed'), 'ALLOWED_USERS is U0ADA'],
		[
			'ALLOWED_USERGROUPS',
			{ ALLOWED_USERGROUPS: 'S0OPS' },
			every('yes'),
			'ALLOWED_USERGROUPS is S0OPS. The program uses users.info up to 5 min old, user groups up to 5 min old',
		],
		[
			'ALLOWED_USERGROUPS, for others',
			{ ALLOWED_USERGROUPS: 'S0OPS', WHO: 'U0GRACE' },
			every('user_not_allowed'),
			'ALLOWED_USERGROUPS is S0OPS. The program uses user groups up to 30 s old',
		],
		[
			'QUICK_ANSWERS',
			{ QUICK_ANSWERS: 'off' },
			every('yes', { 'Answer by one press': 'off' }),
			'switched off for everybody by QUICK_ANSWERS',
		],
		['DISCOVER_SESSIONS', { DISCOVER_SESSIONS: 'true' }, every('yes', { 'Watch all': 'yes' }), 'Watch all: yes'],
	])('follows the setting %s', async (_, { WHO = 'U0ADA', ...env }, outcomes, fact) => {
		const { exit, lines, outcomes: said } = await may(harness, [WHO, 'agents'], env);
		expect(said).toEqual(outcomes);
		expect(lines.join('\n')).toContain(fact);
		expect(exit).toBe(Object.values(outcomes).every((one) => ['yes', 'off'].includes(one)) ? 0 : 3);
	});
});

describe('doctor may, when it cannot find out', () => {
	const without =
		(scope: string) =>
		({ slack }: Harness) => {
			slack.settings.scopes = slack.settings.scopes.filter((granted) => granted !== scope);
		};

	const BROKEN: Readonly<Record<string, { breaks?: (broken: Harness) => unknown; env?: Env; says: RegExp }>> = {
		'the token is not valid': {
			env: { SLACK_BOT_TOKEN: 'xoxb-of-somebody-else' },
			says: /^✗ Bot token: Slack does not know this token \(invalid_auth\)/m,
		},
		'users:read is missing': {
			breaks: without('users:read'),
			says: /^✗ Asked: Slack refuses users\.info \(missing_scope users:read\): see npm run doctor\.$/m,
		},
		'users.info is limited': {
			breaks: ({ slack }) => slack.faults.rateLimit('users.info', { retryAfter: 17 }),
			says: /^✗ Asked: .* limits the calls; try again in 17 s\.$/m,
		},
		'the connection breaks': {
			breaks: ({ slack }) => slack.faults.add({ method: 'users.info', drop: true }),
			says: /^✗ Asked: .*: the connection was cut/m,
		},
		'usergroups:read is missing': {
			breaks: without('usergroups:read'),
			env: { ALLOWED_USERGROUPS: 'S0OPS' },
			says: /^✗ Open a session: not found out: Slack refuses usergroups\.users\.list \(missing_scope usergroups:read\)/m,
		},
		'a user group does not exist': {
			env: { ALLOWED_USERGROUPS: 'S0GONE' },
			says: /^✗ Watch: not found out: Slack refuses usergroups\.users\.list \(no_such_subteam\)/m,
		},
		'a setting is wrong': {
			env: { ALLOW_GUESTS: 'maybe' },
			says: /^✗ Settings: ALLOW_GUESTS is neither true nor false\.\n1 problem to fix\.$/,
		},
		'a setting is misspelt': {
			env: { ALLOWED_USER: 'U0ADA' },
			says: /^✗ Settings: ALLOWED_USER is no setting and would not limit who may answer/,
		},
		'the file of the bot token is not there': {
			env: { SLACK_BOT_TOKEN: '', SLACK_BOT_TOKEN_FILE: '/nowhere/token' },
			says: /^✗ Settings: SLACK_BOT_TOKEN_FILE .*\n1 problem to fix\.$/,
		},
	};
	it.each(Object.entries(BROKEN))('says so: %s', async (_, { breaks, env, says }) => {
		await using broken = await createHarness();
		await breaks?.(broken);
		const { exit, lines } = await may(broken, ['U0ADA', 'C0AGENTS'], env);
		expect(lines.join('\n')).toMatch(says);
		expect(lines.join('\n')).not.toContain('yes:');
		expect(exit).toBe(1);
	});

	it('says so of the channel alone when only that is unknown', async () => {
		await using broken = await createHarness();
		without('channels:read')(broken);
		const { exit, outcomes } = await may(broken, ['U0ADA', 'C0AGENTS']);
		const unknown = ['Answer from the inbox', 'Watch', 'Channel settings'];
		expect(outcomes).toEqual(every('yes', Object.fromEntries(unknown.map((action) => [action, 'not found out']))));
		expect(exit).toBe(1);
	});

	it('lets a person in who is named, without asking for user groups', async () => {
		await using broken = await createHarness();
		without('usergroups:read')(broken);
		const env = { ALLOWED_USERS: 'U0ADA', ALLOWED_USERGROUPS: 'S0OPS' };
		expect((await may(broken, ['U0ADA', 'agents'], env)).exit).toBe(0);
	});

	it.each(['agents', 'C0AGENTS', 'vault'])('says that there is no such person, in %s', async (channel) => {
		const { exit, lines } = await may(harness, ['U0NOBODY', channel]);
		expect(lines.slice(1)).toEqual([
			'✗ Asked: there is no such person, or Slack does not show them to the app (user_not_found): copy the member ID from their profile.',
			'1 problem to fix.',
		]);
		expect(exit).toBe(1);
	});

	it('asks for the id of a channel whose name it does not find', async () => {
		const { exit, lines } = await may(harness, ['U0ADA', 'vault']);
		expect(lines.at(1)).toBe(
			'✗ Asked: neither the app nor U0ADA is in a channel named vault: give its id, from the end of its "About".',
		);
		expect(exit).toBe(1);
	});

	it('says that Slack cannot be reached', async () => {
		const { exit, lines } = await may(harness, ['U0ADA', 'agents'], { SLACK_API_URL: `${await nobody()}/api/` });
		expect(lines[0]).toMatch(/^✗ Bot token: Slack cannot be asked: 127\.0\.0\.1:\d+: nothing listens/);
		expect(exit).toBe(1);
	});

	it('needs no other setting than those about access, and reads the token from its file', async () => {
		await using own = await createHarness();
		const directory = mkdtempSync(join(tmpdir(), 'handraise-token-'));
		const file = join(directory, 'token');
		writeFileSync(file, own.secrets.botToken);
		const env = { SLACK_BOT_TOKEN: '', SLACK_BOT_TOKEN_FILE: file, SESSION_SERVICE_URL: '', PORT: 'none' };
		expect((await may(own, ['U0ADA', 'agents'], env)).exit).toBe(0);
		await rm(directory, { recursive: true });
	});
});
