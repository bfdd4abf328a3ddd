import { copyFileSync, existsSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { chown, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { SOCKET } from '../../src/operator/person-requests.ts';
import { parseEncryptionKey } from '../../src/store/encryption.ts';
import {
	type App,
	answererApp,
	DELIVERED,
	expect,
	forCase,
	handOverApp,
	ONLY,
	openSession,
	type TimedApp,
	withApp,
} from '../kit.ts';
import { readableRemains } from '../store/remains.ts';
import { KEY } from '../store/support.ts';
import { auditLines } from '../support/audit-lines.ts';
import { runPerson, startCommand } from '../support/commands.ts';
import { AS_PLAIN_ROOT, NOBODY, WITH_NOBODY } from '../support/other-user.ts';

const ADA = 'U0ADA';

const start = (env: Readonly<Record<string, string>> = {}) => handOverApp({ ENCRYPTION_KEY: KEY, ...env });
const it = withApp(start);
/** A program in which channels can name who may answer. */
const startWithLists = () => forCase(answererApp({ ENCRYPTION_KEY: KEY }));

/** `DATA_DIR` is relative, as by default. */
const person = (app: App, args: readonly string[], typed = '') =>
	runPerson(args, { DATA_DIR: relative('', app.dataDir) }, typed);
const forget = (app: App, userId = ADA) => person(app, ['forget', userId, '--yes', userId]);

/** Whether the files of the running program hold her id, in plain text or behind the key. */
async function isInFiles(app: App): Promise<boolean> {
	const copy = mkdtempSync(join(tmpdir(), 'handraise-copy-'));
	const names = readdirSync(app.dataDir).filter((name) => name !== SOCKET);
	for (const name of names) copyFileSync(join(app.dataDir, name), join(copy, name));
	const remains = readableRemains(copy, parseEncryptionKey(KEY), [ADA]);
	await rm(copy, { recursive: true });
	return remains.length > 0;
}

/** What Slack told of somebody who acts is stored within a second. */
const factsKept = (app: Pick<TimedApp, 'clock'>) => app.clock.advance(2_000);

/** Messages of the app that mention her, but for those that only she sees. */
function mentions(app: App): string[] {
	const { user } = app.slack.as('ada');
	const dms = app.slack
		.as('ada')
		.dm()
		.map(({ channel }) => channel);
	return app.slack.state.messages
		.filter(({ channel, ephemeralFor }) => !dms.includes(channel) && ephemeralFor === undefined)
		.map(({ blocks, text }) => JSON.stringify([blocks, text]))
		.filter((text) => text.includes(user) || text.includes('Ada Lovelace'));
}

it('forgets somebody everywhere: people see Somebody, go on, and the files hold the id nowhere', async ({ app }) => {
	const pressed = await app.asked();
	await app.seenBy('ada', pressed.post).press('LH 1173');
	await app.until(() => pressed.post.text().includes('· continued'));
	const lost = await app.asked(undefined, ['Which size?']);
	const [hers, graces] = [await openSession(app, lost.id), await openSession(app, lost.id, 'grace')];
	await hers.fill(0, 'Hers');
	await graces.fill(0, 'Not hers');
	await hers.submit();
	await app.until(() => app.service.log.effectivePuts(lost.id).length === 1);
	await graces.close(true);
	await hers.close(true);
	const handed = await app.asked(undefined, ['Which colour?']);
	await app.handOver(handed.post, 'ada', 'grace', 'Yours?');
	await app.saysIn(handed.post, 'grace has it (from ada)');
	const back = await app.asked(undefined, ['Which day?']);
	await app.handOver(back.post, 'grace', 'ada');
	await app.saysIn(back.post, 'ada has it (from grace)');
	const draft = await openSession(app, handed.id);
	await draft.fill(0, 'So far');
	await app.saysIn(handed.post, '@ada is answering');
	await draft.close(true);
	const direct = app.session();
	await app.watch(direct, { channel: 'dm' });
	await app.openHome('ada');
	await app.slack.as('ada').home()?.press('Snooze for 1 h');
	await app.openHome('grace');
	await app.homeSays('(from ada)', { who: 'grace' });
	await app.slack.as('ada').command('#agents', '/session settings');
	const settings = await app.slack.as('ada').waitForModal('Save');
	await settings.choose('Escalate after', '1 day');
	await settings.choose('Mention', ['ada', 'grace']);
	await settings.submit();
	await app.until(() =>
		app.inChannel().some((post) => post.text().includes('@ada changed') || post.text().includes('ada')),
	);
	await factsKept(app);
	expect(await isInFiles(app)).toBe(true);
	expect(mentions(app)).not.toEqual([]);

	const { code, stdout } = await forget(app);
	expect(stdout).toMatch(/^U0ADA is forgotten\. forgotten-[0-9a-f]{16} stands where the id stood\.\n/);
	expect(stdout).toContain('\n  answers, now without author and texts: 2\n');
	expect(stdout).toContain('\n  watches ended in their direct message (others go on): 1\n');
	expect(stdout).toContain(
		'\nThe files of the database hold the id nowhere any more.\nNot covered: what others typed, ',
	);
	expect(code).toBe(0);
	expect(await isInFiles(app)).toBe(false);

	await app.until(
		() => mentions(app).length === 0,
		() => mentions(app).join('\n'),
	);
	expect(pressed.post.text()).toContain('Somebody: LH 1173 · continued');
	expect(lost.post.text()).toContain('Somebody: Hers');
	await app.saysIn(handed.post, 'grace has it (from Somebody)');
	await app.homeSays('You have it (from Somebody)', { who: 'grace' });
	await app.givenBackTo('grace');
	await app.cardSays(direct, 'No longer watched', 'dm');
	const history = await app.slack.as('grace').command('#agents', `/session history ${pressed.id}`);
	expect(history.ok).toBe(true);
	await app.windowSays('Somebody', { who: 'grace' });
	expect(
		app.slack.traffic
			.calls('users.info')
			.map(({ request }) => JSON.stringify(request))
			.join(),
	).not.toContain('forgotten');

	// Others go on, and so does she, under her name.
	await app.seenBy('grace', handed.post).press('Answer…');
	const form = await app.slack.as('grace').waitForModal('Which colour?');
	await form.fill(0, 'grey');
	await form.submit();
	await app.until(() => app.service.log.effectivePuts(handed.id).length === 1);
	await app.pass(60_000);
	expect(await isInFiles(app)).toBe(false);
	const again = await app.asked();
	await app.seenBy('ada', again.post).press('TP 570');
	await app.saysIn(again.post, 'ada: TP 570');
}, 120_000);

it('lets a message arrive once that was on its way with the name and a note, and takes both out of it', async ({
	app,
}) => {
	const { post } = await app.asked(undefined, ['Which colour?']);
	const isMessage = (args: unknown) => JSON.stringify(args).includes('handed');
	const calls = () => app.slack.traffic.calls('chat.postMessage').filter(({ request }) => isMessage(request));
	const goesOn = app.slack.faults.hold('chat.postMessage', isMessage);
	const handing = app.handOver(post, 'ada', 'grace', 'Hers alone?');
	await app.until(() => calls().length === 1);
	await factsKept(app);
	expect((await forget(app)).code).toBe(0);
	goesOn();
	await handing;
	const dms = () =>
		app.slack
			.as('grace')
			.dm()
			.map((message) => message.text());
	await app.until(() => dms().some((text) => text.includes('Somebody handed')));
	await app.pass(60_000);
	expect(dms()).toHaveLength(1);
	expect(dms()[0]).not.toMatch(/ada|Hers alone/);
	expect(calls()).toHaveLength(1);
	expect(await isInFiles(app)).toBe(false);
});

it("leaves the PUT of somebody else's answer alone that is under way in the same session: it is sent once", async ({
	app,
}) => {
	const { id, post } = await app.asked(undefined, ['Which colour?']);
	const hers = await openSession(app, id);
	await hers.fill(0, 'Sand');
	await hers.submit();
	await app.until(() => post.text().includes('· continued'));
	await hers.close(true);
	await app.pass(20_000);
	const asking = app.ask(id, ['Which size?']);
	app.service.faults.add({ kind: 'late', ms: 1_000, method: 'PUT', sessionId: id });
	const his = await openSession(app, id, 'grace');
	await his.fill(0, 'Large');
	const sent = his.submit();
	const puts = () => app.service.log.puts(id).length;
	await app.until(() => puts() === 2);
	expect((await forget(app)).code).toBe(0);
	// The agent takes the answer, empties the field and shows no other sign.
	const { sessions } = app.service;
	void sessions
		.until(id, () => sessions.values(id, asking).join() === 'Large')
		.then(() => {
			const messages = structuredClone(sessions.get(id).messages ?? []);
			for (const item of messages[asking]?.human_input ?? []) item.value = '';
			sessions.patch(id, { status: 'humanInput', messages });
		});
	await sent;
	await app.pass(60_000);
	expect(puts()).toBe(2);
	expect(app.slack.as('grace').modal()?.text()).toMatch(DELIVERED);
	expect(await isInFiles(app)).toBe(false);
});

it('changes nothing while an answer can be undone, and says so, and asks for the id a second time', async () => {
	const app = await forCase(start({ UNDO_SECONDS: '10' }));
	const { id, post } = await app.asked();
	await app.choose(app.seenBy('ada', post), 'LH 1173');
	const refused = await forget(app);
	expect([refused.code, refused.stdout]).toEqual([1, '']);
	expect(refused.stderr).toContain(
		`Nothing changed: an answer of U0ADA is being sent, or can still be undone (session ${id}).`,
	);
	expect(post.text()).toContain('ada: LH 1173');
	await app.until(() => post.text().includes('· continued'));
	for (const typed of ['', 'U0GRACE\n']) {
		const other = await person(app, ['forget', ADA], typed);
		const stderr =
			'This cannot be undone. Type U0ADA again to forget them: That is not the same id. Nothing changed.\n';
		expect(other).toEqual({ code: 1, stdout: '', stderr });
	}
	expect(await person(app, ['forget', ADA, '--yes', 'U0GRACE'])).toMatchObject({ code: 1, stdout: '' });
	expect(await isInFiles(app)).toBe(true);
	expect(await person(app, ['forget', ADA], 'U0ADA\n')).toMatchObject({ code: 0 });
	expect(await isInFiles(app)).toBe(false);
	await app.saysIn(post, 'Somebody: LH 1173 · continued');
});

it('exports what is stored as JSON, and says when there is nothing', async ({ app }) => {
	const { id, post } = await app.asked();
	await app.seenBy('ada', post).press('LH 1173');
	await app.until(() => post.text().includes('· continued'));
	const env = { DATA_DIR: app.dataDir };
	const { code, stdout, stderr } = await startCommand('person', ['export', ADA], env).closed;
	expect(JSON.parse(stdout)).toMatchObject({
		person: ADA,
		answers: [
			{
				sessionId: id,
				userId: ADA,
				state: 'resumed',
				content: { sessionName: 'Book a flight', items: [{ title: 'Which flight?', value: 'LH 1173' }] },
			},
		],
		watches: [{ channelId: 'C0AGENTS', sessionId: id, createdAt: '2026-01-05T09:00:00.000Z' }],
	});
	// What the agent asked is no text of theirs.
	expect(JSON.parse(stdout).answers[0].content).not.toHaveProperty('asked');
	expect([code, stderr]).toEqual([0, 'answers: 1\nwatches: 1\nviews: 1\npeople: 1\naudit_events: 4\n']);
	if (existsSync('/dev/full')) {
		const by = ['/bin/sh', '-c', 'exec "$0" "$@" > /dev/full'];
		const lost = await startCommand('person', ['export', ADA], env, { by }).closed;
		expect(lost).toMatchObject({
			code: 1,
			stderr: expect.stringContaining('\nAll is done, but the output could not be written (ENOSPC).\n'),
		});
	}
	const nothing = await person(app, ['export', 'U0NOBODY']);
	expect([JSON.parse(nothing.stdout).person, nothing.stderr]).toEqual([
		'U0NOBODY',
		'Nothing is stored about U0NOBODY.\n',
	]);
	expect(await forget(app, 'U0NOBODY')).toMatchObject({ code: 0, stdout: 'Nothing is stored about U0NOBODY.\n' });
});

it('tells in the audit who exported or forgot whom, under a name that means nobody once they are forgotten', async ({
	app,
}) => {
	const { post } = await app.asked();
	await app.seenBy('ada', post).press('LH 1173');
	await app.until(() => post.text().includes('· continued'));
	const lines = () => auditLines(app.log).filter(({ action }) => action.startsWith('person'));
	await person(app, ['export', ADA]);
	await person(app, ['export', ADA]);
	await forget(app);
	await person(app, ['export', ADA]);
	const [first, ...others] = lines();
	expect(lines().map(({ action, outcome }) => `${action}: ${outcome}`)).toEqual([
		'personExported: begun',
		'personExported: done',
		'personExported: begun',
		'personExported: done',
		'personForgotten: forgotten',
		'personExported: begun',
		'personExported: done',
	]);
	expect(new Set(lines().map(({ operator }) => operator))).toEqual(
		new Set([expect.stringMatching(/^(\S+ as )?\S.*@\S+$/)]),
	);
	expect(first?.about).toMatch(/^[0-9a-f]{16}$/);
	expect(others.slice(0, 4).every(({ about }) => about === first?.about)).toBe(true);
	expect(others.slice(4).some(({ about }) => about === first?.about)).toBe(false);
	expect(JSON.stringify(lines())).not.toContain(ADA);
});

it('lets others answer again whom the list of a channel did not name, tells the channel, and the audit who did it', async () => {
	const app = await startWithLists();
	await app.names(['grace']);
	const { id, post } = await app.asked();
	expect(post.text()).toContain(ONLY('grace'));
	await app.press(post, 'ada', 'LH 1173');
	await app.refused('ada', 'Only grace may answer.');
	expect(await person(app, ['clear', 'C0GENERAL'])).toEqual({
		code: 0,
		stdout: nothingCleared('C0GENERAL'),
		stderr: '',
	});
	expect(await person(app, ['clear', 'C0AGENTS'])).toEqual({ code: 0, stdout: CLEARED, stderr: '' });
	await app.until(() => !post.text().includes('may answer'));
	const told = await app.told(2);
	expect(told).toContain('Whoever runs Handraise changed who may answer in this channel.');
	expect(told).toContain('only grace');
	await app.press(post, 'ada', 'LH 1173');
	await app.until(() => app.service.log.effectivePuts(id).length === 1);
	expect(await person(app, ['clear', 'C0AGENTS'])).toEqual({ code: 0, stdout: nothingCleared('C0AGENTS'), stderr: '' });
	const lines = auditLines(app.log).filter(({ operator }) => operator !== null);
	expect(lines.map(({ channel, outcome }) => `${channel} ${outcome}`)).toEqual([
		'C0GENERAL nothing',
		'C0AGENTS cleared',
		'C0AGENTS nothing',
	]);
	for (const { operator } of lines) expect(operator).toMatch(/^(\S+ as )?\S.*@\S+$/);
	expect(app.changes()).toHaveLength(2);
	const settings = await app.openSettings();
	expect(settings.text()).toContain('whoever runs Handraise');
});

const nothingCleared = (channel: string) => `${channel} names nobody as those who may answer. Nothing changed.\n`;
const CLEARED = 'C0AGENTS names nobody any more: all who may use Handraise may answer there. The channel is told.\n';

it('leaves a list with nobody in it when those whom it named are forgotten, so that it lets nobody answer', async () => {
	const app = await startWithLists();
	await app.names(['ada']);
	const { id, post } = await app.asked();
	expect((await forget(app)).code).toBe(0);
	await app.until(() => post.text().includes('Nobody who may answer is left.'));
	await app.press(post, 'grace', 'LH 1173');
	await app.refused('grace', 'Nobody who may answer here is left.');
	expect(app.service.log.puts(id)).toEqual([]);
	expect(await isInFiles(app)).toBe(false);
	const settings = await app.openSettings({ who: 'grace' });
	expect(settings.fields().at(-2)?.value).toEqual([]);
	await settings.close();
	// Others change the reminders, and the list stays.
	expect(await app.save({ 'Remind after': '5 min' }, { who: 'grace' })).toMatchObject({ outcome: 'updated' });
	await app.press(post, 'grace', 'LH 1173');
	await app.pass(5_000);
	expect(app.service.log.puts(id)).toEqual([]);
	await person(app, ['clear', 'C0AGENTS']);
	await app.press(post, 'grace', 'LH 1173');
	await app.until(() => app.service.log.effectivePuts(id).length === 1);
});

it.each([
	[['forgett', ADA], /^Usage: /],
	[['export', ADA, '--yes'], /^Usage: /],
	[['forget', ADA, '--yes'], /^Usage: /],
	[['forget', ADA, '--yes', ADA, ADA], /^Usage: /],
	[['export', 'ada'], /^That is no Slack user id, such as U012ABCDEF: /],
	[['clear'], /^That is no channel id, such as C012ABCDEF: /],
	[['clear', '#agents'], /^That is no channel id, such as C012ABCDEF: /],
	[['clear', ADA], /^That is no channel id, such as C012ABCDEF: /],
	[['clear', 'C0AGENTS', '--yes'], /^Usage: /],
])('says what is wrong with the command %j', async (args, words) => {
	const { code, stdout, stderr } = await runPerson(args, {});
	expect([code, stdout]).toEqual([2, '']);
	expect(stderr).toMatch(words);
});

it('says when no program runs, or the directory is not there, and changes nothing', async ({ app }) => {
	expect(statSync(join(app.dataDir, SOCKET)).mode & 0o777).toBe(0o600);
	// A stop while connections begin is an error of Slack's library.
	await app.watched();
	await app.stop();
	expect(existsSync(join(app.dataDir, SOCKET))).toBe(false);
	const absent = await forget(app);
	expect(absent).toMatchObject({ code: 1, stdout: '' });
	expect(absent.stderr).toBe(
		`No Handraise can be asked in ${app.dataDir} (ENOENT): none runs there, it runs as another user, or its log has person_socket_unusable. Nothing changed: start Handraise, or run this as its user and with its DATA_DIR.\n`,
	);
	expect(await person(app, ['clear', 'C0AGENTS'])).toMatchObject({ code: 1, stdout: '', stderr: absent.stderr });
	const nowhere = await runPerson(['export', ADA], { DATA_DIR: '/nonexistent' });
	expect(nowhere.stderr).toContain('No Handraise can be asked in /nonexistent (ENOENT): ');
	const wrong = await runPerson(['export', ADA], { DATABASE_URL: 'mysql://x', ENCRYPTION_KEY: KEY });
	expect(wrong.stderr).toMatch(/^DATABASE_URL is not a PostgreSQL address/);
});

it('is refused to another user', WITH_NOBODY, async ({ app }) => {
	await chown(join(app.dataDir, SOCKET), NOBODY, NOBODY);
	const other = await startCommand('person', ['export', ADA], { DATA_DIR: app.dataDir }, { by: AS_PLAIN_ROOT }).closed;
	expect(other.stderr).toContain('(EACCES): none runs there, it runs as another user, ');
	expect([other.code, other.stdout]).toEqual([1, '']);
});
