import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { askingSession } from '../../../fake-session-service/builders.ts';
import type { Json, Modal } from '../../../fake-slack/index.ts';
import { LINKS_FOR_YOU } from '../../../src/screens/details.ts';
import { WITHOUT_SCREENSHOT } from '../../../src/screens/form.ts';
import { type App, openSession } from '../../slack/support/open-session.ts';
import { startTimedApp } from '../../slack/support/timed-app.ts';
import { DELIVERED, stale, whatHappened } from '../../support/sentences.ts';

let timed: Awaited<ReturnType<typeof startTimedApp>>;
let app: App;
beforeAll(async () => {
	timed = await startTimedApp({ env: { SESSION_SERVICE_TIMEOUT_MS: '60000' } });
	app = timed.app;
});
afterAll(() => timed[Symbol.asyncDispose]());
afterEach(async () => {
	app.service.faults.clear();
	app.slack.faults.clear();
	// Requests of one test end before the next test begins.
	await timed.clock.advance(60_000);
	await app.slack.as('ada').modal()?.close(true);
	expect(app.slack.violations()).toEqual([]);
});

let count = 0;
function ask(id: string, title: string): void {
	app.service.sessions.put(id, askingSession([title]));
}

/** Creates a session that asks one item. */
function asking(): string {
	const id = `waits-${++count}`;
	ask(id, 'Which colour?');
	return id;
}

const ada = () => app.slack.as('ada');
const slow = (sessionId: string, ms: number) => app.service.faults.add({ kind: 'slow', ms, sessionId, method: 'GET' });
const updates = () => app.slack.traffic.calls('views.update');
const reads = (id: string) => app.service.log.reads(id);
/** Whether the program closed the newest read of the session before the response. */
const isCut = (id: string) => reads(id).at(-1)?.clientGone === true;

/** Ada opens a session that the service takes so long to read. */
async function opening(ms: number): Promise<string> {
	const id = asking();
	slow(id, ms);
	await ada().command('#agents', `/session ${id}`);
	return id;
}

/** Presses without waiting for the result. */
async function press(modal: Modal, label: string, id: string): Promise<void> {
	const before = reads(id).length;
	expect(await modal.press(label)).toBe(true);
	await timed.until(
		() => reads(id).length > before,
		() => `"${label}" read nothing`,
	);
}

describe('a service that takes most of a minute', () => {
	it('waits for a slow service in the modal, which repeatedly says that it takes long', async () => {
		const before = updates().length;
		const startedAt = timed.clock.now();
		const id = await opening(55_000);
		for (const words of ['(4 s)', '(12 s)', '(28 s)']) {
			await timed.shows(`Still waiting for the session service… ${words}`);
			expect(ada().modal()?.text()).toContain('[Cancel]');
		}
		await timed.shows('Which colour?');
		expect(timed.clock.now() - startedAt).toBeLessThan(56_000);
		expect(updates().length - before).toBe(4);
		expect(ada().modal()?.text()).not.toContain('Still waiting');
		expect(ada().modal()?.submitText()).toBe('Send answer');
		expect(reads(id)).toHaveLength(1);
	});

	it('sends no further update when the service responds within 4 s', async () => {
		const before = updates().length;
		await opening(3_500);
		await timed.shows('Which colour?');
		expect(updates().length - before).toBe(1);
	});
});

describe('Cancel', () => {
	it('ends the read at once on Cancel, without an update or use of the budget', async () => {
		const id = await opening(55_000);
		await timed.shows('(4 s)');
		const before = updates().length;
		await ada().modal()?.close();
		await timed.until(() => isCut(id));
		await timed.clock.advance(60_000);
		expect(ada().modal()).toBeNull();
		expect(updates()).toHaveLength(before);
		expect(reads(id)).toHaveLength(1);
		expect(app.log.filter((line) => /"level":"(warn|error)"/.test(line) && line.includes(id))).toEqual([]);
	});

	it('ends a read on Cancel that still waits for the budget', async () => {
		const id = asking();
		await timed.clock.advance(120_000);
		const other = asking();
		app.service.faults.add({ kind: 'rate-limited', retryAfterSeconds: 6, times: 1, sessionId: other });
		await ada().command('#agents', `/session ${other}`);
		await timed.until(() => reads(other).length === 1);
		const grace = app.slack.as('grace');
		await grace.command('#agents', `/session ${id}`);
		await timed.shows('(4 s)', 'grace');
		await grace.modal()?.close();
		await timed.shows('Which colour?');
		await timed.clock.advance(60_000);
		expect(reads(id)).toEqual([]);
	});

	it('ends the read with the next note when another replica received the Cancel', async () => {
		const id = await opening(55_000);
		await timed.shows('(4 s)');
		// Closed without this process hearing of it.
		app.slack.faults.add({ method: 'views.update', error: 'not_found' });
		await timed.until(() => isCut(id));
		app.slack.faults.clear();
		const before = updates().length;
		await timed.clock.advance(60_000);
		expect(updates()).toHaveLength(before);
		expect(reads(id)).toHaveLength(1);
	});

	it('continues the read for another person when one person cancels', async () => {
		const id = asking();
		slow(id, 20_000);
		const grace = app.slack.as('grace');
		await Promise.all([ada().command('#agents', `/session ${id}`), grace.command('#agents', `/session ${id}`)]);
		await timed.shows('(4 s)');
		await timed.shows('(4 s)', 'grace');
		await ada().modal()?.close();
		await timed.shows('Which colour?', 'grace');
		expect(ada().modal()).toBeNull();
		await grace.modal()?.close();
	});
});

describe('a note that meets the content', () => {
	it('shows the content after a note, however long Slack takes for the note', async () => {
		const release = app.slack.faults.hold('views.update', ({ view }) => JSON.stringify(view).includes('Still waiting'));
		await opening(4_500);
		await timed.until(() => updates().at(-1)?.doneAt === null);
		await timed.clock.advance(1_000);
		release();
		await timed.shows('Which colour?');
		await timed.clock.advance(60_000);
		expect(ada().modal()?.text()).toContain('Which colour?');
	});

	it.each([
		['has an unknown outcome', { drop: true, afterEffect: true, times: 2 }],
		['is refused by Slack', { error: 'internal_error', times: 1 }],
	])('shows the content after a note that %s', async (_, fault) => {
		app.slack.faults.add({ method: 'views.update', ...fault });
		await opening(20_000);
		await timed.shows('Which colour?');
		expect(ada().modal()?.submitText()).toBe('Send answer');
	});
});

describe('a form that is read again', () => {
	/** Ada types into a form and refreshes it, which takes so long. `meanwhile`: before the refresh. */
	async function refreshing(ms: number, meanwhile = async () => {}) {
		const id = asking();
		const modal = await openSession(app, id);
		await modal.fill(0, 'blue');
		await meanwhile();
		slow(id, ms);
		await press(modal, 'Refresh', id);
		return { id, modal };
	}

	it('keeps a form with its texts during a slow refresh, and lets the person send it', async () => {
		const { id, modal } = await refreshing(55_000);
		await timed.shows('Still waiting for the session service… (4 s)');
		expect(modal.value(0)).toBe('blue');
		expect(modal.submitText()).toBe('Send answer');
		app.service.faults.clear();
		const submittedAt = timed.clock.now();
		expect((await modal.submit()).outcome).toBe('updated');
		await timed.shows(DELIVERED);
		// Past the next note.
		await timed.until(() => isCut(id) || timed.clock.now() > submittedAt + 60_000);
		expect(ada().modal()?.text()).toMatch(DELIVERED);
		expect(app.service.sessions.values(id, 1)).toEqual(['blue']);

		// The claim is released, and no draft is left when the same question is asked again.
		ask(id, 'Which colour?');
		const grace = app.slack.as('grace');
		await grace.command('#agents', `/session ${id}`);
		await timed.shows('Answer again…', 'grace');
		await grace.modal()?.press('Answer again…');
		await timed.shows('Which colour?', 'grace');
		expect(grace.modal()?.text()).not.toContain('is answering');
		await grace.modal()?.close();
		await ada().modal()?.close();
		const again = await openSession(app, id);
		await again.press('Answer again…');
		await timed.until(() => again.submitText() !== null);
		expect(again.value(0)).toBeNull();
	});

	/** Types on while a refresh takes 20 s. */
	async function typeWhileReading() {
		const form = await refreshing(20_000);
		await timed.clock.advance(1_000);
		await form.modal.fill(0, 'blue, I think');
		return form;
	}

	it('keeps texts typed during a refresh, in the fields and as a draft', async () => {
		const { id, modal } = await typeWhileReading();
		await timed.shows('(4 s)');
		expect(modal.value(0)).toBe('blue, I think');
		await timed.until(() => !modal.text().includes('Still waiting'));
		expect(modal.value(0)).toBe('blue, I think');
		app.service.faults.clear();
		await modal.close();
		const again = await openSession(app, id);
		expect(again.value(0)).toBe('blue, I think');
	});

	it('shows the refreshed form when Slack refuses the notice that it takes long', async () => {
		const startedAt = timed.clock.now();
		const { id } = await refreshing(6_000);
		app.slack.faults.rateLimit('views.update', { retryAfter: 45, times: 1 });
		ask(id, 'Which shade?');
		await timed.shows('Which shade?');
		expect(updates().filter(({ status }) => status === 429)).toHaveLength(1);
		expect(timed.clock.now() - startedAt).toBeLessThan(20_000);
	});

	it('shows a new question after a note, however long Slack takes for it', async () => {
		const { id } = await refreshing(20_000);
		await timed.shows('(12 s)');
		ask(id, 'Which shade?');
		const release = app.slack.faults.hold('views.update', ({ view }) => JSON.stringify(view).includes('Which shade?'));
		await timed.until(() => updates().at(-1)?.doneAt === null);
		await timed.clock.advance(1_000);
		release();
		await timed.shows('Which shade?');
	});

	it('carries texts typed during a refresh over to a new question', async () => {
		const { id } = await typeWhileReading();
		ask(id, 'Which shade?');
		await timed.shows('Which shade?');
		expect(ada().modal()?.value(0)).toBe('blue, I think');
	});

	it('says that the refresh failed when the read fails', async () => {
		const id = asking();
		const modal = await openSession(app, id);
		await modal.fill(0, 'blue');
		app.service.faults.add({ kind: 'hang', sessionId: id, method: 'GET' });
		await press(modal, 'Refresh', id);
		await timed.shows('(4 s)');
		await timed.shows(stale('timed_out'));
		expect(ada().modal()?.id).toBe(modal.id);
		expect(modal.text()).not.toContain('Still waiting');
		expect(modal.value(0)).toBe('blue');
		expect(modal.submitText()).toBe('Send answer');
	});

	it('ends the refresh of a form that is closed', async () => {
		const { id, modal } = await refreshing(55_000);
		const closedAt = timed.clock.now();
		await modal.close();
		await timed.until(() => isCut(id));
		// The read ends at once, not with the next note.
		expect(timed.clock.now() - closedAt).toBeLessThan(4_000);
		expect(reads(id)).toHaveLength(2);
	});

	it('says outside the form that a refresh takes long when its reading is not in memory any more', async () => {
		const { modal } = await refreshing(20_000, () => timed.clock.advance(11 * 60_000));
		await timed.until(() => said('Still waiting for the session service') > 0);
		expect(modal.text()).not.toContain('Still waiting');
		await timed.clock.advance(20_000);
		expect(said('Still waiting for the session service')).toBe(1);
		expect(modal.value(0)).toBe('blue');
	});
});

it('asks Slack only once for a screenshot that it cannot load, also when it limits the view without that', async () => {
	const before = updates().length;
	const id = `waits-${++count}`;
	app.slack.settings.undownloadable = () => true;
	const lastScreenshotUrl = 'https://bucket.storage.example/screenshot.png';
	app.service.sessions.put(id, { ...askingSession(['Which colour?']), lastScreenshotUrl });
	const showsImage = (view: unknown) => JSON.stringify(view).includes('image_url');
	const when = ({ view }: Json) => JSON.stringify(view).includes('Which colour?') && !showsImage(view);
	app.slack.faults.add({ method: 'views.update', when, status: 429, retryAfter: 5, times: 1 });
	await ada().command('#agents', `/session ${id}`);
	await timed.shows(WITHOUT_SCREENSHOT);
	app.slack.settings.undownloadable = () => false;
	expect(
		updates()
			.slice(before)
			.filter(({ request }) => showsImage(request)),
	).toHaveLength(1);
});

it('shows the loading view instead of the error on Try again', async () => {
	const id = asking();
	app.service.faults.add({ kind: 'unauthorized', sessionId: id });
	await ada().command('#agents', `/session ${id}`);
	await timed.shows(whatHappened('unauthorized'));
	app.service.faults.clear();
	slow(id, 55_000);
	const modal = ada().modal();
	if (modal === null) throw new Error('no modal');
	await press(modal, 'Try again', id);
	await timed.shows('Still waiting for the session service… (4 s)');
	expect(ada().modal()?.text()).toContain('[Cancel]');
	await timed.shows('Which colour?');
});

/** How many messages in the channel, seen by Ada only or by all, have these words. */
function said(words: string): number {
	return ada()
		.messages('#agents', { all: true })
		.filter((one) => one.text().includes(words)).length;
}

it('says once that a command without a modal takes long, then its outcome', async () => {
	const id = asking();
	app.service.sessions.put(id, {
		status: 'active',
		messages: [{ role: 'user', content: 'Make a list.' }],
		files: [{ filename: 'list.csv', timestamp: '2026-01-05T09:00:00Z', signedUrl: 'https://bucket.example/list.csv' }],
	});
	slow(id, 55_000);
	const before = said('Still waiting for the session service');
	await ada().command('#agents', `/session watch ${id}`);
	await timed.until(() => said('Still waiting for the session service') > before);
	expect(said('👀')).toBe(0);
	await timed.until(() => said('👀') > 0);
	expect(said('Still waiting for the session service')).toBe(before + 1);

	const card = () =>
		ada()
			.messages('#agents')
			.find((one) => one.buttons().includes('Files (1)'));
	await timed.until(() => card() !== undefined);
	await card()?.press('Files (1)');
	await timed.until(() => said('Still waiting for the session service') > before + 1);
	expect(said(LINKS_FOR_YOU)).toBe(0);
	await timed.until(() => said(LINKS_FOR_YOU) > 0);
	expect(said('Still waiting for the session service')).toBe(before + 2);
	app.service.faults.clear();
	await ada().command('#agents', `/session unwatch ${id}`);
});

it('tells the people who wait when the program stops', async () => {
	await opening(55_000);
	await timed.shows('(4 s)');
	let isBack = false;
	const restarted = app.restart().then(() => {
		isBack = true;
	});
	// Nothing looks at the clock every second while the program stops, so it is moved here.
	await vi.waitFor(async () => {
		await timed.clock.advance(1_000);
		expect(isBack).toBe(true);
	}, 10_000);
	await restarted;
	await timed.shows('Handraise restarted before it could finish this.');
	app.service.faults.clear();
	await ada().modal()?.press('Try again');
	await timed.shows('Which colour?');
});
