import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../../fake-slack/index.ts';
import { snapshotOf } from '../../../src/domain/session-snapshot.ts';
import { beginLadder } from '../../../src/store/ladders.ts';
import { openQuestionOf } from '../../../src/store/question-store.ts';
import { createReminders } from '../../../src/surfaces/reminders.ts';
import { addWatch, assistant, openTestStore, pass, SERVICE, session, T0 } from '../../sessions/support.ts';
import { read } from '../../store/contract/watch-acts.ts';
import { createRecordingLog, LEASE } from '../../store/support.ts';
import { coreOf } from '../../support/core.ts';
import { recordRead } from '../../support/found.ts';

const REMIND_AFTER_MS = 60_000;

/** Two replicas that share a store. Each has a clock of its own: one whose clock stands still looks at nothing. */
async function startReplicas() {
	const store = await openTestStore();
	const clocks = [createManualClock(T0), createManualClock(T0)] as const;
	const config = { REMIND_AFTER: REMIND_AFTER_MS };
	const all = clocks.map((clock) => {
		const core = coreOf({ store, serviceUrl: SERVICE, config, clock, log: createRecordingLog() });
		return createReminders(core);
	});
	for (const one of all) await one.start();
	onTestFinished(async () => {
		await Promise.all(all.map((one) => one.stop()));
	});
	const asking = (sessionId: string) =>
		session({ sessionId, status: 'humanInput', messages: [assistant('Which?', 'Colour')] });

	/** The question of a session of the channel, posted then. */
	async function posted(sessionId: string, postedAt: number): Promise<void> {
		const view = snapshotOf(asking(sessionId), postedAt);
		const { id, teamId, channelId } = await addWatch(store.watches, { sessionId, view });
		const row = { id, teamId, channelId, service: SERVICE, sessionId };
		const questionId = (await openQuestionOf(store.db.read, { service: SERVICE, sessionId }))?.id ?? '';
		const question = { questionId, postTs: sessionId, postedAt, now: postedAt };
		await store.db.write((trx) => beginLadder(trx, row, question));
	}

	/** The session is read at this time, and asks the same. */
	async function wasRead(sessionId: string, at: number): Promise<void> {
		await store.sessions.takeDue(SERVICE, LEASE, 10, at);
		const update = read({ lastReadAt: at, nextRead: { at: at + 3_600_000, by: at + 3_600_000 } });
		const held = { session: { service: SERVICE, sessionId }, token: LEASE.token };
		expect(await recordRead(store, held, { update, watches: [], now: at })).toBe(true);
	}

	/** How many questions each reminder names, oldest first; cards are left out. */
	async function reminders(): Promise<number[]> {
		const rows = await store.db.read.selectFrom('posts').selectAll().orderBy('createdAt').execute();
		return rows
			.filter(({ kind }) => kind === 'reminder' || kind === 'digest')
			.map(({ kind }) => (kind === 'reminder' ? 1 : 2));
	}

	return { ada: clocks[0], grace: clocks[1], posted, wasRead, reminders };
}

it('waits for the reminders of a channel, although this replica has seen the channel before another one reminded', async () => {
	const { ada, grace, posted, wasRead, reminders } = await startReplicas();
	await posted('s1', T0);
	await pass(ada, REMIND_AFTER_MS + 400);
	await wasRead('s1', T0 + REMIND_AFTER_MS);
	await pass(grace, REMIND_AFTER_MS + 12_000);
	expect(await reminders()).toEqual([1]);
	const later = T0 + 600_000;
	for (const sessionId of ['s2', 's3']) await posted(sessionId, later);
	await pass(grace, later + 1_000 - grace.now());
	await wasRead('s2', later + REMIND_AFTER_MS);
	await pass(ada, later + REMIND_AFTER_MS + 15_000 - ada.now());
	expect(await reminders()).toEqual([1]);
	await wasRead('s3', later + REMIND_AFTER_MS + 15_000);
	await pass(ada, 2_000);
	expect(await reminders()).toEqual([1, 2]);
});

it('goes on with the wait of another replica, and waits no longer', async () => {
	const { ada, grace, posted, wasRead, reminders } = await startReplicas();
	for (const sessionId of ['s1', 's2']) await posted(sessionId, T0);
	await wasRead('s1', T0 + REMIND_AFTER_MS);
	await pass(ada, REMIND_AFTER_MS + 400);
	await grace.advance(REMIND_AFTER_MS + 19_000);
	await pass(grace, 400);
	expect(await reminders()).toEqual([]);
	await pass(grace, 2_000);
	expect(await reminders()).toEqual([1]);
});
