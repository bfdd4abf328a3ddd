import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { decodeChoice, encodeChoice, type PressedOption } from '../../src/slack/ids.ts';
import {
	DRAFT_RESTORED,
	describe,
	expect,
	type InboxApp,
	inboxApp,
	keepSecret,
	type Modal,
	openSession,
	withApp,
} from '../kit.ts';
import { asked as askedToPress, UNDO_MS } from './press/harness.ts';

/** What the metadata of a window of 1.0.0 has, with its kind. */
const FIRST_METADATA = 21;

const it = withApp(inboxApp);

const linkTo = (ts: string) =>
	`The question is here: "},{"type":"link","url":"https://acme.slack.com/archives/C0AGENTS/p${ts.replace('.', '')}"`;

async function asked(app: InboxApp) {
	const question = await askedToPress(app);
	await app.pass(2_000);
	return question;
}

/** The buttons with options of a message, as Slack has them. */
function choiceButtons(app: InboxApp, ts: string) {
	const drawn = app.slack.state.messages.find((message) => message.ts === ts);
	const buttons = (drawn?.blocks ?? []).flatMap((block) => (block.type === 'actions' ? block.elements : []));
	return (buttons as { value?: string }[]).flatMap((button) => {
		const choice = decodeChoice(button.value);
		return choice === null ? [] : { button, choice };
	});
}

const optionsOf = (app: InboxApp, ts: string) =>
	choiceButtons(app, ts)
		.flatMap(({ choice }) => choice.option)
		.join(', ');

/** Has a post look as an older version drew it. */
function drawOlder(app: InboxApp, ts: string, older: (choice: PressedOption) => string): void {
	for (const { button, choice } of choiceButtons(app, ts)) button.value = older(choice);
	using database = new DatabaseSync(join(app.dataDir, 'handraise.db'));
	database.prepare('update posts set shown_key = ? where ts = ?').run('of an older version', ts);
}

describe('a button with an option', () => {
	it.for<[string, (choice: PressedOption) => string]>([
		// It ends before the newest arrival that its author may have seen.
		['1.0.0', (choice) => JSON.stringify(JSON.parse(encodeChoice(choice)).slice(0, -1))],
		// Version 1.0.0 cut "Options: $1,200, $980" at its first comma.
		['a version that found other options', (choice) => encodeChoice({ ...choice, option: 'TP' })],
	] as const)(
		'of %s sends nothing, says where the question is, and its post is drawn anew',
		async ([, older], { app }) => {
			const { id, index, post } = await asked(app);
			drawOlder(app, post.ts, older);
			const told = await app.toldAfter(() => post.press('TP 570'));
			expect(told.text()).toContain('Of an older version. Nothing was sent.');
			expect(JSON.stringify(told.blocks())).toContain(linkTo(post.ts));
			await app.until(() => optionsOf(app, post.ts) === 'LH 1173, TP 570');
			await app.pass(UNDO_MS + 5_000);
			expect(app.service.log.puts(id)).toHaveLength(0);
			await app.choose(post, 'LH 1173');
			await app.until(() => app.service.sessions.values(id, index)[0] === 'LH 1173');
		},
	);

	it('whose value cannot be read says so', async ({ app }) => {
		const { post } = await asked(app);
		drawOlder(app, post.ts, () => '["choice 0","s"]');
		expect(JSON.stringify((await app.toldAfter(() => post.press('TP 570'))).blocks())).toContain(linkTo(post.ts));
		await app.until(() => optionsOf(app, post.ts) === 'LH 1173, TP 570');
	});
});

describe('a window of 1.0.0', () => {
	/** As 1.0.0 wrote it. */
	function makeOlder(app: InboxApp, modal: Modal): void {
		const payload = app.slack.state.views[modal.id]?.payload as { private_metadata: string };
		payload.private_metadata = JSON.stringify(JSON.parse(payload.private_metadata).slice(0, FIRST_METADATA));
	}

	it('sends nothing, and its text is a draft of the question', async ({ app }) => {
		const { id, index, post } = await asked(app);
		await post.press('Other answer…');
		const modal = await app.slack.as('ada').waitForModal((shown) => shown.fields().length > 0);
		makeOlder(app, modal);
		await modal.fill(1, 'A train');
		expect((await modal.submit()).outcome).toBe('updated');
		expect(modal.text()).toContain('Of an older version. Nothing was sent.');
		expect(modal.text()).toContain('What you typed is a draft of the question now');
		expect(JSON.stringify(modal.blocks())).toContain(linkTo(post.ts));
		await modal.close(true);
		expect(app.service.log.puts(id)).toHaveLength(0);
		const again = await openSession(app, id);
		expect(again.text()).toContain(DRAFT_RESTORED);
		expect((await again.submit()).outcome).toBe('updated');
		await app.until(() => app.service.sessions.values(id, index)[0] === 'A train');
	});

	it('is told in time when Slack does not tell the link', async ({ app }) => {
		const { post } = await asked(app);
		await post.press('Other answer…');
		const modal = await app.slack.as('ada').waitForModal((shown) => shown.fields().length > 0);
		makeOlder(app, modal);
		const { promise: hold, resolve: release } = Promise.withResolvers<void>();
		app.slack.faults.add({ method: 'chat.getPermalink', hold });
		const from = app.now();
		const submitted = modal.submit();
		await app.until(() => app.calls('chat.getPermalink', from).length > 0);
		await app.clock.advance(1_000);
		expect(await submitted).toMatchObject({ outcome: 'updated', trouble: null });
		release();
		expect(modal.text()).toContain('/session shows what asks.');
	});

	it('does not keep what is secret, and says so', async ({ app }) => {
		const id = app.session();
		app.ask(id, ['Which shop?', 'Which code?']);
		const modal = await openSession(app, id);
		await keepSecret(modal, app.until, '2. Which code?');
		makeOlder(app, modal);
		await modal.fill(0, 'The second');
		await modal.fill(1, 'hunter-2');
		expect((await modal.submit()).outcome).toBe('updated');
		expect(modal.text()).toContain('What you typed is a draft of the question now, except secret text.');
		expect(modal.text()).toContain('/session shows what asks.');
		await modal.close(true);
		const again = await openSession(app, id);
		expect([again.value(0), again.value(1) ?? '']).toEqual(['The second', '']);
		expect(app.service.log.puts(id)).toHaveLength(0);
		expect(await app.said()).not.toContain('hunter-2');
	});
});
