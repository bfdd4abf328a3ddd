import { unwatchedWords } from '../../src/screens/watch.ts';
import { errorWords } from '../../src/slack/error-view.ts';
import { notificationText } from '../../src/slack/rich-text.ts';
import {
	describe,
	expect,
	forCase,
	it,
	type Modal,
	noSession,
	said,
	stale,
	vi,
	WATCHING,
	type WatchingApp,
	watchingApp,
	watchingSeveral,
	whatHappened,
	withApp,
} from '../kit.ts';
import { auditLines } from '../support/audit-lines.ts';

const RATES = { personReads: { burst: 20, perMinute: 20 } };

/** How many requests of people are handled. */
const handled = (log: readonly string[], from = 0) =>
	log.slice(from).filter((line) => JSON.parse(line).msg === 'handled').length;

const TOO_FAST = whatHappened('too_fast');

describe('one person who is too fast', () => {
	const it = withApp(() => watchingApp({ realRates: true, limits: RATES }));
	/** A session with a question and two pages of steps. */
	async function openLongSession(app: WatchingApp) {
		const id = app.session();
		app.ask(id);
		for (let n = 0; n < 12; n++) app.step(id, `Step ${n}`);
		const ada = app.slack.as('ada');
		await ada.command('#agents', `/session ${id}`);
		return { ada, id, modal: await ada.waitForModal('Which colour?') };
	}

	const pagesTurned = (app: WatchingApp) =>
		app.log.filter((line) => /"what":"session.(older|newer)"/.test(line)).length;
	/** Resolves when the window says so. */
	async function turnTooManyPages(app: WatchingApp, modal: Modal): Promise<void> {
		const before = pagesTurned(app);
		for (let n = 0; n < 60 && !modal.text().includes(TOO_FAST); n++) {
			await modal.press(n % 2 === 0 ? 'Older steps' : 'Newer steps');
			await app.until(() => pagesTurned(app) === before + n + 1);
		}
	}

	it('tells a person who is too fast before any call, and opens another person’s session', async ({ app }) => {
		const id = app.session({ name: 'Grace’s own' });
		const from = app.now();
		const reads = app.service.log.list().length;
		const ada = app.slack.as('ada');
		const flood = Array.from({ length: 200 }, () => ada.command('#agents', `/session ${id}`));
		const grace = app.slack.as('grace');
		await grace.command('#agents', `/session ${id}`);
		// Slack's clock stands still, so that the trigger does not expire on a slow machine.
		await vi.waitFor(() => expect(grace.modal()?.text()).toContain('Grace’s own'), { timeout: 30_000 });
		expect((await Promise.all(flood)).every(({ ok }) => ok)).toBe(true);
		const slow = () =>
			ada.messages('#agents', { all: true }).filter((message) => message.text().includes(TOO_FAST)).length;
		await vi.waitFor(() => expect(slow()).toBe(180), { timeout: 30_000 });
		expect(app.calls('views.open', from)).toHaveLength(21);
		expect(app.service.log.list().length - reads).toBeLessThanOrEqual(21);
		expect(app.calls('chat.postEphemeral', from)).toEqual([]);
		const told = ada.messages('#agents', { all: true }).findLast((message) => message.isEphemeral());
		const { text } = errorWords('too_fast', { kept: 'nothing', adminContact: null, retryAt: 1 });
		const [again] = notificationText(text).split('<!');
		expect(told?.text()).toMatch(new RegExp(`${again}09:00:\\d\\d UTC`));
		const metrics = await fetch(`${app.url}/metrics`).then((answer) => answer.text());
		expect(metrics).toContain('handraise_person_reads_total{outcome="tooFast"} 180');
	});

	it('limits history, files, screenshots and watching by the same rate, but not list and unwatch', async ({ app }) => {
		const id = await app.watched({ files: [{ filename: 'a.txt', signedUrl: 'https://files.example/a?x=1' }] });
		const ada = app.slack.as('ada');
		const before = app.log.length;
		for (let n = 0; n < 20; n++) await ada.command('#agents', `/session ${id}`);
		await app.until(() => handled(app.log, before) === 20);
		await ada.modal()?.close(true);
		const from = app.now();
		const files = await app.toldAfter(async () => app.card(id)?.press('Files (1)'));
		expect(files.text()).toContain(TOO_FAST);
		expect((await app.command(`/session history ${id}`)).text()).toContain(TOO_FAST);
		const notWatched = (await app.command(`/session watch ${id} another`)).text();
		expect(notWatched).toContain(TOO_FAST);
		expect(notWatched).toMatch(new RegExp(`\\nsession ${id} and 1 more$`));
		expect(app.calls('views.open', from)).toEqual([]);
		expect(app.calls('conversations.info', from)).toEqual([]);
		expect((await app.command('/session list')).text()).toContain('This channel watches');
		expect((await app.command(`/session unwatch ${id}`)).text()).toContain(
			said(unwatchedWords(id, String(app.service.sessions.get(id)?.name))),
		);
	});

	it('keeps the form and its text when Refresh comes too often, says so once, and still turns pages', async ({
		app,
	}) => {
		const { ada, modal } = await openLongSession(app);
		await modal.fill('Which colour?', 'Green as the old ones');
		const logged = app.log.length;
		const from = app.now();
		const isOnTop = () => ada.modal()?.id === modal.id;
		let presses = 0;
		for (; isOnTop() && !ada.modal()?.text().includes(TOO_FAST) && presses < 40; presses++) {
			await modal.press('Refresh');
			await app.until(() => handled(app.log, logged) === presses + 1);
		}
		expect(presses).toBe(20);
		expect(ada.modal()?.text()).toMatch(new RegExp(stale('too_fast').replace(TOO_FAST, '$&.*')));
		const told = app.calls('views.update', from).length;
		for (let n = 0; n < 5; n++) await modal.press('Refresh');
		await app.until(() => handled(app.log, logged) === 25);
		expect(app.calls('views.update', from)).toHaveLength(told);
		await modal.press('Older steps');
		await app.until(() => app.calls('views.update', from).length === told + 1);
		expect(modal.text()).toContain('Green as the old ones');
		expect(app.calls('chat.postEphemeral', from)).toEqual([]);
	});

	it('limits view updates without a read, so that the views of others are filled', async ({ app }) => {
		const { modal } = await openLongSession(app);
		const from = app.now();
		await turnTooManyPages(app, modal);
		const turned = app.calls('views.update', from).length;
		expect(turned).toBe(41);
		expect(modal.text()).toContain(TOO_FAST);
		const before = pagesTurned(app);
		for (let n = 0; n < 60; n++) await modal.press('Older steps');
		await app.until(() => pagesTurned(app) === before + 60);
		expect(app.calls('views.update', from).length - turned).toBeLessThanOrEqual(1);
	});

	it('tells somebody who turned too many pages that their session is not watched', async ({ app }) => {
		const { ada, id, modal } = await openLongSession(app);
		await turnTooManyPages(app, modal);
		app.service.sessions.setStatus(id, 'completed');
		await modal.press('Watch in this channel');
		const told = () => [...ada.dm(), ...ada.messages('#agents', { all: true })].map((message) => message.text());
		await app.until(() => told().some((text) => text.includes('there is nothing to watch')));
	});

	it.for(['ada', 'gus'])('limits replies to mentions of one person: %s', async (who, { app }) => {
		const from = app.now();
		const answers = () => app.calls('chat.postEphemeral', from).length;
		const handled = () => app.log.filter((line) => line.includes('"what":"app_mention"')).length;
		const before = handled();
		for (let n = 0; n < 120; n++) await app.slack.as(who).mention('#agents', `hello ${n}`);
		await app.until(() => handled() === before + 120);
		expect(answers()).toBe(41);
		expect(app.calls('conversations.open', from)).toEqual([]);
		const told = app.slack
			.as(who)
			.messages('#agents', { all: true })
			.findLast((message) => message.isEphemeral());
		expect(told?.text()).toContain(TOO_FAST);
	});

	it('limits help in the direct message', async () => {
		// Slack limits the replies.
		const app = await forCase(watchingApp({ realRates: true, limits: RATES, mayFail: true }));
		const from = app.now();
		const handled = () => app.log.filter((line) => line.includes('"what":"message"')).length;
		const before = handled();
		for (let n = 0; n < 120; n++) await app.slack.as('grace').say('@handraise', `hello ${n}`);
		await app.until(() => handled() === before + 120);
		expect(app.calls('chat.postMessage', from).length).toBeLessThanOrEqual(40 + 40);
		// The program does not end while replies wait for its clock.
		await app.pass(60_000);
	});

	it('does not limit after two typing errors, but allows only a few guessed ids', async ({ app }) => {
		const id = app.session();
		const ada = app.slack.as('ada');
		const logged = app.log.length;
		const opened = async (typed: string, words: string) => {
			await ada.command('#agents', `/session ${typed}`);
			await app.until(() => ada.modal()?.text().includes(words));
			await ada.modal()?.close(true);
		};
		await opened('slip1', whatHappened('session_not_found'));
		await opened('slip2', whatHappened('session_not_found'));
		for (let n = 0; n < 8; n++) await opened(id, 'chairs');
		// Until everybody has their full rate again.
		await app.pass(130_000);
		const tells = await app.command(`/session watch ${Array.from({ length: 20 }, (_, n) => `guess${n}`).join(' ')}`);
		const isUnknown = (n: number) => tells.text().includes(noSession(`guess${n}`));
		expect(Array.from({ length: 20 }, (_, n) => n).filter(isUnknown)).toEqual([0, 1, 2, 3]);
		expect(tells.text()).toMatch(new RegExp(`guess4 and 15 more were not read.*${TOO_FAST}`));
		expect(app.service.log.reads('guess3')).toHaveLength(1);
		expect(app.service.log.reads('guess4')).toHaveLength(0);
		const metrics = await fetch(`${app.url}/metrics`).then((answer) => answer.text());
		expect(metrics).toContain('handraise_unknown_sessions_total 6');
		const counted = app.log.slice(logged).filter((line) => line.includes('unknownInHour'));
		expect(counted.map((line) => JSON.parse(line).unknownInHour)).toEqual([1, 2, 3, 4, 5, 6]);
		// The next guess is allowed when the cost of those four is paid. Exact times: `pass` ends at the next wake.
		await app.clock.advance(4_000);
		expect((await app.command('/session watch guess9')).text()).toBe(noSession('guess9'));
		await app.clock.advance(12_000);
		expect((await app.command('/session watch guess10')).text()).toContain(TOO_FAST);
		await app.clock.advance(3_100);
		expect((await app.command('/session watch guess10')).text()).toBe(noSession('guess10'));
	});

	it('tells somebody whose Watch came too fast, in the direct message', async ({ app }) => {
		const { ada, modal } = await openLongSession(app);
		for (let n = 0; n < 4; n++) await app.command(`/session watch guess${n}`);
		const before = ada.dm().length;
		await modal.press('Watch in this channel');
		await app.until(() => ada.dm().length > before);
		expect(ada.dm().at(-1)?.text()).toContain(TOO_FAST);
	});

	it('tells somebody who presses too often once in 30 s, and replies to each of their commands', async ({ app }) => {
		const id = await app.watched({ files: [{ filename: 'a.txt', signedUrl: 'https://files.example/a?x=1' }] });
		const told = () => {
			const messages = app.slack.as('ada').messages('#agents', { all: true });
			return messages.filter((message) => message.text().includes(TOO_FAST)).length;
		};
		const before = told();
		const logged = app.log.length;
		let count = 0;
		const pressed = async (times: number) => {
			count += times;
			for (let n = 0; n < times; n++) await app.card(id)?.press('Files (1)');
			const handled = () => app.log.slice(logged).filter((line) => /"what":"card.files"/.test(line)).length;
			await app.until(() => handled() === count);
			return told() - before;
		};
		expect(await pressed(60)).toBe(1);
		const from = app.now();
		expect((await app.command(`/session history ${id}`)).text()).toContain('may be ignored');
		expect((await app.command(`/session history ${id}`)).text()).toContain(TOO_FAST);
		expect(app.calls('chat.postEphemeral', from)).toEqual([]);
		await app.pass(15_000);
		expect(await pressed(20)).toBe(3);
		await app.pass(15_000);
		expect(await pressed(20)).toBe(4);
	});
});

it('tells in the audit who saw what of a session, and of nobody who saw nothing', async () => {
	const app = await forCase(watchingApp());
	const id = await app.watched({ files: [{ filename: 'a.txt', signedUrl: 'https://files.example/a?x=1' }] });
	app.ask(id, undefined, 'Only-for-the-form');
	const ada = app.slack.as('ada');
	const logged = app.log.length;
	const opened = () => auditLines(app.log, logged).filter(({ action }) => action === 'opened');
	await ada.command('#agents', `/session ${id}`);
	const modal = await ada.waitForModal('Which colour?');
	await modal.press('Refresh');
	await app.until(() => opened().length === 2);
	await modal.close(true);
	await ada.command('#agents', `/session history ${id}`);
	await app.until(() => opened().length === 3);
	await ada.modal()?.close(true);
	await ada.command('#agents', '/session nosuch');
	await ada.waitForModal(whatHappened('session_not_found'));
	await ada.modal()?.close(true);
	await app.slack.as('gus').command('#agents', `/session ${id}`);
	await app.toldAfter(async () => app.card(id)?.press('Files (1)'));
	await app.until(() => opened().length === 4);
	const seen = { actor: ada.user, session: id, channel: 'C0AGENTS', outcome: 'shown' };
	expect(opened()).toMatchObject([
		{ ...seen, about: 'open' },
		{ ...seen, about: 'refresh', channel: null },
		{ ...seen, about: 'history' },
		{ ...seen, about: 'files' },
	]);
	expect(app.log.join('\n')).not.toMatch(/Only-for-the-form|Which colour|files\.example/);
});

describe('the limits of watching', () => {
	it('stops one person at their own limit of watches, so that others can still watch', async () => {
		const app = await forCase(
			watchingApp({
				env: { ADMIN_CONTACT: 'the desk', SESSION_SERVICE_RPM: '5000' },
				limits: { watches: { person: 50 } },
				service: { rateLimit: false },
			}),
		);
		const theirs = app.session();
		await app.command(`/session watch ${theirs}`, 'grace');
		const ids = Array.from({ length: 208 }, () => app.session());
		const told: string[] = [];
		for (let n = 0; n < ids.length; n += 20) {
			const line = `/session watch ${ids.slice(n, n + 20).join(' ')}`;
			told.push((await app.command(line, 'ada', 'dm')).text());
		}
		const words = told.join('\n');
		for (const count of [20, 10]) expect(words).toContain(watchingSeveral(count));
		expect(words.match(/Watching/g)).toHaveLength(3);
		expect(words).toMatch(
			/is not watched: you watch 50 sessions, and the limit for one person is 50\. Stop one of yours/,
		);
		expect(words).toContain('ask the desk');
		const metrics = await fetch(`${app.url}/metrics`).then((answer) => answer.text());
		expect(metrics).toMatch(/handraise_watch_limits_total\{limit="person"\} 158/);
		app.ask(theirs);
		await app.threadSays(theirs, 'Which colour?');
		expect((await app.command(`/session unwatch ${ids[0]}`, 'ada', 'dm')).text()).toContain(
			' is not watched here any more',
		);
		expect((await app.command(`/session watch ${ids[60]}`, 'ada', 'dm')).text()).toContain(WATCHING);
	});

	it('tells the limits of watches of a channel and of all channels', async () => {
		const app = await forCase(watchingApp({ env: { MAX_WATCHES: '2' }, limits: { watches: { channel: 1 } } }));
		const [one, two, three] = [app.session(), app.session(), app.session()];
		const first = await app.command(`/session watch ${one} ${two}`);
		expect(first.text()).toMatch(/Watching.*this channel watches 1 session, and the limit for one channel is 1/s);
		await app.command(`/session watch ${two}`, 'ada', '#secret');
		expect((await app.command(`/session watch ${three}`, 'ada', 'dm')).text()).toContain(
			'all channels together watch 2 sessions, and the limit for all channels is 2',
		);
	});
});
