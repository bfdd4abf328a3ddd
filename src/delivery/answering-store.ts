// Owns `drafts`, `claims` and `windows`: what people are about to answer.
import { z } from 'zod';
import {
	type Answer,
	EARLY_READS_MS,
	type NewAnswer,
	type QuestionChange,
	sessionNameOf,
	textsOf,
} from '../domain/answer.ts';
import {
	type Became,
	becameOf,
	isWaiting,
	type Person,
	type QuestionKey,
	type Session,
	type SessionKey,
} from '../domain/session.ts';
import { type Lease, pick } from '../kernel/basics.ts';
import type { ModalView } from '../slack/parts.ts';
import {
	add,
	addIf,
	addNew,
	type Cipher,
	type CipherTx,
	change,
	countChanged,
	type Db,
	type Filter,
	from,
	hasChanged,
	isFound,
	isPostgres,
	personOf,
	questionOf,
	type Row,
	remove,
	type StoreParts,
	sealedColumn,
	sessionOf,
	sql,
	TABLES,
	type Tx,
	WITHOUT_LEASE,
} from '../store/database.ts';
import { isOurs, leaseDue, nextDue, queueOf, removeInBatches } from '../store/due.ts';
import { markDue } from '../store/marks.ts';
import { AWAITED_AHEAD_MS } from '../store/watch.ts';
import { readEarly } from '../store/watch-store.ts';

/** What a form shows, as far as Slack has told: offered text and typed text. Never secret fields. */
export interface Draft extends Pick<Answer, 'person' | 'question' | 'fingerprint' | 'shownHash'> {
	/** The form's own id (in its private_metadata). */
	readonly formId: string;
	/** By position. A text longer than an input holds is shown cut and sent whole. */
	readonly values: Readonly<Record<number, string>>;
	/** Positions whose box is ticked. */
	readonly secret?: readonly number[];
	/** Of the session, when it was saved. */
	readonly sessionName?: string;
	readonly updatedAt: number;
}

/** "(name) is answering" until it lapses: it informs and never blocks. */
export type Claim = Readonly<Awaited<ReturnType<typeof activeClaims>>[number]>;

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
				await removeWindows(trx, ofPerson(person, question));
				// Also makes copies of those drafts in SQLite's files unreadable.
				if (!isPostgres(trx)) await sql`select note_secret_wiped()`.execute(trx);
			}),

		/** Removes a person's drafts for a question. */
		discard: ({ person, question }: Pick<Answer, 'person' | 'question'>) =>
			db.writeOne((trx) => remove(trx, 'drafts', ofPerson(person, question)).execute()),

		removeOlderThan: (before: number) => removeInBatches(db, 'drafts', sql<boolean>`updated_at < ${before}`),
	};
}

/** What a person was about to answer is sent: the claim is over, and of a form its drafts and its window. */
export async function endForm(
	trx: Db,
	{ person, question, viewId, press }: Pick<NewAnswer, 'person' | 'question' | 'viewId' | 'press'>,
): Promise<void> {
	const own = ofPerson(person, question);
	await remove(trx, 'claims', own).execute();
	if (press !== null) return;
	await remove(trx, 'drafts', own).execute();
	await removeWindows(trx, { viewId });
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

export function createClaimStore({ db }: Pick<StoreParts, 'db'>) {
	return {
		/** Sets or prolongs a claim. True when this person had no active claim before. */
		claim: (claim: Claim, now: number) => db.write((trx) => setClaim({ trx, now }, claim)),

		/** True when there was a claim. */
		release: (question: QuestionKey, person: Person, now: number) =>
			db.write((trx) => releaseClaim({ trx, now }, { question, person })),

		active: (question: QuestionKey, now: number) => activeClaims(db.read, questionOf(question), now),

		/** At once: there are few, and PostgreSQL would read the whole table for a part of them. */
		removeLapsed: (now: number) => db.writeOne((trx) => countChanged(remove(trx, 'claims').where('until', '<=', now))),
	};
}

async function setClaim({ trx, now }: Tx, { question, person, until }: Claim): Promise<boolean> {
	const own = ofPerson(person, question);
	if (await hasChanged(change(trx, 'claims', own, { until }).where('until', '>', now))) return false;
	const begun = { claimedAt: now, until };
	const made = add(trx, 'claims', { ...own, ...begun }).onConflict((conflict) =>
		conflict.columns(TABLES.claims.key).doUpdateSet(begun).where('claims.until', '<=', now),
	);
	return markIf(await hasChanged(made), { trx, now }, { question, person });
}

async function releaseClaim({ trx, now }: Tx, claim: Omit<Claim, 'until'>): Promise<boolean> {
	const released = remove(trx, 'claims', ofPerson(claim.person, claim.question));
	return markIf(await hasChanged(released), { trx, now }, claim);
}

async function markIf(isChanged: boolean, tx: Tx, claim: Omit<Claim, 'until'>): Promise<boolean> {
	if (isChanged) await markQuestion(tx, claim, 'claim');
	return isChanged;
}

/** The claims that match `filter` and have not lapsed, oldest first. */
export async function activeClaims(read: Db, filter: Filter<'claims'>, now: number) {
	const active = from(read, 'claims', filter).where('until', '>', now);
	const rows = await active.selectAll().orderBy('claimedAt').orderBy('userId').execute();
	return rows.map((row) => ({ question: questionOf(row), person: personOf(row), until: row.until }));
}

/** A press shows what it did on its post, without a rate limit; only if that fails, it is drawn as others are. */
const PRESS_SHOWN_MS = 250;
/** A window is told of changes for this long after it was opened or touched. */
const WINDOW_MS = 15 * 60_000;

/** In place of Slack's hash, once its person has closed a window. What comes later than the closing changes nothing. */
const CLOSED = '';
const isRecentWindow = (now: number) => sql<boolean>`(touched_at > ${now - WINDOW_MS} and hash <> ${CLOSED})`;

/** Has the windows with forms of these sessions looked at. */
export const markWindows = (trx: Db, sessions: Filter<'windows'>, now: number) =>
	change(trx, 'windows', sessions, { dueAt: now }).where(isRecentWindow(now)).execute();

/** Has everything drawn again that shows the question, and after a delivery its session read early. */
export async function markQuestion(
	tx: Tx,
	{ question, person }: Pick<Answer, 'question' | 'person'>,
	what: QuestionChange,
): Promise<void> {
	const { trx, now } = tx;
	const isDelivered = what === 'delivered';
	const isPress = what === 'choice' || what === 'undo';
	await markDue(tx, question, { by: isDelivered ? null : person, ...(isPress && { afterMs: PRESS_SHOWN_MS }) });
	if (!isDelivered) return;
	const at = now + EARLY_READS_MS[0];
	await readEarly(trx, question, { askedAt: now, at, by: at - AWAITED_AHEAD_MS });
}

export function nameInService({ sessionId, messageIndex }: Pick<QuestionKey, 'sessionId' | 'messageIndex'>): string {
	return `${messageIndex}:${sessionId}`;
}

/** Longer than most reads of a session, and than the time between two notes about a long read. */
const DRAWN_WITHIN_MS = 45_000;
const takenOver = (viewId: string, now: number) => ({ leaseToken: viewId, leasedUntil: now + DRAWN_WITHIN_MS });
const windowColumn = sealedColumn(
	'windows.view',
	z.custom<ModalView>((value) => typeof value === 'object'),
);
/** In place of what a closed window showed. */
const EMPTY = {} as ModalView;
type ClosedWindow = Omit<Claim, 'until'> & Pick<Row<'windows'>, 'fingerprint' | 'shownHash'>;
type TypedWindow = Pick<Row<'windows'>, 'viewId' | 'hash'> & Pick<Row<'answers'>, 'submissionKey'>;
type ShownQuestion = Pick<Row<'windows'>, 'messageIndex' | 'fingerprint' | 'shownHash'>;
/** `isReading`: it is taken over still. `claimUntil`: its person is answering until then; left out: they may not. */
type NewWindow = ReturnType<typeof ofPerson> &
	ShownQuestion &
	Pick<Row<'windows'>, 'hash'> & { isReading?: boolean; claimUntil?: number };

/** The windows that show a form. A row is due when its window may be outdated. */
export function createWindowStore({ db, cipher }: StoreParts) {
	const isDue = (now: number) => sql<boolean>`due_at is not null and ${isRecentWindow(now)} and ${isOurs(db)}`;

	return {
		/** A window shows this form, perhaps anew, unless it is closed. `hash`: Slack's, of what it shows. */
		async shown(viewId: string, shown: NewWindow, view: ModalView, now: number): Promise<void> {
			const { isReading = false, claimUntil, ...own } = shown;
			const claim = { question: questionOf(own), person: personOf(own) };
			await db.write(async (trx) => {
				if (claimUntil !== undefined) await setClaim({ trx, now }, { ...claim, until: claimUntil });
				// Encrypted inside the write, as drafts are.
				const sealed = windowColumn.seal(view, { viewId, ...own }, cipher);
				const told = { learned: null, notice: '', dueAt: null };
				const lease = isReading ? takenOver(viewId, now) : WITHOUT_LEASE;
				const row = { ...own, ...told, ...lease, view: sealed, touchedAt: now };
				const showing = add(trx, 'windows', { viewId, ...row }).onConflict((conflict) =>
					conflict.column('viewId').doUpdateSet(row).where('windows.hash', '!=', CLOSED),
				);
				if (!(await hasChanged(showing))) await releaseClaim({ trx, now }, claim);
			});
		},

		/**
		 * Its person typed in it, and is answering, unless it was closed or sent (`submissionKey`) meanwhile. With another
		 * hash than before, what it could not be told is told now.
		 */
		async typed({ viewId, hash, submissionKey }: TypedWindow, claim: Claim, now: number): Promise<void> {
			await db.write(async (trx) => {
				await setClaim({ trx, now }, claim);
				const dueAt = sql<number | null>`case when hash = ${hash} then due_at else ${now} end`;
				const touched = change(trx, 'windows', { viewId }, { hash, touchedAt: now, dueAt });
				if (await hasChanged(touched.where('hash', '!=', CLOSED))) return;
				// A row is closed. Without one it was sent, or stood untouched for long.
				const isOver =
					(await isFound(from(trx, 'windows', { viewId }).select('viewId'))) ||
					(await isFound(from(trx, 'answers', { submissionKey }).select('id')));
				if (isOver) await releaseClaim({ trx, now }, claim);
			});
		},

		/**
		 * Its person has closed it, for good: what was under way makes no claim any more. The claim has to be released
		 * after this: one that is being set meanwhile is seen only then.
		 */
		async closed(viewId: string, { question, person, ...form }: ClosedWindow, now: number): Promise<void> {
			await db.writeOne((trx) => {
				const own = { ...ofPerson(person, question), ...form, hash: CLOSED };
				const sealed = windowColumn.seal(EMPTY, { viewId, ...own }, cipher);
				const told = { learned: null, notice: '', dueAt: null };
				const row = { ...own, ...told, ...WITHOUT_LEASE, view: sealed, touchedAt: now };
				return add(trx, 'windows', { viewId, ...row })
					.onConflict((conflict) => conflict.column('viewId').doUpdateSet(row))
					.execute();
			});
		},

		/**
		 * Its person wants to see something else: until that is shown, no notice changes it. Resolves to Slack's hash of a
		 * notice that it shows, else to null; to false while one is being shown.
		 */
		async takeOver(viewId: string, now: number): Promise<string | null | false> {
			const isFree = sql<boolean>`(lease_token is null or lease_token = ${viewId} or leased_until <= ${now})`;
			const columns = ['notice', 'hash'] as const;
			const row = await db.writeOne((trx) =>
				change(trx, 'windows', { viewId }, takenOver(viewId, now)).where(isFree).returning(columns).executeTakeFirst(),
			);
			if (row !== undefined) return row.notice === '' ? null : row.hash;
			return (await isFound(from(db.read, 'windows', { viewId }).select('viewId'))) ? false : null;
		},

		forget: (viewId: string) => db.writeOne((trx) => removeWindows(trx, { viewId })),

		async learn(key: SessionKey, session: Session, now: number): Promise<void> {
			const rows = from(db.read, 'windows', sessionOf(key)).where(isRecentWindow(now));
			const columns = ['viewId', 'messageIndex', 'fingerprint', 'shownHash', 'learned'] as const;
			for (const row of await rows.select(columns).execute()) {
				const became = becameOf(session, row);
				// An agent that took the answer and works on has not asked again.
				const isTaken = became === null && row.learned === 'answered' && !isWaiting(session.status);
				const learned = isTaken ? row.learned : became;
				if (learned === row.learned) continue;
				await db.writeOne((trx) => change(trx, 'windows', pick(row, 'viewId'), { learned, dueAt: now }).execute());
			}
		},

		...queueOf(db, 'windows'),

		/** `view` null: it cannot be read. */
		async takeDue(lease: Lease, limit: number, now: number) {
			const where = sql<boolean>`${isDue(now)} and due_at <= ${now}`;
			const rows = await leaseDue(db, { table: 'windows', where, orderBy: [sql`due_at`], limit }, { lease, now });
			return rows.map((row) => ({
				...row,
				learned: row.learned as Became | null,
				view: windowColumn.open(row.view, row, cipher),
			}));
		},

		nextDueAt: (now: number) => nextDue(db, 'windows', isDue(now), 'dueAt'),

		/** Gives the lease back, unless it was lost. `againAt`: when to try again; one that was marked meanwhile is due. */
		async end(
			row: Pick<Row<'windows'>, 'viewId' | 'dueAt'>,
			leaseToken: string,
			told: object,
			againAt: number | null = null,
		) {
			const dueAt = sql<number | null>`cast(case when due_at = ${row.dueAt} then ${againAt} else due_at end as bigint)`;
			const held = { ...pick(row, 'viewId'), leaseToken };
			await db.writeOne((trx) => change(trx, 'windows', held, { ...WITHOUT_LEASE, dueAt, ...told }).execute());
		},

		removeOld: (now: number) => removeInBatches(db, 'windows', sql<boolean>`touched_at <= ${now - WINDOW_MS}`),
	};
}

/** These windows hear of no change any more. */
export const removeWindows = (trx: Db, filter: Filter<'windows'>) => countChanged(remove(trx, 'windows', filter));

export type WindowStore = ReturnType<typeof createWindowStore>;

export type DraftStore = ReturnType<typeof createDraftStore>;

export type ClaimStore = ReturnType<typeof createClaimStore>;
