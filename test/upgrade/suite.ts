import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { item } from '../../fake-session-service/builders.ts';
import type { Actor, TrafficEntry } from '../../fake-slack/index.ts';
import { storedBeforePut } from '../../src/delivery/rows-store.ts';
import { SUBMISSION } from '../../src/domain/answer.ts';
import { evidence } from '../../src/domain/asked.ts';
import { REMOVED_ANSWER } from '../../src/screens/answer.ts';
import { MIGRATIONS } from '../../src/store/migrate.ts';
import type { Store } from '../../src/stores.ts';
import { runAudit } from '../operator/audit-command.ts';
import { expectNothingWrong } from '../sessions/harness.ts';
import { textsOf } from '../store/key-values.ts';
import { KEY, makeDataDir, open } from '../store/support.ts';
import {
	answeredBy,
	DRAFT_RESTORED,
	line,
	openButtons,
	REMINDER,
	SERVICE_BACK,
	says,
	WAIT,
	WAITS,
} from '../support/sentences.ts';
import { readFixture, startFrom, type UpgradedApp, withoutNulls } from './fixture.ts';
import type { Release, StoreName } from './releases.ts';
import { dumpRows, loadRows } from './rows.ts';
import { CHANNEL, NEW_QUESTION, OFFERED, PASSWORD, PIN, QUIET, type Stay, stayPost } from './stays.ts';
import { NAMES, type Name, NOTE, openForm, postOf, SECRET, titleOf, WATCHED } from './story.ts';

/** Nobody answers it until 15 minutes after the question. */
const DUE: readonly Name[] = ['discovered'];
const MIGRATING = fileURLToPath(new URL('../store/migrating-process.ts', import.meta.url));
const REMINDS = [REMINDER, WAIT, WAITS];

/** Of the encrypted values those that are not read. */
const unreadIn = async (store: Store) => (await textsOf(store)).filter((text) => text.endsWith('cannot be read'));

/** The present program on what a release left. A test goes on from those before it: to run one, run the file. */
export function upgradeSuite(release: Release, store: StoreName, createDatabase?: () => Promise<string>): void {
	const { version } = release;
	/** The migrations after those of the release. */
	const NEWER = MIGRATIONS.filter(({ number }) => number > release.schema);

	it(`what ${version} left on ${store} is there whole after a migration was killed half way, and can be read`, async () => {
		const directory = makeDataDir();
		const place = (await createDatabase?.()) ?? directory.path;
		const fixture = await readFixture(release, store);
		await loadRows(place, fixture);
		// Beside those of the program it runs one more, in the middle of which it waits.
		const child = spawn(process.execPath, [MIGRATING, place], { stdio: ['ignore', 'pipe', 'inherit'] });
		expect(String(await once(child.stdout, 'data'))).toBe('half\n');
		child.kill('SIGKILL');
		await once(child, 'exit');
		const left = await dumpRows(place);
		for (const [table, rows] of Object.entries(fixture.rows))
			expect([table, left[table]?.map(withoutNulls)]).toEqual([table, rows]);

		const now = await open({ dataDir: directory.path, databaseUrl: createDatabase && place, encryptionKey: KEY });
		expect(await unreadIn(now)).toEqual([]);
		await now.close();
		const { migrations = [], answers = [], questions = [] } = await dumpRows(place);
		expect(migrations.map(({ number }) => number)).toEqual([
			...(fixture.rows.migrations ?? []).map(({ number }) => number),
			...NEWER.map(({ number }) => number),
		]);
		for (const { submission, beforePut: before } of answers) {
			expect(() => SUBMISSION.parse(JSON.parse(String(submission)))).not.toThrow();
			if (before !== null) expect(() => storedBeforePut.parse(JSON.parse(before as string))).not.toThrow();
		}
		for (const row of questions) expect(() => evidence.parse(JSON.parse(String(row.evidence)))).not.toThrow();
		await directory.remove();
	});

	describe(`the program on the database that ${version} left on ${store}`, () => {
		let app: UpgradedApp;
		let databaseUrl: string | undefined;
		beforeAll(async () => {
			databaseUrl = await createDatabase?.();
			app = await startFrom(await readFixture(release, store), databaseUrl);
		});
		afterAll(() => app[Symbol.asyncDispose]());

		const ada = () => app.slack.as('ada');
		const grace = (window?: string) => app.slack.as('grace', window);
		const textOf = (one: { text(): string } | null | undefined) => one?.text() ?? 'nothing';
		const valuesOf = (name: Name) => app.service.sessions.values(name, 1);
		const isAnswered = (name: Name, ...values: string[]) =>
			app.until(
				() => JSON.stringify(valuesOf(name)) === JSON.stringify(values),
				() => `${name} has ${valuesOf(name)}`,
			);
		const postSays = (name: Name, words: RegExp) =>
			app.until(
				() => words.test(postOf(app, name).text()),
				() => postOf(app, name).text(),
			);

		/** Several questions may share one. */
		const isReminder = ({ request: { text } }: TrafficEntry) => REMINDS.some((words) => says(String(text), words));
		const posted = () => app.calls('chat.postMessage');
		const remindersOf = (name: Name) =>
			posted().filter((call) => isReminder(call) && JSON.stringify(call.request).includes(`Trip ${name}`));

		it('migrates it at the start, where this version has a migration', () => {
			const lines = app.log.filter((line) => line.includes('database schema updated'));
			const updated = { migrations: NEWER.map(({ name }) => name) };
			expect(lines.map((line) => JSON.parse(line))).toEqual(
				NEWER.length === 0 ? [] : [expect.objectContaining(updated)],
			);
		});

		it('takes back the press that was not sent yet', async () => {
			await postOf(app, 'undone').press('Undo');
			await app.until(() => postOf(app, 'undone').buttons().includes('TP 570'));
		});

		it('keeps a snoozed question out of the inbox until its person asks for it', async () => {
			await app.until(() => textOf(ada().home()).includes(titleOf('undone')));
			expect(textOf(ada().home())).not.toContain(titleOf('reminded'));
			await ada().home()?.press('Show now');
			await app.until(() => textOf(ada().home()).includes(titleOf('reminded')));
		});

		it('takes what was typed in a window that was open', async () => {
			const form = ada().modal();
			expect([form?.value(0), form?.value(1)]).toEqual(['grey', SECRET]);
			await form?.fill(2, '6');
			expect(await form?.submit()).toMatchObject({ outcome: 'updated', trouble: null });
		});

		it('delivers what waited when the service is back', async () => {
			await app.service.comeBack();
			await isAnswered('sent', 'TP 570');
			await isAnswered('queued', '12 Main Street');
			await isAnswered('opened', 'grey', SECRET, '6');
		});

		it('reminds of the questions that are due', async () => {
			await app.pass(6 * 60_000);
			await app.until(() => DUE.every((name) => remindersOf(name).length > 0));
		});

		it.each(['reminded', 'discovered'] as const)('takes the press of an old button: %s', async (name) => {
			await app.choose(postOf(app, name), 'LH 1173');
			await isAnswered(name, 'LH 1173');
			await postSays(name, answeredBy('ada', 'LH 1173'));
			expect(openButtons(postOf(app, name))).toEqual([]);
		});

		it('takes the press of whoever has the question, in their direct message', async () => {
			const dm = grace()
				.dm()
				.find((one) => one.text().includes(NOTE));
			if (dm === undefined) throw new Error('There is no note.');
			await app.choose(dm, 'TP 570');
			await dm.press('Undo');
			await app.until(() => dm.text().includes(NOTE));
			await app.choose(dm, 'LH 1173');
			await isAnswered('handedOver', 'LH 1173');
		});

		it('offers the typed text again', async () => {
			const form = await openForm(grace('third'), 'drafted');
			expect(form.text()).toContain(DRAFT_RESTORED);
			expect(form.value(0)).toBe('Please deliver before Friday.');
			await form.submit();
			await isAnswered('drafted', 'Please deliver before Friday.');
		});

		it('follows what was sent before to its end, in posts and cards', async () => {
			await postSays('delivered', answeredBy('grace', '2026-02-03'));
			await postSays('unknown', answeredBy('grace', '42'));
			app.step('delivered', 'The date is booked.');
			app.step('unknown', 'The size is ordered.');
			await app.cardSays('delivered', 'The date is booked.');
		});

		it('keeps watches and the settings of channels', async () => {
			const list = (await app.command('/session list')).text();
			for (const name of WATCHED) expect(list).toContain(`Trip ${name}`);
			const form = await app.openSettings();
			expect(form.fields().map(({ value }) => value)).toEqual([
				'5 min',
				'4 h',
				['U0GRACE'],
				[],
				['Sun'],
				'20:00',
				'08:00',
				'Europe/London',
				['One-press buttons'],
				[],
				[],
			]);
		});

		describe('and what its people did in channels of their own', () => {
			const stayAnswered = (name: Stay, index: number, ...values: string[]) =>
				app.until(
					() => app.service.sessions.values(name, index).join() === values.join(),
					() => `${name} has ${app.service.sessions.values(name, index)}`,
				);
			/** In the window: posts of the channel have no options. */
			async function answerAs(person: Actor, name: Stay, option: string, channel = CHANNEL): Promise<void> {
				await person.modal()?.close(true);
				await person.command(channel, `/session ${name}`);
				const form = await person.waitForModal((modal) => modal.text().includes(name) && modal.submitText() !== null);
				await form.choose(0, option);
				await form.submit();
				await form.close(true);
			}
			const dmWith = (who: Actor, button: string) =>
				app.until(
					() => who.dm().findLast((dm) => dm.buttons().includes(button)),
					() => `no ${button}`,
				);

			it('delivers the secret that waited, and removes it', async () => {
				await stayAnswered('secret', 1, PASSWORD);
				expect(await historyOf('secret')).toContain(REMOVED_ANSWER);
			});

			it.each<[Stay, string]>([
				['resumed', line('resumed')],
				['conflicted', line('conflicted')],
				['second', line('conflicted', { lastError: 'first_failed' })],
				['second', line('withdrawn')],
				['withdrawn', line('withdrawn')],
				['hidden', REMOVED_ANSWER],
				['perhaps', 'may have arrived'],
				['half', 'left empty'],
				['changed', line('changed')],
				['refused', 'may no longer answer'],
				['ended', line('ended')],
			])('knows the answer in its state: %s', async (name, words) => {
				expect(await historyOf(name)).toContain(words);
			});

			it('has the answer that came second as a draft', async () => {
				const receipt = await dmWith(grace(), 'Open the question');
				await receipt.press('Open the question');
				const form = await grace().waitForModal((modal) => modal.submitText() !== null);
				expect(form.value(0)).toBe('Double');
				await form.submit();
				await stayAnswered('second', 1, 'Double');
				await form.close(true);
			});

			it('sends the answer that waited for its author when they say so', async () => {
				await (await dmWith(ada(), 'Try again')).press('Try again');
				await stayAnswered('waiting', 1, 'The rose garden');
			});

			it('sends the message that was offered as the answer', async () => {
				const offer = app.onlyFor('ada', CHANNEL).find((one) => one.text().includes(OFFERED));
				await offer?.press('Send');
				await stayAnswered('offered', 1, OFFERED);
			});

			it('takes an answer to the question that is asked again, and none to the one whose answer may have arrived', async () => {
				const form = await openStayForm(grace(), 'askedAgain');
				await form.fill(0, 'Rose');
				await form.submit();
				await stayAnswered('askedAgain', 1, 'Rose');
				await form.close(true);
				expect(stayPost(app, 'perhaps')).toBeUndefined();
			});

			it('answers a session that the service spells in another way now', async () => {
				app.service.sessions.put('spelled', app.service.sessions.get('SPELLED'));
				app.service.sessions.remove('SPELLED');
				app.service.ids.ignoreCase = true;
				const post = stayPost(app, 'SPELLED');
				await post?.press('Answer…');
				const form = await ada().waitForModal((modal) => modal.submitText() !== null);
				await form.fill(0, 'The long one');
				await form.submit();
				await app.until(() => app.service.sessions.values('spelled', 1)[0] === 'The long one');
				await app.until(() => post?.text().includes('✅'));
				await form.close(true);
			});

			it('offers the new question to whom an old one was answered too late', async () => {
				await ada().modal()?.close(true);
				await (await dmWith(ada(), 'Answer the new question')).press('Answer the new question');
				const form = await ada().waitForModal(
					(modal) => modal.text().includes(NEW_QUESTION) && modal.submitText() !== null,
				);
				await form.fill(0, 'Wool');
				await form.submit();
				await stayAnswered('changed', 2, 'Wool');
				await form.close(true);
			});

			it('lets only those answer whom the channel names, and ends what was escalated', async () => {
				const bob = app.slack.as('bob');
				await bob.command(CHANNEL, '/session escalated');
				const refused = await bob.waitForModal((modal) => modal.text().includes('may answer'));
				expect(refused.submitText()).toBeNull();
				await answerAs(grace(), 'escalated', 'Single');
				await stayAnswered('escalated', 1, 'Single');
				await app.until(() => stayPost(app, 'escalated') === undefined);
				expect(bob.dm().filter((dm) => dm.text().includes('Stay escalated'))).toEqual([]);
			});

			it('goes on as the posts of a channel are', async () => {
				await answerAs(ada(), 'quiet', 'Double', QUIET);
				await stayAnswered('quiet', 1, 'Double');
				app.ask('quiet', [item('Which meal?', 'One of: Fish, Meat')], '');
				const next = await app.until(() => {
					const found = stayPost(app, 'quiet');
					return found?.text().includes('Which meal?') && found;
				});
				const notified = app.slack.state.messages.find(({ ts }) => ts === next.ts)?.text ?? '';
				expect(notified).not.toContain('Which meal?');
				expect(next.buttons()).not.toContain('Fish');
				expect([next.ts, next.threadTs()]).toContain(app.card('quiet', QUIET)?.ts);
			});

			it('keeps the settings of the channels and the list', async () => {
				const form = await app.openSettings({ channel: CHANNEL });
				const values = form.fields().map(({ value }) => value);
				expect([values.slice(0, 3), values.at(-2)]).toEqual([
					['5 min', '15 min', ['U0GRACE']],
					['U0ADA', 'U0GRACE'],
				]);
				await form.close(true);
				const quiet = await app.openSettings({ channel: QUIET });
				expect(quiet.fields().at(-3)?.value).toEqual(["Questions in the card's thread", 'Discreet']);
				await quiet.close(true);
			});

			it('goes on with the audit', async () => {
				const { rows } = await readFixture(release, store);
				const env =
					databaseUrl === undefined ? { DATA_DIR: app.dataDir } : { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: KEY };
				const before = (rows.audit_events ?? []).map(({ number, action }) => ({ number, action }));
				expect(before.length).toBeGreaterThan(0);
				// PostgreSQL's transactions may commit in another order than they took numbers.
				const printed = async () =>
					(await runAudit([], env)).lines
						.map(({ number, action }) => ({ number, action }))
						.toSorted((one, other) => Number(one.number) - Number(other.number));
				expect((await printed()).slice(0, before.length)).toEqual(before);
				// Transactions of other tests on the same server may keep the newest ones back.
				await expect.poll(async () => (await printed()).length, { timeout: 30_000 }).toBeGreaterThan(before.length);
			});

			async function openStayForm(person: Actor, name: Stay) {
				await person.modal()?.close(true);
				await person.command(CHANNEL, `/session ${name}`);
				return person.waitForModal((modal) => modal.text().includes(name) && modal.submitText() !== null);
			}

			async function historyOf(name: Stay): Promise<string> {
				await ada().modal()?.close(true);
				await ada().command(CHANNEL, `/session history ${name}`);
				const modal = await ada().waitForModal((shown) => shown.title() === 'History');
				await modal.close(true);
				return modal.text();
			}
		});

		it('sends each answer once, asks nothing again and loses nothing', async () => {
			await app.pass(2 * 60_000);
			const puts = Map.groupBy(app.service.log.puts(), ({ sessionId }) => sessionId);
			expect(Object.fromEntries([...puts].map(([name, { length }]) => [name, length]))).toEqual({
				sent: 1,
				queued: 1,
				opened: 1,
				reminded: 1,
				discovered: 1,
				handedOver: 1,
				drafted: 1,
				secret: 1,
				second: 1,
				waiting: 1,
				offered: 1,
				askedAgain: 1,
				// A form has the id of the response.
				spelled: 1,
				changed: 1,
				escalated: 1,
				quiet: 1,
			});
			expect(NAMES.flatMap((name) => remindersOf(name).map(() => name))).toEqual(DUE);
			// #secret hears of the new question of `quiet`, too.
			const isExpected = ({ request: { text } }: TrafficEntry) =>
				[SERVICE_BACK, 'Which meal?'].some((words) => says(String(text), words));
			const others = posted().filter((call) => !isReminder(call) && !isExpected(call));
			expect(others.filter(({ request }) => !['C0STAYS', 'C0QUIET'].includes(String(request.channel)))).toEqual([]);
			const said = await app.said();
			for (const secret of [SECRET, PASSWORD, PIN]) expect(said).not.toContain(secret);
			expectNothingWrong(app);
		});
	});
}
