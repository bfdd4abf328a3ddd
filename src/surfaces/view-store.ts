// Owns `views`, with `view-plan-store.ts`: takes what is due, and keeps what people have open.
import { z } from 'zod';
import { type Answer, firstEndingOf } from '../domain/answer.ts';
import type { Person } from '../domain/person.ts';
import {
	isWaiting,
	type QuestionKey,
	type QuestionOutcome,
	questionOutcomeOf,
	type Session,
	type SessionKey,
} from '../domain/session.ts';
import { DAY_MS } from '../kernel/clock.ts';
import type { Lease } from '../kernel/lease-loop.ts';
import { pick } from '../kernel/values.ts';
import type { ModalView } from '../slack/blocks.ts';
import type { InboxPlace } from '../slack/request.ts';
import { removeInBatches } from '../store/batches.ts';
import {
	add,
	addIf,
	change,
	type Db,
	from,
	hasChanged,
	personOf,
	questionOf,
	type Row,
	remove,
	type StoreParts,
	sealedColumn,
	sessionOf,
	sql,
	type Tx,
	WITHOUT_LEASE,
} from '../store/database.ts';
import { leaseDue, nextDue, queueOf } from '../store/due.ts';
import { locked } from '../store/locks.ts';
import { markDue } from '../store/marks.ts';
import { isOurs } from '../store/workspaces.ts';
import {
	activeClaims,
	BEGINS,
	type Claim,
	dueAfterChange,
	FOLLOWED_MS,
	FORM_FOLLOWED_MS,
	markViews,
	type ViewKind,
} from './view-plan-store.ts';

/** A receipt that could not be told is kept for this long after its person stopped following it. */
const UNTOLD_MS = 30 * DAY_MS;

type ViewRow = Row<'views'>;

const viewColumn = sealedColumn(
	'views.view',
	z.custom<ModalView>((value) => typeof value === 'object'),
);

/** The question that a form asks, and whose form it is. */
type FormOf = Pick<Claim, 'question' | 'person'> & Pick<ViewRow, 'fingerprint' | 'shownHash'>;

/** A form in a window. `hash`: Slack's, of what that shows. */
type ShownForm = FormOf & { readonly hash: string; readonly submissionKey: string };

/** What became of an attempt. `shownKey` undefined: it shows what it showed before. */
interface ViewResult {
	readonly shownKey?: string | undefined;
	/** When to draw it again if nothing changes; null: never. */
	readonly nextAt: number | null;
	/** Of an inbox: its person still waits for it. */
	readonly isAsked?: boolean;
	readonly attempts?: number;
	readonly notBefore?: number;
	readonly hash?: string;
	readonly viewId?: null;
	readonly told?: string | null;
}

/** The views that people have open. A row is due when what its view shows may be outdated. */
export function createViewStore({ db, cipher }: StoreParts) {
	const rowOf = (trx: Db, id: string) => from(trx, 'views', { id }).selectAll().forUpdate().executeTakeFirst();

	return {
		/**
		 * A person opened an inbox or did something in it. It is followed from now on, and drawn. `page` null: as before.
		 */
		async ask({ id, person, viewId }: InboxPlace, page: number | null, now: number): Promise<void> {
			const kind: ViewKind = viewId === null ? 'home' : 'inbox';
			const asked = { ...(page !== null && { page }), followedUntil: now + FOLLOWED_MS, askedAt: now };
			await db.writeOne((trx) =>
				add(trx, 'views', { id, kind, ...personOf(person), viewId, ...asked, wanted: 1, dueAt: now })
					.onConflict((conflict) =>
						conflict
							.column('id')
							.doUpdateSet({ ...asked, wanted: sql<number>`views.wanted + 1`, dueAt: dueAfterChange(now) }),
					)
					.execute(),
			);
		},

		/** Has all followed inboxes drawn again. */
		markInboxes: (now: number) => db.writeOne((trx) => markViews(trx, [], now)),

		/** Slack has listed its people: Homes that waited for that are due now. */
		async showWaiting(now: number): Promise<void> {
			const waiting = sql<boolean>`asked_at is not null and due_at > ${now}`;
			await db.writeOne((trx) => {
				const homes = from(trx, 'views', { kind: 'home' }).select('id').where(waiting);
				const due = { dueAt: now, notBefore: null };
				return change(trx, 'views', { id: locked(trx, 'views', { id: homes }) }, due).execute();
			});
		},

		/**
		 * A window shows this form, perhaps anew. Does nothing when it was closed or sent (`submissionKey`) meanwhile.
		 * `hash`: Slack's, of what it shows. `claimUntil`: when the person's claim lapses; null: they may not answer.
		 */
		formShown: (
			id: string,
			{ question, person, claimUntil, submissionKey, ...form }: ShownForm & { claimUntil: number | null },
			view: ModalView,
			now: number,
		) =>
			db.write(async (trx) => {
				const before = await rowOf(trx, id);
				if (before?.kind === 'closed') return;
				const own = { ...personOf(person), ...questionOf(question) };
				const row = {
					...BEGINS,
					...own,
					...form,
					kind: 'form' satisfies ViewKind,
					viewId: id,
					// Encrypted inside the write, as drafts are.
					view: viewColumn.seal(view, { id, ...own }, cipher),
					claimUntil,
					claimedAt: claimUntil === null ? null : (claimedAt(before, question, now) ?? now),
					followedUntil: now + FORM_FOLLOWED_MS,
				};
				const showing = addIf(trx, 'views', { id, ...row }, isUnsent(trx, submissionKey)).onConflict((conflict) =>
					conflict.column('id').doUpdateSet(row).where('views.kind', '<>', 'closed'),
				);
				if (!(await hasChanged(showing))) return;
				await markClaims({ trx, now }, before, claimUntil === null ? null : question);
			}),

		/**
		 * A person typed in a form, which claims its question. Does nothing when the form was closed or sent
		 * (`submissionKey`), or shows something else. With another hash, a notice that Slack did not take is tried again.
		 */
		typed: (
			id: string,
			{ question, person, claimUntil, hash, submissionKey, ...form }: ShownForm & { claimUntil: number },
			now: number,
		) =>
			db.write(async (trx) => {
				const before = await rowOf(trx, id);
				const followedUntil = now + FORM_FOLLOWED_MS;
				const claim = { hash, claimUntil, claimedAt: claimedAt(before, question, now) ?? now, followedUntil };
				if (before === undefined) {
					const own = { ...personOf(person), ...questionOf(question) };
					const row = { id, kind: 'form', viewId: id, ...own, ...form, ...claim };
					const adding = addIf(trx, 'views', row, isUnsent(trx, submissionKey));
					if (!(await hasChanged(adding.onConflict((conflict) => conflict.doNothing())))) return;
				} else if (before.kind !== 'form' || !isOf(before, question)) return;
				else {
					const isOther = before.hash !== hash;
					await change(trx, 'views', { id }, { ...claim, ...(isOther && { dueAt: now }) }).execute();
				}
				await markClaims({ trx, now }, before, question);
			}),

		/** A person closed a form. What arrives late of it opens and claims nothing any more. */
		formClosed: (id: string, person: Person, now: number) =>
			db.write(async (trx) => {
				const before = await rowOf(trx, id);
				const kind: ViewKind = 'closed';
				const row = { ...BEGINS, kind, ...personOf(person), viewId: id, followedUntil: now + FORM_FOLLOWED_MS };
				// The form may have been sent at the same moment: then a message tells what becomes of the answer.
				if (before?.kind === 'receipt') await change(trx, 'views', { id }, { viewId: null }).execute();
				else
					await add(trx, 'views', { id, ...row })
						.onConflict((conflict) =>
							conflict
								.column('id')
								.doUpdateSet(row)
								.where('views.kind', '<>', 'receipt' satisfies ViewKind),
						)
						.execute();
				await markClaims({ trx, now }, before, null);
			}),

		/** Slack's hash of a form that shows a notice; null: it shows none. A press from before the notice has another. */
		async noticeHash(id: string): Promise<string | null> {
			const form = from(db.read, 'views', { id, kind: 'form' }).select('hash');
			return (await form.where('shownKey', 'is not', null).executeTakeFirst())?.hash ?? null;
		},

		claims: (question: QuestionKey, now: number) => activeClaims(db.read, questionOf(question), now),

		/** Notes what a read shows of the questions in open forms, so that these are told. */
		async learn(key: SessionKey, session: Session, now: number): Promise<void> {
			const rows = from(db.read, 'views', { ...sessionOf(key), kind: 'form' }).where('followedUntil', '>', now);
			const columns = ['id', 'messageIndex', 'fingerprint', 'shownHash', 'learned'] as const;
			for (const row of await rows.select(columns).execute()) {
				const { id, messageIndex, fingerprint, shownHash } = row;
				if (messageIndex === null || fingerprint === null) continue;
				const became = questionOutcomeOf(session, { messageIndex, fingerprint, shownHash });
				// The field of an answer may be empty again because the agent took it: the question is not open again.
				const isTaken = became === null && row.learned === 'answered' && !isWaiting(session.status);
				const learned = isTaken ? row.learned : became;
				if (learned === row.learned) continue;
				await db.writeOne((trx) => change(trx, 'views', { id, kind: 'form' }, { learned, dueAt: now }).execute());
			}
		},

		/** The window of a receipt shows something else. From now on a message tells what becomes of the answer. */
		async leaveReceipt(id: string): Promise<void> {
			const elsewhere = { id: sql<string>`'answer:' || answer_id`, viewId: null };
			await db.writeOne((trx) => change(trx, 'views', { id, kind: 'receipt' }, elsewhere).execute());
		},

		/**
		 * The author of an answer was told that another came before it, so nothing more is due. Changes nothing when that
		 * other answer has failed meanwhile, which is news.
		 */
		noteTold: ({ id }: Pick<Answer, 'id'>) =>
			db.write(async (trx) => {
				// Locked against whoever notes that failure.
				const own = from(trx, 'answers', { id }).select(['state', 'lastError']).forUpdate();
				const answer = (await own.executeTakeFirst()) as Pick<Answer, 'state' | 'lastError'> | undefined;
				if (answer?.state !== 'conflicted' || firstEndingOf(answer) !== null) return;
				await remove(trx, 'views', { answerId: id, shownAt: null, leaseToken: null }).execute();
			}),

		...queueOf(db, 'views'),

		/** Leases due views of the lanes up to `least`; in each lane first those that were shown longest ago. */
		async takeDue(lease: Lease, limit: number, { now, least }: { now: number; least: ViewLane }) {
			const where = sql<boolean>`${isUpTo(least, now)} and due_at <= ${now} and ${isOurs(db)}`;
			const orderBy = [laneAt(now), sql`coalesce(shown_at, 0)`, sql`due_at`];
			const rows = await leaseDue(db, { table: 'views', where, orderBy, limit }, { lease, now });
			return rows.map((row) => readView(row, now));
		},

		/** When `takeDue` next finds something; null for never. */
		nextDueAt: (least: ViewLane, now: number) =>
			nextDue(db, 'views', sql<boolean>`${isUpTo(least, now)} and ${isOurs(db)}`, 'dueAt'),

		/** A form as it looks without a notice; null when it cannot be read. */
		formOf: ({ row }: DueView): ModalView | null =>
			row.service === null || row.sessionId === null ? null : viewColumn.open(row.view, row, cipher),

		/**
		 * Notes that Slack is about to be called. Until `end` it is unknown what the view shows, because the process may
		 * die in between. False when the lease was lost or the row is gone.
		 */
		begin: ({ id }: DueView, token: string) =>
			db.writeOne((trx) => hasChanged(change(trx, 'views', { id, leaseToken: token }, { shownKey: null }))),

		/** Notes what became of an attempt and gives the lease back; does nothing when that was lost. */
		async end({ id, wanted }: DueView, token: string, result: ViewResult, now: number): Promise<void> {
			const { shownKey, nextAt, isAsked = false, notBefore = null, ...columns } = result;
			const soon = Math.max(now, notBefore ?? 0);
			// The casts: PostgreSQL takes a case that has only parameters for a text.
			const set = {
				...WITHOUT_LEASE,
				...columns,
				...(shownKey !== undefined && { shownKey, shownAt: now }),
				notBefore,
				dueAt: sql<number | null>`cast(case when wanted = ${wanted} then ${nextAt} else ${soon} end as bigint)`,
				...(!isAsked && { askedAt: sql<number | null>`case when wanted = ${wanted} then null else asked_at end` }),
			};
			await db.writeOne((trx) => change(trx, 'views', { id, leaseToken: token }, set).execute());
		},

		/** Gives the lease back without a result. The view keeps its due time. */
		async giveBack({ id }: DueView, token: string): Promise<void> {
			await db.writeOne((trx) => change(trx, 'views', { id, leaseToken: token }, WITHOUT_LEASE).execute());
		},

		/** Removes a view that is over. False when something changed since it was taken, or the lease was lost. */
		removeUnchanged: ({ id, wanted }: DueView, token: string) =>
			db.writeOne((trx) => hasChanged(remove(trx, 'views', { id, leaseToken: token, wanted }))),

		/** Removes a view that nobody can see any more, whatever changed. Does nothing when the lease was lost. */
		async removeLeased({ id }: DueView, token: string): Promise<void> {
			await db.writeOne((trx) => remove(trx, 'views', { id, leaseToken: token }).execute());
		},

		/** Removes the view of a window that its person closed, or that shows something else. Needs no lease. */
		async remove({ id }: Pick<DueView, 'id'>): Promise<void> {
			await db.writeOne((trx) => remove(trx, 'views', { id }).execute());
		},

		/**
		 * Removes views that nobody follows any more, but not inboxes that wait for the end of a snooze. A receipt that was
		 * not told stays for a month: its workspace may come back, or its key. Returns how many were removed.
		 */
		removeOld: (now: number) =>
			removeInBatches(
				db,
				'views',
				sql<boolean>`followed_until <= ${now} and (due_at is null or kind in ('form', 'closed')
					or kind = 'receipt' and followed_until <= ${now - UNTOLD_MS})`,
			),
	};
}

const isUnsent = (trx: Db, submissionKey: string) =>
	sql<boolean>`not exists ${from(trx, 'answers', { submissionKey }).select('id')}`;

/** An inbox goes ahead of others once in this time, so that one person's flood of presses delays nobody. */
const FIRST_AGAIN_MS = 10_000;

/**
 * In the order in which they are taken. `now`: forms and receipts, which need no rate limit of ours. `asked`: inboxes
 * whose people wait and were shown nothing in the last `FIRST_AGAIN_MS`. `follows`: other inboxes.
 */
const VIEW_LANES = ['now', 'asked', 'follows'] as const;
export type ViewLane = (typeof VIEW_LANES)[number];

const laneAt = (now: number) =>
	sql<number>`case when kind not in ('home', 'inbox') then 0
		when asked_at is not null and coalesce(shown_at, 0) <= ${now - FIRST_AGAIN_MS} then 1 else 2 end`;

const isUpTo = (least: ViewLane, now: number) =>
	least === 'follows' ? sql<boolean>`true` : sql<boolean>`${laneAt(now)} <= ${VIEW_LANES.indexOf(least)}`;

/** Since when this form claims the question; null: it does not. */
const claimedAt = (row: ViewRow | undefined, question: QuestionKey, now: number): number | null =>
	row !== undefined && isClaim(row, now) && isOf(row, question) ? row.claimedAt : null;

const isClaim = ({ kind, claimUntil }: ViewRow, now: number) => kind === 'form' && (claimUntil ?? 0) > now;
const isOf = (row: ViewRow, { service, sessionId, messageIndex }: QuestionKey) =>
	row.service === service && row.sessionId === sessionId && row.messageIndex === messageIndex;

/** Has drawn again what shows claims, where a form changes those. `question`: what the form claims now, or null. */
async function markClaims(tx: Tx, before: ViewRow | undefined, question: QuestionKey | null): Promise<void> {
	const claimed = before !== undefined && isClaim(before, tx.now) ? before : null;
	if (question !== null && claimed !== null && isOf(claimed, question)) return;
	if (claimed?.service != null && claimed.sessionId !== null)
		await markDue(tx, { service: claimed.service, sessionId: claimed.sessionId });
	if (question !== null) await markDue(tx, question);
}

/** A view in work. All times are milliseconds since the epoch. */
export type DueView = ReturnType<typeof readView>;

function readView(row: ViewRow, now: number) {
	return {
		...pick(row, 'id', 'viewId', 'page', 'answerId', 'hash', 'told', 'followedUntil', 'wanted', 'attempts', 'dueAt'),
		...pick(row, 'shownKey', 'shownAt', 'fingerprint'),
		kind: row.kind as ViewKind,
		person: personOf(row) satisfies Person,
		learned: row.learned as QuestionOutcome | null,
		/** Its person waits for what it does not show yet. */
		isAsked: row.askedAt !== null,
		/** It comes before other inboxes. */
		isFirst: row.askedAt !== null && (row.shownAt ?? 0) <= now - FIRST_AGAIN_MS,
		row,
	};
}

export type ViewStore = ReturnType<typeof createViewStore>;
