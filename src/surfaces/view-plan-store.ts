// Owns `views`, with `view-store.ts`: what is written in transactions that change an answer or a session.
import {
	type Answer,
	BAD_OUTCOMES,
	FAILED_STATES,
	firstDueAt,
	type NewAnswer,
	TAKES_LONG_MS,
	TOLD_WITHIN_MS,
} from '../domain/answer.ts';
import { isSamePerson, type Person } from '../domain/person.ts';
import type { QuestionKey, SessionKey } from '../domain/session.ts';
import { DAY_MS, MINUTE_MS } from '../kernel/clock.ts';
import {
	add,
	addNew,
	change,
	type Db,
	type Filter,
	from,
	hasChanged,
	personOf,
	questionOf,
	type RawBuilder,
	type Row,
	remove,
	sql,
	WITHOUT_LEASE,
} from '../store/database.ts';
import { locked } from '../store/locks.ts';

/**
 * `home`, `inbox`: what waits for a person, in the Home tab and in a window; `form`: a window with a question;
 * `closed`: one that its person has closed, so that nothing that comes late opens it again; `receipt`: what became of
 * an answer.
 */
export type ViewKind = 'home' | 'inbox' | 'form' | 'closed' | 'receipt';

/** How long an inbox follows changes after its person opened it or did something in it. */
export const FOLLOWED_MS = 10 * MINUTE_MS;
/** A form is told of changes for this long after it was opened or touched. */
export const FORM_FOLLOWED_MS = 15 * MINUTE_MS;
/** A receipt is kept for this long. News of the answer after that gets a new row. */
const RECEIPT_FOLLOWED_MS = 2 * DAY_MS;
/** Slack may show the view of an acknowledgement late, over an update that came sooner than this. */
const AFTER_ACK_MS = 1_000;

/** The columns of a view that shows something else from now on. */
export const BEGINS = {
	...WITHOUT_LEASE,
	answerId: null,
	hash: null,
	view: null,
	learned: null,
	told: null,
	claimedAt: null,
	claimUntil: null,
	attempts: 0,
	notBefore: null,
	dueAt: null,
	shownKey: null,
	shownAt: null,
} as const satisfies Partial<Row<'views'>>;

type Told = Pick<Answer, 'id' | 'person' | 'question'>;

/** The row of a receipt that no window shows. */
const untold = ({ id, person, question }: Told, dueAt: number, notBefore = dueAt) => ({
	id: `answer:${id}`,
	kind: 'receipt' satisfies ViewKind,
	...personOf(person),
	...questionOf(question),
	answerId: id,
	followedUntil: dueAt + RECEIPT_FOLLOWED_MS,
	notBefore,
	dueAt,
});

/**
 * Has the author of an answer told what became of it, if need be by a message. Does nothing where the receipt has a
 * row: the mark of the change makes that due. Locks no row, so it may come before all other locks.
 */
export async function tellAuthor(trx: Db, answer: Told, at: number): Promise<void> {
	await addNew(trx, 'views', untold(answer, at)).execute();
}

/**
 * An answer was stored: the row of its form becomes that of the receipt, and the person's claims end. A press has no
 * window. `by`: an answer that was first; the acknowledgement tells the author of that.
 */
export async function beginReceipt(trx: Db, answer: NewAnswer, by: Pick<Answer, 'person'> | null): Promise<void> {
	const { id: answerId, viewId, press, acceptedAt } = answer;
	if (press !== null && by !== null) {
		// Two presses of one person are one.
		if (!isSamePerson(by.person, answer.person)) await tellAuthor(trx, answer, acceptedAt + TOLD_WITHIN_MS);
		return;
	}
	await endClaims(trx, answer);
	if (press !== null) {
		await addNew(trx, 'views', untold(answer, firstDueAt(answer) + TAKES_LONG_MS, acceptedAt)).execute();
		return;
	}
	const row = { ...BEGINS, ...untold(answer, acceptedAt + AFTER_ACK_MS), viewId, answerId };
	// The acknowledgement names the answer that was first. It stays until there is news.
	const { id: _, ...shown } = by === null ? row : { ...row, dueAt: null, told: 'conflicted' };
	await add(trx, 'views', { ...shown, id: viewId })
		.onConflict((conflict) => conflict.column('id').doUpdateSet(shown))
		.execute();
}

/**
 * Has the author of an answer told what became of it, even if they were told the same before: it was sent again, or its
 * secrets were removed. Locks the row of a view, so it comes after the locks of posts.
 */
export async function tellAgain(trx: Db, answer: Told, at: number): Promise<void> {
	const { followedUntil, dueAt } = untold(answer, at);
	const again = { told: null, followedUntil, dueAt, wanted: sql<number>`wanted + 1` };
	if (!(await hasChanged(change(trx, 'views', { answerId: answer.id }, again)))) await tellAuthor(trx, answer, at);
}

/** Removes the receipt of an answer: its author is told nothing until it begins anew. */
export async function forgetReceipt(trx: Db, answerId: string): Promise<void> {
	await remove(trx, 'views', { answerId }).execute();
}

/** Ends the claims of the author on the question, in all windows. */
async function endClaims(trx: Db, { person, question, viewId }: NewAnswer): Promise<void> {
	const forms = from(trx, 'views', { ...personOf(person), ...questionOf(question), kind: 'form' }).select('id');
	// The row of the receipt is locked with the others, in the order of their keys.
	const claims = forms.where('claimUntil', 'is not', null).unionAll(from(trx, 'views', { id: viewId }).select('id'));
	const ended = { claimedAt: null, claimUntil: null };
	await change(trx, 'views', { id: locked(trx, 'views', { id: claims }) }, ended).execute();
}

/** Bad news, which an author is told although no window shows the receipt. */
const IS_BAD = sql`exists (select 1 from answers where answers.id = answer_id
	and (state in (${sql.join(FAILED_STATES)}) or agent_outcome in (${sql.join(BAD_OUTCOMES)}) or start_failed = 1))`;

/** The due time of a view after a change now: at once, but not before `not_before`, and never later than it was. */
export function dueAfterChange(now: number): RawBuilder<number> {
	const soon = sql`case when views.not_before > ${now} then views.not_before else ${now} end`;
	return sql`cast(case when views.due_at < ${soon} then views.due_at else ${soon} end as bigint)`;
}

/** Has all followed inboxes drawn again, and the forms and receipts of these sessions. */
export async function markViews(trx: Db, sessions: readonly SessionKey[], now: number): Promise<void> {
	// Written out: SQLite uses a partial index only then.
	const inboxes = sql`select id from views where kind in ('home', 'inbox') and followed_until > ${now}`;
	const ofSessions = sessions.map(({ service, sessionId }) => sql`(${service}, ${sessionId})`);
	// A receipt without a window shows news in its message if it has one (`told`), or if the news is bad.
	const isShown = sql`(kind = 'form' and followed_until > ${now}
		or kind = 'receipt' and (view_id is not null or told is not null or ${IS_BAD}))`;
	const theirs = sql`select id from views
		where (service, session_id) in (values ${sql.join(ofSessions)}) and ${isShown}`;
	const marked = sessions.length === 0 ? inboxes : sql`${inboxes} union all ${theirs}`;
	const columns = { wanted: sql<number>`wanted + 1`, dueAt: dueAfterChange(now) };
	await change(trx, 'views', { id: locked(trx, 'views', { id: sql`(${marked})` }) }, columns).execute();
}

/**
 * Removes the stored content of these forms, because it may name somebody to be forgotten. They show no notices then.
 */
export async function forgetForms(trx: Db, filter: Filter<'views'> = {}): Promise<void> {
	const forms = locked(trx, 'views', { ...filter, kind: 'form' });
	await change(trx, 'views', { id: forms }, { view: null }).execute();
}

/** Has all inboxes drawn anew, and takes their leases, so that nothing is shown that is being drawn now. */
export const rebuildInboxes = (trx: Db, now: number) =>
	change(trx, 'views', { kind: ['home', 'inbox'] }, { ...WITHOUT_LEASE, dueAt: now }).execute();

/** "(name) is answering" until it lapses: it informs and never blocks. */
export interface Claim {
	readonly question: QuestionKey;
	readonly person: Person;
	readonly until: number;
}

/** The claims on the questions that match `filter`: one for each person and question, the oldest first. */
export async function activeClaims(read: Db, filter: Filter<'views'>, now: number): Promise<readonly Claim[]> {
	const active = from(read, 'views', { ...filter, kind: 'form' }).where('claimUntil', '>', now);
	const rows = await active.selectAll().orderBy('claimedAt').orderBy('userId').execute();
	const byPerson = Map.groupBy(rows, ({ teamId, userId, service, sessionId, messageIndex }) =>
		JSON.stringify([teamId, userId, service, sessionId, messageIndex]),
	);
	return Array.from(byPerson.values(), (windows) => {
		const [first] = windows as [Row<'views'>, ...Row<'views'>[]];
		const until = Math.max(...windows.map(({ claimUntil }) => claimUntil ?? 0));
		return { question: questionOf(first as QuestionKey), person: personOf(first), until };
	});
}
