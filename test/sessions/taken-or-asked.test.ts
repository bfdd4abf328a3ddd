import { GONE_ON } from '../../src/screens/form.ts';
import { OUTSIDE, SETTLED_WORDS } from '../../src/screens/question-post.ts';
import {
	describe,
	done,
	expect,
	headline,
	line,
	openButtons,
	openSession,
	REMINDER,
	type WatchingApp,
	withApp,
} from '../kit.ts';
import { asked as askedSo, emptyNewest, playedApp, postsOf, step } from './played-agent.ts';

const MINUTE_MS = 60_000;
const it = withApp(() => playedApp('3m'));

const FLIGHTS = [{ title: 'Which flight?', description: 'One of: LH 1173, TP 570', value: '' }];

/** The agent of a watched session asks. */
const asked = (app: WatchingApp, status?: string) => askedSo(app, status, FLIGHTS);

/** Ada answers in one press, and the service has it. */
async function delivered(app: WatchingApp, { id, post }: Awaited<ReturnType<typeof asked>>) {
	await post.press('LH 1173');
	await app.until(() => app.service.log.savedPuts(id).length === 1);
}

describe('an agent that takes the answer and empties the field', () => {
	it('is not asked for again, on a post, by a reminder or in a form', async ({ app }) => {
		const question = await asked(app);
		const { id, post } = question;
		const open = await openSession(app, id, 'grace');
		await delivered(app, question);
		app.service.sessions.setStatus(id, 'active');
		emptyNewest(app, id);
		step(app, id);
		await app.until(() => post.text().includes('· continued'));
		step(app, id, 2);
		await app.pass(6 * MINUTE_MS);
		expect(postsOf(app, id).map(({ ts }) => ts)).toEqual([post.ts]);
		expect(app.thread(id).some((one) => REMINDER.test(one.text()))).toBe(false);
		// Her window has named Ada since, and her answer is not sent.
		expect(open.text()).toContain('@ada has answered');
		await open.choose(0, 'TP 570');
		await open.submit();
		await app.until(() => open.text().includes(headline('conflicted')));
		await open.close();
		await app.slack.as('grace').command('#agents', `/session ${id}`);
		const form = await app.slack.as('grace').waitForModal((modal) => modal.text().includes('I book it.'));
		expect(form.submitText()).toBeNull();
		expect(form.text()).toContain('@ada answered its newest question');
		expect(app.service.log.savedPuts(id)).toHaveLength(1);
	});

	it('is not asked for a value from the dashboard again', async ({ app }) => {
		const { id, post } = await asked(app);
		app.service.sessions.answerAsPage(id, ['TP 570']);
		await app.until(() => post.text().includes(OUTSIDE));
		app.service.sessions.setStatus(id, 'active');
		emptyNewest(app, id);
		step(app, id);
		await app.pass(3 * MINUTE_MS);
		expect(postsOf(app, id)).toHaveLength(1);
	});

	it('does not bring an older question back when it drops the items of the newest', async ({ app }) => {
		const first = await asked(app);
		app.ask(first.id, [{ ...FLIGHTS[0], title: 'Which hotel?' }], 'Never mind the flight.');
		const post = await app.threadSays(first.id, 'Which hotel?');
		await delivered(app, { id: first.id, post });
		const messages = structuredClone(app.service.sessions.get(first.id).messages ?? []);
		delete messages.at(-1)?.human_input;
		app.service.sessions.patch(first.id, { status: 'active', messages: [...messages, done('Booked.')] });
		await app.until(() => post.text().includes('ada: LH 1173'));
		await app.pass(3 * MINUTE_MS);
		expect(postsOf(app, first.id)).toEqual([]);
		expect(openButtons(post)).toEqual([]);
	});
});

describe('an agent that puts back what it read before the answer', () => {
	it('is answered again once it has waited for a minute, and the author is told', async ({ app }) => {
		const question = await asked(app);
		const { id, post } = question;
		await delivered(app, question);
		emptyNewest(app, id);
		await app.until(() => post.text().includes('delivered'));
		await app.pass(30_000);
		expect(postsOf(app, id)).toHaveLength(1);
		const again = await app.until(() => postsOf(app, id).find(({ ts }) => ts !== post.ts));
		expect(again.text()).toContain("Asked again. Not in the field any more: ada's answer, LH 1173");
		await app.until(() =>
			app.slack
				.as('ada')
				.dm()
				.some((dm) => dm.text().includes(line('delivered', { agentOutcome: 'lost' }))),
		);
		expect([post.text(), ...post.editHistory()].join()).not.toContain('continued');
		await again.press('LH 1173');
		await app.until(() => app.service.log.savedPuts(id).length === 2);
		app.service.sessions.setStatus(id, 'active');
		step(app, id);
		await app.until(() => again.text().includes('· continued'));
	});
});

describe('an agent that works on', () => {
	it('closes its question quietly, which can still be answered', async ({ app }) => {
		const { id, post } = await asked(app);
		await app.pass(5_000);
		app.service.sessions.setStatus(id, 'active');
		step(app, id, 4);
		await app.until(() => post.text().includes(SETTLED_WORDS.wentOn));
		expect(post.buttons()).toEqual(['Answer anyway']);
		await app.pass(5 * MINUTE_MS);
		expect(app.thread(id).some((one) => REMINDER.test(one.text()))).toBe(false);
		await post.press('Answer anyway');
		const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
		expect(form.text()).toContain(GONE_ON);
		await form.close();
		app.service.sessions.setStatus(id, 'humanInput');
		await app.until(() => post.buttons().includes('LH 1173'));
		await app.threadSays(id, REMINDER);
		expect(
			postsOf(app, id)
				.filter(({ ts }) => ts !== post.ts && post.buttons().includes('LH 1173'))
				.every((one) => REMINDER.test(one.text())),
		).toBe(true);
		await post.press('LH 1173');
		await app.until(() => app.service.log.savedPuts(id).length === 1);
	});

	it('says how far it has gone on where it never waits visibly', async ({ app }) => {
		const { id, post } = await asked(app, 'active');
		step(app, id, 4);
		await app.until(() => post.text().includes('4 steps since'));
		await app.pass(2 * MINUTE_MS);
		expect(post.buttons()).toContain('LH 1173');
		const reminder = await app.threadSays(id, REMINDER);
		expect(reminder.text()).toContain('4 steps since');
	});

	it('has continued when it writes a message after the answer, and not before', async ({ app }) => {
		const question = await asked(app, 'active');
		const { id, post } = question;
		step(app, id, 2);
		await delivered(app, question);
		await app.pass(3 * MINUTE_MS);
		expect([post.text(), ...post.editHistory()].join()).not.toContain('· continued');
		step(app, id);
		await app.until(() => post.text().includes('· continued'));
	});
});
