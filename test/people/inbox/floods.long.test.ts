import { MOST_IN_WINDOW } from '../../../src/domain/hand-over.ts';
import { notGivenBackWords, tooManyHandOversText } from '../../../src/screens/hand-over.ts';
import { waitingCountWords } from '../../../src/screens/inbox.ts';
import {
	describe,
	expect,
	FLIGHT,
	forCase,
	handOverApp,
	type InboxApp,
	inboxApp,
	it,
	said,
	sampleWorkspace,
	whatHappened,
	withMembers,
} from '../../kit.ts';

/** The program's default limits for one person. */
const PEOPLE = { personReads: { burst: 20, perMinute: 20 } };
/** With these, twelve presses are too many. */
const SLOW_PEOPLE = { personReads: { burst: 4, perMinute: 4 } };

/** What tells of a press that was not stored. */
const NOT_STORED: Readonly<Record<string, string>> = {
	'TP 570': 'Your choice, TP 570',
	'LH 1173': 'Your choice, LH 1173',
	'Give back': said(notGivenBackWords('')),
};

/** Grace's Home shows a question in which an option was pressed in the channel since, and does not change any more. */
async function takenInOldHome(options: Parameters<typeof inboxApp>[0]) {
	const app = await forCase(inboxApp(options));
	const [id = ''] = await app.askedIn('#agents', ['Flight'], [FLIGHT]);
	await app.openHome('grace');
	await app.homeSays('Which flight?', { who: 'grace' });
	app.slack.faults.add({ method: 'views.publish', error: 'internal_error' });
	await app.pass(1_000);
	const post = app.thread(id).findLast((one) => one.buttons().includes('LH 1173'));
	await post?.press('LH 1173');
	await app.until(() => app.service.log.effectivePuts(id).length === 1);
	return app;
}

/** Bob has a question in Home that ada handed over to him, and has just pressed too often. Slack's limits are on. */
async function bobIsTooFast() {
	const app = await forCase(handOverApp({}, { realRates: true, limits: SLOW_PEOPLE }));
	const { post } = await app.asked();
	await app.handOver(post, 'ada', 'bob');
	await app.handedTo('bob');
	await app.openHome('bob');
	await app.homeSays('Which flight?', { who: 'bob' });
	await app.pass(40_000);
	for (let press = 0; press < 12; press++) await app.slack.as('bob').openApp('home');
	await app.pass(500);
	return app;
}

describe('while one person presses on and on', () => {
	const snooze = async (app: InboxApp) => {
		if (app.home('ada').buttons().includes('Show now')) await app.home('ada').press('Show now');
		else await app.home('ada').press('Snooze for 1 h');
	};
	const chooseOrUndo = async (app: InboxApp) => {
		await app.home('ada').press(app.home('ada').buttons().includes('Undo') ? 'Undo' : 'LH 1173');
	};

	it.each([
		['Snooze and Show now', snooze],
		['an option and Undo', chooseOrUndo],
	])('shows others a new question within 8 s, with Slack’s limits and all presses allowed: %s', async (_, press) => {
		const others = Array.from({ length: 10 }, (_, index) => `other${index}`);
		const app = await forCase(
			inboxApp({
				realRates: true,
				env: { SESSION_SERVICE_RPM: '250' },
				limits: { personReads: { burst: 1_000, perMinute: 1_000 } },
				slack: { workspace: withMembers(sampleWorkspace(), 'agents', others) },
			}),
		);
		const [, late = ''] = await app.askedIn('#agents', ['Chairs', 'Tables'], [FLIGHT]);
		app.service.sessions.answerAsPage(late, ['red']);
		app.service.sessions.setStatus(late, 'active');
		for (const who of [...others, 'ada']) await app.openHome(who);
		await app.homeSays(waitingCountWords(1, 0));
		let askedAt = 0;
		const seenAt = new Map<string, number>();
		for (let count = 0; count < 80 && seenAt.size < others.length; count++) {
			if (count === 40) {
				app.ask(late, ['Which size?']);
				await app.until(() => app.thread(late).at(-1)?.text().includes('Which size?'));
				askedAt = app.clock.now();
			}
			await press(app);
			await app.pass(500);
			const seeing = others.filter((who) => !seenAt.has(who) && app.textOf(who).includes('Which size?'));
			for (const who of seeing) seenAt.set(who, app.clock.now() - askedAt);
		}
		expect([...seenAt.keys()].toSorted()).toEqual(others);
		expect(Math.max(...seenAt.values())).toBeLessThanOrEqual(8_000);
	});

	it('asks Slack for their direct message once, however often they press an option that is taken', async () => {
		const app = await takenInOldHome({ realRates: true, env: { UNDO_SECONDS: '0' } });
		await app.pass(1_000);
		const from = app.now();
		for (let press = 0; press < 12; press++) await app.home('grace').press('TP 570');
		await app.until(() => app.slack.as('grace').dm().length > 0);
		await app.pass(20_000);
		expect(app.calls('conversations.open', from).length).toBeLessThanOrEqual(1);
		expect(app.slack.as('grace').dm()[0]?.text()).toContain('answered LH 1173 before you');
	});

	it('opens as many windows for one person as the rate of reads allows, whatever opens them', async () => {
		const app = await forCase(inboxApp({ limits: PEOPLE }));
		const id = app.session({ name: 'Chairs' });
		const ada = app.slack.as('ada');
		const from = app.now();
		for (let count = 0; count < 30; count++) {
			await ada.modal()?.close(true);
			await ada.command('#agents', count % 2 === 0 ? '/session inbox' : `/session ${id}`);
		}
		await app.until(() => app.log.filter((line) => /"what":"\/session"/.test(line)).length === 30);
		expect(app.calls('views.open', from)).toHaveLength(20);
		expect(ada.messages('#agents', { all: true }).at(-1)?.text()).toContain(whatHappened('too_fast'));
	});

	it('tells somebody who was too fast later that their option was taken', async () => {
		const app = await takenInOldHome({ env: { UNDO_SECONDS: '0' }, limits: SLOW_PEOPLE });
		for (let press = 0; press < 12; press++) await app.slack.as('grace').openApp('home');
		for (let press = 0; press < 5; press++) await app.home('grace').press('TP 570');
		await app.until(() => app.slack.as('grace').dm(whatHappened('too_fast')).length > 0);
		await app.pass(60_000);
		expect(app.slack.as('grace').dm('TP 570')).toHaveLength(1);
	});

	it('tells somebody who was too fast that their presses were not stored, as fast as Slack takes it', async () => {
		const app = await bobIsTooFast();
		app.slack.faults.add({ method: 'users.info', error: 'internal_error' });
		const from = app.now();
		const labels = Object.keys(NOT_STORED);
		const toldOf = (label: string) =>
			app
				.dms('bob')
				.filter((dm) =>
					[whatHappened('could_not_check'), NOT_STORED[label] ?? ''].every((one) => dm.text().includes(one)),
				).length;
		const acknowledged = await Promise.all(
			Array.from({ length: 45 }, (_, press) => app.home('bob').press(labels[press % 3] ?? '')),
		);
		expect(acknowledged).not.toContain(false);
		await app.until(() => labels.every((label) => toldOf(label) > 0));
		await app.pass(60_000);
		const messages = app.calls('chat.postMessage', from);
		expect(messages.length).toBeLessThanOrEqual(20);
		expect(messages.filter(({ status }) => status === 429).length).toBeLessThanOrEqual(2);
		const before = toldOf('TP 570');
		await app.home('bob').press('TP 570');
		await app.until(() => toldOf('TP 570') === before + 1);
	});

	it('stops within 8 s while Slack takes no message', async () => {
		const app = await bobIsTooFast();
		app.slack.faults.add({ method: 'users.info', error: 'internal_error' });
		app.slack.faults.rateLimit('chat.postMessage', { retryAfter: 3_600 });
		const from = app.now();
		await Promise.all(Object.keys(NOT_STORED).map((label) => app.home('bob').press(label)));
		await app.until(() => app.calls('chat.postMessage', from).length > 0);
		const stoppingAt = app.clock.now();
		let isStopped = false;
		void app.stop().then(() => {
			isStopped = true;
		});
		await app.until(() => isStopped);
		expect(app.clock.now() - stoppingAt).toBeLessThanOrEqual(8_000);
	});

	it('tells somebody who was too fast that their Undo came too late', async () => {
		const app = await forCase(inboxApp({ env: { UNDO_SECONDS: '10' }, limits: SLOW_PEOPLE }));
		const [id = ''] = await app.askedIn('#agents', ['Flight'], [FLIGHT]);
		await app.openHome('grace');
		await app.homeSays('Which flight?', { who: 'grace' });
		await app.home('grace').press('LH 1173');
		await app.homeSays('Undo', { who: 'grace' });
		app.slack.faults.add({ method: 'views.publish', error: 'internal_error' });
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		for (let press = 0; press < 12; press++) await app.slack.as('grace').openApp('home');
		await app.home('grace').press('Undo');
		await app.until(() => app.slack.as('grace').dm('Too late to undo').length > 0);
	});

	it('refuses an eleventh question of one person in ten minutes, and says so in the window', async () => {
		const app = await forCase(handOverApp({}, { limits: { personReads: { burst: 100 } } }));
		const people = ['bob', 'cleo', 'dan', 'tess'];
		const names = Array.from({ length: MOST_IN_WINDOW.from + 1 }, (_, at) => `Flight ${at}`);
		const ids = await app.askedIn('#agents', names, [FLIGHT]);
		const postOf = (id: string) => app.thread(id).find((one) => one.buttons().includes('Hand over'));
		const [post, ...posts] = ids.flatMap((id) => postOf(id) ?? []);
		if (post === undefined) throw new Error('there is no post');
		expect(posts).toHaveLength(MOST_IN_WINDOW.from);
		for (const [at, one] of posts.entries()) {
			const to = people[at % people.length] ?? '';
			expect((await app.handOver(one, 'ada', to)).outcome).toBe('updated');
		}
		const { errors } = await app.handOver(post, 'ada', 'bob');
		const [words = ''] = Object.values(errors);
		const againInMs = Number(/(\d+) min\.$/.exec(words)?.[1]) * 60_000;
		expect(againInMs).toBeLessThanOrEqual(10 * 60_000);
		expect(words).toBe(
			tooManyHandOversText({ kind: 'tooMany', who: 'from', againInMs }, 'U0BOB', { displayName: () => 'bob' }),
		);
	});
});
