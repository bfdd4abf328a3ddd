import { type ExpressionBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Answer, Person, QuestionKey } from '../answers/answer.ts';
import { lockRows, rowUnlessExists, type StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import { personColumns, questionColumns, type Row, type Tables } from './tables.ts';

/** What a form shows, as far as Slack has told: offered text and typed text. Never secret fields. */
export interface Draft {
	/** The form's own id (in its private_metadata). */
	readonly formId: string;
	readonly person: Person;
	readonly question: QuestionKey;
	readonly fingerprint: string;
	/** Of what the form shows; null when that is not known. */
	readonly shownHash: string | null;
	/** By position. A text longer than an input holds is shown cut and sent whole. */
	readonly values: Readonly<Record<number, string>>;
	/** Positions whose box is ticked. */
	readonly secret?: readonly number[];
	readonly updatedAt: number;
}

/** "(name) is answering": it informs and never blocks. */
export interface Claim {
	readonly question: QuestionKey;
	readonly person: Person;
	/** When it lapses. */
	readonly until: number;
}

const values = z.record(z.string(), z.string());
/** The JSON of drafts. */
export const draftContent = z.object({ values, secret: z.array(z.int()), shownHash: z.string().nullable() });

/** Filters for the person's rows about this question, in a table of the answering state. */
const ofPerson = (person: Person, question: QuestionKey) => (eb: ExpressionBuilder<Tables, 'drafts' | 'claims'>) =>
	eb.and({ ...questionColumns(question), ...personColumns(person) });

/** The drafts of forms. One that cannot be decrypted counts as absent. */
export function createDraftStore({ db, cipher }: { db: StoreDatabase; cipher: Cipher }) {
	const read = (row: Row<'drafts'> | undefined) => (row === undefined ? null : readDraft(row, cipher));

	return {
		/**
		 * Writes or replaces the draft of this form. Writes nothing when `submissionKey` was submitted, because events of typing
		 * can arrive after the submission.
		 */
		async save(draft: Draft, submissionKey = ''): Promise<void> {
			await db.writeOne(async (trx) => {
				// Encrypted inside the write: on SQLite the key of drafts may be replaced between two writes.
				const row = draftRow(draft, cipher);
				const submitted = trx.selectFrom('answers').select('id').where('submission_key', '=', submissionKey);
				await trx
					.insertInto('drafts')
					.columns(Object.keys(row) as (keyof Row<'drafts'>)[])
					.expression(rowUnlessExists(trx, row, submitted))
					// Two saves of one form may arrive in the wrong order: the newer one wins.
					.onConflict((conflict) =>
						conflict.column('form_id').doUpdateSet(row).where('drafts.updated_at', '<=', draft.updatedAt),
					)
					.execute();
			});
		},

		async get(formId: string): Promise<Draft | null> {
			return read(await db.read.selectFrom('drafts').selectAll().where('form_id', '=', formId).executeTakeFirst());
		},

		/** The newest draft of this person for this question, with any fingerprint. */
		async newest(person: Person, question: QuestionKey): Promise<Draft | null> {
			return read(
				await db.read
					.selectFrom('drafts')
					.selectAll()
					.where(ofPerson(person, question))
					.orderBy('updated_at', 'desc')
					.orderBy('form_id', 'desc')
					.limit(1)
					.executeTakeFirst(),
			);
		},

		/** Removes these positions from all drafts of this person for this question, because their texts are secret now. */
		async forget(person: Person, question: QuestionKey, positions: readonly number[]): Promise<void> {
			await db.write(async (trx) => {
				const rows = await trx
					.selectFrom('drafts')
					.selectAll()
					.where(ofPerson(person, question))
					.$call(lockRows(db.dialect))
					.execute();
				for (const row of rows) {
					const draft = read(row);
					const typed = Object.entries(draft?.values ?? {});
					const kept = typed.filter(([position]) => !positions.includes(Number(position)));
					if (draft === null || kept.length === typed.length) continue;
					const sealed = sealDraft({ ...draft, values: Object.fromEntries(kept) }, cipher);
					await (kept.every(([, text]) => text === '')
						? trx.deleteFrom('drafts').where('form_id', '=', row.form_id).execute()
						: trx.updateTable('drafts').set({ content: sealed }).where('form_id', '=', row.form_id).execute());
				}
				// Also makes copies of those drafts in SQLite's files unreadable.
				if (db.dialect === 'sqlite') await sql`select note_secret_wiped()`.execute(trx);
			});
		},

		/**
		 * Removes the drafts of this person for this question, because the answer was submitted. The draft that it became itself
		 * when the first answer was withdrawn stays.
		 */
		async discard({ id, person, question }: Pick<Answer, 'id' | 'person' | 'question'>): Promise<void> {
			await db.writeOne((trx) =>
				trx.deleteFrom('drafts').where(ofPerson(person, question)).where('form_id', '!=', id).execute(),
			);
		},

		removeOlderThan: (before: number) =>
			db.writeOne(async (trx) => {
				const result = await trx.deleteFrom('drafts').where('updated_at', '<', before).executeTakeFirst();
				return Number(result.numDeletedRows);
			}),
	};
}

export type DraftStore = ReturnType<typeof createDraftStore>;

/** The row of a draft, encrypted. */
export function draftRow(draft: Draft, cipher: Cipher): Row<'drafts'> {
	const { formId, person, question, fingerprint, updatedAt } = draft;
	return {
		form_id: formId,
		...personColumns(person),
		...questionColumns(question),
		fingerprint,
		content: sealDraft(draft, cipher),
		updated_at: updatedAt,
	};
}

function sealDraft({ formId, values: typed, secret = [], shownHash }: Draft, cipher: Cipher): string {
	return cipher.encrypt(JSON.stringify({ values: typed, secret, shownHash }), draftPlace(formId));
}

/** Null when it cannot be decrypted. */
export function readDraft(row: Row<'drafts'>, cipher: Cipher): Draft | null {
	const plain = cipher.decrypt(row.content, draftPlace(row.form_id));
	if (plain === null) return null;
	return {
		formId: row.form_id,
		person: { teamId: row.team_id, userId: row.user_id },
		question: { service: row.service, sessionId: row.session_id, messageIndex: row.message_index },
		fingerprint: row.fingerprint,
		...draftContent.parse(JSON.parse(plain)),
		updatedAt: row.updated_at,
	};
}

function draftPlace(formId: string) {
	return { table: 'drafts', id: formId, column: 'content' };
}

export function createClaimStore({ db }: { db: StoreDatabase }) {
	return {
		/** Sets or prolongs a claim. True when this person had no active claim before. */
		claim: ({ question, person, until }: Claim, now: number) =>
			db.write(async (trx) => {
				const prolonged = await trx
					.updateTable('claims')
					.set({ until })
					.where(ofPerson(person, question))
					.where('until', '>', now)
					.executeTakeFirst();
				if (prolonged.numUpdatedRows > 0n) return false;
				const made = await trx
					.insertInto('claims')
					.values({ ...questionColumns(question), ...personColumns(person), claimed_at: now, until })
					.onConflict((conflict) =>
						conflict
							.columns(['service', 'session_id', 'message_index', 'team_id', 'user_id'])
							.doUpdateSet({ claimed_at: now, until })
							.where('claims.until', '<=', now),
					)
					.executeTakeFirst();
				return (made.numInsertedOrUpdatedRows ?? 0n) > 0n;
			}),

		/** True when there was a claim. */
		release: (question: QuestionKey, person: Person) =>
			db.writeOne(async (trx) => {
				const result = await trx.deleteFrom('claims').where(ofPerson(person, question)).executeTakeFirst();
				return result.numDeletedRows > 0n;
			}),

		/** The claims that have not lapsed, oldest first. */
		async active(question: QuestionKey, now: number): Promise<Claim[]> {
			const rows = await db.read
				.selectFrom('claims')
				.selectAll()
				.where((eb) => eb.and(questionColumns(question)))
				.where('until', '>', now)
				.orderBy('claimed_at')
				.orderBy('user_id')
				.execute();
			return rows.map((row) => ({
				question,
				person: { teamId: row.team_id, userId: row.user_id },
				until: row.until,
			}));
		},

		removeLapsed: (now: number) =>
			db.writeOne(async (trx) => {
				const result = await trx.deleteFrom('claims').where('until', '<=', now).executeTakeFirst();
				return Number(result.numDeletedRows);
			}),
	};
}

export type ClaimStore = ReturnType<typeof createClaimStore>;
