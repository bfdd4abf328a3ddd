import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { decodeChoice, encodeChoice, type PressedOption } from '../../src/slack/ids.ts';
import { describe, expect, type InboxApp, inboxApp, type Modal, withApp } from '../kit.ts';
import { asked as askedToPress, UNDO_MS } from './press/harness.ts';

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
		['a version that did not note arrivals', (choice) => JSON.stringify(JSON.parse(encodeChoice(choice)).slice(0, -1))],
		['a version that found other options', (choice) => encodeChoice({ ...choice, option: 'TP' })],
	] as const)(
		'of %s sends nothing, says where the question is, and its post is drawn anew',
		async ([, older], { app }) => {
			const { id, index, post } = await asked(app);
			drawOlder(app, post.ts, older);
			const told = await app.toldAfter(() => post.press('TP 570'));
			expect(told.text()).toContain('This button is from an older version. Nothing was sent.');
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

describe('a window of an older version', () => {
	/** Slack returns what that version wrote into it. */
	function makeOlder(app: InboxApp, modal: Modal): void {
		const payload = app.slack.state.views[modal.id]?.payload as { private_metadata: string };
		payload.private_metadata = payload.private_metadata.replace('view 5', 'view 4');
	}

	it('sends nothing, says so, and keeps what was typed', async ({ app }) => {
		const { id, post } = await asked(app);
		await post.press('Other answer…');
		const modal = await app.slack.as('ada').waitForModal((shown) => shown.fields().length > 0);
		makeOlder(app, modal);
		await modal.fill(1, 'A train');
		const { errors } = await modal.submit();
		expect(Object.values(errors ?? {})).toEqual([
			'This button is from an older version. Nothing was sent. Your text is still here. /session shows what asks.',
		]);
		expect(modal.value(1)).toBe('A train');
		await app.pass(UNDO_MS + 5_000);
		expect(app.service.log.puts(id)).toEqual([]);
	});
});
