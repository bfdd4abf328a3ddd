import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionKey } from '../../src/domain/session.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { moveService } from '../../src/operator/service-move.ts';
import { SEALED_COLUMNS, TABLE_NAMES } from '../../src/store/database.ts';
import type { Store } from '../../src/stores.ts';
import { addWatch } from '../sessions/support.ts';
import { ASKED, askingView, news, QUESTION, read } from '../store/contract/watch-acts.ts';
import { textsOf } from '../store/key-values.ts';
import {
	accepted,
	BOB,
	current,
	damage,
	formShown,
	item,
	KEY,
	LEASE,
	makeDataDir,
	open,
	submission,
	T0,
	valuesOf,
} from '../store/support.ts';
import { recordRead } from '../support/found.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { readFixture } from '../upgrade/fixture.ts';
import { RELEASES, STORES } from '../upgrade/releases.ts';
import { loadRows } from '../upgrade/rows.ts';

const [FORMER, NOW] = ['http://former.example', 'https://now.example'];
const OF_FIXTURE = 'http://sessions.example';
const BY = 'ada@laptop';

describe.each(STORES)('a service that moved, on %s', (kind) => {
	let directory: ReturnType<typeof makeDataDir>;
	let databaseUrl: string | null;
	let store: Store;
	beforeEach(async () => {
		directory = makeDataDir();
		databaseUrl = kind === 'postgres' ? await (await sharedPostgres()).createDatabase() : null;
	});
	afterEach(async () => {
		await store.close();
		await directory.remove();
	});
	const opened = async (serviceUrl?: string) => {
		store = await open({
			dataDir: directory.path,
			databaseUrl,
			encryptionKey: KEY,
			serviceUrl,
			pool: { size: 1, statementMs: 60_000 },
		});
		return store;
	};
	const move = (to = NOW) => moveService({ ...store, clock: systemClock }, { to, by: BY });

	async function counts(): Promise<Readonly<Record<string, number>>> {
		const tables = TABLE_NAMES.filter((table) => !['shared_states', 'audit_events', 'meta'].includes(table));
		const found = tables.map(async (table) => {
			const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(
				store.db.read,
			);
			return [table, Number(rows[0]?.count)] as const;
		});
		return Object.fromEntries(await Promise.all(found));
	}

	it.each(RELEASES)(
		'brings over all rows of a database that $version left, and every text of them',
		async (release) => {
			await loadRows(databaseUrl ?? directory.path, await readFixture(release, kind));
			await opened();
			const question = { service: OF_FIXTURE, sessionId: 'secret', messageIndex: 9 };
			await accepted(store, submission({ question, items: [item('hunter2', { secret: true })] }));
			await store.answers.accept(submission({ question, person: BOB }));
			await formShown(store, { question }, T0);
			const [textsBefore, countsBefore] = [await textsOf(store), await counts()];
			const columns = new Set(textsBefore.map((text) => text.split(':')[0]));
			const bound = SEALED_COLUMNS.filter(({ keys, bound }) =>
				[...keys, ...bound].some((name: string) => name === 'service'),
			);
			expect(bound.map(({ table, column }) => `${table}.${column}`).filter((name) => !columns.has(name))).toEqual([]);
			expect(textsBefore.filter((text) => text.includes('cannot be read'))).toEqual([]);
			const { froms, ...result } = await move();
			expect(froms).toEqual([OF_FIXTURE]);
			expect(result).toMatchObject({ endedCount: 0, asideCount: 0 });
			expect(await textsOf(store)).toEqual(textsBefore);
			expect(await counts()).toEqual(countsBefore);
			const again = await move();
			expect(again).toMatchObject({ froms: [], unsentCount: result.unsentCount, waitingCount: result.waitingCount });
			await store.close();
			await opened(NOW);
			expect(store.serviceUrl).toBe(NOW);
			const events =
				await sql<object>`select actor, operator, outcome from audit_events where action = 'serviceMoved'`.execute(
					store.db.read,
				);
			expect(events.rows).toEqual([{ actor: 'operator', operator: BY, outcome: 'moved' }]);
		},
	);

	it('keeps one live answer to a question, and asks the author of the second', async () => {
		await opened();
		const at = (service: string, messageIndex: number) => ({ service, sessionId: 's1', messageIndex });
		const first = await accepted(store, submission({ question: at(FORMER, 1), acceptedAt: T0 }));
		const second = await accepted(store, submission({ question: at(NOW, 1), acceptedAt: T0 + 1, person: BOB }));
		// Its PUT may have begun: it must not be sent again as if it had not.
		const begun = await accepted(store, submission({ question: at(NOW, 2), acceptedAt: T0 + 5 }));
		await store.db.writeOne((trx) =>
			trx
				.updateTable('answers')
				.set({ state: 'delivering', putStartedAt: T0 + 6 })
				.where('id', '=', begun.id)
				.execute(),
		);
		const broken = await accepted(store, submission({ question: at(FORMER, 2), acceptedAt: T0 + 2, person: BOB }));
		await damage(store, broken.id, 'submission');
		expect(await move()).toMatchObject({ froms: [FORMER], unsentCount: 2, waitingCount: 2, asideCount: 2 });
		const rows = await store.db.read.selectFrom('answers').select(['id', 'state']).execute();
		const states = [first, second, begun, broken].map(({ id }) => rows.find((row) => row.id === id)?.state);
		expect(states).toEqual(['accepted', 'waiting', 'delivering', 'waiting']);
		expect(await current(store, second.id)).toMatchObject({ lastError: 'other_service', question: { service: NOW } });
		expect([valuesOf(await store.answers.get(first.id)), valuesOf(await store.answers.get(second.id))]).toEqual([
			['blue'],
			['blue'],
		]);
		const due = await store.answers.takeDue(NOW, LEASE, 10, T0 + 86_400_000);
		expect(due.map(({ id }) => id)).toContain(first.id);
	});

	it('makes one session of two that were watched at both addresses: nobody is asked twice, and no channel left out', async () => {
		await opened();
		const [former, now] = [FORMER, NOW].map((service) => ({ service, sessionId: 's1' })) as [SessionKey, SessionKey];
		const view = (seenAt: number) => ({ ...askingView(), seenAt });
		const both = await addWatch(store.watches, { session: former, snapshot: view(T0) });
		const alone = await addWatch(store.watches, { session: former, channelId: 'C2', snapshot: view(T0) });
		const kept = await addWatch(store.watches, { session: now, snapshot: view(T0 + 60_000) });
		for (const [session, watch] of [
			[former, both],
			[now, kept],
		] as const) {
			const [taken] = await store.sessions.takeDue(session.service, LEASE, 1, T0 + 120_000);
			if (taken === undefined) throw new Error('nothing is due');
			await recordRead(
				store,
				{ session, token: LEASE.token },
				{
					now: T0 + 120_000,
					update: read({
						earlyReadCount: taken.earlyReadCount,
						questions: [ASKED],
						snapshot: askingView(QUESTION),
						lastReadAt: T0 + (session === now ? 120_000 : 0),
					}),
					watches: [news(watch)],
				},
			);
		}
		for (const service of [FORMER, NOW]) {
			const question = { service, sessionId: 's1', messageIndex: 1 };
			await formShown(store, { question, until: T0 + 60_000 }, T0);
		}
		expect(await move()).toMatchObject({ endedCount: 1, asideCount: 0 });
		const live = await store.db.read
			.selectFrom('watches')
			.select(['id', 'service', 'revision'])
			.where('endedAt', 'is', null)
			.orderBy('channelId')
			.execute();
		expect(live).toEqual([
			{ id: kept.id, service: NOW, revision: expect.any(Number) },
			// It is read as a new one, and told what is asked.
			{ id: alone.id, service: NOW, revision: 0 },
		]);
		const asked = await store.db.read
			.selectFrom('questions')
			.select(['service', 'number', 'settledHow'])
			.orderBy('number')
			.execute();
		expect(asked.map(({ service }) => service)).toEqual(asked.map(() => NOW));
		expect(asked.filter(({ settledHow }) => settledHow === null)).toHaveLength(1);
		expect(asked.at(-1)?.settledHow).toBeNull();
		expect(await counts()).toMatchObject({ watched_sessions: 1, views: 2 });
		expect(await store.sessions.takeDue(NOW, { ...LEASE, token: 'next' }, 5, T0 + 86_400_000)).toHaveLength(1);
	});
});
