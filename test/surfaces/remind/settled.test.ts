import { OUTSIDE, SETTLED_WORDS } from '../../../src/screens/question-post.ts';
import {
	answering,
	asking,
	describe,
	ESCALATION,
	expect,
	FEWEST_REQUESTS,
	forCase,
	item,
	openButtons,
	type Posted,
	REMINDER,
	reminderOf,
	type SettingsApp,
	says as saysIn,
	settingsApp,
	WAIT,
	withApp,
} from '../../kit.ts';

const MINUTE = 60_000;
const FLIGHT = item('Which flight?', 'One of: LH 1173, TP 570');

const start = (env: Record<string, string> = {}) =>
	settingsApp({
		env: { ...FEWEST_REQUESTS, REMIND_AFTER: '40s', UNDO_SECONDS: '0', ...env },
		escalates: '5 min',
	});
const it = withApp(start);

/** A question, its post and its reminder. */
async function reminded(app: SettingsApp, items: Parameters<SettingsApp['ask']>[1] = ['Which colour?']) {
	const id = await app.watched();
	const index = app.ask(id, items, '');
	const post = await app.until(() => app.thread(id)[0]);
	const reminder = await app.threadSays(id, REMINDER);
	return { id, index, post, reminder };
}

const says = (app: SettingsApp, post: Posted, words: string | RegExp) =>
	app.until(
		() => saysIn(post.text(), words),
		() => `waited for "${words}" and got:\n${post.text()}`,
	);

describe('a reminder', () => {
	it('loses its button when the question is answered, and says who answered', async ({ app }) => {
		const { id, post, reminder } = await reminded(app);
		expect(reminder.buttons()).toEqual(['Answer']);
		await reminder.press('Answer');
		const form = await app.slack.as('ada').waitForModal('Which colour?');
		await form.fill(0, 'red');
		await form.submit();
		await says(app, reminder, / · ada: red · continued$/);
		expect(openButtons(reminder)).toEqual([]);
		expect(reminder.text()).toMatch(/^⏰ Order \d+ chairs · /);
		expect(reminder.text()).not.toMatch(REMINDER);
		expect(reminder.text().split('\n')).toHaveLength(1);
		await app.pass(MINUTE);
		// Sending, delivered, with the value, the agent went on; the post says before who is answering.
		expect(reminder.editHistory().length).toBeLessThanOrEqual(4);
		expect(post.editHistory().length).toBeLessThanOrEqual(5);
		expect(app.thread(id)).toHaveLength(2);
	});

	it('says that the agent asks something else, that it ended without an answer, or that it is not watched any more', async ({
		app,
	}) => {
		const [changed, closed, unwatched] = [await reminded(app), await reminded(app), await reminded(app)];
		const messages = structuredClone(app.service.sessions.get(changed.id).messages ?? []);
		messages[changed.index] = asking('', ['Which size?']);
		app.service.sessions.patch(changed.id, { messages });
		await says(app, changed.reminder, 'The agent asks something else now');
		app.service.sessions.setStatus(closed.id, 'completed');
		await says(app, closed.reminder, 'The session is done');
		await app.command(`/session unwatch ${unwatched.id}`);
		await says(app, unwatched.reminder, SETTLED_WORDS.unwatched);
		for (const { reminder } of [changed, closed, unwatched]) {
			expect(openButtons(reminder)).toEqual([]);
			expect(reminder.text()).not.toMatch(REMINDER);
		}
		const next = await app.until(() =>
			app.thread(changed.id).findLast((post) => new RegExp(`(?:${REMINDER.source})[^]*Which size`).test(post.text())),
		);
		expect(next.buttons()).toEqual(['Answer']);
	});

	it('opens the question after it has moved in the session', async ({ app }) => {
		const { id, reminder } = await reminded(app);
		const messages = app.service.sessions.get(id).messages ?? [];
		const before = reminder.editHistory().length;
		app.service.sessions.patch(id, { messages: [{ role: 'system', content: 'A summary' }, ...messages] });
		await app.until(() => reminder.editHistory().length > before);
		expect(await reminder.press('Answer')).toBe(true);
		const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
		expect(form.fields()[0]?.label).toBe('Which colour?');
		await app.threadSays(id, answering('ada'));
	});

	it('that somebody deleted keeps nothing from being settled', async ({ app }) => {
		await app.save({ Mention: ['grace'] });
		const { id, post, reminder } = await reminded(app);
		const escalation = await app.threadSays(id, ESCALATION);
		reminder.remove();
		app.service.sessions.answerAsPage(id, ['red']);
		await says(app, escalation, OUTSIDE);
		expect(openButtons(escalation)).toEqual([]);
		// Each message is updated by itself.
		await app.until(() => openButtons(post)?.length === 0);
		expect(app.inChannel().some((one) => REMINDER.test(one.text()))).toBe(false);
	});
});

it('an escalation mentions nobody again when it is drawn again or settled', async () => {
	const app = await forCase(start({ UNDO_SECONDS: '30' }));
	await app.save({ Mention: ['grace'] });
	await app.told(1);
	const { id, post } = await reminded(app, [FLIGHT]);
	const escalation = await app.until(
		() => app.thread(id).find((one) => ESCALATION.test(one.text())),
		undefined,
		10 * MINUTE,
	);
	expect(escalation.rung()).toEqual(['grace']);
	const mentions = () => JSON.stringify([escalation.text(), escalation.blocks()]).match(/@grace|<@U0GRACE>/g);
	expect(mentions()).not.toBeNull();
	await app.choose(post, 'LH 1173');
	await says(app, escalation, / · ada: LH 1173$/);
	await post.press('Undo');
	await says(app, escalation, reminderOf('escalation', null));
	expect(mentions()).toBeNull();
	app.service.sessions.answerAsPage(id, ['TP 570']);
	await says(app, escalation, OUTSIDE);
	expect(escalation.text()).toMatch(/^📣 /);
	expect(escalation.text()).not.toMatch(ESCALATION);
	expect(mentions()).toBeNull();
	expect(openButtons(escalation)).toEqual([]);
});

describe('a reminder of a question that was handed over', () => {
	async function handOver(app: SettingsApp, post: Posted, to: string) {
		await post.press('Hand over');
		const modal = await app.slack.as('ada').waitForModal('Hand over to');
		await modal.choose('Hand over to', to);
		expect((await app.submit(modal)).outcome).toBe('updated');
	}

	it('says who has it, and mentions nobody but whom the settings name', async ({ app }) => {
		await app.save({ Mention: ['ada'] });
		const id = await app.watched();
		app.ask(id, ['Which colour?']);
		const post = await app.threadSays(id, 'Which colour?');
		await handOver(app, post, 'grace');
		const dm = await app.until(() => app.slack.as('grace').dm().at(-1));
		const reminder = await app.threadSays(id, REMINDER);
		expect(reminder.text()).toContain('grace has it (from ada)');
		const escalation = await app.threadSays(id, ESCALATION);
		expect(escalation.text()).toContain('grace has it (from ada)');
		expect([...reminder.rung(), ...escalation.rung()]).toEqual(['ada']);
		await dm.press('Give back');
		await app.until(() => !reminder.text().includes('has it') && !escalation.text().includes('has it'));
	});

	it('says so in a list, also after a restart', async () => {
		const app = await forCase(start({ REMIND_AFTER: '3m' }));
		const ids = [await app.watched(), await app.watched()];
		for (const id of ids) app.ask(id, ['Which colour?']);
		for (const id of ids) await app.threadSays(id, 'Which colour?');
		const [post] = app.thread(ids[0] ?? '');
		if (post === undefined) throw new Error('there is no post');
		await handOver(app, post, 'grace');
		await app.restart();
		const list = await app.until(() => app.inChannel().find((one) => one.text().includes(WAIT)));
		expect(list.text().match(/grace has it/g)).toHaveLength(1);
		expect(list.rung()).toEqual([]);
	});
});
