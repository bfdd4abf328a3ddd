import { expect, it, onTestFinished } from 'vitest';
import { createManualClock, type ManualClock } from '../../../fake-slack/index.ts';
import { snapshotOf } from '../../../src/domain/session-snapshot.ts';
import { createLeaseLoop } from '../../../src/kernel/lease-loop.ts';
import { createRateLimiter } from '../../../src/kernel/rate-limiter.ts';
import { textMessage } from '../../../src/slack/blocks.ts';
import { openQuestionOf } from '../../../src/store/question-store.ts';
import type { Store } from '../../../src/stores.ts';
import { createOutbox } from '../../../src/surfaces/outbox.ts';
import { lookOf, readPost } from '../../../src/surfaces/post.ts';
import { beginReminders } from '../../../src/surfaces/reminder-store.ts';
import { createReminding } from '../../../src/surfaces/reminders.ts';
import {
	addWatch,
	assistant,
	createRecordingMetrics,
	openTestStore,
	pass,
	SERVICE,
	session,
	T0,
} from '../../sessions/support.ts';
import { read } from '../../store/contract/watch-acts.ts';
import { createRecordingLog, LEASE } from '../../store/support.ts';
import { coreOf } from '../../support/core.ts';
import { recordRead } from '../../support/found.ts';

const REMIND_AFTER_MS = 60_000;

/** Posts what is due in a Slack that takes everything. */
function startOutbox(store: Store, clock: ManualClock) {
	const core = coreOf({
		store,
		serviceUrl: SERVICE,
		config: { REMIND_AFTER: REMIND_AFTER_MS },
		rateLimiter: createRateLimiter(clock),
		metrics: { watches: createRecordingMetrics().metrics },
		clock,
		log: createRecordingLog(),
	});
	const announcer = {
		draw: async () => lookOf(textMessage('text'), { isLast: false }),
		remind: createReminding(core),
		prepare: async () => async () => ({ kind: 'sent' as const, ts: crypto.randomUUID() }),
		replace: async () => ({ kind: 'deleted' as const }),
		replaceRepeat: async () => {},
		find: async () => ({ kind: 'absent' as const }),
	};
	const outbox = createOutbox(core, announcer, async () => {});
	const loop = createLeaseLoop(core, outbox.queue);
	outbox.allow();
	loop.start();
	return { ...outbox, stop: () => Promise.all([loop.stop(), outbox.stop()]) };
}

/** Two replicas that share a store. Each has a clock of its own: one whose clock stands still looks at nothing. */
async function startReplicas() {
	const store = await openTestStore();
	const clocks = [createManualClock(T0), createManualClock(T0)] as const;
	const all = clocks.map((clock) => startOutbox(store, clock));
	onTestFinished(async () => {
		await Promise.all(all.map((one) => one.stop()));
	});
	const asking = (sessionId: string) =>
		session({ sessionId, status: 'humanInput', messages: [assistant('Which?', 'Colour')] });

	/** The question of a session of the channel, posted then. */
	async function posted(sessionId: string, postedAt: number): Promise<void> {
		const view = snapshotOf(asking(sessionId), postedAt);
		const watch = await addWatch(store.watches, { sessionId, snapshot: view });
		const key = { service: SERVICE, sessionId };
		const questionId = (await openQuestionOf(store.db.read, key))?.id ?? '';
		const place = { stream: `watch:${watch.id}`, number: 9, uniqueKey: 'question:', teamId: 'T1', placeId: 'C1' };
		const content = JSON.stringify({ kind: 'question', changed: false });
		const shown = { kind: 'question', content, state: 'shown', ts: sessionId, createdAt: postedAt };
		await store.db.write(async (trx) => {
			const row = { id: sessionId, watchId: watch.id, ...key, questionId, ...place, ...shown };
			await trx.insertInto('posts').values(row).execute();
			await beginReminders({ trx, now: postedAt }, [{ postId: sessionId, watch: { ...watch, ...key } }], postedAt);
		});
	}

	/** The session is read at this time, and asks the same. */
	async function wasRead(sessionId: string, at: number): Promise<void> {
		await store.sessions.takeDue(SERVICE, LEASE, 10, at);
		const update = read({ lastReadAt: at, nextRead: { at, by: at } });
		const held = { session: { service: SERVICE, sessionId }, token: LEASE.token };
		expect(await recordRead(store, held, { update, watches: [], now: at })).toBe(true);
	}

	/** How many questions each shown reminder names, oldest first. */
	async function reminders(): Promise<number[]> {
		const rows = store.db.read
			.selectFrom('posts')
			.selectAll()
			.where('kind', '=', 'reminder')
			.where('ts', 'is not', null);
		return (await rows.orderBy('shownAt').execute()).map((row) => {
			const content = readPost(row)?.content;
			return content?.kind === 'reminder' ? content.entries.length : 0;
		});
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
	await wasRead('s1', T0 + REMIND_AFTER_MS + 50_000);
	await grace.advance(REMIND_AFTER_MS + 59_000);
	await pass(grace, 400);
	expect(await reminders()).toEqual([]);
	await pass(grace, 2_000);
	expect(await reminders()).toEqual([1]);
});
