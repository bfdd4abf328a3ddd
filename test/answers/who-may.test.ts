import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { type AccessRules, createGatekeeper, type Directory, type PersonFacts } from '../../src/answers/who-may.ts';
import { openSession } from '../slack/support/open-session.ts';
import { type AppOptions, startApp } from '../support/app.ts';

const FULL: PersonFacts = { teamId: 'T1', isGuest: false, isBot: false, isDeactivated: false, isStranger: false };
const OPEN: AccessRules = { allowGuests: false, allowExternal: false, channels: [], users: [], userGroups: [] };

function setting(rules: Partial<AccessRules> = {}) {
	const clock = createManualClock();
	const asked: string[] = [];
	let facts: PersonFacts | Error = FULL;
	const directory: Directory = {
		async person(userId) {
			asked.push(userId);
			if (facts instanceof Error) throw facts;
			return facts;
		},
		async userGroup(groupId) {
			asked.push(groupId);
			return new Set(['U2']);
		},
	};
	const gatekeeper = createGatekeeper({ rules: { ...OPEN, ...rules }, teamId: 'T1', directory, clock });
	return {
		clock,
		asked,
		answer: (next: PersonFacts | Error) => {
			facts = next;
		},
		check: (userId = 'U1', channelId: string | null = 'C1', teamId = 'T1') =>
			gatekeeper.check({ teamId, userId }, channelId),
	};
}

describe('the gatekeeper', () => {
	it.each<[string, Partial<PersonFacts>, object, string | null]>([
		['a full member', {}, {}, null],
		['a guest', { isGuest: true }, {}, 'guest'],
		['a guest where guests may', { isGuest: true }, { allowGuests: true }, null],
		['a bot', { isBot: true }, { allowGuests: true, allowExternal: true }, 'bot'],
		['somebody deactivated', { isDeactivated: true }, { allowGuests: true, allowExternal: true }, 'deactivated'],
		['a stranger', { isStranger: true }, {}, 'external'],
		['somebody of another organisation', { teamId: 'T2' }, {}, 'external'],
		['a full member whose workspace Slack leaves out', { teamId: null }, {}, null],
		['a stranger where strangers may', { teamId: 'T2', isStranger: true }, { allowExternal: true }, null],
		[
			'a guest of another organisation where strangers may',
			{ teamId: 'T2', isGuest: true },
			{ allowExternal: true },
			'guest',
		],
	])('decides about %s', async (_, facts, rules, refusal) => {
		const { answer, check } = setting(rules);
		answer({ ...FULL, ...facts });
		expect(await check()).toEqual(refusal === null ? { allowed: true } : { allowed: false, refusal });
	});

	it('needs no question to Slack for a person who acts from another workspace', async () => {
		const { asked, check } = setting();
		expect(await check('U1', 'C1', 'T2')).toEqual({ allowed: false, refusal: 'external' });
		expect(asked).toEqual([]);
	});

	it('lets nobody pass unchecked, and does not remember that Slack failed', async () => {
		const { answer, check } = setting();
		answer(new Error('Slack is away'));
		expect(await check()).toEqual({ allowed: false, refusal: 'could_not_check' });
		answer(FULL);
		expect(await check()).toEqual({ allowed: true });
	});

	it('asks Slack once in five minutes for a person', async () => {
		const { answer, asked, check, clock } = setting();
		await check();
		answer({ ...FULL, isGuest: true });
		await clock.advance(299_000);
		expect(await check()).toEqual({ allowed: true });
		await clock.advance(1_000);
		expect(await check()).toEqual({ allowed: false, refusal: 'guest' });
		expect(asked).toEqual(['U1', 'U1']);
	});

	it('asks once for a person who does several things at a time', async () => {
		const { asked, check } = setting();
		const verdicts = await Promise.all([check(), check('U1', 'C2'), check('U2')]);
		expect(verdicts).toEqual([{ allowed: true }, { allowed: true }, { allowed: true }]);
		expect(asked).toEqual(['U1', 'U2']);
	});

	it('remembers ten thousand people at most', async () => {
		const { asked, check } = setting();
		for (let n = 0; n <= 10_000; n++) await check(`U${n}`);
		await check('U10000');
		expect(asked).toHaveLength(10_001);
		await check('U0');
		expect(asked).toHaveLength(10_002);
	});

	it('takes a list of people and of user groups as one list', async () => {
		const { check } = setting({ users: ['U1'], userGroups: ['S1'] });
		expect(await check('U1')).toEqual({ allowed: true });
		expect(await check('U2')).toEqual({ allowed: true });
		expect(await check('U3')).toEqual({ allowed: false, refusal: 'user_not_allowed' });
	});

	it('takes no direct message as a way around the list of channels', async () => {
		const { check } = setting({ channels: ['C1'] });
		expect(await check('U1', 'C1')).toEqual({ allowed: true });
		expect(await check('U1', 'C2')).toEqual({ allowed: false, refusal: 'channel_not_allowed' });
		expect(await check('U1', null)).toEqual({ allowed: false, refusal: 'channel_not_allowed' });
	});
});

describe('through the front door', () => {
	const start = (env: Record<string, string>, options: AppOptions = {}) =>
		startApp({ env: { ADMIN_CONTACT: 'ops@example.com', ...env }, ...options });

	it.each<[string, Record<string, string>, string, string, string]>([
		['a guest', {}, 'gus', '#agents', 'Guests of this workspace cannot use Handraise.'],
		['a single-channel guest', {}, 'una', '#agents', 'Guests of this workspace cannot use Handraise.'],
		['somebody of another organisation', {}, 'eve', '#shared', 'your account belongs to another organisation'],
		['a bot', {}, 'otherbot', '#agents', 'Apps and bots cannot use Handraise.'],
		['somebody deactivated', {}, 'dora', '#agents', 'This account is deactivated.'],
		['one who is not listed', { ALLOWED_USERS: 'U0ADA' }, 'grace', '#agents', 'not among the people who may use'],
		['one in no listed group', { ALLOWED_USERGROUPS: 'S0OPS' }, 'grace', '#agents', 'not among the people who may'],
		['another channel', { ALLOWED_CHANNELS: 'C0AGENTS' }, 'ada', '#general', 'may not be used in this channel'],
		['a direct message', { ALLOWED_CHANNELS: 'C0AGENTS' }, 'ada', 'dm', 'may not be used in this channel'],
	])('refuses %s with a word that says whom to ask, and reads nothing', async (_, env, who, channel, words) => {
		await using app = await start(env);
		const person = app.slack.as(who);
		expect(await person.command(channel, '/session demo')).toEqual({ ok: true, error: null });
		const modal = await person.waitForModal('🔒');
		expect(modal.text()).toContain(words);
		expect(modal.text()).toContain('ask ops@example.com');
		await modal.close();
		await person.command(channel, '/session history demo');
		const told = await person.waitForMessage(channel, '🔒');
		expect(told.text()).toContain(words);
		expect(told.isEphemeral()).toBe(true);
		expect(app.service.log.reads('demo')).toEqual([]);
		expect(await app.said()).not.toContain('Which flight');
		expect(app.slack.violations()).toEqual([]);
	});

	it.each<[string, Record<string, string>, string, string]>([
		['guests where they are allowed', { ALLOW_GUESTS: 'true' }, 'gus', '#agents'],
		['strangers where they are allowed', { ALLOW_EXTERNAL: 'yes' }, 'eve', '#shared'],
		['those listed', { ALLOWED_USERS: 'U0GRACE, U0ADA' }, 'ada', '#agents'],
		['those of a listed group', { ALLOWED_USERGROUPS: 'S0OPS' }, 'ada', '#agents'],
		['the listed channel', { ALLOWED_CHANNELS: 'C0AGENTS' }, 'ada', '#agents'],
	])('lets %s in', async (_, env, who, channel) => {
		await using app = await start(env);
		const modal = await openSession(app, 'yesno', who, channel);
		await modal.choose(0, 'Yes');
		expect((await modal.submit()).outcome).toBe('updated');
		await app.slack.as(who).waitForModal('Your answer arrived');
	});

	it('refuses everybody while Slack cannot be asked, and nobody afterwards', async () => {
		await using app = await start({});
		app.slack.faults.add({ method: 'users.info', status: 500 });
		const ada = app.slack.as('ada');
		await ada.command('#agents', '/session demo');
		const modal = await ada.waitForModal('Slack did not tell in time whether you may do this.');
		expect(modal.text()).toContain('ops@example.com');
		expect(app.service.log.reads('demo')).toEqual([]);
		app.slack.faults.clear();
		await modal.close();
		expect((await openSession(app, 'demo')).submitText()).toBe('Send answer');
	});

	it('checks again at Submit: the form stays with a word, and the text with it', async () => {
		const clock = createManualClock();
		await using app = await start({}, { clock });
		const modal = await openSession(app, 'three');
		for (const field of [0, 1, 2]) await modal.fill(field, `text ${field}`);
		const ada = app.slack.state.people.find((one) => one.name === 'ada');
		if (ada !== undefined) ada.isRestricted = true;
		await clock.advance(300_000);
		const result = await modal.submit();
		expect(result.outcome).toBe('fieldErrors');
		expect(Object.values(result.errors).join()).toContain('Guests of this workspace cannot use Handraise.');
		expect(Object.values(result.errors).join()).toContain('ops@example.com');
		expect(modal.value(1)).toBe('text 1');
		expect(app.service.log.puts('three')).toEqual([]);
		await modal.press('Refresh');
		const refused = await app.slack.as('ada').waitForModal('🔒');
		expect(refused.id).not.toBe(modal.id);
	});
});
