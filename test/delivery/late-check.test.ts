import { notYetWords } from '../../src/screens/receipt.ts';
import { errorWords } from '../../src/slack/error-view.ts';
import {
	describe,
	expect,
	forCase,
	headline,
	item,
	line,
	openSession,
	said,
	type WatchingApp,
	watchingApp,
	whatHappened,
	withApp,
} from '../kit.ts';

const FLIGHT = item('Which flight should I book?', 'One of: LH 1173, TP 570');
const MINUTE_MS = 60_000;
/** The words for a refusal of the access policy do not depend on which it is. */
const MAY_NOT_ANSWER = headline('refused', { lastError: 'guest', person: { teamId: 'T', userId: '@ada' } });
const NOT_CHECKED = errorWords('not_checked', { kept: 'answer', adminContact: null }).what;

const start = (env: Readonly<Record<string, string>> = {}) => watchingApp({ env });
const it = withApp(start);

const ada = (app: WatchingApp) => {
	const person = app.slack.state.people.find(({ name }) => name === 'ada');
	if (person === undefined) throw new Error('there is no Ada');
	return person;
};
const value = (app: WatchingApp, id: string, index: number) => app.service.sessions.values(id, index)[0];
const receipt = (app: WatchingApp) => app.slack.as('ada').modal()?.text() ?? 'no modal';
const told = (app: WatchingApp, words: string) =>
	app.until(
		() => receipt(app).includes(words),
		() => receipt(app),
	);
/** How often Slack was asked about Ada. */
const askedCount = (app: WatchingApp) =>
	app.slack.traffic.calls('users.info').filter(({ request }) => Object(request).user === ada(app).id).length;

/**
 * Ada's answer, accepted while the service takes nothing. `post`: that of the question. `graces`: Grace has opened the form
 * before that, and submits her answer after it. `frozen`: posts keep their buttons.
 */
async function accepted(app: WatchingApp, { graces = '', frozen = false } = {}) {
	const id = await app.watched();
	const index = app.ask(id, [FLIGHT], '');
	const post = await app.threadSays(id, FLIGHT.title ?? '');
	const form = await openSession(app, id, 'ada');
	await form.choose(0, 'TP 570');
	const other = graces === '' ? null : await openSession(app, id, 'grace');
	await other?.choose(0, graces);
	app.service.faults.add({ kind: 'error', status: 503, sessionId: id });
	if (frozen) app.freezePosts();
	await form.submit();
	await told(app, 'saved');
	await other?.submit();
	await other?.close();
	return { id, index, post };
}

/** The same, two minutes ago. `change` is what happened meanwhile; an attempt asks Slack, and then the service is back. */
async function late(app: WatchingApp, change: () => unknown, options = {}) {
	const answer = await accepted(app, options);
	await app.pass(2 * MINUTE_MS);
	await askedAfter(app, change);
	app.service.faults.clear();
	return answer;
}

/** Lets time pass until Slack was asked about Ada after `change`: an attempt that began before counts on its own check. */
async function askedAfter(app: WatchingApp, change: () => unknown): Promise<void> {
	const before = askedCount(app);
	await change();
	await app.until(() => askedCount(app) > before);
}

/** The program starts again after its author was deactivated, and sends the answer without asking Slack about them. */
async function isSentUnasked(app: WatchingApp, id: string, index: number): Promise<void> {
	const before = askedCount(app);
	ada(app).deleted = true;
	await app.restart();
	app.service.faults.clear();
	await app.until(() => value(app, id, index) === 'TP 570', undefined, 35_000);
	expect(askedCount(app)).toBe(before);
}

describe('an answer that is sent more than a minute after its author was allowed to send it', () => {
	it('is not sent when its author was deactivated meanwhile, keeps its text, and the question is open again', async ({
		app,
	}) => {
		const { id, index, post } = await accepted(app, { graces: 'LH 1173' });
		await app.pass(2 * MINUTE_MS);
		// Her session ends, and Slack keeps the window.
		const kept = app.slack.as('ada').modal();
		await askedAfter(app, () => {
			ada(app).deleted = true;
		});
		app.service.faults.clear();
		await app.until(() => kept?.text().includes('⛔ Not sent: you may no longer answer'));
		expect(kept?.text()).toContain(whatHappened('deactivated'));
		expect(kept?.text()).toContain('> TP 570');
		await app.until(() => post.text().includes('⛔ The answer of ada was not sent: the account is deactivated.'));
		expect(post.buttons()).toContain('LH 1173');
		const offer = await app.until(() =>
			app.slack
				.as('grace')
				.messages('dm')
				.find((dm) => dm.buttons().includes('Open the question')),
		);
		expect(app.service.log.puts(id)).toEqual([]);
		await offer.press('Open the question');
		const again = await app.slack.as('grace').waitForModal((modal) => modal.submitText() !== null);
		await again.submit();
		await app.until(() => value(app, id, index) === 'LH 1173');
		await app.slack.as('grace').command('#agents', `/session history ${id}`);
		const history = () => app.slack.as('grace').modal()?.text() ?? '';
		await app.until(() => history().includes('⛔ Not sent: its author may no longer answer'), history);
		expect(history()).toContain('TP 570');
	});

	it('is not sent when its author has become a guest, until they may and press again', async ({ app }) => {
		const { id, index } = await late(app, () => Object.assign(ada(app), { isRestricted: true }));
		await told(app, MAY_NOT_ANSWER);
		expect(receipt(app)).toContain(whatHappened('guest'));
		await app.pass(2 * MINUTE_MS);
		expect(app.service.log.puts(id)).toEqual([]);
		Object.assign(ada(app), { isRestricted: false });
		await app.pass(MINUTE_MS);
		await app.slack.as('ada').modal()?.press('Try again');
		await app.until(() => value(app, id, index) === 'TP 570');
		// Of the time before, only what is true of any refusal.
		await told(app, line('refused'));
	});

	it('is not sent when a changed setting excludes its channel, and counts on the check at *Try again*', async ({
		app,
	}) => {
		const { id, index } = await accepted(app);
		await app.pass(2 * MINUTE_MS);
		await app.restart({ ALLOWED_CHANNELS: 'C0GENERAL' });
		app.service.faults.clear();
		await told(app, MAY_NOT_ANSWER);
		expect(receipt(app)).toContain(whatHappened('channel_not_allowed'));
		expect(app.service.log.puts(id)).toEqual([]);
		await app.restart();
		app.service.faults.add({ kind: 'error', status: 503, sessionId: id });
		await app.slack.as('ada').modal()?.press('Try again');
		await told(app, whatHappened('unavailable'));
		await isSentUnasked(app, id, index);
	});

	it('is sent when its author has only left the channel, after a read that follows the check', async ({ app }) => {
		const order: string[] = [];
		app.slack.faults.add({
			method: 'users.info',
			answer: { user: {} },
			when: ({ user }) => user === ada(app).id && order.push('check') < 0,
		});
		const { id, index } = await late(app, () => {
			order.length = 0;
			return app.slack.remove('#agents', 'ada');
		});
		app.service.hooks.onRequest = ({ kind, sessionId }) => void (sessionId === id && order.push(kind));
		await app.until(() => value(app, id, index) === 'TP 570');
		const put = order.indexOf('answer');
		const check = order.lastIndexOf('check', put);
		expect(check).toBeGreaterThanOrEqual(0);
		expect(order.slice(check, put)).toContain('read');
	});

	it('waits, says so and costs no read while Slack does not tell, also after a restart, and is sent when Slack tells', async ({
		app,
	}) => {
		const { id, index } = await accepted(app);
		await app.command(`/session unwatch ${id}`);
		await app.pass(2 * MINUTE_MS);
		app.slack.faults.add({ method: 'users.info', error: 'internal_error' });
		await told(app, said(NOT_CHECKED));
		app.service.faults.clear();
		expect(receipt(app)).toContain('Handraise keeps trying.');
		const order: string[] = [];
		app.service.hooks.onRequest = ({ kind, sessionId }) => void (sessionId === id && order.push(kind));
		await app.restart();
		const before = askedCount(app);
		await app.pass(5 * MINUTE_MS);
		expect(askedCount(app)).toBeGreaterThan(before);
		expect(order).toEqual([]);
		app.slack.faults.clear();
		await app.until(() => value(app, id, index) === 'TP 570');
		expect(order.slice(0, 2)).toEqual(['read', 'answer']);
	});

	it('is sent while Slack needs longer to tell than a client for people waits, which is 4 s of real time', async ({
		app,
	}) => {
		const slow = { method: 'users.info', delayMs: 4_200, when: ({ user }: { user?: unknown }) => user === ada(app).id };
		const { id, index } = await late(app, () => app.slack.faults.add(slow));
		const before = askedCount(app);
		await app.until(() => value(app, id, index) === 'TP 570' || askedCount(app) > before + 1);
		expect(value(app, id, index)).toBe('TP 570');
	});

	it('is sent although each read of its session takes longer than a minute', async () => {
		const app = await forCase(start({ SESSION_SERVICE_TIMEOUT_MS: '90000' }));
		const { id, index } = await accepted(app);
		app.service.faults.clear();
		app.service.faults.add({ kind: 'slow', ms: 61_000, method: 'GET', sessionId: id });
		await app.until(
			() => value(app, id, index) === 'TP 570',
			() => receipt(app),
			10 * MINUTE_MS,
		);
	});

	it('waits as long as Slack asks for, when Slack limits the calls', async ({ app }) => {
		const { id, index } = await late(app, () => app.slack.faults.rateLimit('users.info', { retryAfter: 240 }));
		await told(app, said(NOT_CHECKED));
		const before = askedCount(app);
		await app.pass(3 * MINUTE_MS);
		expect(askedCount(app)).toBe(before);
		app.slack.faults.clear();
		await app.until(() => value(app, id, index) === 'TP 570');
	});

	it('is told as not delivered yet, with the reason, to somebody who answers meanwhile', async ({ app }) => {
		const unknown = {
			method: 'users.info',
			error: 'user_not_found',
			when: ({ user }: { user?: unknown }) => user === ada(app).id,
		};
		const { id, post } = await late(app, () => app.slack.faults.add(unknown), { frozen: true });
		await told(app, said(NOT_CHECKED));
		const notYet = said(notYetWords({ state: 'accepted', lastError: 'not_checked' }));
		expect(notYet).toContain('could not check with Slack whether its author may still answer');
		const lost = await app.toldAfter(() => app.seenBy('grace', post).press('LH 1173'), 'grace');
		expect(lost.text()).toContain(notYet);
		const form = await openSession(app, id, 'grace');
		await form.choose(0, 'LH 1173');
		await form.submit();
		expect(form.text()).toContain(notYet);
	});
});

it('an answer that is sent within a minute counts on the check at the press, also after a restart', async ({ app }) => {
	const { id, index } = await accepted(app);
	// After 20 s the next attempt may come after more than a minute: its delays are random.
	await app.pass(10_000);
	expect(value(app, id, index)).toBe('');
	await isSentUnasked(app, id, index);
});

it('a press is not sent when the time for Undo was a minute and its author was deactivated, and offers the options again', async () => {
	const app = await forCase(start({ UNDO_SECONDS: '60' }));
	const id = await app.watched();
	app.ask(id, [FLIGHT], '');
	const post = await app.threadSays(id, FLIGHT.title ?? '');
	await app.choose(post, 'LH 1173');
	ada(app).deleted = true;
	await app.until(() => post.buttons().includes('LH 1173'));
	await app.pass(2 * MINUTE_MS);
	expect(post.text()).toContain('the account is deactivated');
	expect(app.service.log.puts(id)).toEqual([]);
});
