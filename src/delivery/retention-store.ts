import { FORGOTTEN } from '../domain/person.ts';
import type { Log } from '../kernel/log.ts';
import { nextTurn } from '../kernel/slices.ts';
import { changeInBatches, inBatches, inParts } from '../store/batches.ts';
import {
	type Cipher,
	change,
	countChanged,
	type Db,
	from,
	hasChanged,
	type Row,
	type StoreParts,
	sql,
	type Tx,
	WITHOUT_LEASE,
} from '../store/database.ts';
import { markDue } from '../store/marks.ts';
import { tellAgain } from '../surfaces/view-plan-store.ts';
import { withdrawAnswer } from './accept-store.ts';
import { recordFate } from './recorded.ts';
import { authorGone, createAnswerReader, otherColumn, WITHOUT_VALUES } from './rows-store.ts';

const TAKEN = { secrets: { secrets: null }, content: WITHOUT_VALUES } as const;

/** What answers lose after some time: values, secrets, authors. */
export function createRetention({ db, cipher, log }: StoreParts & { readonly log: Log }) {
	const readOrSkip = createAnswerReader(cipher, log);

	/** Takes values from answers that began to wait before `before`, and has their authors told. Returns how many. */
	async function takeFromWaiting(column: 'secrets' | 'content', before: number, now: number): Promise<number> {
		const waiting = from(db.read, 'answers', { state: 'waiting' })
			.selectAll()
			.where('giveUpAt', '<', before)
			.where(column, 'is not', null);
		let changed = 0;
		for (const row of await waiting.execute()) {
			const [answer] = readOrSkip(row);
			const own = { id: row.id, state: 'waiting' };
			changed += await db.write(async (trx) => {
				const taken = await countChanged(change(trx, 'answers', own, { ...TAKEN[column], ...WITHOUT_LEASE }));
				if (taken > 0 && answer !== undefined) {
					await tellAgain(trx, answer, now);
					await markDue({ trx, now }, answer.question);
				}
				return taken;
			});
		}
		return changed;
	}

	return {
		/** Wipes secrets of answers that have waited since before `before`, and has authors told. Returns how many. */
		wipeWaitingSecrets: (before: number, now: number) => takeFromWaiting('secrets', before, now),

		/** Removes values of answers that ended or began to wait before `before`. Returns how many. */
		async removeValues(before: number, now: number): Promise<number> {
			const waitingCount = await takeFromWaiting('content', before, now);
			const endedCount = await changeInBatches(db, (trx, limit) => {
				const ended = from(trx, 'answers').select('id').where('endedAt', '<', before);
				const id = ended.where('content', 'is not', null).limit(limit);
				return change(trx, 'answers', { id }, WITHOUT_VALUES);
			});
			return waitingCount + endedCount;
		},

		/** Forgets who gave answers that ended, or lost their texts while waiting, before `before`. Returns how many. */
		forgetAuthors: (before: number) =>
			changeInBatches(db, (trx, limit) => {
				// Written out: SQLite uses a partial index only then.
				const isKnown = sql<boolean>`user_id not like ${sql.lit(`${FORGOTTEN}%`)}`;
				const known = from(trx, 'answers').select('id').where(isKnown).limit(limit);
				const ended = known.where('endedAt', '<', before);
				const waiting = known.where(sql<boolean>`state = 'waiting' and content is null and accepted_at < ${before}`);
				const either = sql<boolean>`id in (select id from ${ended} as one union all select id from ${waiting} as two)`;
				return change(trx, 'answers', {}, authorGone(sql`${sql.lit(FORGOTTEN)} || id`)).where(either);
			}),
	};
}

/** Answers decrypted in one turn of the event loop. */
const AT_ONCE = 500;

/** What becomes of answers when somebody is forgotten. */
export function createForgetting(cipher: Cipher) {
	const firstOf = (row: Row<'answers'>) => otherColumn.open(row.other, row, cipher);

	/**
	 * Runs `work` on the answers of others that say who was first, or came second. Returns for how many it resolves
	 * to true.
	 */
	function countOthers(trx: Db, userId: string, work: (row: Row<'answers'>) => Promise<boolean>) {
		const second = from(trx, 'answers').selectAll().where('other', 'is not', null).where('userId', '!=', userId);
		return inParts(trx, 'answers', async (isIn) => {
			let count = 0;
			for (const [index, row] of (await second.where(isIn).execute()).entries()) {
				if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
				count += Number(await work(row));
			}
			return count;
		});
	}

	return {
		/** Discards their answers that wait for them. Returns how many. */
		async discardWaiting(tx: Tx, userId: string): Promise<number> {
			for (let count = 0; ; count++) {
				const waiting = await from(tx.trx, 'answers', { userId, state: 'waiting' }).selectAll().execute();
				const [answer] = waiting.flatMap(createAnswerReader(cipher));
				if (answer === undefined) return count;
				recordFate(tx, answer, 'discarded', 'withdrawn');
				await withdrawAnswer({ ...tx, cipher }, answer);
			}
		},

		/** How many answers of others may name them and cannot be read. */
		countUnreadable: (trx: Db, userId: string) => countOthers(trx, userId, async (row) => firstOf(row) === null),

		/** Puts `name` in their place in answers of others, without their words. Returns in how many. */
		leaveOthers: ({ trx }: Tx, userId: string, name: string): Promise<number> =>
			countOthers(trx, userId, async (row) => {
				const first = firstOf(row);
				if (first?.person?.userId !== userId) return false;
				const hidden = { ...first, person: { ...first.person, userId: name }, values: first.values.map(() => null) };
				const columns = { other: otherColumn.seal(hidden, row, cipher), ...WITHOUT_LEASE };
				return hasChanged(change(trx, 'answers', { id: row.id }, columns));
			}),

		/** Puts `name` in the place of the author, and removes all values. Delivered answers are still checked. */
		async forgetAuthor(trx: Db, userId: string, name: string): Promise<void> {
			const nextAttemptAt = sql<number>`
				case when state = 'delivered' and agent_outcome is null then next_attempt_at end`;
			const gone = { ...authorGone(sql`${name}`), ...WITHOUT_VALUES, ...WITHOUT_LEASE, nextAttemptAt };
			const batch = (limit: number) => from(trx, 'answers', { userId }).select('id').limit(limit);
			await inBatches((limit) => countChanged(change(trx, 'answers', { id: batch(limit) }, gone)));
		},
	};
}
