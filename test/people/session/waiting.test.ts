import { LINKS_FOR_YOU } from '../../../src/screens/details.ts';
import { WITHOUT_SCREENSHOT } from '../../../src/screens/form.ts';
import {
	askingSession,
	DELIVERED,
	describe,
	expect,
	type Json,
	type Modal,
	openSession,
	stale,
	startTimedApp,
	type TimedApp,
	vi,
	whatHappened,
	withApp,
} from '../../kit.ts';

const it = withApp(() => startTimedApp({ env: { SESSION_SERVICE_TIMEOUT_MS: '60000' } }));
function ask(app: TimedApp, id: string, title: string): void {
	app.service.sessions.put(id, askingSession([title]));
}

/** Creates a session that asks one item. */
function asking(app: TimedApp, id = 'waits'): string {
	ask(app, id, 'Which colour?');
	return id;
}

const ada = (app: TimedApp) => app.slack.as('ada');
const slow = (app: TimedApp, sessionId: string, ms: number) =>
	app.service.faults.add({ kind: 'slow', ms, sessionId, method: 'GET' });
const updates = (app: TimedApp) => app.slack.traffic.calls('views.update');
const reads = (app: TimedApp, id: string) => app.service.log.reads(id);
/** Whether the program closed the newest read of the session before the response. */
const isCut = (app: TimedApp, id: string) => reads(app, id).at(-1)?.clientGone === true;

/** Ada opens a session that the service takes so long to read. */
async function opening(app: TimedApp, ms: number): Promise<string> {
	const id = asking(app);
	slow(app, id, ms);
	await ada(app).command('#agents', `/session ${id}`);
	return id;
}

/** Presses without waiting for the result. */
async function press(app: TimedApp, modal: Modal, label: string, id: string): Promise<void> {
	const before = reads(app, id).length;
	expect(await modal.press(label)).toBe(true);
	await app.until(
		() => reads(app, id).length > before,
		() => `"${label}" read nothing`,
	);
}

describe('a service that takes most of a minute', () => {
	it('waits for a slow service in the modal, which repeatedly says that it takes long', async ({ app }) => {
		const before = updates(app).length;
		const startedAt = app.clock.now();
		const id = await opening(app, 55_000);
		for (const words of ['(4 s)', '(12 s)', '(28 s)']) {
			await app.shows(`Still waiting for the session service… ${words}`);
			expect(ada(app).modal()?.text()).toContain('[Cancel]');
		}
		await app.shows('Which colour?');
		expect(app.clock.now() - startedAt).toBeLessThan(56_000);
		expect(updates(app).length - before).toBe(4);
		expect(ada(app).modal()?.text()).not.toContain('Still waiting');
		expect(ada(app).modal()?.submitText()).toBe('Send answer');
		expect(reads(app, id)).toHaveLength(1);
	});

	it('sends no further update when the service responds within 4 s', async ({ app }) => {
		const before = updates(app).length;
		await opening(app, 3_500);
		await app.shows('Which colour?');
		expect(updates(app).length - before).toBe(1);
	});
});

describe('Cancel', () => {
	it('ends the read at once on Cancel, without an update or use of the budget', async ({ app }) => {
		const id = await opening(app, 55_000);
		await app.shows('(4 s)');
		const before = updates(app).length;
		await ada(app).modal()?.close();
		await app.until(() => isCut(app, id));
		await app.clock.advance(60_000);
		expect(ada(app).modal()).toBeNull();
		expect(updates(app)).toHaveLength(before);
		expect(reads(app, id)).toHaveLength(1);
		expect(app.log.filter((line) => /"level":"(warn|error)"/.test(line) && line.includes(id))).toEqual([]);
	});

	it('ends a read on Cancel that still waits for the budget', async ({ app }) => {
		const id = asking(app);
		await app.clock.advance(120_000);
		const other = asking(app, 'other');
		app.service.faults.add({ kind: 'rate-limited', retryAfterSeconds: 6, times: 1, sessionId: other });
		await ada(app).command('#agents', `/session ${other}`);
		await app.until(() => reads(app, other).length === 1);
		const grace = app.slack.as('grace');
		await grace.command('#agents', `/session ${id}`);
		await app.shows('(4 s)', 'grace');
		await grace.modal()?.close();
		await app.shows('Which colour?');
		await app.clock.advance(60_000);
		expect(reads(app, id)).toEqual([]);
	});

	it('ends the read with the next note when another replica received the Cancel', async ({ app }) => {
		const id = await opening(app, 55_000);
		await app.shows('(4 s)');
		// Closed without this process hearing of it.
		app.slack.faults.add({ method: 'views.update', error: 'not_found' });
		await app.until(() => isCut(app, id));
		app.slack.faults.clear();
		const before = updates(app).length;
		await app.clock.advance(60_000);
		expect(updates(app)).toHaveLength(before);
		expect(reads(app, id)).toHaveLength(1);
	});

	it('continues the read for another person when one person cancels', async ({ app }) => {
		const id = asking(app);
		slow(app, id, 20_000);
		const grace = app.slack.as('grace');
		await Promise.all([ada(app).command('#agents', `/session ${id}`), grace.command('#agents', `/session ${id}`)]);
		await app.shows('(4 s)');
		await app.shows('(4 s)', 'grace');
		await ada(app).modal()?.close();
		await app.shows('Which colour?', 'grace');
		expect(ada(app).modal()).toBeNull();
	});
});

describe('a note that meets the content', () => {
	it('shows the content after a note, however long Slack takes for the note', async ({ app }) => {
		const release = app.slack.faults.hold('views.update', ({ view }) => JSON.stringify(view).includes('Still waiting'));
		await opening(app, 4_500);
		await app.until(() => updates(app).at(-1)?.doneAt === null);
		await app.clock.advance(1_000);
		release();
		await app.shows('Which colour?');
		await app.clock.advance(60_000);
		expect(ada(app).modal()?.text()).toContain('Which colour?');
	});

	it.for([
		['has an unknown outcome', { drop: true, afterEffect: true, times: 2 }],
		['is refused by Slack', { error: 'internal_error', times: 1 }],
	] as const)('shows the content after a note that %s', async ([, fault], { app }) => {
		app.slack.faults.add({ method: 'views.update', ...fault });
		await opening(app, 20_000);
		await app.shows('Which colour?');
		expect(ada(app).modal()?.submitText()).toBe('Send answer');
	});
});

describe('a form that is read again', () => {
	/** Ada types into a form and refreshes it, which takes so long. `meanwhile`: before the refresh. */
	async function refreshing(app: TimedApp, ms: number, meanwhile = async () => {}) {
		const id = asking(app);
		const modal = await openSession(app, id);
		await modal.fill(0, 'blue');
		await meanwhile();
		slow(app, id, ms);
		await press(app, modal, 'Refresh', id);
		return { id, modal };
	}

	it('keeps a form with its texts during a slow refresh, and lets the person send it', async ({ app }) => {
		const { id, modal } = await refreshing(app, 55_000);
		await app.shows('Still waiting for the session service… (4 s)');
		expect(modal.value(0)).toBe('blue');
		expect(modal.submitText()).toBe('Send answer');
		app.service.faults.clear();
		const submittedAt = app.clock.now();
		expect((await modal.submit()).outcome).toBe('updated');
		await app.shows(DELIVERED);
		// Past the next note.
		await app.until(() => isCut(app, id) || app.clock.now() > submittedAt + 60_000);
		expect(ada(app).modal()?.text()).toMatch(DELIVERED);
		expect(app.service.sessions.values(id, 1)).toEqual(['blue']);
	});

	/** Types on while a refresh takes 20 s. */
	async function typeWhileReading(app: TimedApp) {
		const form = await refreshing(app, 20_000);
		await app.clock.advance(1_000);
		await form.modal.fill(0, 'blue, I think');
		return form;
	}

	it('keeps texts typed during a refresh, in the fields and as a draft', async ({ app }) => {
		const { id, modal } = await typeWhileReading(app);
		await app.shows('(4 s)');
		expect(modal.value(0)).toBe('blue, I think');
		await app.until(() => !modal.text().includes('Still waiting'));
		expect(modal.value(0)).toBe('blue, I think');
		app.service.faults.clear();
		await modal.close();
		const again = await openSession(app, id);
		expect(again.value(0)).toBe('blue, I think');
	});

	it('shows the refreshed form when Slack refuses the notice that it takes long', async ({ app }) => {
		const startedAt = app.clock.now();
		const { id } = await refreshing(app, 6_000);
		app.slack.faults.rateLimit('views.update', { retryAfter: 45, times: 1 });
		ask(app, id, 'Which shade?');
		await app.shows('Which shade?');
		expect(updates(app).filter(({ status }) => status === 429)).toHaveLength(1);
		expect(app.clock.now() - startedAt).toBeLessThan(20_000);
	});

	it('says that the refresh failed when the read fails', async ({ app }) => {
		const id = asking(app);
		const modal = await openSession(app, id);
		await modal.fill(0, 'blue');
		app.service.faults.add({ kind: 'hang', sessionId: id, method: 'GET' });
		await press(app, modal, 'Refresh', id);
		await app.shows('(4 s)');
		await app.shows(stale('timed_out'));
		expect(ada(app).modal()?.id).toBe(modal.id);
		expect(modal.text()).not.toContain('Still waiting');
		expect(modal.value(0)).toBe('blue');
		expect(modal.submitText()).toBe('Send answer');
	});

	it('ends the refresh of a form that is closed', async ({ app }) => {
		const { id, modal } = await refreshing(app, 55_000);
		const closedAt = app.clock.now();
		await modal.close();
		await app.until(() => isCut(app, id));
		// The read ends at once, not with the next note.
		expect(app.clock.now() - closedAt).toBeLessThan(4_000);
		expect(reads(app, id)).toHaveLength(2);
	});

	it('says outside the form that a refresh takes long when its reading is not in memory any more', async ({ app }) => {
		const { modal } = await refreshing(app, 20_000, () => app.clock.advance(11 * 60_000));
		await app.until(() => said(app, 'Still waiting for the session service') > 0);
		expect(modal.text()).not.toContain('Still waiting');
		await app.clock.advance(20_000);
		expect(said(app, 'Still waiting for the session service')).toBe(1);
		expect(modal.value(0)).toBe('blue');
	});
});

it('asks Slack only once for a screenshot that it cannot load, also when it limits the view without that', async ({
	app,
}) => {
	const before = updates(app).length;
	const id = 'waits';
	app.slack.settings.undownloadable = () => true;
	const lastScreenshotUrl = 'https://bucket.storage.example/screenshot.png';
	app.service.sessions.put(id, { ...askingSession(['Which colour?']), lastScreenshotUrl });
	const showsImage = (view: unknown) => JSON.stringify(view).includes('image_url');
	const when = ({ view }: Json) => JSON.stringify(view).includes('Which colour?') && !showsImage(view);
	app.slack.faults.add({ method: 'views.update', when, status: 429, retryAfter: 5, times: 1 });
	await ada(app).command('#agents', `/session ${id}`);
	await app.shows(WITHOUT_SCREENSHOT);
	expect(
		updates(app)
			.slice(before)
			.filter(({ request }) => showsImage(request)),
	).toHaveLength(1);
});

it('shows the loading view instead of the error on Try again', async ({ app }) => {
	const id = asking(app);
	app.service.faults.add({ kind: 'unauthorized', sessionId: id });
	await ada(app).command('#agents', `/session ${id}`);
	await app.shows(whatHappened('unauthorized'));
	app.service.faults.clear();
	slow(app, id, 55_000);
	const modal = ada(app).modal();
	if (modal === null) throw new Error('no modal');
	await press(app, modal, 'Try again', id);
	await app.shows('Still waiting for the session service… (4 s)');
	expect(ada(app).modal()?.text()).toContain('[Cancel]');
	await app.shows('Which colour?');
});

/** How many messages in the channel, seen by Ada only or by all, have these words. */
function said(app: TimedApp, words: string): number {
	return ada(app)
		.messages('#agents', { all: true })
		.filter((one) => one.text().includes(words)).length;
}

it('says once that a command without a modal takes long, then its outcome', async ({ app }) => {
	const id = asking(app);
	app.service.sessions.put(id, {
		status: 'active',
		messages: [{ role: 'user', content: 'Make a list.' }],
		files: [{ filename: 'list.csv', timestamp: '2026-01-05T09:00:00Z', signedUrl: 'https://bucket.example/list.csv' }],
	});
	slow(app, id, 55_000);
	const before = said(app, 'Still waiting for the session service');
	await ada(app).command('#agents', `/session watch ${id}`);
	await app.until(() => said(app, 'Still waiting for the session service') > before);
	expect(said(app, '👀')).toBe(0);
	await app.until(() => said(app, '👀') > 0);
	expect(said(app, 'Still waiting for the session service')).toBe(before + 1);

	const card = () =>
		ada(app)
			.messages('#agents')
			.find((one) => one.buttons().includes('Files (1)'));
	await app.until(() => card() !== undefined);
	await card()?.press('Files (1)');
	await app.until(() => said(app, 'Still waiting for the session service') > before + 1);
	expect(said(app, LINKS_FOR_YOU)).toBe(0);
	await app.until(() => said(app, LINKS_FOR_YOU) > 0);
	expect(said(app, 'Still waiting for the session service')).toBe(before + 2);
});

it('tells the people who wait when the program stops', async ({ app }) => {
	await opening(app, 55_000);
	await app.shows('(4 s)');
	let isBack = false;
	const restarted = app.restart().then(() => {
		isBack = true;
	});
	// Nothing looks at the clock every second while the program stops, so it is moved here.
	await vi.waitFor(async () => {
		await app.clock.advance(1_000);
		expect(isBack).toBe(true);
	}, 10_000);
	await restarted;
	await app.shows('Handraise restarted before it could finish this.');
	app.service.faults.clear();
	await ada(app).modal()?.press('Try again');
	await app.shows('Which colour?');
});
