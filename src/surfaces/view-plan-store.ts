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
import type { Person } from '../domain/person.ts';
import { isSamePerson } from '../domain/person.ts';
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
/** After that, a row waits for nothing: what is said of an answer later has a row of its own. */
const RECEIPT_FOLLOWED_MS = 2 * DAY_MS;
/** Slack shows the view of an acknowledgement late, in place of an update that came before it. */
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
 * Has the author of an answer told what became of it, perhaps by a message. Does nothing where its row is there: the
 * change that follows makes that due. Locks no row: it may come before all other locks.
 */
export async function tellAuthor(trx: Db, answer: Told, at: number): Promise<void> {
	await addNew(trx, 'views', untold(answer, at)).execute();
}

/**
 * An answer was stored: the window of its form shows the receipt from now on, and its person is not answering any more.
 * A press has no window. `by`: the answer that came before it, of which its author hears at once.
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
	// What the acknowledgement says of the answer that was first stays until there is news.
	const { id: _, ...shown } = by === null ? row : { ...row, dueAt: null, told: 'conflicted' };
	await add(trx, 'views', { ...shown, id: viewId })
		.onConflict((conflict) => conflict.column('id').doUpdateSet(shown))
		.execute();
}

/**
 * Has the author of an answer told what became of it, although the last that they heard was the same: it was sent
 * again, or its secrets were removed. Locks its row, so it comes after the locks of posts.
 */
export async function tellAgain(trx: Db, answer: Told, at: number): Promise<void> {
	const { followedUntil, dueAt } = untold(answer, at);
	const again = { told: null, followedUntil, dueAt, wanted: sql<number>`wanted + 1` };
	if (!(await hasChanged(change(trx, 'views', { answerId: answer.id }, again)))) await tellAuthor(trx, answer, at);
}

/** Nothing is told of this answer any more, until its receipt begins anew. */
export async function forgetReceipt(trx: Db, answerId: string): Promise<void> {
	await remove(trx, 'views', { answerId }).execute();
}

/** Whoever has answered a question is answering it in no other window either. */
async function endClaims(trx: Db, { person, question, viewId }: NewAnswer): Promise<void> {
	const forms = from(trx, 'views', { ...personOf(person), ...questionOf(question), kind: 'form' }).select('id');
	// With the window that shows the receipt now, in the order of locks.
	const claims = forms.where('claimUntil', 'is not', null).unionAll(from(trx, 'views', { id: viewId }).select('id'));
	const ended = { claimedAt: null, claimUntil: null };
	await change(trx, 'views', { id: locked(trx, 'views', { id: claims }) }, ended).execute();
}

/** Bad news, of which an author hears although no window shows the receipt. */
const IS_BAD = sql`exists (select 1 from answers where answers.id = answer_id
	and (state in (${sql.join(FAILED_STATES)}) or agent_outcome in (${sql.join(BAD_OUTCOMES)}) or start_failed = 1))`;

/** When a view is drawn after a change now: not before it may be, and at once where it waits for something later. */
export function dueAfterChange(now: number): RawBuilder<number> {
	const soon = sql`case when views.not_before > ${now} then views.not_before else ${now} end`;
	return sql`cast(case when views.due_at < ${soon} then views.due_at else ${soon} end as bigint)`;
}

/** Has the inboxes drawn again that are followed, and the windows and receipts of these sessions. */
export async function markViews(trx: Db, sessions: readonly SessionKey[], now: number): Promise<void> {
	// Written out: SQLite uses a partial index only then.
	const inboxes = sql`select id from views where kind in ('home', 'inbox') and followed_until > ${now}`;
	const ofSessions = sessions.map(({ service, sessionId }) => sql`(${service}, ${sessionId})`);
	// What a message has told once, it tells on.
	const isShown = sql`(kind = 'form' and followed_until > ${now}
		or kind = 'receipt' and (view_id is not null or told is not null or ${IS_BAD}))`;
	const theirs = sql`select id from views
		where (service, session_id) in (values ${sql.join(ofSessions)}) and ${isShown}`;
	const marked = sessions.length === 0 ? inboxes : sql`${inboxes} union all ${theirs}`;
	const columns = { wanted: sql<number>`wanted + 1`, dueAt: dueAfterChange(now) };
	await change(trx, 'views', { id: locked(trx, 'views', { id: sql`(${marked})` }) }, columns).execute();
}

/** Removes what is stored of these forms, because it may have to be forgotten: their windows are told of no change. */
export async function forgetForms(trx: Db, filter: Filter<'views'> = {}): Promise<void> {
	const forms = locked(trx, 'views', { ...filter, kind: 'form' });
	await change(trx, 'views', { id: forms }, { view: null }).execute();
}

/** Has all inboxes built anew, and what is being built now not shown. */
export const rebuildInboxes = (trx: Db, now: number) =>
	change(trx, 'views', { kind: ['home', 'inbox'] }, { ...WITHOUT_LEASE, dueAt: now }).execute();

/** "(name) is answering" until it lapses: it informs and never blocks. */
export interface Claim {
	readonly question: QuestionKey;
	readonly person: Person;
	readonly until: number;
}

/** Who is answering the questions that match `filter`, each person once, the first first. */
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
