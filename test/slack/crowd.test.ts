import { ASKING_SLACK } from '../../src/slack/error-view.ts';
import {
	expect,
	forCase,
	it,
	sampleWorkspace,
	type TrafficEntry,
	type WatchingApp,
	watchingApp,
	whatHappened,
	withMembers,
} from '../kit.ts';

const COMPANY = 2_000;
const TYPING = 200;
const WITHIN_MS = 38_000;
/** Slack's documented limit of windows a minute. */
const WINDOWS = 100;
const GUEST = 'Guests of this workspace cannot use Handraise.';
const NO_WINDOW = 'Slack did not open the window';

/** A company of which Slack allows only so many calls as the real one does. `p3` is a guest of it. */
async function company() {
	const names = Array.from({ length: COMPANY }, (_, index) => `p${index}`);
	const workspace = withMembers(sampleWorkspace(), 'agents', names);
	const people = workspace.people.map((one) => (one.name === 'p3' ? { ...one, isRestricted: true } : one));
	const app = await forCase(watchingApp({ realRates: true, slack: { workspace: { ...workspace, people } } }));
	return { app, names };
}

/** Each of these people types a command, one after the other within this time. The session that some of them open. */
async function type(app: WatchingApp, names: readonly string[], withinMs: number): Promise<string> {
	const id = app.session({ name: 'The crowd’s own' });
	for (const [index, name] of names.entries()) {
		const line = index % 2 === 0 ? '/session' : `/session ${id}`;
		expect(await app.slack.as(name).command('#agents', line)).toMatchObject({ ok: true });
		// Until the program has done with it.
		await app.pass(0);
		await app.clock.advance(withinMs / names.length);
	}
	return id;
}

const toldTo = (app: WatchingApp, name: string) =>
	app.onlyFor(name, '#agents').map((message) => message.text().replaceAll('\n', ' '));

/** The longest time from the opening of a window to its content, in milliseconds. */
function longestWait(app: WatchingApp): number {
	const viewOf = ({ answer }: TrafficEntry) => (answer as { view?: { id?: string } }).view?.id;
	const updates = app.calls('views.update').filter(({ status }) => status === 200);
	const waits = app
		.calls('views.open')
		.filter(({ status }) => status === 200)
		.map((opened) => (updates.find((update) => viewOf(update) === viewOf(opened))?.at ?? Infinity) - opened.at);
	expect(waits.length).toBe(WINDOWS);
	return Math.max(...waits);
}

const limited = (app: WatchingApp, method: string) => app.calls(method).filter(({ status }) => status === 429);

it('refuses nobody of 200 unknown people who type within 38 s: one list tells who they are', {
	timeout: 120_000,
}, async () => {
	const { app, names } = await company();
	const typing = names.slice(0, TYPING);
	const id = await type(app, typing, WITHIN_MS);
	await app.pass(2_000);
	const windows = typing.flatMap((name) => app.slack.as(name).modal()?.text() ?? []);
	expect(windows.filter((text) => text.includes(GUEST))).toHaveLength(1);
	expect(windows.filter((text) => text.includes('Order six desk chairs.'))).toHaveLength(WINDOWS / 2 - 1);
	expect(windows.filter((text) => text.includes('No question for you.'))).toHaveLength(WINDOWS / 2);
	expect(longestWait(app)).toBeLessThanOrEqual(10_000);
	// Of the others, each is told what to do: Slack opens no more windows in this minute.
	const others = typing.filter((name) => !app.slack.as(name).modal());
	expect(others.map((name) => toldTo(app, name).filter((text) => text.startsWith(NO_WINDOW)).length)).toEqual(
		Array.from({ length: TYPING - WINDOWS }, () => 1),
	);
	expect(typing.flatMap((name) => toldTo(app, name))).not.toContainEqual(
		expect.stringContaining(whatHappened('could_not_check')),
	);
	expect(['users.info', 'users.list', 'views.update'].flatMap((method) => limited(app, method))).toEqual([]);
	expect(app.calls('users.list')).toHaveLength(Math.ceil((COMPANY + 10) / 500) - 1);
	await app.pass(60_000);
	const last = typing.at(-1) ?? '';
	const card = app.onlyFor(last, '#agents').at(-1);
	await card?.press('Answer…');
	await app.until(() => app.slack.as(last).modal()?.text().includes('Order six desk chairs.'));
	expect(card?.text()).toContain(id);
});

it('has them wait where Slack does not list them, says so, and shows nothing of a session before', {
	timeout: 120_000,
}, async () => {
	const { app, names } = await company();
	app.slack.faults.add({ method: 'users.list', error: 'internal_error' });
	const typing = names.slice(0, WINDOWS);
	await type(app, typing, 10_000);
	const windows = () => typing.map((name) => app.slack.as(name).modal()?.text() ?? '');
	const waiting = windows().filter((text) => text.includes(ASKING_SLACK));
	expect(waiting.length).toBeGreaterThan(WINDOWS / 2);
	for (const text of waiting) expect(text).not.toMatch(/Order six|The crowd/);
	await app.pass(80_000);
	expect(windows().filter((text) => !/Order six desk chairs\.|No question for you\.|Guests of/.test(text))).toEqual([]);
	expect(longestWait(app)).toBeLessThanOrEqual(70_000);
	expect(limited(app, 'users.info')).toEqual([]);
});

it('tells those who typed what needs no window that they wait, and refuses them after two minutes without Slack', async () => {
	const { app, names } = await company();
	app.slack.faults.add({ method: 'users.list', error: 'internal_error' });
	app.slack.faults.rateLimit('users.info', { retryAfter: 300, untilMs: app.clock.now() + 300_000 });
	const [ada = '', bea = '', cleo = ''] = names;
	await app.slack.as(ada).command('#agents', '/session list');
	await app.slack.as(bea).command('#agents', '/session settings');
	const id = app.session();
	await app.slack.as(cleo).command('#agents', `/session ${id}`);
	await app.until(() => toldTo(app, ada).some((text) => text.includes(ASKING_SLACK)));
	const texts = () => [toldTo(app, ada).at(-1), ...[bea, cleo].map((name) => app.slack.as(name).modal()?.text())];
	for (const text of texts()) expect(text).toContain(ASKING_SLACK);
	await app.pass(60_000);
	for (const text of texts()) expect(text).toContain(ASKING_SLACK);
	await app.until(() => texts().every((text) => text?.includes(whatHappened('could_not_check'))));
	expect(app.service.log.reads(id)).toEqual([]);
	expect(texts().join(' ')).not.toContain('Order six');
});
