import type { Config } from '../../src/config.ts';
import type { AnswerRule } from '../../src/domain/answerers.ts';
import { type AccessVerdict, ANYWHERE, createAccessPolicy } from '../../src/slack/access-policy.ts';
import type { SlackCalls } from '../../src/slack/calls.ts';
import type { SlackClients } from '../../src/slack/clients.ts';
import { createDirectory, type PersonFacts } from '../../src/slack/directory.ts';
import {
	type AppOptions,
	createManualClock,
	DELIVERED,
	describe,
	expect,
	it,
	type Json,
	openSession,
	startApp,
	whatHappened,
} from '../kit.ts';
import { coreOf } from '../support/core.ts';

const FULL: PersonFacts = {
	teamId: 'T1',
	enterprise: null,
	isGuest: false,
	isBot: false,
	isDeactivated: false,
	isStranger: false,
};
const OPEN = {
	ALLOW_GUESTS: false,
	ALLOW_EXTERNAL: false,
	ALLOWED_CHANNELS: [],
	ALLOWED_USERS: [],
	ALLOWED_USERGROUPS: [],
};

/** Slack's object of a person. */
function userOf(id: string, { teamId, enterprise, isGuest, isBot, isDeactivated, isStranger }: PersonFacts): Json {
	return {
		id,
		deleted: isDeactivated,
		is_bot: isBot,
		...(teamId !== null && { team_id: teamId }),
		...(enterprise && { enterprise_user: { enterprise_id: enterprise.id, teams: [...enterprise.teamIds] } }),
		...(isGuest !== null && { is_restricted: isGuest, is_ultra_restricted: false }),
		...(isStranger && { is_stranger: true }),
	};
}

/** `lists`: who may answer, by session. */
function createHarness(
	rules: Partial<Config> = {},
	enterpriseId: string | null = null,
	lists: ReadonlyMap<string, readonly AnswerRule[]> = new Map(),
) {
	const clock = createManualClock();
	const asked: string[] = [];
	let facts: PersonFacts | null | Error = FULL;
	const client = {
		users: {
			async info({ user }: { user: string }) {
				asked.push(user);
				if (facts instanceof Error) throw facts;
				return { user: facts && userOf(user, facts) };
			},
		},
		usergroups: {
			users: {
				async list({ usergroup }: { usergroup: string }) {
					asked.push(usergroup);
					return { users: ['U2'] };
				},
			},
		},
	};
	const clients = { people: client, background: client } as unknown as SlackClients;
	const calls: SlackCalls = {
		waitMs: async () => 0,
		permit: async () => {},
		turn: async () => {},
		noting: (_, call) => call,
	};
	const directory = createDirectory({ clients, calls, clock });
	const installation = { teamId: 'T1', enterpriseId };
	const accessPolicy = createAccessPolicy(
		coreOf({ config: { ...OPEN, ...rules }, directory, clock }),
		() => installation,
		{ ofSession: async () => [], ofAll: async () => lists, ofChannel: async () => ({ userIds: [], groupIds: [] }) },
	);
	/** Without its grounds, which test/operator/doctor/may.test.ts reads. */
	async function verdictOf(...asked: Parameters<typeof accessPolicy.check>): Promise<AccessVerdict> {
		const { grounds: _, ...verdict } = await accessPolicy.check(...asked);
		return verdict;
	}
	return {
		clock,
		asked,
		answer: (next: PersonFacts | null | Error) => {
			facts = next;
		},
		check: (userId = 'U1', channelId: string | null = 'C1', claimedTeamId: string | null = 'T1') =>
			verdictOf({ userId, claimedTeamId }, { channelId }),
		checkFresh: () => verdictOf({ userId: 'U1', claimedTeamId: 'T1' }, { channelId: 'C1' }, 'send'),
		answering: accessPolicy.answering,
		checkAnywhere: () => verdictOf({ userId: 'U1', claimedTeamId: 'T1' }, ANYWHERE),
	};
}

describe('the access policy', () => {
	it('asks once in ten seconds about a person unknown to Slack', async () => {
		const { clock, asked, answer, check } = createHarness();
		answer(null);
		for (let times = 0; times < 5; times++) {
			expect(await check()).toEqual({ refusal: 'could_not_check' });
		}
		expect(asked).toHaveLength(1);
		await clock.advance(10_000);
		answer(FULL);
		expect(await check()).toEqual({ refusal: null });
		expect(asked).toHaveLength(2);
	});

	it.each<[who: string, facts: Partial<PersonFacts>, refusal: string | null, rules?: object]>([
		['a full member', {}, null],
		['a guest', { isGuest: true }, 'guest'],
		['a guest when guests are allowed', { isGuest: true }, null, { ALLOW_GUESTS: true }],
		['a bot', { isBot: true }, 'bot', { ALLOW_GUESTS: true, ALLOW_EXTERNAL: true }],
		['a deactivated person', { isDeactivated: true }, 'deactivated', { ALLOW_GUESTS: true, ALLOW_EXTERNAL: true }],
		['a stranger', { isStranger: true }, 'external'],
		['a person from another organisation', { teamId: 'T2' }, 'external'],
		['a person without a workspace', { teamId: null }, 'could_not_check'],
		['a person who may be a guest', { isGuest: null }, 'could_not_check'],
		['a person who may be a guest, when guests are allowed', { isGuest: null }, null, { ALLOW_GUESTS: true }],
		['a person without a workspace when external people are allowed', { teamId: null }, null, { ALLOW_EXTERNAL: true }],
		['a stranger when external people are allowed', { teamId: 'T2', isStranger: true }, null, { ALLOW_EXTERNAL: true }],
		[
			'a guest from another organisation when external people are allowed',
			{ teamId: 'T2', isGuest: true },
			'guest',
			{ ALLOW_EXTERNAL: true },
		],
	])('decides about %s', async (_, facts, refusal, rules = {}) => {
		const { answer, check } = createHarness(rules);
		answer({ ...FULL, ...facts });
		expect(await check()).toEqual({ refusal });
	});

	const OURS = { id: 'E1', teamIds: ['T1', 'T2'] };
	it.each<[who: string, facts: Partial<PersonFacts>, refusal: string | null, enterpriseId?: string | null]>([
		['a colleague without a workspace', { teamId: null, enterprise: OURS }, null],
		['a colleague from another workspace of the organisation', { teamId: 'T2', enterprise: OURS }, null],
		[
			'a person who is only in another workspace of the organisation',
			{ teamId: null, enterprise: { id: 'E1', teamIds: ['T2'] } },
			'external',
		],
		[
			'a person from another workspace of the organisation who is only in that one',
			{ teamId: 'T2', enterprise: { id: 'E1', teamIds: ['T2'] } },
			'external',
		],
		['a member whom the organisation does not list here', { enterprise: { id: 'E1', teamIds: [] } }, 'could_not_check'],
		['a person from another organisation', { teamId: 'T3', enterprise: { id: 'E3', teamIds: ['T3'] } }, 'external'],
		['a person from a workspace without an organisation', { teamId: 'T3' }, 'external'],
		['a member whom another organisation lists', { enterprise: { id: 'E3', teamIds: ['T1'] } }, 'could_not_check'],
		['a member without an organisation', {}, null],
		[
			'a person whose organisation lists our workspace, when we have no organisation',
			{ teamId: 'T2', enterprise: OURS },
			'could_not_check',
			null,
		],
		[
			'a person from an organisation, when we have none',
			{ teamId: 'T3', enterprise: { id: 'E3', teamIds: ['T3'] } },
			'external',
			null,
		],
		['a guest of our workspace', { teamId: null, enterprise: OURS, isGuest: true }, 'guest'],
		['a colleague whom Slack calls a stranger', { teamId: null, enterprise: OURS, isStranger: true }, 'external'],
	])('decides in an organisation about %s', async (_, facts, refusal, enterpriseId: string | null = 'E1') => {
		const { answer, check } = createHarness({}, enterpriseId);
		answer({ ...FULL, ...facts });
		expect(await check('U1', 'C1', null)).toEqual({ refusal });
	});

	it('ignores the workspace in interactions of a colleague in an organisation', async () => {
		const { answer, check } = createHarness({}, 'E1');
		answer({ ...FULL, teamId: null, enterprise: OURS });
		expect(await check('U1', 'C1', 'T2')).toEqual({ refusal: null });
	});

	it('refuses a person who acts from another workspace without asking Slack', async () => {
		const { asked, check } = createHarness();
		expect(await check('U1', 'C1', 'T2')).toEqual({ refusal: 'external' });
		expect(asked).toEqual([]);
	});

	it('refuses everybody while Slack fails, and does not remember the failure', async () => {
		const { answer, check } = createHarness();
		answer(new Error('Slack is away'));
		expect(await check()).toEqual({ refusal: 'could_not_check', retryAt: null });
		answer(FULL);
		expect(await check()).toEqual({ refusal: null });
	});

	it('asks Slack once in five minutes for a person', async () => {
		const { answer, asked, check, clock } = createHarness();
		await check();
		answer({ ...FULL, isGuest: true });
		await clock.advance(299_000);
		expect(await check()).toEqual({ refusal: null });
		await clock.advance(1_000);
		expect(await check()).toEqual({ refusal: 'guest' });
		expect(asked).toEqual(['U1', 'U1']);
	});

	it('asks again after 30 seconds when facts must be fresh', async () => {
		const { answer, asked, check, checkFresh, clock } = createHarness({
			ALLOWED_USERGROUPS: ['S1'],
			ALLOWED_USERS: ['U1'],
		});
		await check();
		answer({ ...FULL, isDeactivated: true });
		await clock.advance(29_999);
		expect(await checkFresh()).toEqual({ refusal: null });
		await clock.advance(1);
		expect(await check()).toEqual({ refusal: null });
		expect(await checkFresh()).toEqual({ refusal: 'deactivated' });
		expect(await check()).toEqual({ refusal: 'deactivated' });
		expect(asked).toEqual(['U1', 'U1']);
	});

	it('asks for user groups again after 30 seconds when facts must be fresh', async () => {
		const { asked, check, checkFresh, clock } = createHarness({ ALLOWED_USERGROUPS: ['S1'] });
		await check();
		await clock.advance(30_000);
		await checkFresh();
		expect(asked).toEqual(['U1', 'S1', 'U1', 'S1']);
	});

	it('refuses a person with old facts when they must be fresh and Slack fails', async () => {
		const { answer, check, checkFresh, clock } = createHarness();
		await check();
		answer(new Error('Slack is away'));
		await clock.advance(30_000);
		expect(await checkFresh()).toEqual({ refusal: 'could_not_check', retryAt: null });
		expect(await check()).toEqual({ refusal: null });
	});

	it('skips only the rule about channels for actions in any channel', async () => {
		const { answer, checkAnywhere, clock } = createHarness({ ALLOWED_CHANNELS: ['C9'] });
		expect(await checkAnywhere()).toEqual({ refusal: null });
		answer({ ...FULL, isGuest: true });
		await clock.advance(300_000);
		expect(await checkAnywhere()).toEqual({ refusal: 'guest' });
	});

	it('asks once for a person with several actions at a time', async () => {
		const { asked, check } = createHarness();
		const verdicts = await Promise.all([check(), check('U1', 'C2'), check('U2')]);
		expect(verdicts).toEqual([{ refusal: null }, { refusal: null }, { refusal: null }]);
		expect(asked).toEqual(['U1', 'U2']);
	});

	it('remembers at most ten thousand people', async () => {
		const { asked, check } = createHarness();
		for (let n = 0; n <= 10_000; n++) await check(`U${n}`);
		await check('U10000');
		expect(asked).toHaveLength(10_001);
		await check('U0');
		expect(asked).toHaveLength(10_002);
	});

	it('combines the lists of people and user groups', async () => {
		const { check } = createHarness({ ALLOWED_USERS: ['U1'], ALLOWED_USERGROUPS: ['S1'] });
		expect(await check('U1')).toEqual({ refusal: null });
		expect(await check('U2')).toEqual({ refusal: null });
		expect(await check('U3')).toEqual({ refusal: 'user_not_allowed' });
	});

	it('knows somebody by a user group also where the list of another session names them', async () => {
		const rule = { channelId: 'C1', revision: 1, userIds: [], groupIds: [] };
		const lists = new Map([
			['named', [{ ...rule, userIds: ['U2', 'U3'] }]],
			['in the group', [{ ...rule, groupIds: ['S1'] }]],
		]);
		const { answering } = createHarness({}, null, lists);
		async function answeredBy(userId: string) {
			const { mayAnswer } = await answering({ teamId: 'T1', userId }, [...lists.keys()]);
			return [...lists.keys()].filter(mayAnswer);
		}
		expect(await answeredBy('U2')).toEqual(['named', 'in the group']);
		expect(await answeredBy('U3')).toEqual(['named']);
	});

	it('refuses direct messages when a list of channels is set', async () => {
		const { check } = createHarness({ ALLOWED_CHANNELS: ['C1'] });
		expect(await check('U1', 'C1')).toEqual({ refusal: null });
		expect(await check('U1', 'C2')).toEqual({ refusal: 'channel_not_allowed' });
		expect(await check('U1', null)).toEqual({ refusal: 'channel_not_allowed' });
	});
});

describe('the access policy in the app', () => {
	const start = (env: Record<string, string>, options: AppOptions = {}) =>
		startApp({ env: { ADMIN_CONTACT: 'ops@example.com', ...env }, ...options });

	// Who else is refused and let in by which setting: who-may/.
	it('refuses a guest, says whom to ask and reads nothing', async () => {
		await using app = await start({});
		const gus = app.slack.as('gus');
		expect(await gus.command('#agents', '/session demo')).toEqual({ ok: true, error: null });
		const modal = await gus.waitForModal('🔒');
		expect(modal.text()).toContain(whatHappened('guest'));
		expect(modal.text()).toContain('ask ops@example.com');
		await modal.close();
		await gus.command('#agents', '/session history demo');
		const told = await gus.waitForMessage('#agents', '🔒');
		expect(told.text()).toContain(whatHappened('guest'));
		expect(told.isEphemeral()).toBe(true);
		expect(app.service.log.reads('demo')).toEqual([]);
		expect(await app.said()).not.toContain('Which flight');
		expect(app.slack.violations()).toEqual([]);
	});

	it('lets external people answer in a shared channel when they are allowed', async () => {
		await using app = await start({ ALLOW_EXTERNAL: 'yes' });
		const modal = await openSession(app, 'yesno', 'eve', '#shared');
		await modal.choose(0, 'Yes');
		expect((await modal.submit()).outcome).toBe('updated');
		await app.slack.as('eve').waitForModal(DELIVERED);
	});

	it('refuses everybody while Slack gives no answer, and nobody afterwards', async () => {
		await using app = await start({});
		app.slack.faults.add({ method: 'users.info', status: 500 });
		const ada = app.slack.as('ada');
		await ada.command('#agents', '/session demo');
		const modal = await ada.waitForModal(whatHappened('could_not_check'));
		expect(modal.text()).toContain('ops@example.com');
		expect(modal.text()).not.toContain('Nothing was changed');
		expect(app.service.log.reads('demo')).toEqual([]);
		app.slack.faults.clear();
		await modal.close();
		expect((await openSession(app, 'demo')).submitText()).toBe('Send answer');
	});

	it('checks again at Submit, and keeps the form and its text after a refusal', async () => {
		const clock = createManualClock();
		await using app = await start({}, { clock });
		const modal = await openSession(app, 'three');
		for (const field of [0, 1, 2]) await modal.fill(field, `text ${field}`);
		const ada = app.slack.state.people.find((person) => person.name === 'ada');
		if (ada !== undefined) ada.isRestricted = true;
		await clock.advance(30_000);
		const result = await modal.submit();
		expect(result.outcome).toBe('fieldErrors');
		expect(Object.values(result.errors).join()).toContain(whatHappened('guest'));
		expect(Object.values(result.errors).join()).toContain('ops@example.com');
		expect(modal.value(1)).toBe('text 1');
		expect(app.service.log.puts('three')).toEqual([]);
		await modal.press('Refresh');
		const refused = await app.slack.as('ada').waitForModal('🔒');
		expect(refused.id).not.toBe(modal.id);
	});
});
