import type { ModalView } from '@slack/types';
import { StoreUnavailableError } from '../../src/kernel/errors.ts';
import { createLeaseLoop } from '../../src/kernel/lease-loop.ts';
import { createRateLimiter } from '../../src/kernel/rate-limiter.ts';
import { WINDOW_NOTICES } from '../../src/screens/answer.ts';
import { NOTE_LABEL } from '../../src/slack/form/build.ts';
import { notificationText } from '../../src/slack/rich-text.ts';
import { createViews, type ViewDrawing, type ViewNews } from '../../src/surfaces/views.ts';
import {
	type App,
	asking,
	createManualClock,
	expect,
	item,
	type Modal,
	openSession,
	said,
	startApp,
	task,
	withApp,
} from '../kit.ts';
import { openTestStore, pass } from '../sessions/support.ts';
import { ANN, createRecordingLog, SERVICE, T0 } from '../store/support.ts';
import { coreOf } from '../support/core.ts';
import { buildSession } from '../support/sessions.ts';

const it = withApp(startApp);
const ASKS = asking('Paint it.', [item('Which colour?', 'One of: Sand, Forest')]);

/** A session that asks for a colour, and Ada's window with what she chose and typed. */
async function adasWindow(app: App, id: string): Promise<Modal> {
	app.service.sessions.put(id, { status: 'humanInput', messages: [ASKS] });
	const modal = await openSession(app, id);
	await modal.choose(0, 'Forest');
	await modal.fill(NOTE_LABEL, 'The dark one');
	return modal;
}

async function says(app: App, modal: Modal, words: string): Promise<void> {
	await app.slack.as('ada').waitForModal(words);
	expect([modal.value(0), modal.value(NOTE_LABEL)]).toEqual(['Forest', 'The dark one']);
}

it('tells a window, also after a restart, that somebody answered, keeps what was typed, and follows what is taken back', async ({
	app,
}) => {
	const modal = await adasWindow(app, 'told');
	await app.restart();
	const hers = await openSession(app, 'told', 'grace');
	await hers.choose(0, 'Sand');
	// No PUT begins, so it can be taken back at any time.
	app.service.faults.add({ kind: 'unauthorized', sessionId: 'told', method: 'GET' });
	expect((await hers.submit()).outcome).toBe('updated');
	const words = notificationText(WINDOW_NOTICES.answeredBy('@grace'));
	await says(app, modal, words);
	// One state: the notice stands in place of it.
	expect(modal.text()).not.toMatch(/is answering|asks/);
	await app.slack.as('grace').waitForModal('Discard answer');
	await hers.press('Discard answer');
	await says(app, modal, 'Which colour?');
	await app.slack.as('ada').waitForModal((now) => !now.text().includes(words));
	app.service.faults.clear();
	expect((await modal.submit()).outcome).toBe('updated');
	await app.slack.changes.until(
		() => app.service.log.savedPuts('told').length === 1,
		() => 'the answer was not sent',
	);
});

it('tells a window what a read for somebody else finds, without a read of its own', async ({ app }) => {
	const cases = [
		['answered', (id: string) => void app.service.sessions.answerAsPage(id, ['Sand'])],
		['ended', (id: string) => app.service.sessions.setStatus(id, 'completed')],
		['changed', (id: string) => void app.service.sessions.push(id, asking('No.', [item('Which shade?')]))],
		['moved', (id: string) => app.service.sessions.patch(id, { messages: [task('Begin.'), ASKS] })],
	] as const;
	for (const [what, change] of cases) {
		const modal = await adasWindow(app, what);
		change(what);
		await openSession(app, what, 'grace');
		await says(app, modal, said(WINDOW_NOTICES[what]));
		expect(app.service.log.reads(what)).toHaveLength(2);
		await modal.close();
		await app.slack.as('grace').modal()?.close(true);
	}
});

it('tells a window what a read found once the store works again: no later read of the same state tells of it', async () => {
	const clock = createManualClock(T0);
	const store = await openTestStore();
	const log = createRecordingLog();
	let failuresLeft = 3;
	const views: typeof store.views = {
		...store.views,
		async learn(...read) {
			if (failuresLeft-- > 0) throw new StoreUnavailableError('away');
			await store.views.learn(...read);
		},
	};
	const changedSessions: ViewNews['changedSessions'] = new Map();
	const drawing = { form: () => null } as unknown as ViewDrawing;
	const rateLimiter = createRateLimiter(clock);
	const core = coreOf({
		store: { ...store, views },
		clients: {},
		metrics: { inboxes: { update() {}, built() {} } },
		rateLimiter,
		clock,
		log,
	});
	const loop = createLeaseLoop(core, createViews(core, drawing, { changedSessions, onListed: () => {} }));
	const question = { service: SERVICE, sessionId: 's1', messageIndex: 1 };
	const view = { type: 'modal', blocks: [{ type: 'divider' }] } as unknown as ModalView;
	const form = { person: ANN, question, fingerprint: 'f', shownHash: 'h', hash: 'hash-1', claimUntil: null };
	await store.views.formShown('V1', { ...form, submissionKey: 'V1:f' }, view, T0);
	loop.start();
	changedSessions.set('s1', [question, buildSession({ sessionId: 's1', messages: [] })]);
	await pass(clock, 10_000);
	expect(log.lines.filter(({ fields }) => JSON.stringify(fields).includes('window_news_not_stored'))).toHaveLength(3);
	expect(await store.db.read.selectFrom('views').select('learned').execute()).toEqual([{ learned: 'changed' }]);
	const stopped = loop.stop();
	await clock.advance(60_000);
	await stopped;
});
