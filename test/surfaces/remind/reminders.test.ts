import { OUTSIDE } from '../../../src/screens/question-post.ts';
import { heldWords } from '../../../src/screens/reminder.ts';
import {
	answering,
	describe,
	digestText,
	ESCALATION,
	expect,
	FEWEST_REQUESTS,
	forCase,
	item,
	type Json,
	openButtons,
	type Posted,
	REMINDER,
	type SettingsApp,
	says,
	settingsApp,
	settledDigestText,
	USUAL_REQUESTS,
	WAIT,
	withApp,
} from '../../kit.ts';

const MINUTE = 60_000;

const start = (env: Record<string, string> = {}) =>
	settingsApp({
		env: { ...FEWEST_REQUESTS, REMIND_AFTER: '40s', UNDO_SECONDS: '0', ...env },
		escalates: '5 min',
	});
const it = withApp(start);

/** The posts of a thread or channel that remind. */
const reminders = (posts: readonly Posted[]) =>
	posts.filter((post) => [REMINDER, ESCALATION].some((words) => words.test(post.text())));

/** What is crossed out, line by line. */
function crossedOut(shown: unknown): string[] {
	if (typeof shown !== 'object' || shown === null) return [];
	const { text, style }: { text?: unknown; style?: { strike?: boolean } } = shown;
	return style?.strike === true ? [String(text)] : Object.values(shown).flatMap(crossedOut);
}
/** The messages outside of threads that remind of several questions. */
const digests = (app: SettingsApp) => app.inChannel().filter((post) => post.text().includes(WAIT));

async function asked(app: SettingsApp, title = 'Which colour?'): Promise<string> {
	const id = await app.watched();
	app.ask(id, [title]);
	await app.threadSays(id, title);
	return id;
}

describe('a question that nobody answers', () => {
	it('is reminded of in the channel, then escalates at most three times, unlike one that was answered', async ({
		app,
	}) => {
		await app.save({ Mention: ['grace'] });
		const answered = await asked(app, 'Which size?');
		app.service.sessions.answerAsPage(answered, ['large']);
		const id = await asked(app);
		const askedAt = app.clock.now();
		const reminder = await app.threadSays(id, REMINDER);
		expect(app.clock.now() - askedAt).toBeGreaterThanOrEqual(38_000);
		expect(app.clock.now() - askedAt).toBeLessThan(70_000);
		expect(reminder.text()).toMatch(/^⏰ Order \d+ chairs has asked for \d+ s: Which colour\?$/m);
		expect(reminder.threadTs()).toBeNull();
		const post = await app.threadSays(id, / asks$/m);
		expect(JSON.stringify(reminder.blocks())).toContain(`p${post.ts.replace('.', '')}|Go to question>`);
		expect(reminder.buttons()).toEqual(['Answer']);
		await app.threadSays(id, ESCALATION);
		expect(app.clock.now() - askedAt).toBeLessThan(6 * MINUTE);
		await app.pass(16 * MINUTE);
		expect(reminders(app.thread(id))).toHaveLength(4);
		expect(reminders(app.inChannel())).toHaveLength(4);
		const isLast = reminders(app.thread(id)).map((one) => one.text().includes('last reminder'));
		expect(isLast).toEqual([false, false, false, true]);
		expect(reminders(app.thread(answered))).toEqual([]);
	});

	it('of a session whose questions stay in their threads is not told in the channel by its escalation', async ({
		app,
	}) => {
		await app.save({ Mention: ['grace'] });
		const id = await app.watched({}, { questionsInThread: true });
		app.ask(id, ['Which colour?']);
		const reminder = await app.threadSays(id, REMINDER);
		expect(reminder.text()).toContain('Which colour?');
		expect(reminder.threadTs()).toBe(app.card(id)?.ts);
		const escalation = await app.threadSays(id, ESCALATION);
		expect(escalation.threadTs()).toBeNull();
		expect(escalation.text()).toMatch(/^@grace\n📣 Order \d+ chairs has asked for [^:\n]*$/m);
		const telling = app.inChannel().filter((post) => post.text().includes('Which colour?'));
		expect(telling.map(({ ts }) => ts)).toEqual([app.card(id)?.ts]);
	});
});

describe('questions of a channel that are due together', () => {
	/** Two sessions that ask at the same time. */
	async function bothAsk(app: SettingsApp): Promise<[string, string]> {
		const first = await app.watched();
		const second = await app.watched();
		app.ask(first, ['Which colour?']);
		app.ask(second, ['Which size?']);
		await app.threadSays(first, 'Which colour?');
		await app.threadSays(second, 'Which size?');
		return [first, second];
	}

	it('are one message in the channel that names each, is answered there and kept current', async ({ app }) => {
		const [first, second] = await bothAsk(app);
		await app.until(() => digests(app).length > 0);
		const [together] = digests(app);
		expect(together?.text()).toContain(`${digestText(2)}:`);
		expect(together?.text()).toContain('Which colour?');
		expect(together?.text()).toContain('Which size?');
		await app.pass(MINUTE);
		expect([...reminders(app.thread(first)), ...reminders(app.thread(second))]).toEqual([]);
		expect(digests(app)).toHaveLength(1);
		expect(together?.editHistory()).toEqual([]);
		expect(together?.buttons()).toEqual(['Answer', 'Answer']);
		const text = together?.text() ?? '';
		expect(text).toMatch(/^✋ Which size\? · Order 2 chairs$/m);
		await together?.press('Answer', Number(text.indexOf('Which colour?') > text.indexOf('Which size?')));
		const form = await app.slack.as('ada').waitForModal('Which colour?');
		await form.fill(0, 'red');
		await form.submit();
		await app.until(() => together?.text().includes(`${digestText(1)}:`));
		expect(together?.text()).toMatch(/^Which colour\? · Order 1 chairs · ada/m);
		expect(crossedOut(together?.blocks())).toEqual(['Which colour? · Order 1 chairs']);
		expect(together?.buttons()).toEqual(['Answer']);
		app.service.sessions.answerAsPage(second, ['large']);
		await app.until(() => together?.text().includes(`${settledDigestText(2)}:`));
		expect(together?.text().split('\n')).toHaveLength(3);
		expect(together?.text()).toMatch(new RegExp(`^Which size\\? · Order 2 chairs · ${OUTSIDE}`, 'm'));
		expect(crossedOut(together?.blocks()).toSorted()).toEqual([
			'Which colour? · Order 1 chairs',
			'Which size? · Order 2 chairs',
		]);
		expect(together?.notification()).toBe(`${settledDigestText(2)}.`);
		expect(openButtons(together)).toEqual([]);
	});

	it('are named by what is open of them, and with the ids of sessions that have the same name', async ({ app }) => {
		const ids = [await app.watched({ name: 'Chairs' }), await app.watched({ name: 'Chairs' })];
		const items = [{ title: 'Your password', value: 'known' }, 'Which colour?', 'Which size?'];
		for (const id of ids) app.ask(id, items);
		const together = await app.until(() => digests(app)[0]);
		expect(together.text()).toContain(`${digestText(2)}:`);
		const shown = JSON.stringify(together.blocks());
		expect(shown).not.toContain('assword');
		for (const id of ids) {
			expect(together.text()).toContain(`Which colour? and 1 more · Chairs · ${id}\n`);
			expect(shown).toContain(`"accessibility_label":"Answer: Which colour? and 1 more, session ${id}"`);
		}
	});
});

it('a reminder of two, of which one is answered on its way, and that is taken back, shows the other; the one comes alone', async () => {
	const app = await forCase(start({ UNDO_SECONDS: '40' }));
	const [id, other] = [await app.watched(), await app.watched()];
	app.ask(other, ['Which colour?']);
	app.ask(id, [item('Which flight?', 'One of: LH 1173, TP 570')]);
	const post = await app.threadSays(id, 'Which flight?');
	let isLimited = false;
	const when = (args: Json) => {
		isLimited ||= says(JSON.stringify(args), WAIT);
		return isLimited;
	};
	app.slack.faults.add({ method: 'chat.postMessage', when, times: 1, status: 429, retryAfter: 10 });
	await app.until(() => isLimited);
	await app.choose(post, 'LH 1173');
	const first = await app.threadSays(other, REMINDER);
	await post.press('Undo');
	await app.threadSays(id, REMINDER);
	await app.pass(2 * MINUTE);
	expect(reminders(app.thread(id))).toHaveLength(1);
	expect(reminders(app.thread(other)).map(({ ts }) => ts)).toEqual([first.ts]);
	expect(first.text()).not.toContain('Which flight?');
	const metrics = await fetch(`${app.url}/metrics`).then((response) => response.text());
	expect(metrics).toContain('handraise_reminders_total{stage="reminder"} 2\n');
	expect(metrics).toContain('handraise_reminder_late_seconds_count 2\n');
});

describe('a question that somebody is answering', () => {
	it('is not reminded of for that time, and then with the name, also after a restart', async ({ app }) => {
		const id = await asked(app);
		await app.thread(id)[0]?.press('Answer…');
		await app.slack.as('ada').waitForModal('Which colour?');
		await app.threadSays(id, answering('ada'));
		await app.pass(2 * MINUTE);
		expect(reminders(app.thread(id))).toEqual([]);
		await app.restart();
		const reminder = await app.until(() => reminders(app.thread(id))[0], undefined, 10 * MINUTE);
		expect(reminder.text()).toContain(heldWords('ada', { displayName: () => 'ada' }));
	});
});

it('the text of a reminder tells nothing of a question in a channel that watches discreetly, or that looks secret', async ({
	app,
}) => {
	const id = await app.watched({}, { discreet: true });
	app.ask(id, ['Which colour?']);
	const reminder = await app.threadSays(id, REMINDER);
	expect(JSON.stringify(reminder.blocks())).not.toContain('Which colour?');
	expect(reminder.text()).toMatch(/^⏰ Order \d+ chairs has asked for [^:\n]*$/m);
	const { text } = app.slack.state.messages.find(({ ts }) => ts === reminder.ts) ?? {};
	expect(text).toMatch(/^⏰ An agent has asked for \d+ s$/);
	const secret = await app.watched();
	app.ask(secret, ['What is the SMS code?']);
	expect(JSON.stringify((await app.threadSays(secret, REMINDER)).blocks())).not.toContain('SMS code');
});

it('the notification of a reminder, and its button, tell no text that may ask for what is secret', async ({ app }) => {
	const id = await app.watched();
	app.ask(id, [{ title: 'Your password', value: 'known' }, ''], 'Type the password of the shop.');
	const reminder = await app.threadSays(id, REMINDER);
	const { text } = app.slack.state.messages.find(({ ts }) => ts === reminder.ts) ?? {};
	expect(text).toMatch(/^⏰ An agent has asked for \d+ s$/);
	expect(JSON.stringify(reminder.blocks())).not.toContain('of the shop');
});

describe('reminders while Slack is away', () => {
	it('does not mention whom the settings do not name any more', async () => {
		const app = await forCase(start({ REMIND_AFTER: 'off' }));
		await app.save({ Mention: ['grace'] });
		await app.told(1);
		const id = await asked(app);
		let isLimited = false;
		const when = (args: Json) => {
			const isReminder = ESCALATION.test(JSON.stringify(args));
			isLimited ||= isReminder;
			return isReminder;
		};
		const lift = app.slack.faults.add({ method: 'chat.postMessage', when, status: 503 });
		await app.until(() => isLimited, undefined, 10 * MINUTE);
		await app.save({ 'Escalate after': 'Off', Mention: [] });
		await app.told(2);
		lift();
		await app.pass(7 * MINUTE);
		const posts = reminders(app.thread(id));
		expect(posts.flatMap((post) => post.rung())).toEqual([]);
	});
});

it('an escalation whose thread was deleted stays in the channel, because it would mention people twice', async () => {
	const app = await forCase(start({ REMIND_AFTER: 'off' }));
	await app.save({ Mention: ['grace'] });
	await app.told(1);
	const id = await asked(app);
	app.thread(id)[0]?.remove();
	app.card(id)?.remove();
	const from = app.now();
	const escalations = () =>
		app.calls('chat.postMessage', from).filter(({ request }) => ESCALATION.test(JSON.stringify(request)));
	await app.until(() => escalations().length > 0, undefined, 10 * MINUTE);
	await app.pass(15_000);
	expect(escalations()).toHaveLength(1);
	expect(reminders(app.inChannel())).toHaveLength(1);
});

/** The texts in threads or outside of them that begin so. To look at each thread would take long for so many. */
function texts(app: SettingsApp, words: string, { inThread }: { inThread: boolean }): string[] {
	const messages = app.slack.state.messages.filter(({ threadTs }) => (threadTs !== undefined) === inThread);
	return messages.map(({ text }) => text).filter((text) => text.startsWith(words));
}

it('reminders that were due while the program was stopped are one message, also when their reads take longer than 20 s', async () => {
	const app = await forCase(start({ ...USUAL_REQUESTS, REMIND_AFTER: '20m' }));
	const ids = Array.from({ length: 20 }, () => app.session());
	await app.command(`/session watch ${ids.join(' ')}`);
	await app.until(() => ids.every((id) => app.service.log.reads(id).length > 1));
	for (const id of ids) app.ask(id, ['Which colour?']);
	const questions = () => app.inChannel().filter((message) => /^✋ .* asks$/m.test(message.text()));
	await app.until(() => questions().length === 20);
	await app.pass(2_000);
	await app.stop();
	await app.clock.advance(30 * MINUTE);
	await app.restart({ SESSION_SERVICE_RPM: '60' });
	const restartedAt = app.clock.now();
	await app.until(() => texts(app, '⏰', { inThread: false }).length > 0);
	expect(app.clock.now() - restartedAt).toBeGreaterThan(20_000);
	await app.pass(3 * MINUTE);
	expect(texts(app, '⏰', { inThread: false })).toEqual([`${digestText(20)}.`]);
	expect(texts(app, '⏰', { inThread: true })).toEqual([]);
});
