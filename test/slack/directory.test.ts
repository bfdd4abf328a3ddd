import { createMemoryState } from '../../src/kernel/memory.ts';
import { createRateLimiter } from '../../src/kernel/rate-limiter.ts';
import { createSlackCalls, type Need } from '../../src/slack/calls.ts';
import type { SlackClients } from '../../src/slack/clients.ts';
import { createDirectory, type Shared } from '../../src/slack/directory.ts';
import { createManualClock, expect, it, watchingApp } from '../kit.ts';

const GUEST = 'Guests of this workspace cannot use Handraise.';
const TEAM = 'T1';

/** Room for calls of Slack's method that tells of one person, at a time that stands still. */
function callsAt(clock = createManualClock()) {
	const calls = createSlackCalls({ rateLimiter: createRateLimiter(clock), clock }, () => TEAM);
	const isAllowed = (need: Need) =>
		calls.permit('users.info', need).then(
			() => true,
			() => false,
		);
	/** How many of 300 calls are allowed at once. */
	async function allowed(need: Need): Promise<number> {
		const all = await Promise.all(Array.from({ length: 300 }, () => isAllowed(need)));
		return all.filter(Boolean).length;
	}
	return { clock, calls, isAllowed, allowed };
}

it('leaves to commands, and these to what is sent, room that Homes may not take', async () => {
	const { isAllowed, allowed } = callsAt();
	expect(await allowed('home')).toBe(4);
	expect(await isAllowed('look')).toBe(true);
	expect(await allowed('look')).toBe(11);
	expect(await isAllowed('home')).toBe(false);
	expect(await allowed('send')).toBe(300);
	expect(await allowed('late')).toBe(300);
});

it('pauses a method for as long as Slack says, and leaves what is sent to Slack', async () => {
	const { clock, calls, isAllowed } = callsAt();
	const limited = Object.assign(new Error('limited'), { code: 'slack_webapi_rate_limited_error', retryAfter: 30 });
	await expect(calls.noting('users.info', Promise.reject(limited))).rejects.toBe(limited);
	expect(await isAllowed('look')).toBe(false);
	expect(await isAllowed('send')).toBe(true);
	await expect(calls.permit('users.info', 'look')).rejects.toMatchObject({
		code: 'slack_unavailable',
		retryAt: clock.now() + 30_000,
	});
	expect(await calls.waitMs('users.list', 'home')).toBe(0);
	await clock.advance(30_000);
	expect(await isAllowed('look')).toBe(true);
});

it('refuses somebody who became a guest as soon as Slack tells of the change', async () => {
	await using app = await watchingApp();
	const id = app.session();
	const opens = async () => {
		expect(await app.slack.as('grace').command('#agents', `/session ${id}`)).toMatchObject({ ok: true });
		const modal = await app.until(() => {
			const shown = app.slack.as('grace').modal();
			return shown?.text().includes('Looking at session') === false && shown;
		});
		const text = modal.text();
		await modal.close();
		return text;
	};
	expect(await opens()).toContain('Order');
	await app.slack.changePerson('grace', { isRestricted: true });
	await app.pass(2_000);
	expect(await opens()).toContain(GUEST);
});

it('asks Slack once about somebody whom two replicas serve', async () => {
	await using app = await watchingApp();
	const id = app.session();
	await app.command(`/session watch ${id}`, 'grace');
	await app.pass(2_000);
	await app.restart();
	const from = app.now();
	await app.command(`/session watch ${id}`, 'grace');
	expect(app.calls('users.info', from)).toEqual([]);
});

it('does not use what seems to have been told later than now', async () => {
	const clock = createManualClock();
	const asked: string[] = [];
	const users = {
		async info({ user }: { user: string }) {
			asked.push(user);
			return { user: { id: user, deleted: false, is_bot: false, team_id: TEAM } };
		},
	};
	const clients = { people: { users }, background: { users } } as unknown as SlackClients;
	const at = clock.now() + 3_600_000;
	const told = { user: { id: 'U1', deleted: true, is_bot: false }, at, isListed: false };
	const store: Shared['store'] = {
		of: async () => new Map([['U1', told]]),
		told: async () => {},
		want: async () => {},
		wanted: async () => new Set(),
		listed: async () => {},
		outdate: async () => {},
	};
	const shared = {
		store,
		listing: createMemoryState<Parameters<Parameters<Shared['listing']['update']>[0]>[0] & object>(clock),
		teamId: () => TEAM,
		hasReplicas: true,
	};
	const directory = createDirectory({ clients, calls: callsAt(clock).calls, clock }, shared);
	expect(await directory.person('U1', 'send')).toMatchObject({ isDeactivated: false });
	expect(asked).toEqual(['U1']);
});

it('ends the wait for somebody of whom another replica read in the list', async () => {
	const clock = createManualClock();
	const listed = { user: { id: 'U1', deleted: false, is_bot: false, team_id: TEAM }, isListed: true };
	let rows: ReadonlyMap<string, unknown> = new Map();
	const wanted: string[] = [];
	const store: Shared['store'] = {
		of: async () => rows,
		told: async () => {},
		want: async ({ userId }) => void wanted.push(userId),
		wanted: async () => new Set(wanted),
		listed: async () => {},
		outdate: async () => {},
	};
	const listing = createMemoryState<{ by: string; until: number }>(clock);
	await listing.update(() => ({ state: { by: 'another replica', until: clock.now() + 60_000 }, result: null }));
	const { calls, allowed } = callsAt(clock);
	await allowed('look');
	const never = () => Promise.reject(new Error('no call'));
	const users = { info: never, list: never };
	const clients = { people: { users }, background: { users } } as unknown as SlackClients;
	const shared = { store, listing, teamId: () => TEAM, hasReplicas: true };
	const directory = createDirectory({ clients, calls, clock }, shared);
	await expect(directory.person('U1')).rejects.toMatchObject({ code: 'slack_unavailable' });
	let isOver = false;
	const waiting = directory.untilTold('U1').then(() => {
		isOver = true;
	});
	await clock.advance(700);
	expect([wanted, isOver]).toEqual([['U1'], false]);
	rows = new Map([['U1', { ...listed, at: clock.now() }]]);
	await clock.advance(100);
	await waiting;
	expect(await directory.person('U1')).toMatchObject({ isDeactivated: false });
	directory.stop();
});

it('asks for a name again after the account has changed, and keeps the former one when Slack does not tell', async () => {
	const clock = createManualClock();
	let name: string | null = 'Ada';
	const info = async ({ user: id }: { user: string }) => {
		if (name === null) throw new Error('Slack is away');
		return { user: { id, deleted: false, is_bot: false, name } };
	};
	const clients = { people: { users: { info } } } as unknown as SlackClients;
	const directory = createDirectory({ clients, calls: callsAt(clock).calls, clock });
	expect(await directory.learnName('U1')).toBe('Ada');
	name = 'Ada L.';
	expect(await directory.learnName('U1')).toBe('Ada');
	directory.changed('U1');
	await clock.advance(2_000);
	expect(await directory.learnName('U1')).toBe('Ada L.');
	directory.changed('U1');
	await clock.advance(2_000);
	name = null;
	expect(await directory.learnName('U1')).toBe('Ada L.');
	directory.stop();
});
