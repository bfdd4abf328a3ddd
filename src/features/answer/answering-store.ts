import { sql } from 'kysely';
import { z } from 'zod';
import { pick } from '../../core/values.ts';
import {
	add,
	change,
	countChanged,
	type Filter,
	from,
	hasChanged,
	isPostgres,
	remove,
	rowUnlessExists,
} from '../../database/database.ts';
import { type Cipher, type StoreParts, sealedColumn } from '../../database/encryption.ts';
import { type Db, personOf, questionOf, type Row } from '../../database/tables.ts';
import type { Answer, Person, QuestionKey } from '../../questions/answer.ts';

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

/** "(name) is answering" until it lapses: it informs and never blocks. */
export type Claim = Readonly<Awaited<ReturnType<typeof activeClaims>>[number]>;

const values = z.record(z.string(), z.string());
export const draftColumn = sealedColumn(
	'drafts',
	'content',
	z.object({ values, secret: z.array(z.int()), shownHash: z.string().nullable() }),
);

const ofPerson = (person: Person, question: QuestionKey) => ({
	...questionOf(question),
	...personOf(person),
});

/** The drafts of forms. One that cannot be decrypted counts as absent. */
export function createDraftStore({ db, cipher }: StoreParts) {
	const read = (row: Row<'drafts'> | undefined) => (row === undefined ? null : readDraft(row, cipher));

	return {
		/** Writes the draft, unless a newer one is there or `submissionKey` was submitted: typing can arrive after that. */
		async save(draft: Draft, submissionKey = ''): Promise<void> {
			await db.writeOne(async (trx) => {
				// Encrypted inside the write: on SQLite the key of drafts may be replaced between two writes.
				const row = draftRow(draft, cipher);
				const submitted = trx.selectFrom('answers').select('id').where('submissionKey', '=', submissionKey);
				await trx
					.insertInto('drafts')
					.columns(Object.keys(row) as (keyof Row<'drafts'>)[])
					.expression(rowUnlessExists(trx, row, submitted))
					// Two saves of one form may arrive in the wrong order: the newer one wins.
					.onConflict((conflict) =>
						conflict.column('formId').doUpdateSet(row).where('drafts.updatedAt', '<=', draft.updatedAt),
					)
					.execute();
			});
		},

		async get(formId: string): Promise<Draft | null> {
			return read(await from(db.read, 'drafts', { formId }).selectAll().executeTakeFirst());
		},

		/** The newest draft of this person for this question, with any fingerprint. */
		async newest(person: Person, question: QuestionKey): Promise<Draft | null> {
			const own = from(db.read, 'drafts', ofPerson(person, question)).selectAll();
			return read(await own.orderBy('updatedAt', 'desc').orderBy('formId', 'desc').limit(1).executeTakeFirst());
		},

		/** Removes these positions from all drafts of this person for this question, because their texts are secret now. */
		async forget(person: Person, question: QuestionKey, positions: readonly number[]): Promise<void> {
			await db.write(async (trx) => {
				const rows = await from(trx, 'drafts', ofPerson(person, question)).selectAll().forUpdate().execute();
				for (const row of rows) {
					const draft = read(row);
					const typed = Object.entries(draft?.values ?? {});
					const kept = typed.filter(([position]) => !positions.includes(Number(position)));
					if (draft === null || kept.length === typed.length) continue;
					const sealed = sealDraft({ ...draft, values: Object.fromEntries(kept) }, cipher);
					const own = { formId: row.formId };
					if (kept.every(([, text]) => text === '')) await remove(trx, 'drafts', own).execute();
					else await change(trx, 'drafts', own, { content: sealed }).execute();
				}
				// Also makes copies of those drafts in SQLite's files unreadable.
				if (!isPostgres(trx)) await sql`select note_secret_wiped()`.execute(trx);
			});
		},

		/** Removes the author's drafts for a submitted answer's question, but not the one that it became while it waited. */
		async discard({ id, person, question }: Pick<Answer, 'id' | 'person' | 'question'>): Promise<void> {
			await db.writeOne((trx) => remove(trx, 'drafts', ofPerson(person, question)).where('formId', '!=', id).execute());
		},

		removeOlderThan: (before: number) =>
			db.writeOne((trx) => countChanged(remove(trx, 'drafts').where('updatedAt', '<', before))),
	};
}

export function draftRow(draft: Draft, cipher: Cipher): Row<'drafts'> {
	const keys = ofPerson(draft.person, draft.question);
	return { ...pick(draft, 'formId', 'fingerprint', 'updatedAt'), ...keys, content: sealDraft(draft, cipher) };
}

function sealDraft({ formId, values: typed, secret = [], shownHash }: Draft, cipher: Cipher): string {
	return draftColumn.seal({ values: { ...typed }, secret: [...secret], shownHash }, formId, cipher);
}

/** Null when it cannot be read. */
export function readDraft(row: Row<'drafts'>, cipher: Cipher): Draft | null {
	const content = draftColumn.open(row.content, row.formId, cipher);
	const own = pick(row, 'formId', 'fingerprint', 'updatedAt');
	return content && { ...own, person: personOf(row), question: questionOf(row), ...content };
}

export function createClaimStore({ db }: Pick<StoreParts, 'db'>) {
	return {
		/** Sets or prolongs a claim. True when this person had no active claim before. */
		claim: ({ question, person, until }: Claim, now: number) =>
			db.write(async (trx) => {
				const own = ofPerson(person, question);
				const active = change(trx, 'claims', own, { until }).where('until', '>', now);
				if (await hasChanged(active)) return false;
				const begun = { claimedAt: now, until };
				const key = ['service', 'sessionId', 'messageIndex', 'teamId', 'userId'] as const;
				const made = add(trx, 'claims', { ...own, ...begun }).onConflict((conflict) =>
					conflict.columns(key).doUpdateSet(begun).where('claims.until', '<=', now),
				);
				return hasChanged(made);
			}),

		/** True when there was a claim. */
		release: (question: QuestionKey, person: Person) =>
			db.writeOne((trx) => hasChanged(remove(trx, 'claims', ofPerson(person, question)))),

		active: (question: QuestionKey, now: number) => activeClaims(db.read, questionOf(question), now),

		removeLapsed: (now: number) => db.writeOne((trx) => countChanged(remove(trx, 'claims').where('until', '<=', now))),
	};
}

/** The claims that match `filter` and have not lapsed, oldest first. */
export async function activeClaims(read: Db, filter: Filter<'claims'>, now: number) {
	const active = from(read, 'claims', filter).where('until', '>', now);
	const rows = await active.selectAll().orderBy('claimedAt').orderBy('userId').execute();
	return rows.map((row) => ({ question: questionOf(row), person: personOf(row), until: row.until }));
}

/** Identifies a question among those of one service. */
export function nameInService({ sessionId, messageIndex }: Pick<QuestionKey, 'sessionId' | 'messageIndex'>): string {
	return `${messageIndex}:${sessionId}`;
}

export type DraftStore = ReturnType<typeof createDraftStore>;

export type ClaimStore = ReturnType<typeof createClaimStore>;
