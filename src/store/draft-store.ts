import { sql } from 'kysely';
import { z } from 'zod';
import type { Draft, DraftStore } from '../answers/ports.ts';
import { CLOCK_ALLOWANCE_MS } from '../clock.ts';
import type { Cipher } from './cipher.ts';
import { personColumns, questionColumns } from './columns.ts';
import { lockRows, type StoreDatabase } from './database.ts';
import type { DraftsTable } from './tables.ts';

const values = z.record(z.string(), z.string());
/** The former version kept the values alone. */
const content = z.union([
	z.object({ values, secret: z.array(z.int()) }),
	values.transform((typed) => ({ values: typed, secret: [] })),
]);

/** `DraftStore` over SQLite or PostgreSQL. A draft that cannot be decrypted is as good as none. */
export function createDraftStore({ db, cipher }: { db: StoreDatabase; cipher: Cipher }): DraftStore {
	function read(row: DraftsTable | undefined): Draft | null {
		if (row === undefined) return null;
		const plain = cipher.decrypt(row.content, place(row.form_id));
		if (plain === null) return null;
		return {
			formId: row.form_id,
			person: { teamId: row.team_id, userId: row.user_id },
			question: { service: row.service, sessionId: row.session_id, messageIndex: row.message_index },
			fingerprint: row.fingerprint,
			...content.parse(JSON.parse(plain)),
			updatedAt: row.updated_at,
		};
	}

	function seal({ formId, values: typed, secret = [] }: Pick<Draft, 'formId' | 'values' | 'secret'>): string {
		return cipher.encrypt(JSON.stringify({ values: typed, secret }), place(formId));
	}

	return {
		async save(draft, submissionKey = '') {
			const { formId, person, question, fingerprint, updatedAt } = draft;
			await db.writeOne(async (trx) => {
				// Made here, in the write: on SQLite the key of drafts may be replaced between two writes.
				const row: DraftsTable = {
					form_id: formId,
					...personColumns(person),
					...questionColumns(question),
					fingerprint,
					content: seal(draft),
					updated_at: updatedAt,
				};
				const columns = Object.keys(row) as (keyof DraftsTable)[];
				await trx
					.insertInto('drafts')
					.columns(columns)
					.expression(
						trx
							.selectNoFrom((eb) => columns.map((column) => eb.val(row[column]).as(column)))
							.where((eb) =>
								eb.not(eb.exists(trx.selectFrom('answers').select('id').where('submission_key', '=', submissionKey))),
							),
					)
					// Two notes of one form may overtake each other; the later one stands.
					.onConflict((conflict) =>
						conflict
							.column('form_id')
							.doUpdateSet(row)
							.where((eb) =>
								eb.or([
									eb('drafts.updated_at', '<=', updatedAt),
									// From before the clock was put back.
									eb('drafts.updated_at', '>', updatedAt + CLOCK_ALLOWANCE_MS),
								]),
							),
					)
					.execute();
			});
		},

		async get(formId) {
			return read(await db.read.selectFrom('drafts').selectAll().where('form_id', '=', formId).executeTakeFirst());
		},

		async newest(person, question) {
			return read(
				await db.read
					.selectFrom('drafts')
					.selectAll()
					.where((eb) => eb.and({ ...questionColumns(question), ...personColumns(person) }))
					.orderBy('updated_at', 'desc')
					.orderBy('form_id', 'desc')
					.limit(1)
					.executeTakeFirst(),
			);
		},

		async forget(person, question, positions) {
			await db.write(async (trx) => {
				const rows = await trx
					.selectFrom('drafts')
					.selectAll()
					.where((eb) => eb.and({ ...questionColumns(question), ...personColumns(person) }))
					.$call(lockRows(db.dialect))
					.execute();
				for (const row of rows) {
					const draft = read(row);
					const typed = Object.entries(draft?.values ?? {});
					const kept = typed.filter(([position]) => !positions.includes(Number(position)));
					if (draft === null || kept.length === typed.length) continue;
					const sealed = seal({ ...draft, values: Object.fromEntries(kept) });
					await (kept.every(([, text]) => text === '')
						? trx.deleteFrom('drafts').where('form_id', '=', row.form_id).execute()
						: trx.updateTable('drafts').set({ content: sealed }).where('form_id', '=', row.form_id).execute());
				}
				// What those drafts, or former states of them, leave in the files is made unreadable too.
				if (db.dialect === 'sqlite') await sql`select note_secret_wiped()`.execute(trx);
			});
		},

		async discard(person, question) {
			await db.writeOne(async (trx) => {
				await trx
					.deleteFrom('drafts')
					.where((eb) => eb.and({ ...questionColumns(question), ...personColumns(person) }))
					.execute();
			});
		},

		removeOlderThan: (before) =>
			db.writeOne(async (trx) => {
				const result = await trx.deleteFrom('drafts').where('updated_at', '<', before).executeTakeFirst();
				return Number(result.numDeletedRows);
			}),
	};
}

function place(formId: string) {
	return { table: 'drafts', id: formId, column: 'content' };
}
