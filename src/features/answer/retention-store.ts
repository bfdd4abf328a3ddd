import { sql } from 'kysely';
import type { Log } from '../../core/log.ts';
import { change, changeInBatches, countChanged, from } from '../../database/database.ts';
import type { StoreParts } from '../../database/encryption.ts';
import { WITHOUT_LEASE } from '../../database/tables.ts';
import { FORGOTTEN } from '../../questions/answer.ts';
import { authorGone, createAnswerReader, receiptOf, WITHOUT_VALUES } from './rows-store.ts';

const TAKEN = { secrets: { secrets: null }, content: WITHOUT_VALUES } as const;

/** What answers lose after some time: values, secrets, authors. */
export function createRetention({ db, cipher, log }: StoreParts & { readonly log: Log }) {
	const readOrSkip = createAnswerReader(cipher, log);

	/** Takes values from answers whose authors were asked before `before` what to do, and has them told. Returns how many. */
	async function takeFromWaiting(column: 'secrets' | 'content', before: number, now: number): Promise<number> {
		const waiting = from(db.read, 'answers', { state: 'waiting' })
			.selectAll()
			.where('giveUpAt', '<', before)
			.where(column, 'is not', null);
		let changed = 0;
		for (const row of await waiting.execute()) {
			const [answer] = readOrSkip(row);
			const receipt = answer && { ...receiptOf(answer, null), nextAttemptAt: now };
			const own = { id: row.id, state: 'waiting' };
			const taken = { ...TAKEN[column], ...receipt, ...WITHOUT_LEASE };
			changed += await db.writeOne((trx) => countChanged(change(trx, 'answers', own, taken)));
		}
		return changed;
	}

	return {
		/** Wipes secrets of answers that have waited since before `before`; their receipts become due. Returns how many. */
		wipeWaitingSecrets: (before: number, now: number) => takeFromWaiting('secrets', before, now),

		/** Removes the values of answers that ended or began to wait before `before`, whose receipts become due. Returns how many. */
		async removeValues(before: number, now: number): Promise<number> {
			const waitingCount = await takeFromWaiting('content', before, now);
			const endedCount = await changeInBatches(db, (trx, limit) => {
				const ended = from(trx, 'answers').select('id').where('endedAt', '<', before);
				const id = ended.where('content', 'is not', null).limit(limit);
				return change(trx, 'answers', { id }, WITHOUT_VALUES);
			});
			return waitingCount + endedCount;
		},

		/** Forgets who gave the answers that ended, or lost their texts while waiting, before `before`. Returns how many. */
		forgetAuthors: (before: number) =>
			changeInBatches(db, (trx, limit) => {
				const known = from(trx, 'answers').select('id').where('userId', 'not like', `${FORGOTTEN}%`);
				const isOver = sql<boolean>`(ended_at < ${before}
					or state = 'waiting' and content is null and accepted_at < ${before})`;
				const id = known.where(isOver).limit(limit);
				return change(trx, 'answers', { id }, authorGone(sql`${sql.lit(FORGOTTEN)} || id`));
			}),
	};
}
