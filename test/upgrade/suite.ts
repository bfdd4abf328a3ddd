import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { item } from '../../fake-session-service/builders.ts';
import type { Actor, TrafficEntry } from '../../fake-slack/index.ts';
import { storedBeforePut } from '../../src/delivery/rows-store.ts';
import { SUBMISSION } from '../../src/domain/answer.ts';
import { evidence } from '../../src/domain/asked.ts';
import { REMOVED_ANSWER } from '../../src/screens/answer.ts';
import { change, columnsOf, SEALED_COLUMNS, type TableName } from '../../src/store/database.ts';
import { MIGRATIONS, migrate } from '../../src/store/migrate.ts';
import type { Store } from '../../src/stores.ts';
import { runAudit } from '../operator/audit-command.ts';
import { expectNothingWrong } from '../sessions/harness.ts';
import { keepSecret } from '../slack/support/open-session.ts';
import { textsOf } from '../store/key-values.ts';
import { context, openAt } from '../store/migrating-process.ts';
import { KEY, keyFits, makeDataDir, OTHER_KEY, open } from '../store/support.ts';
import {
	answeredBy,
	DRAFT_RESTORED,
	headline,
	line,
	openButtons,
	REMINDER,
	SERVICE_BACK,
	says,
	WAIT,
	WAITS,
} from '../support/sentences.ts';
import { type Fixture, readFixture, startFrom, type UpgradedApp, withoutNulls } from './fixture.ts';
import type { Release, StoreName } from './releases.ts';
import { dumpRows, loadRows, type Rows } from './rows.ts';
import { CHANNEL, NEW_QUESTION, PASSWORD, type Stay, stayPost } from './stays.ts';
import { NAMES, type Name, NOTE, openForm, postOf, SECRET, titleOf, WATCHED } from './story.ts';

/** What nobody answers until 5 minutes after the question. */
const DUE: readonly Name[] = ['handedOver', 'drafted', 'undone'];
const MIGRATING = fileURLToPath(new URL('../store/migrating-process.ts', import.meta.url));
const REMINDS = [REMINDER, WAIT, WAITS];

const OF_PLACE = ['service', 'sessionId', 'messageIndex', 'fingerprint'];
/** States of answers that are sent, may be sent or have arrived. */
const MATTERING = ['accepted', 'delivering', 'waiting', 'delivered', 'resumed'];
/** Written anew by a migration, see `to-two.ts`. */
const RENEWED: Partial<Record<TableName, readonly string[]>> = {
	answers: ['questionId', 'nextAttemptAt', 'beforePut'],
	questions: ['evidence'],
	watches: ['mode'],
	channel_settings: ['settings', 'revision'],
	posts: ['waitsAs', 'remindSince', 'remindedAt', 'escalationCount', 'lastReminderAt', 'isPlain'],
};

type StoredRow = Readonly<Record<string, unknown>>;

/** Posts and views that take the place of other rows: reminders that are held, and what authors are told of answers. */
const isMadeOf = ({ kind, uniqueKey }: StoredRow) => kind === 'receipt' || uniqueKey === 'reminder';

/** Each kind of reminder is `reminder` now. */
const withKind = (row: StoredRow): StoredRow =>
	row.kind === 'escalation' || row.kind === 'digest'
		? { ...row, kind: 'reminder', content: String(row.content).replace(`"kind":"${row.kind}"`, '"kind":"reminder"') }
		: row;

/** What of a row is as its release left it. `renewed`: columns that are written anew of this release alone. */
function keptOf(table: TableName, row: object, renewed: readonly string[]): object {
	const sealed = SEALED_COLUMNS.flatMap((one) => (one.table === table ? one.column : []));
	const isKey = table === 'meta' && /^(key_check|secrets_key:.*)$/.test(String((row as { name?: unknown }).name));
	const gone = [...sealed, ...(RENEWED[table] ?? []), ...renewed, ...(isKey ? ['value'] : [])];
	return Object.fromEntries(Object.entries(row).filter(([name]) => !gone.includes(name)));
}

/** An answer that came second and waited for its author: now it is one that was not sent, see `renewSecond`. */
const isSecond = ({ lastError }: Readonly<Record<string, unknown>>) => String(lastError).startsWith('first_');
const OF_SECOND = ['state', 'endedAt', 'lastError'];

/** Of the encrypted values those that are not read. */
const unreadIn = async (store: Store) => (await textsOf(store)).filter((text) => text.endsWith('cannot be read'));

/** The present program on what a release left. A test goes on from those before it: to run one, run the file. */
export function upgradeSuite(release: Release, store: StoreName, createDatabase?: () => Promise<string>): void {
	const { version } = release;
	const hasStays = version !== '1.0.0';
	/** What the log says of the migrations after those of the release. */
	const UPDATED = { migrations: MIGRATIONS.filter(({ number }) => number > release.schema).map(({ name }) => name) };

	it(`what ${version} left on ${store} is migrated whole after a kill half way, and loses nothing`, async () => {
		const directory = makeDataDir();
		const place = (await createDatabase?.()) ?? directory.path;
		const fixture = await readFixture(release, store);
		const { rows } = fixture;
		await loadRows(place, fixture);
		// Beside those of the program it runs one more, in the middle of which it waits.
		const child = spawn(process.execPath, [MIGRATING, place], { stdio: ['ignore', 'pipe', 'inherit'] });
		expect(String(await once(child.stdout, 'data'))).toBe('half\n');
		child.kill('SIGKILL');
		await once(child, 'exit');

		const db = openAt(place);
		const start = context();
		await migrate(db, start);
		await db.close();
		expect(start.log.lines).toMatchObject([{ fields: UPDATED }]);
		const { migrations = [], ...migrated } = await dumpRows(place);
		const now = await open({ dataDir: directory.path, databaseUrl: createDatabase && place, encryptionKey: KEY });
		expect(await unreadIn(now)).toEqual([]);
		await now.close();
		await directory.remove();
		expect(migrations.map(({ number }) => number)).toEqual(MIGRATIONS.map(({ number }) => number));
		for (const [table, ofTable] of Object.entries(migrated)) {
			// Null in each new column.
			const renewed = !hasStays && table === 'answers' ? ['timeline', 'submission'] : [];
			const kept = (row: Readonly<Record<string, unknown>>) =>
				keptOf(table as TableName, withoutNulls(row), [...renewed, ...(isSecond(row) ? OF_SECOND : [])]);
			const left = ofTable.filter((row) => (table !== 'posts' && table !== 'views') || !isMadeOf(row));
			expect([table, left.map(kept)]).toEqual([table, (rows[table] ?? []).map((row) => kept(withKind(row)))]);
			const columns = columnsOf(table as TableName)
				.map(([name]) => name)
				.sort();
			for (const row of ofTable) expect([table, Object.keys(row).sort()]).toEqual([table, columns]);
		}
	});

	/** The rows of a database that was left so, after the migration. */
	async function migratedRows(fixture: Fixture): Promise<Rows> {
		const directory = makeDataDir();
		const place = (await createDatabase?.()) ?? directory.path;
		await loadRows(place, fixture);
		const db = openAt(place);
		await migrate(db, context());
		await db.close();
		const rows = await dumpRows(place);
		await directory.remove();
		return rows;
	}

	it(`every answer of ${version} on ${store} that may still matter gets the question that it is to`, async () => {
		const { answers = [], questions = [] } = await migratedRows(await readFixture(release, store));
		const placeOf = (row: Readonly<Record<string, unknown>>) => OF_PLACE.map((name) => row[name]);
		for (const answer of answers.filter(({ state }) => MATTERING.includes(String(state)))) {
			const question = questions.find(({ id }) => id === answer.questionId) ?? {};
			expect(placeOf(question)).toEqual(placeOf(answer));
		}
		for (const { state, timeline, submission, beforePut: before } of answers) {
			const isArrived = state === 'delivered' || state === 'resumed';
			expect(String(timeline).includes('"arrival":')).toBe(isArrived);
			expect(() => SUBMISSION.parse(JSON.parse(String(submission)))).not.toThrow();
			if (before !== null) expect(() => storedBeforePut.parse(JSON.parse(before as string))).not.toThrow();
		}
		const values = questions.map((row) => evidence.parse(JSON.parse(String(row.evidence))).value?.answerId ?? null);
		const arrived = answers.filter(({ state }) => state === 'delivered' || state === 'resumed').map(({ id }) => id);
		expect(new Set(values.filter((id) => id !== null))).toEqual(new Set(arrived));
	});

	it(`what watches of ${version} on ${store} were told is a setting of their channel`, async () => {
		const fixture = await readFixture(release, store);
		const told: Readonly<Record<string, object>> = {
			sent: { discreet: 1 },
			queued: { buttons: 0 },
			// One that has ended does not count.
			opened: { questionsInChannel: 0, endedAt: 1, endedReason: 'unwatched' },
		};
		const { watches = [], discoveries = [] } = fixture.rows;
		const rows = {
			...fixture.rows,
			watches: watches.map((row) => ({ ...row, ...told[String(row.sessionId)] })),
			// `watch all` in a channel that has no settings.
			discoveries: discoveries.map((row) => ({ ...row, buttons: 0 })),
		};
		const migrated = await migratedRows({ ...fixture, rows });
		const settingsIn = (all: Rows) =>
			new Map(
				(all.channel_settings ?? []).map(({ channelId, revision, settings, ...row }) => [
					channelId,
					{ ...row, channelId, revision: Number(revision), settings: JSON.parse(String(settings)) },
				]),
			);
		const [before, after] = [settingsIn(fixture.rows), settingsIn(migrated)];
		const changed = (channelId: string, style: object) => {
			const { settings, revision, ...row } = before.get(channelId) ?? { settings: {}, revision: 0 };
			return { ...row, revision: revision + 1, settings: { ...settings, ...style } };
		};
		const [{ createdBy: changedBy, createdAt: changedAt } = {}] = discoveries;
		expect(Object.fromEntries(after)).toEqual({
			C0AGENTS: changed('C0AGENTS', { discreet: true, buttons: false }),
			C0SECRET: {
				teamId: 'T0ACME',
				channelId: 'C0SECRET',
				changedBy,
				changedAt,
				...changed('C0SECRET', { buttons: false }),
			},
			...(hasStays && { C0STAYS: changed('C0STAYS', { questionsInThread: true, discreet: true, buttons: false }) }),
		});
		expect(new Set(migrated.watches?.map(({ mode }) => mode))).toEqual(new Set(['card', 'raisedHand']));
	});

	describe(`what ${version} left encrypted on ${store}`, () => {
		let directory: ReturnType<typeof makeDataDir>;
		let place: string;
		let rows: Rows;
		beforeEach(async () => {
			directory = makeDataDir();
			place = (await createDatabase?.()) ?? directory.path;
			const fixture = await readFixture(release, store);
			rows = fixture.rows;
			await loadRows(place, fixture);
		});
		afterEach(() => directory.remove());
		const opened = () => open({ dataDir: directory.path, databaseUrl: createDatabase && place, encryptionKey: KEY });

		it('is left behind without its key, when the check value was removed', async () => {
			const db = openAt(place);
			await db.writeOne((trx) => sql`delete from meta where name = 'key_check'`.execute(trx));
			await db.close();
			const now = await open({
				dataDir: directory.path,
				databaseUrl: createDatabase && place,
				encryptionKey: OTHER_KEY,
			});
			expect(keyFits(now)).toBe(true);
			expect((await unreadIn(now)).length).toBe((await textsOf(now)).length);
			await now.close();
		});

		it('is of one form after the migration, and another is not read when it is put back', async () => {
			const now = await opened();
			const texts = await textsOf(now);
			expect(await unreadIn(now)).toEqual([]);
			expect(texts).toContainEqual(expect.stringContaining('Please deliver before Friday.'));
			expect(texts).toContainEqual(expect.stringContaining('2026-02-03'));
			async function countFormer(): Promise<number> {
				const found = SEALED_COLUMNS.map(async ({ table, column }) => {
					const isFormer = sql<boolean>`${sql.ref(column)} like '1.%'`;
					return (await sql`select 1 from ${sql.table(table)} where ${isFormer}`.execute(now.db.read)).rows.length;
				});
				return (await Promise.all(found)).reduce((sum, count) => sum + count);
			}
			expect(await countFormer()).toBe(0);
			await now.db.write(async (trx) => {
				for (const { id, content } of rows.answers ?? [])
					await change(trx, 'answers', { id: String(id) }, { content: content as string }).execute();
			});
			const answers = hasStays ? [] : texts.filter((text) => text.startsWith('answers.content'));
			expect(await countFormer()).toBe(answers.length);
			expect(await unreadIn(now)).toEqual(answers.map(() => 'answers.content: cannot be read'));
			await now.close();
		});
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

		it('migrates it at the start', () => {
			const lines = app.log.filter((line) => line.includes('database schema updated'));
			expect(lines.map((line) => JSON.parse(line))).toEqual([expect.objectContaining(UPDATED)]);
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

		/** A window of 1.0.0 sends nothing. */
		it('takes what was typed in a window that was open', async () => {
			const form = ada().modal();
			expect([form?.value(0), form?.value(1)]).toEqual(['grey', SECRET]);
			await form?.fill(2, '6');
			expect(await form?.submit()).toMatchObject({ outcome: 'updated', trouble: null });
			if (hasStays) return;
			expect(form?.text()).toContain('Of an older version. Nothing was sent.');
			expect(form?.text()).toContain('What you typed is a draft of the question now, except secret text.');
			await form?.close(true);
		});

		it('delivers what waited when the service is back', async () => {
			await app.service.comeBack();
			if (!hasStays) {
				const form = await openForm(ada(), 'opened');
				expect([form.value(0), form.value(1) ?? '', form.value(2)]).toEqual(['grey', '', '6']);
				await keepSecret(form, app.until, '2. Which shop?');
				await form.fill(1, SECRET);
				expect(await form.submit()).toMatchObject({ outcome: 'updated', trouble: null });
			}
			await isAnswered('sent', 'TP 570');
			await isAnswered('queued', '12 Main Street');
			await isAnswered('opened', 'grey', SECRET, '6');
		});

		it('reminds of the questions that are due', async () => {
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

		if (!hasStays) return;
		describe('and what its people did in a channel of its own', () => {
			const stayAnswered = (name: Stay, index: number, ...values: string[]) =>
				app.until(
					() => app.service.sessions.values(name, index).join() === values.join(),
					() => `${name} has ${app.service.sessions.values(name, index)}`,
				);
			/** In the window: posts of the channel have no options. */
			async function answerAs(person: Actor, name: Stay, option: string): Promise<void> {
				await person.modal()?.close(true);
				await person.command(CHANNEL, `/session ${name}`);
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
				['waiting', line('conflicted', { lastError: 'first_failed' })],
				['waiting', line('withdrawn')],
				['changed', line('changed')],
				['refused', 'may no longer answer'],
				['ended', line('ended')],
			])('knows the answer in its state: %s', async (name, words) => {
				expect(await historyOf(name)).toContain(words);
			});

			it('has the answer that came second as a draft, and its receipt without Send mine', async () => {
				const receipt = await dmWith(grace(), 'Open the question');
				await app.until(() => receipt.text().includes(headline('conflicted', { lastError: 'first_failed' })));
				expect(receipt.buttons()).toEqual(['Open the question']);
				await receipt.press('Open the question');
				const form = await grace().waitForModal((modal) => modal.submitText() !== null);
				expect(form.value(0)).toBe('Double');
				await form.submit();
				await stayAnswered('waiting', 1, 'Double');
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

			it.each(['threadOnly', 'discreet', 'buttonless'] as const)(
				'goes on as the watches of its channel were asked to: %s',
				async (name) => {
					await answerAs(ada(), name, 'Double');
					await stayAnswered(name, 1, 'Double');
					app.ask(name, [item('Which meal?', 'One of: Fish, Meat')], '');
					const next = await app.until(() => {
						const found = stayPost(app, name);
						return found?.text().includes('Which meal?') && found;
					});
					const notified = app.slack.state.messages.find(({ ts }) => ts === next.ts)?.text ?? '';
					expect(notified).not.toContain('Which meal?');
					expect(next.buttons()).not.toContain('Fish');
					expect([next.ts, next.threadTs()]).toContain(app.card(name, CHANNEL)?.ts);
				},
			);

			it('keeps the settings of the channel and its list, and has the flags of its watches there', async () => {
				const form = await app.openSettings({ channel: CHANNEL });
				const values = form.fields().map(({ value }) => value);
				expect([values.slice(0, 3), values.at(-3), values.at(-2)]).toEqual([
					['5 min', '15 min', ['U0GRACE']],
					["Questions in the card's thread", 'Discreet'],
					['U0ADA', 'U0GRACE'],
				]);
				await form.close(true);
			});

			it('goes on with the audit', async () => {
				const { rows } = await readFixture(release, store);
				const env =
					databaseUrl === undefined ? { DATA_DIR: app.dataDir } : { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: KEY };
				const before = (rows.audit_events ?? []).map(({ number, action }) => ({ number, action }));
				expect(before.length).toBeGreaterThan(0);
				const printed = async () => (await runAudit([], env)).lines.map(({ number, action }) => ({ number, action }));
				expect((await printed()).slice(0, before.length)).toEqual(before);
				// Transactions of other tests on the same server may keep the newest ones back.
				await expect.poll(async () => (await printed()).length, { timeout: 30_000 }).toBeGreaterThan(before.length);
			});

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
				...(hasStays && {
					secret: 1,
					waiting: 1,
					changed: 1,
					escalated: 1,
					threadOnly: 1,
					discreet: 1,
					buttonless: 1,
				}),
			});
			expect(NAMES.flatMap((name) => remindersOf(name).map(() => name))).toEqual(DUE);
			const others = posted().filter((call) => !isReminder(call) && call.request.channel !== 'C0STAYS');
			expect(others.map(({ request }) => request.text)).toEqual(Array(2).fill(expect.stringContaining(SERVICE_BACK)));
			const said = await app.said();
			for (const secret of [SECRET, PASSWORD]) expect(said).not.toContain(secret);
			expectNothingWrong(app);
		});
	});
}
