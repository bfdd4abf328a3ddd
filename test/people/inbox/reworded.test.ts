import type { MessageJson } from '../../../fake-session-service/json.ts';
import { itemsOf } from '../../../fake-session-service/log.ts';
import { NOTICES } from '../../../src/screens/form-notices.ts';
import { BEFORE_NEW_TEXT } from '../../../src/screens/question-post.ts';
import { NOTE_LABEL } from '../../../src/slack/form/build.ts';
import {
	answeredBy,
	DRAFT_RESTORED,
	describe,
	expect,
	type HandOverApp,
	handOverApp,
	headline,
	item,
	line,
	type Modal,
	openButtons,
	openSession,
	type Posted,
	REMINDER,
	said,
	withApp,
} from '../../kit.ts';

const GO_ON = item('Shall I go on?');
const READ = 'May I READ the README?';
const DELETE = 'May I DELETE the database?';
/** Two items with options and one for text. */
const MIXED = [GO_ON, item('Which copy?', 'One of: the first, the second'), item('Remarks')];
const [CARRIED = '', CHANGED = ''] = [true, false].map((carried) => said(NOTICES.questionChanged(carried)));

const it = withApp(() => handOverApp({ UNDO_SECONDS: '10', REMIND_AFTER: '40s' }));

async function asked(app: HandOverApp, content = READ, items = [GO_ON]) {
	const id = await app.watched();
	const index = app.ask(id, items, content);
	const post = await app.threadSays(id, 'Shall I go on?');
	return { id, index, post };
}

/** Something changes in the message that asks. */
function edit(app: HandOverApp, id: string, change: (message: MessageJson) => void): void {
	const { messages = [] } = structuredClone(app.service.sessions.get(id));
	const message = messages?.at(-1);
	if (message) change(message);
	app.service.sessions.patch(id, { messages });
}
/** The agent replaces the text above its question. */
const reword = (app: HandOverApp, id: string, content: string) =>
	edit(app, id, (message) => Object.assign(message, { content }));
/** Somebody outside fills its first item. */
const fillOutside = (app: HandOverApp, id: string, value: string) =>
	edit(app, id, (message) => Object.assign(message.human_input?.[0] ?? {}, { value }));

const value = (app: HandOverApp, id: string, index: number) => app.service.sessions.values(id, index)[0];
const puts = (app: HandOverApp, id: string) => app.service.log.puts(id);
const toldChanged = (app: HandOverApp, who: string, id: string) =>
	app.until(
		() =>
			app
				.dms(who)
				.findLast((dm) => dm.text().includes(headline('changed')) && JSON.stringify(dm.blocks()).includes(id)),
		() => `${who} has:\n${app.dms(who).at(-1)?.text()}`,
	);
const shows = (app: HandOverApp, post: Posted, ...words: string[]) =>
	app.until(
		() => words.every((one) => post.text().includes(one)),
		() => post.text(),
	);

const TYPED = 'Only the old one.';
const NONE_OF_THESE = 'None of these (write below)';
const LABELS = ['Shall I go on?', 'Which copy?', 'Remarks'] as const;
const valuesOf = (form: Modal) => LABELS.map((label) => form.value(label));

async function fillMixed(form: Modal): Promise<void> {
	await form.choose(LABELS[0], 'Yes');
	await form.choose(LABELS[1], 'the first');
	await form.fill(LABELS[2], TYPED);
}

/** Where Ada or Grace has a button with an option. Resolves to the press, which takes no time. */
const PLACES = {
	'the post in the channel': async (_app: HandOverApp, post: Posted) => ['ada', () => post.press('Yes')] as const,
	'the inbox': async (app: HandOverApp) => {
		await app.openHome();
		await app.homeSays('Shall I go on?');
		return ['ada', async () => app.slack.as('ada').home()?.press('Yes')] as const;
	},
	'the direct message of a hand-over': async (app: HandOverApp, post: Posted) => {
		const { modal } = await app.handOver(post, 'ada', 'grace');
		const dm = await app.handedTo('grace');
		await modal.close();
		return ['grace', () => dm.press('Yes')] as const;
	},
};

describe('a question whose text the agent replaces between post and press', () => {
	it.for(Object.entries(PLACES))('is not answered by a press in %s', async ([, place], { app }) => {
		const { id, index, post } = await asked(app);
		const [who, press] = await place(app, post);
		reword(app, id, DELETE);
		await press();
		const told = await toldChanged(app, who, id);
		expect(told.text()).toContain('Yes');
		expect(puts(app, id)).toHaveLength(0);
		await told.press('Answer the new question');
		const form = await app.slack.as(who).waitForModal((modal) => modal.submitText() !== null);
		expect(form.text()).toContain(DELETE);
		expect(form.text()).toContain(CHANGED);
		expect(form.value(0)).toBe(NONE_OF_THESE);
		await form.choose(0, 'No');
		await form.submit();
		await app.until(() => value(app, id, index) === 'No');
	});

	it('keeps its posts, which show the new text and notify nobody, and one answer is enough', async ({ app }) => {
		const { id, index, post } = await asked(app);
		const { modal } = await app.handOver(post, 'ada', 'grace');
		await modal.close();
		const dm = await app.handedTo('grace');
		const reminder = await app.threadSays(id, REMINDER);
		await app.openHome();
		await app.homeSays(READ);
		await app.pass(5_000);
		const from = app.now();
		reword(app, id, DELETE);
		for (const one of [post, dm]) await shows(app, one, DELETE);
		await app.homeSays(DELETE, { without: [READ] });
		expect(app.calls('chat.postMessage', from)).toEqual([]);
		for (const one of [post, dm]) expect(one.text()).not.toContain(READ);
		// The text of the question stands above the reminder, in its thread.
		expect(reminder.buttons()).toEqual(['Answer']);
		await reminder.press('Answer');
		const form = await app.slack.as('ada').waitForModal(DELETE);
		expect(form.text()).not.toContain(READ);
		await form.choose(0, 'Yes');
		await form.submit();
		await app.until(() => value(app, id, index) === 'Yes');
		await app.answered(id);
		await app.until(() => openButtons(dm)?.length === 0);
		await app.pass(15_000);
		for (const one of [post, dm]) expect(one.text()).toMatch(answeredBy('ada', 'Yes'));
	});

	it('says under the new text nothing of a press for the old one', async ({ app }) => {
		const { id, index, post } = await asked(app);
		await app.choose(post, 'Yes');
		expect(post.text()).toContain('ada: Yes');
		reword(app, id, DELETE);
		await shows(app, post, DELETE);
		expect(post.text()).not.toMatch(/ada: |Undo/);
		expect(post.buttons()).toContain('Yes');
		await toldChanged(app, 'ada', id);
		await post.press('No');
		await app.until(() => value(app, id, index) === 'No');
	});
});

describe('a form whose question gets another text', () => {
	it('sends nothing, and the new question has the typed text and no choice', async ({ app }) => {
		const { id, index } = await asked(app, READ, MIXED);
		const form = await openSession(app, id);
		await fillMixed(form);
		reword(app, id, DELETE);
		await form.submit();
		await app.until(() => form.text().includes(headline('changed')));
		expect(puts(app, id)).toHaveLength(0);
		await form.press('Answer the new question');
		const again = await app.slack.as('ada').waitForModal(DELETE);
		expect(again.text()).toContain(CARRIED);
		expect(valuesOf(again)).toEqual([null, NONE_OF_THESE, TYPED]);
		await again.choose('Shall I go on?', 'No');
		await again.choose('Which copy?', 'the second');
		await again.submit();
		await app.until(() => value(app, id, index) === 'No');
		expect(app.service.sessions.values(id, index)).toEqual(['No', 'the second', TYPED]);
	});

	it('gets no mention that was written under the old one, and the author is told', async ({ app }) => {
		const { id } = await asked(app);
		const thread = app.card(id) ?? '';
		const told = await app.toldAfter(() => app.slack.as('ada').mention('#agents', 'No', { thread }));
		reword(app, id, DELETE);
		await told.press('Send');
		const dms = () => app.slack.as('ada').messages('dm');
		const receipt = await app.until(() => dms().findLast((dm) => dm.text().includes(headline('changed'))));
		expect(receipt.text()).toContain('No');
		expect(puts(app, id)).toHaveLength(0);
	});

	it('keeps a note with the name of its option, which is not chosen', async ({ app }) => {
		const { id } = await asked(app, READ, [item('Shall I go on?', 'One of: Road | Cargo')]);
		const form = await openSession(app, id);
		await form.choose(0, 'Cargo');
		await form.fill(NOTE_LABEL, 'with two seats');
		reword(app, id, DELETE);
		await form.press('Refresh');
		await app.slack.as('ada').waitForModal(DELETE);
		expect([form.value(0), form.value(NOTE_LABEL)]).toEqual([NONE_OF_THESE, 'Cargo: with two seats']);
	});

	it('says so when a draft is restored that was typed for the old text, without its choice', async ({ app }) => {
		const { id } = await asked(app, READ, MIXED);
		const form = await openSession(app, id);
		await fillMixed(form);
		await form.close();
		const same = await openSession(app, id);
		expect(same.text()).toContain(DRAFT_RESTORED);
		expect(valuesOf(same)).toEqual(['Yes', 'the first', TYPED]);
		await same.close();
		reword(app, id, DELETE);
		const again = await openSession(app, id);
		expect(again.text()).toContain(CARRIED);
		expect(valuesOf(again)).toEqual([null, NONE_OF_THESE, TYPED]);
	});
});

describe('what is not another text', () => {
	const link = (signature: string) =>
		`Look at\nhttps://bucket.example/plan.pdf?X-Amz-Date=20260101&X-Amz-Signature=${signature} first.`;

	it.for([
		['white space', 'May I  READ\nthe README?', ' May I READ the\r\n\tREADME?\n'],
		['the signature of a link', link('0a1b'), link('2c3d')],
	] as const)('a press counts, and no post is edited, when only %s changes', async ([, before, after], { app }) => {
		const { id, index, post } = await asked(app, before);
		await app.pass(10_000);
		const edits = post.editHistory().length;
		reword(app, id, after);
		await app.pass(30_000);
		expect(post.editHistory()).toHaveLength(edits);
		await post.press('Yes');
		await app.until(() => value(app, id, index) === 'Yes');
	});

	it('an answer that arrives late, under another text, counts as delivered for the earlier one', async ({ app }) => {
		const { id, post } = await asked(app);
		app.service.faults.add({ kind: 'hang', method: 'PUT', times: 1 });
		await post.press('Yes');
		await app.until(() => puts(app, id).length === 1);
		reword(app, id, DELETE);
		await shows(app, post, DELETE);
		// What the first PUT carried.
		fillOutside(app, id, 'Yes');
		await app.answered(id);
		expect(post.text()).toMatch(/^ada: Yes · /m);
		expect(post.text()).toContain(` · ${BEFORE_NEW_TEXT} · `);
		expect(puts(app, id)).toHaveLength(1);
	});

	it('an answer of ours that arrived without a response counts as delivered after the text changed', async ({
		app,
	}) => {
		const { id, index, post } = await asked(app);
		app.service.faults.add({ kind: 'reset', method: 'PUT', saves: true, times: 1 });
		// Before any read can find the answer.
		app.service.hooks.onSaved = () => reword(app, id, DELETE);
		await post.press('Yes');
		await app.until(() => value(app, id, index) === 'Yes');
		delete app.service.hooks.onSaved;
		await app.answered(id);
		await app.pass(90_000);
		// It showed the text that was answered, and never another one.
		expect(post.text()).toMatch(answeredBy('ada', 'Yes'));
		expect(post.editHistory().join()).not.toContain(DELETE);
		expect(puts(app, id)).toHaveLength(1);
		const told = app.dms('ada').flatMap((dm) => (JSON.stringify(dm.blocks()).includes(id) ? dm.text() : []));
		for (const shown of [{}, { putStartedAt: 1 }]) expect(told.join()).not.toContain(line('changed', shown));
	});
});

it('sends the newest value of an item that somebody outside filled, not the one that the form showed', async ({
	app,
}) => {
	const { id, index } = await asked(app, READ, [item('Which colour?'), GO_ON]);
	fillOutside(app, id, 'A');
	const form = await openSession(app, id);
	expect(form.text()).toContain('> A');
	await form.choose(0, 'No');
	fillOutside(app, id, 'B');
	await form.submit();
	await app.until(() => app.service.sessions.values(id, index)[1] === 'No');
	expect(puts(app, id).map((put) => itemsOf(put).map((one) => one.value))).toEqual([['B', 'No']]);
});
