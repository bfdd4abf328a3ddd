import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../src/kernel/clock.ts';
import { TEXT_REMOVED } from '../../src/screens/answer.ts';
import { unwatchedWords } from '../../src/screens/watch.ts';
import { openStore } from '../../src/stores.ts';
import { askingSession, expect, headline, it, openSession, said, startApp } from '../kit.ts';
import { createRecordingLog, KEY } from '../store/support.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

it('removes drafts, answers, posts and ended watches after RETENTION_DAYS', async () => {
	let aheadMs = 0;
	await using app = await startApp({
		clock: { ...systemClock, now: () => systemClock.now() + aheadMs },
		env: { RETENTION_DAYS: '3', ENCRYPTION_KEY: KEY },
	});
	const ada = app.slack.as('ada');
	for (const id of ['drafted', 'waiting', 'watched', 'unwatched']) {
		app.service.sessions.put(id, askingSession([`About ${id}`]));
	}

	const dm = (words: string) =>
		app.slack.changes.until(
			() => ada.dm(words).length > 0,
			() => words,
		);

	/** Starts again so many days later, because housekeeping runs at every start. */
	async function restartAfter(days: number): Promise<void> {
		aheadMs = days * DAY_MS + 2 * HOUR_MS;
		await app.restart();
	}

	/** Stops the program and returns what is stored. */
	async function stored() {
		await app.stop();
		const store = await openStore({ dataDir: app.dataDir, encryptionKey: KEY, log: createRecordingLog() });
		const { read } = store.db;
		const answers = await read.selectFrom('answers').select(['content', 'state']).execute();
		const drafts = await read.selectFrom('drafts').select('formId').execute();
		const watches = await read.selectFrom('watches').select('sessionId').orderBy('sessionId').execute();
		const posts = await read
			.selectFrom('posts')
			.select('kind')
			.where('content', '!=', '')
			.where('kind', 'in', ['card', 'question'])
			.execute();
		await store.close();
		return {
			answers: answers.map(({ content, state }) => `${state} ${content === null ? 'without' : 'with'} text`),
			drafts: drafts.length,
			watches: watches.map((row) => row.sessionId),
			posts: posts.map((row) => row.kind).sort(),
		};
	}

	const form = await openSession(app, 'waiting');
	await form.fill(0, 'Words');
	app.service.faults.add({ kind: 'error', status: 503, method: 'GET', sessionId: 'waiting' });
	await form.submit();
	await ada.waitForModal(headline('accepted'));
	await form.close();
	const draft = await openSession(app, 'drafted');
	await draft.fill(0, 'So far');
	await draft.close();
	for (const id of ['watched', 'unwatched']) {
		await ada.command('#agents', `/session watch ${id}`);
		const isAsked = () => ada.messages('#agents').some((post) => post.text().includes(`About ${id}`));
		await app.slack.changes.until(isAsked, () => id);
	}
	await ada.command('#agents', '/session unwatch unwatched');
	await ada.waitForMessage('#agents', said(unwatchedWords('unwatched', '')));
	await restartAfter(2);
	await dm(headline('waiting'));
	expect(await stored()).toEqual({
		answers: ['waiting with text'],
		drafts: 1,
		watches: ['unwatched', 'watched'],
		posts: ['card', 'card', 'question', 'question'],
	});

	// Three days after it was given up.
	await restartAfter(4);
	await dm(TEXT_REMOVED);
	expect(await stored()).toEqual({
		answers: ['waiting without text'],
		drafts: 0,
		watches: ['watched'],
		posts: ['card', 'question'],
	});
});

it('removes the rest where one kind of data cannot be removed, and tells which', async () => {
	let aheadMs = 0;
	await using app = await startApp({
		clock: { ...systemClock, now: () => systemClock.now() + aheadMs },
		env: { RETENTION_DAYS: '3', ENCRYPTION_KEY: KEY },
	});
	app.service.sessions.put('drafted', askingSession(['About it']));
	const draft = await openSession(app, 'drafted');
	await draft.fill(0, 'So far');
	await draft.close();
	await app.stop();
	const inFile = (statement: string) => {
		using database = new DatabaseSync(join(app.dataDir, 'handraise.db'));
		return database.prepare(statement).all();
	};
	expect(inFile('select form_id from drafts')).toHaveLength(1);
	// The first thing to be removed, and one in the middle.
	inFile("insert into people (user_id, team_id, used_at) values ('U0OLD', 'T0ACME', 0)");
	for (const table of ['people', 'drafts'])
		inFile(`create trigger stuck_${table} before delete on ${table} when old.rowid > 0
			begin select raise(abort, 'this row is stuck'); end`);
	inFile("insert into shared_states (name, state, changed_at) values ('rate:old', '{}', 0)");
	aheadMs = 4 * DAY_MS;
	const logged = app.log.length;
	await app.restart();
	await app.slack.changes.until(
		() => app.log.slice(logged).filter((line) => line.includes('retention_failed')).length === 2,
		() => app.log.slice(logged).join('\n'),
	);
	const failed = app.log.slice(logged).filter((line) => line.includes('retention_failed'));
	expect(failed.map((line) => JSON.parse(line).what)).toEqual(['drafts', 'people']);
	await app.stop();
	expect(inFile("select name from shared_states where name = 'rate:old'")).toEqual([]);
	expect(inFile('select form_id from drafts')).toHaveLength(1);
});
