import { OUTSIDE, SETTLED_WORDS } from '../../../src/screens/question-post.ts';
import { heldWords } from '../../../src/screens/reminder.ts';
import {
	answering,
	asking,
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

	it('is reminded of in time after the post that people see, when Slack was away before', async ({ app }) => {
		const id = await app.watched();
		app.slack.faults.add({ method: 'conversations.replies', error: 'missing_scope' });
		app.slack.faults.add({ method: 'conversations.history', error: 'missing_scope' });
		const lift = app.slack.faults.add({ method: 'chat.postMessage', status: 503 });
		app.ask(id, ['Which colour?']);
		await app.pass(3 * MINUTE);
		lift();
		await app.threadSays(id, 'Which colour?');
		const postedAt = app.clock.now();
		const reminder = await app.threadSays(id, REMINDER);
		expect(app.clock.now() - postedAt).toBeGreaterThanOrEqual(38_000);
		expect(reminder.text()).not.toMatch(/\d min/);
	});

	it('is not reminded of while the service is away, and once when it is back', async ({ app }) => {
		const id = await asked(app);
		app.service.faults.add({ kind: 'error', status: 503, method: 'GET' });
		await app.pass(2 * MINUTE);
		expect(reminders(app.thread(id))).toEqual([]);
		app.service.faults.clear();
		await app.threadSays(id, REMINDER);
		await app.pass(2 * MINUTE);
		expect(reminders(app.thread(id))).toHaveLength(1);
	});
});

it('reminders that stay in threads are posted there, each by itself', async ({ app }) => {
	const ids = [await app.watched({}, { questionsInThread: true }), await app.watched()];
	for (const id of ids) app.ask(id, ['Which colour?']);
	for (const id of ids) await app.threadSays(id, 'Which colour?');
	for (const id of ids) expect((await app.threadSays(id, REMINDER)).threadTs()).toBe(app.card(id)?.ts);
	await app.pass(MINUTE);
	expect([...digests(app), ...reminders(app.inChannel())]).toEqual([]);
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
		expect(openButtons(together)).toEqual([]);
	});

	it('are counted as questions, not as fields, and each line ends as its question ended', async () => {
		const app = await forCase(start({ ...USUAL_REQUESTS, REMIND_AFTER: '3m' }));
		const ids: string[] = [];
		for (const name of ['Asked', 'By page', 'Changed', 'Done', 'Failed', 'Stopped', 'Left'])
			ids.push(await app.watched({ name }));
		const indexes = ids.map((id) => app.ask(id, ['Which colour?', 'Which size?', 'Which wood?']));
		for (const id of ids) await app.threadSays(id, 'Which colour?');
		// So that all are due at once.
		app.service.faults.add({ kind: 'error', status: 503, method: 'GET' });
		await app.pass(4 * MINUTE);
		app.service.faults.clear();
		const together = await app.until(() => digests(app)[0]);
		expect(together.text()).toContain(`${digestText(7)}:`);
		expect(together.text()).toMatch(/^✋ Which colour\? and 2 more · Left/m);
		expect(together.notification()).toBe(`${digestText(7)}.`);
		const [answered = '', byPage = '', changed = '', ...over] = ids;
		await app.thread(answered)[0]?.press('Answer…');
		const form = await app.slack.as('ada').waitForModal('Which colour?');
		for (const [at, value] of ['red', 'large', 'oak'].entries()) await form.fill(at, value);
		await form.submit();
		app.service.sessions.answerAsPage(byPage, ['red', 'large', 'oak']);
		const messages = structuredClone(app.service.sessions.get(changed).messages ?? []);
		messages[indexes[2] ?? 0] = asking('', ['Which room?']);
		app.service.sessions.patch(changed, { messages });
		for (const [at, status] of (['completed', 'failed', 'stopped'] as const).entries())
			app.service.sessions.setStatus(over[at] ?? '', status);
		await app.until(() => together.text().includes(`${digestText(1)}:`));
		await app.until(() => / Asked · .* · continued$/m.test(together.text()));
		await app.unwatchAll();
		await app.until(() => together.text().includes(SETTLED_WORDS.unwatched));
		await app.pass(MINUTE);
		const [headline, ...lines] = together.text().split('\n');
		expect(headline).toBe(`${settledDigestText(7)}:`);
		expect(together.notification()).toBe(`${settledDigestText(7)}.`);
		expect(lines.map((line) => line.replace(/^.*? and 2 more · ([^·]*) · /, '$1: ')).toSorted()).toEqual([
			'Asked: ada answered · continued',
			expect.stringMatching(`^By page: ${OUTSIDE}`),
			`Changed: ${SETTLED_WORDS.changed}`,
			'Done: The session is done',
			'Failed: The session failed',
			`Left: ${SETTLED_WORDS.unwatched}`,
			'Stopped: The session was stopped',
		]);
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

	it('are one message too when they were due while the service was away, and one is read late', async () => {
		const app = await forCase(start({ SESSION_SERVICE_TIMEOUT_MS: '15000' }));
		const [, second] = await bothAsk(app);
		app.service.faults.add({ kind: 'error', status: 503, method: 'GET' });
		await app.pass(4 * MINUTE);
		app.service.faults.clear();
		app.service.faults.add({ kind: 'slow', ms: 9_500, sessionId: second, method: 'GET' });
		await app.until(() => digests(app).length > 0);
		await app.pass(MINUTE);
		expect(reminders(app.inChannel())).toEqual([]);
		expect(digests(app)).toHaveLength(1);
	});

	it('leave out what was answered while the message waited for Slack', async ({ app }) => {
		const [first] = await bothAsk(app);
		let isLimited = false;
		const when = (args: Json) => {
			isLimited ||= JSON.stringify(args).includes(WAIT);
			return isLimited;
		};
		app.slack.faults.add({ method: 'chat.postMessage', when, status: 429, retryAfter: 20, times: 1 });
		await app.until(() => isLimited);
		app.service.sessions.answerAsPage(first, ['red']);
		const reminder = await app.until(() => app.inChannel().find((post) => says(post.text(), REMINDER)));
		expect(reminder.text()).not.toContain('Which colour?');
	});
});

describe('a reminder that was answered on its way, and the answer was taken back', () => {
	const UNDO_SECONDS = '40';

	const LIMITED = { status: 429, retryAfter: 10 };
	/** Slack gets nothing, and the app does not know it. */
	const CUT_OFF = { drop: true };

	/** Slack has not taken the reminder when this resolves; the person has pressed an option. */
	async function pressedMeanwhile(
		app: SettingsApp,
		saying: string | RegExp,
		fault: object = LIMITED,
		known: string | null = null,
	): Promise<{ id: string; undo: () => Promise<unknown> }> {
		const id = known ?? (await app.watched());
		app.ask(id, [item('Which flight?', 'One of: LH 1173, TP 570')]);
		const post = await app.threadSays(id, 'Which flight?');
		let isLimited = false;
		const when = (args: Json) => {
			isLimited ||= says(JSON.stringify(args), saying);
			return isLimited;
		};
		app.slack.faults.add({ method: 'chat.postMessage', when, times: 1, ...fault });
		await app.until(() => isLimited);
		await app.choose(post, 'LH 1173');
		return { id, undo: () => post.press('Undo') };
	}

	it.each([
		['limited it', LIMITED],
		['never got it', CUT_OFF],
	])('comes after that, once, when Slack %s', async (_, fault) => {
		const app = await forCase(start({ ...USUAL_REQUESTS, UNDO_SECONDS }));
		const { id, undo } = await pressedMeanwhile(app, REMINDER, fault);
		await app.pass(20_000);
		expect(reminders(app.thread(id))).toEqual([]);
		await undo();
		await app.threadSays(id, REMINDER);
		await app.pass(2 * MINUTE);
		expect(reminders(app.thread(id))).toHaveLength(1);
	});

	it('does not come when the answer stays', async () => {
		const app = await forCase(start({ UNDO_SECONDS }));
		const { id } = await pressedMeanwhile(app, REMINDER);
		await app.pass(4 * MINUTE);
		expect(reminders(app.thread(id))).toEqual([]);
	});

	it('comes alone when the message showed the others', async () => {
		const app = await forCase(start({ UNDO_SECONDS }));
		const [known, other] = [await app.watched(), await app.watched()];
		app.ask(other, ['Which colour?']);
		const { id, undo } = await pressedMeanwhile(app, WAIT, LIMITED, known);
		const first = await app.threadSays(other, REMINDER);
		await undo();
		await app.threadSays(id, REMINDER);
		await app.pass(2 * MINUTE);
		expect(reminders(app.thread(id))).toHaveLength(1);
		expect(reminders(app.thread(other)).map(({ ts }) => ts)).toEqual([first.ts]);
		expect(first.text()).not.toContain('Which flight?');
		const metrics = await fetch(`${app.url}/metrics`).then((response) => response.text());
		expect(metrics).toContain('handraise_reminders_total{stage="reminder"} 2\n');
		expect(metrics).toContain('handraise_reminder_late_seconds_count 2\n');
	});
});

it('a question whose delivered answer vanished is reminded of once, and its buttons take an answer again', async () => {
	// The session looks as before the answer: the agent does not go on.
	const service = { resumeAfterMs: 60 * MINUTE };
	const app = await forCase(settingsApp({ env: { REMIND_AFTER: '60s', UNDO_SECONDS: '0' }, service }));
	const id = await app.watched();
	const index = app.ask(id, [item('Which flight?', 'One of: LH 1173, TP 570')]);
	const post = await app.threadSays(id, 'Which flight?');
	await app.pass(5_000);
	const asking = structuredClone(app.service.sessions.get(id).messages ?? []);
	const lost = app.service.sessions
		.until(id, () => app.service.sessions.values(id, index)[0] === 'LH 1173')
		.then(() => app.service.sessions.patch(id, { messages: asking }));
	await post.press('LH 1173');
	await app.until(() => post.text().includes('ada: LH 1173 · '));
	await lost;
	const reminder = await app.threadSays(id, REMINDER);
	await reminder.press('Answer');
	const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
	await form.choose(0, 'TP 570');
	await form.submit();
	await app.until(() => app.service.sessions.values(id, index)[0] === 'TP 570');
	await app.pass(MINUTE);
	expect(app.thread(id).filter((one) => one.text().includes('⏰'))).toHaveLength(1);
});

describe('a question that somebody is answering', () => {
	it('is not reminded of for that time, and then with the name', async ({ app }) => {
		const id = await asked(app);
		const [post] = app.thread(id);
		await post?.press('Answer…');
		const ada = app.slack.as('ada');
		await app.until(() => ada.modal()?.text().includes('Which colour?'));
		await app.pass(2 * MINUTE);
		expect(reminders(app.thread(id))).toEqual([]);
		const reminder = await app.threadSays(id, REMINDER);
		expect(reminder.text()).toContain(heldWords('ada', { displayName: () => 'ada' }));
	});

	it('is reminded of with the name after a restart too', async ({ app }) => {
		const id = await asked(app);
		await app.thread(id)[0]?.press('Answer…');
		await app.slack.as('ada').waitForModal('Which colour?');
		await app.threadSays(id, answering('ada'));
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

it('reminders that are off are not posted, and a question that is answered soon makes one post', async () => {
	const app = await forCase(start({ REMIND_AFTER: 'off' }));
	const id = await asked(app);
	await app.pass(3 * MINUTE);
	app.service.sessions.answerAsPage(id, ['red']);
	await app.threadSays(id, OUTSIDE);
	await app.pass(3 * MINUTE);
	expect(app.thread(id)).toHaveLength(1);
});

const hhmm = (at: number) => new Date(at).toISOString().slice(11, 16);

describe('reminders while Slack is away', () => {
	it('does not post every missed reminder of a question at once when Slack is back', async ({ app }) => {
		const id = await asked(app);
		const lift = app.slack.faults.add({ method: 'chat.postMessage', status: 503 });
		await app.pass(5 * MINUTE);
		lift();
		await app.until(() => reminders(app.thread(id)).length > 0);
		await app.pass(30_000);
		const texts = reminders(app.thread(id)).map((post) => post.text().split('\n')[0]);
		expect(texts).toHaveLength(1);
	});

	it('does not post a reminder in quiet hours that began while Slack was away', async () => {
		const app = await forCase(start({ REMIND_AFTER: '1m' }));
		const now = app.clock.now();
		const { outcome } = await app.save({
			'Quiet hours': ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
			'Quiet hours from': hhmm(now + 4 * MINUTE),
			'Quiet hours to': hhmm(now + 9 * 60 * MINUTE),
			'Time zone': 'UTC',
		});
		expect(outcome).toBe('updated');
		await app.told(1);
		const id = await asked(app);
		const lift = app.slack.faults.add({ method: 'chat.postMessage', status: 503 });
		await app.until(() => app.clock.now() > now + 5 * MINUTE, undefined, 8 * MINUTE);
		lift();
		await app.pass(3 * MINUTE);
		const texts = reminders(app.thread(id)).map((post) => post.text().split('\n')[0]);
		expect(texts).toEqual([]);
	});

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
