import { describe, expect, it } from 'vitest';
import { inRequest } from '../../../src/kernel/requests.ts';
import { recordEvents } from '../../../src/store/audit.ts';
import { auditLineOf, BEFORE_ALL, cursorOf, readEvents } from '../../../src/store/audit-reader.ts';
import type { AuditEvent } from '../../../src/store/database.ts';
import type { Store } from '../../../src/stores.ts';
import { settledEvents } from '../../operator/audit-command.ts';
import { AUDIT_LINE } from '../../support/audit-lines.ts';
import type { Subject } from '../contract.ts';
import { ANN, accepted, BOB, moved, submission, T0 } from '../support.ts';
import { forget } from './person.ts';

const SOMETHING = { at: T0, action: 'settingsChanged' } as const;

const linesOf = async ({ db }: Store) => (await settledEvents(db.read)).map(auditLineOf);
const record = ({ db }: Store, ...events: readonly AuditEvent[]) =>
	db.write(async (trx) => recordEvents(trx, ...events));

export function describeAudit(subject: Subject): void {
	describe('the audit', () => {
		it('tells of an answer, who gave it where, and that it arrived', async () => {
			const { store } = subject;
			const given = submission();
			await inRequest({ id: 'abcdef012345', userId: BOB.userId, action: 'submit' }, () => accepted(store, given));
			await moved(store, given.id, 'delivering', 'delivered');
			const same = { answer: given.id, session: 's1', channel: 'C1', fingerprint: 'fingerprint-1', count: 1 };
			const lines = await linesOf(store);
			expect(lines).toMatchObject([
				{ action: 'answered', actor: ANN.userId, about: null, outcome: 'accepted', request: 'abcdef012345', ...same },
				{ action: 'delivered', actor: 'program', about: ANN.userId, outcome: 'delivered', request: null, ...same },
			]);
			for (const line of lines) expect(AUDIT_LINE.parse(line)).toEqual(line);
			expect(lines[0]?.at).toBe(new Date(T0).toISOString());
			expect(JSON.stringify(lines)).not.toContain('blue');
		});

		it('has nothing of a transaction that is rolled back, and all of one that shares its commit', async () => {
			const { store } = subject;
			const failing = store.db.write(async (trx) => {
				recordEvents(trx, SOMETHING);
				throw new Error('rolled back');
			});
			await Promise.all([
				expect(failing).rejects.toThrow('rolled back'),
				record(store, { ...SOMETHING, channel: 'C2' }),
			]);
			expect(await linesOf(store)).toMatchObject([{ channel: 'C2' }]);
		});

		it('is read on from the last row, in pages, and from a time', async () => {
			const { store } = subject;
			for (const minute of [0, 1, 2, 3]) await record(store, { ...SOMETHING, at: T0 + minute * 60_000 });
			await settledEvents(store.db.read);
			const page = await readEvents(store.db.read, BEFORE_ALL, { limit: 2 });
			expect(page.map(({ at }) => at - T0)).toEqual([0, 60_000]);
			const [, last] = page;
			const rest = await readEvents(store.db.read, last === undefined ? BEFORE_ALL : cursorOf(last));
			expect(rest.map(({ at }) => at - T0)).toEqual([120_000, 180_000]);
			const since = await readEvents(store.db.read, BEFORE_ALL, { since: T0 + 60_001 });
			expect(since).toEqual(rest);
		});

		it('reads only what is before the oldest transaction that still runs, so that a follower misses nothing', async () => {
			const { store, replica } = subject;
			if (store.db.dialect === 'sqlite') return;
			await store.db.write(async (trx) => {
				await trx.deleteFrom('snoozes').execute();
				recordEvents(trx, { ...SOMETHING, channel: 'slow' });
				await trx.insertInto('service_outages').values({ service: 'slow', downSince: T0 }).execute();
				await record(replica, { ...SOMETHING, channel: 'fast' });
				expect(await readEvents(replica.db.read, BEFORE_ALL)).toEqual([]);
			});
			expect((await linesOf(store)).map(({ channel }) => channel)).toEqual(['slow', 'fast']);
		});

		it('counts refusals for each person, action and minute, and tells of them when the minute is over, once', async () => {
			const { audit } = subject.store;
			const refused = (userId: string, action: string, now: number) =>
				inRequest({ id: 'r', userId, action }, () => audit.countRefusal('not_named', now));
			await Promise.all([0, 1, 2].map((second) => refused(BOB.userId, 'press', T0 + second * 1_000)));
			await refused(BOB.userId, 'open', T0 + 59_999);
			await refused(ANN.userId, 'press', T0 + 60_000);
			await audit.recordRefusals(T0 + 59_999);
			expect(await linesOf(subject.store)).toEqual([]);
			await Promise.all([audit.recordRefusals(T0 + 60_000), subject.replica.audit.recordRefusals(T0 + 60_000)]);
			const told = async () =>
				(await linesOf(subject.store))
					.map(({ action, actor, about, count, at, outcome, request }) => ({
						action,
						actor,
						about,
						count,
						at,
						outcome,
						request,
					}))
					.toSorted((one, other) => other.count - one.count);
			const same = { action: 'refused', outcome: 'not_named', request: null };
			const first = { ...same, actor: BOB.userId, at: new Date(T0).toISOString() };
			const both = [
				{ ...first, about: 'press', count: 3 },
				{ ...first, about: 'open', count: 1 },
			];
			expect(await told()).toEqual(both);
			await audit.recordRefusals(T0 + 120_000);
			const later = { ...same, actor: ANN.userId, about: 'press', count: 1, at: new Date(T0 + 60_000).toISOString() };
			expect(await told()).toEqual([...both, later]);
		});

		it('forgets what is old, but not the newest row, and goes on counting', async () => {
			const { store } = subject;
			for (const day of [0, 1, 2]) await record(store, { ...SOMETHING, at: T0 + day * 86_400_000 });
			const before = await linesOf(store);
			expect(await store.audit.removeOlderThan(T0 + 86_400_000)).toBe(1);
			expect(await linesOf(store)).toEqual(before.slice(1));
			expect(await store.audit.removeOlderThan(T0 + 9 * 86_400_000)).toBe(1);
			expect(await linesOf(store)).toEqual(before.slice(2));
			await record(store, SOMETHING);
			const [last, next] = await linesOf(store);
			expect(next?.number).toBeGreaterThan(last?.number ?? 0);
		});

		it('takes thousands of events of one transaction, each once, in their order', async () => {
			const { store } = subject;
			const times = Array.from({ length: 5_000 }, (_, index) => T0 + index);
			await store.db.write(async (trx) => recordEvents(trx, ...times.map((at) => ({ ...SOMETHING, at }))));
			const rows = await settledEvents(store.db.read);
			expect(rows.map(({ at }) => at)).toEqual(times);
			expect(new Set(rows.map(({ number }) => number)).size).toBe(5_000);
		});

		it('is not recorded outside of a transaction', async () => {
			const { db } = subject.store;
			if (db.dialect === 'sqlite') return;
			await expect(db.writeOne(async (trx) => recordEvents(trx, SOMETHING))).rejects.toThrow('needs a transaction');
		});

		it('bounds the id of a session, which a person may have typed', async () => {
			await record(subject.store, { ...SOMETHING, session: `s\n${'x'.repeat(300)}` });
			const [line] = await linesOf(subject.store);
			expect(line?.session).toBe(`s${'x'.repeat(199)}`);
		});

		it('names somebody who is forgotten as all other rows do, also what that itself discards, and in what it adds', async () => {
			const { store } = subject;
			await accepted(store, submission({ sessionId: 's2' }), 'delivering', 'delivered', 'resumed');
			await accepted(store, submission({ sessionId: 's3' }), 'waiting');
			await store.answers.accept(submission({ sessionId: 's4', person: BOB }));
			const added: string[] = [];
			store.db.onCommit(({ events }) => void added.push(...events.map((event) => JSON.stringify(event))));
			const forgotten = await forget(store, ANN.userId);
			const name = 'name' in forgotten ? forgotten.name : '';
			expect(added).toEqual([expect.stringContaining(name)]);
			expect(added.join()).not.toContain(ANN.userId);
			const lines = await linesOf(store);
			expect(JSON.stringify(lines)).not.toContain(ANN.userId);
			const theirs = lines.filter((line) => line.actor === name || line.about === name).map(({ action }) => action);
			expect(theirs).toEqual(['answered', 'delivered', 'resumed', 'answered', 'failed', 'discarded']);
			expect(lines.filter(({ actor }) => actor === BOB.userId)).toHaveLength(1);
		});
	});
}
