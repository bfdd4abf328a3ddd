// Owns `drafts`: what people are about to answer.
import { z } from 'zod';
import { type Answer, sessionNameOf, textsOf } from '../domain/answer.ts';
import type { Person } from '../domain/person.ts';
import type { QuestionKey } from '../domain/session.ts';
import { pick } from '../kernel/values.ts';
import { removeInBatches } from '../store/batches.ts';
import {
	addIf,
	addNew,
	type Cipher,
	type CipherTx,
	change,
	type Db,
	from,
	hasChanged,
	isPostgres,
	personOf,
	questionOf,
	type Row,
	remove,
	type StoreParts,
	sealedColumn,
	sql,
} from '../store/database.ts';
import { forgetForms } from '../surfaces/view-plan-store.ts';

/** What a form shows, as far as Slack has told: offered text and typed text. Never secret fields. */
export interface Draft extends Pick<Answer, 'person' | 'question' | 'fingerprint' | 'shownHash'> {
	/** The form's own id (in its private_metadata). */
	readonly formId: string;
	/** By position. A text longer than an input holds is shown cut and sent whole. */
	readonly values: Readonly<Record<number, string>>;
	/** Positions whose box is ticked. */
	readonly secret?: readonly number[];
	/** The name of the session when the draft was saved. */
	readonly sessionName?: string;
	readonly updatedAt: number;
}

const values = z.record(z.string(), z.string());
export const draftColumn = sealedColumn(
	'drafts.content',
	z.object({ values, secret: z.array(z.int()), shownHash: z.string().nullable(), sessionName: z.string() }),
);

const ofPerson = (person: Person, question: QuestionKey) => ({ ...questionOf(question), ...personOf(person) });

/** The drafts of forms. One that cannot be decrypted counts as absent. */
export function createDraftStore({ db, cipher }: StoreParts) {
	const read = (row: Row<'drafts'> | undefined) => (row === undefined ? null : readDraft(row, cipher));

	return {
		/** Writes the draft, unless a newer one came first or `submissionKey` was submitted: typing may arrive later. */
		save: (draft: Draft, submissionKey = '') =>
			db.writeOne(async (trx) => {
				// Encrypted inside the write: on SQLite the key of drafts may be replaced between two writes.
				const row = draftRow(draft, cipher);
				const submitted = trx.selectFrom('answers').select('id').where('submissionKey', '=', submissionKey);
				await addIf(trx, 'drafts', row, sql<boolean>`not exists ${submitted}`)
					.onConflict((conflict) =>
						conflict.column('formId').doUpdateSet(row).where('drafts.updatedAt', '<=', draft.updatedAt),
					)
					.execute();
			}),

		/** Writes a new draft. False when there is one with its id: that decides once. */
		addNew: (draft: Draft) => db.writeOne((trx) => hasChanged(addNew(trx, 'drafts', draftRow(draft, cipher)))),

		async get(formId: string): Promise<Draft | null> {
			return read(await from(db.read, 'drafts', { formId }).selectAll().executeTakeFirst());
		},

		/** The newest draft of this person for this question, with any fingerprint. */
		async newest(person: Person, question: QuestionKey): Promise<Draft | null> {
			const own = from(db.read, 'drafts', ofPerson(person, question)).selectAll();
			return read(await own.orderBy('updatedAt', 'desc').orderBy('formId', 'desc').limit(1).executeTakeFirst());
		},

		/** Removes these positions, which are secret now, from all drafts of this person for this question. */
		forget: (person: Person, question: QuestionKey, positions: readonly number[]) =>
			db.write(async (trx) => {
				for (const row of await from(trx, 'drafts', ofPerson(person, question)).selectAll().forUpdate().execute()) {
					const draft = read(row);
					const typed = Object.entries(draft?.values ?? {});
					const kept = typed.filter(([position]) => !positions.includes(Number(position)));
					if (draft === null || kept.length === typed.length) continue;
					const sealed = sealDraft({ ...draft, values: Object.fromEntries(kept) }, cipher);
					const own = { formId: row.formId };
					if (kept.every(([, text]) => text === '')) await remove(trx, 'drafts', own).execute();
					else await change(trx, 'drafts', own, { content: sealed }).execute();
				}
				// Their windows may show such a draft.
				await forgetForms(trx, ofPerson(person, question));
				// Also makes copies of those drafts in SQLite's files unreadable.
				if (!isPostgres(trx)) await sql`select note_secret_wiped()`.execute(trx);
			}),

		/** Removes a person's drafts for a question. */
		discard: ({ person, question }: Pick<Answer, 'person' | 'question'>) =>
			db.writeOne((trx) => removeDrafts(trx, { person, question })),

		removeOlderThan: (before: number) => removeInBatches(db, 'drafts', sql<boolean>`updated_at < ${before}`),
	};
}

/** An answer is sent: its drafts are over. */
export async function removeDrafts(trx: Db, { person, question }: Pick<Answer, 'person' | 'question'>): Promise<void> {
	await remove(trx, 'drafts', ofPerson(person, question)).execute();
}

function draftRow(draft: Draft, cipher: Cipher): Row<'drafts'> {
	const keys = ofPerson(draft.person, draft.question);
	return { ...pick(draft, 'formId', 'fingerprint', 'updatedAt'), ...keys, content: sealDraft(draft, cipher) };
}

/** The texts of an answer that are not secret. What its author typed later stays the newest draft. */
export async function keepAsDraft({ trx, cipher }: CipherTx, answer: Answer): Promise<void> {
	const { id: formId, person, question, fingerprint, shownHash, acceptedAt: updatedAt } = answer;
	const values = textsOf(answer);
	if (Object.keys(values).length === 0) return;
	const sessionName = sessionNameOf(answer);
	const draft = { formId, person, question, fingerprint, shownHash, values, sessionName, updatedAt };
	await addNew(trx, 'drafts', draftRow(draft, cipher)).execute();
}

/** Removes the draft that `keepAsDraft` made of this answer: its author discards it. */
export async function removeDraft(db: Db, id: string): Promise<void> {
	await remove(db, 'drafts', { formId: id }).execute();
}

function sealDraft(draft: Draft, cipher: Cipher): string {
	const { formId, person, question, values: typed, secret = [], shownHash, sessionName = '' } = draft;
	const place = { formId, ...ofPerson(person, question) };
	return draftColumn.seal({ values: { ...typed }, secret: [...secret], shownHash, sessionName }, place, cipher);
}

export function readDraft(row: Row<'drafts'>, cipher: Cipher): Draft | null {
	const content = draftColumn.open(row.content, row, cipher);
	const own = pick(row, 'formId', 'fingerprint', 'updatedAt');
	return content && { ...own, person: personOf(row), question: questionOf(row), ...content };
}

export function nameInService({ sessionId, messageIndex }: Pick<QuestionKey, 'sessionId' | 'messageIndex'>): string {
	return `${messageIndex}:${sessionId}`;
}

export type DraftStore = ReturnType<typeof createDraftStore>;
