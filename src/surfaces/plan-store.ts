// Owns `posts`, with `store.ts`: plans them, has them drawn again, and closes them.

import type { Answer } from '../domain/answer.ts';
import { type HandedQuestion, type HandOver, targetOfHandOver } from '../domain/hand-over.ts';
import type { OccurrenceChange, SettledHow } from '../domain/occurrences.ts';
import { isForgotten } from '../domain/person.ts';
import type { SessionKey } from '../domain/session.ts';
import type { QuestionView } from '../domain/session-snapshot.ts';
import { PROGRAM, recordEvents } from '../store/audit.ts';
import { changeInBatches, inParts } from '../store/batches.ts';
import {
	type AuditEvent,
	add,
	type CipherTx,
	change,
	channelOf,
	countChanged,
	type Db,
	type Filter,
	from,
	isFound,
	type RawBuilder,
	type Row,
	remove,
	type StoreDatabase,
	sessionOf,
	sql,
	type Tx,
	WITHOUT_LEASE,
} from '../store/database.ts';
import { locked, lockSession } from '../store/locks.ts';
import { markDue } from '../store/marks.ts';
import {
	addQuestion,
	giveBackQuestion,
	type HeldQuestion,
	heldOf,
	keepAnswered,
	noteSeen,
	openQuestionOf,
	type QuestionRead,
	readHandOver,
	reopenQuestion,
	rewordQuestion,
	settleQuestion,
} from '../store/question-store.ts';
import type { CardUrgency, ChannelKey } from '../store/watch.ts';
import {
	AWAITED,
	type ContentOf,
	type NewPost,
	type PostContent,
	plannedRow,
	QUESTION_KEY,
	QUESTION_KINDS,
	readPost,
	streamOf,
	URGENCIES,
	WATCH_KINDS,
} from './post.ts';
import { beginReminders } from './reminder-store.ts';

/** The states of a post that is not over. */
export const OPEN = ['planned', 'shown'] as const;

/** Drops the planned posts that match `filter`; returns how many. */
export function dropPlanned(trx: Db, filter: Filter<'posts'>): Promise<number> {
	const dropped = { state: 'dropped', dueAt: null, ...WITHOUT_LEASE };
	const planned = locked(trx, 'posts', { ...filter, state: 'planned' });
	return countChanged(change(trx, 'posts', { id: planned }, dropped));
}

/** Plans posts: each key once for its target. The caller's lock keeps others out. */
export async function planPosts({ trx, now }: Tx, posts: readonly NewPost[], urgency: CardUrgency = 'now') {
	for (const { target, key, content } of posts) {
		if (target.kind === 'person' && isForgotten(target.userId)) continue;
		const watchId = target.kind === 'watch' ? target.watchId : 'watchId' in content ? content.watchId : null;
		const about: Subject = watchId === null ? {} : await subjectOf(trx, watchId, content);
		// A question has one post for each time that it is asked.
		const uniqueKey = content.kind === 'question' ? `${key}${about.questionId}` : key;
		const row = { ...plannedRow(target, uniqueKey, content, now), ...about, urgency: URGENCIES.indexOf(urgency) };
		await add(trx, 'posts', row)
			.onConflict((conflict) => conflict.columns(['stream', 'uniqueKey']).doNothing())
			.execute();
	}
}

type Subject = Partial<Pick<Row<'posts'>, 'watchId' | 'service' | 'sessionId' | 'questionId'>>;

const ABOUT_OPEN = new Set<PostContent['kind']>(['question', 'handedOver', 'givenBack']);

/** What a post of a watch is about: its session, and the open question, or that of its reminder. */
async function subjectOf(trx: Db, watchId: string, content: PostContent): Promise<Subject> {
	const watch = await from(trx, 'watches', { id: watchId }).select(['service', 'sessionId']).executeTakeFirst();
	const about = { watchId, ...watch };
	if (watch === undefined) return about;
	if ('questionId' in content) return { ...about, questionId: content.questionId };
	if ('entries' in content) return { ...about, questionId: content.entries[0]?.questionId ?? null };
	if (!ABOUT_OPEN.has(content.kind)) return about;
	const open = from(trx, 'questions', { ...watch, settledAt: null }).select('id');
	return { ...about, questionId: (await open.executeTakeFirst())?.id ?? null };
}

/** What a post of a channel is about, by index: of a list of reminders several. */
export async function subjectsAt(db: Db, { teamId, channelId }: ChannelKey, ts: string) {
	const posted = from(db, 'posts', { ts, teamId, placeId: channelId });
	const row = await posted.selectAll().limit(1).executeTakeFirst();
	const content = row && readPost(row)?.content;
	const about = content?.kind === 'reminder' ? content.entries : row === undefined ? [] : [row];
	return about.map(({ watchId, questionId }) => ({ kind: row?.kind, watchId: watchId ?? '', questionId }));
}

/**
 * Has the open posts that match `filter` drawn again: now, or with progress, which waits for what is urgent. Unless
 * `filter` has one kind, also the reminders of several questions in their channels.
 */
export async function markPosts(
	{ trx, now }: Tx,
	filter: Filter<'posts'>,
	urgency: CardUrgency = 'now',
): Promise<void> {
	const rank = URGENCIES.indexOf(urgency);
	const columns = {
		wanted: sql<number>`wanted + 1`,
		urgency: sql<number>`case when state <> 'planned' and (due_at is null or urgency > ${rank}) then ${sql.lit(rank)}
			else urgency end`,
		// What waits for its first time, or for Slack, goes on waiting, unless this is more urgent, or it waits for this.
		dueAt: sql<number>`case when state = 'planned' and coalesce(last_error, '') <> ${AWAITED} then due_at
			when state = 'planned' or due_at is null or urgency > ${rank} then ${now} else due_at end`,
	};
	const marked = typeof filter.kind === 'string' ? { ...filter, state: OPEN } : openWithLists(trx, filter);
	await change(trx, 'posts', { id: locked(trx, 'posts', marked) }, columns).execute();
}

/** Open posts and the reminders of several questions in their channels. */
function openWithLists(trx: Db, filter: Filter<'posts'>): Filter<'posts'> {
	const own = from(trx, 'posts', filter);
	// Written out: SQLite uses a partial index only then.
	const shown = from(trx, 'posts', { placeId: own.select('placeId') });
	// A planned reminder may wait for this, or be on its way, drawn before it.
	const streams = own.select(sql<string>`'channel:' || team_id || ':' || place_id`.as('stream'));
	const planned = from(trx, 'posts', { stream: streams });
	return {
		id: from(trx, 'posts', { ...filter, state: OPEN })
			.select('id')
			.union(shown.where(sql<boolean>`kind = 'reminder' and state = 'shown' and session_id is null`).select('id'))
			.union(planned.where(sql<boolean>`kind = 'reminder' and state = 'planned'`).select('id')),
	};
}

/** Ends these posts of a channel without a last look, and revokes their leases. */
export async function silencePosts(trx: Db, filter: Filter<'posts'>): Promise<void> {
	// All of them first: whoever gives posts back locks both in the order of their keys.
	await locked(trx, 'posts', { ...filter, state: OPEN }).execute();
	await dropPlanned(trx, filter);
	const closed = { state: 'closed', dueAt: null, ...WITHOUT_LEASE };
	await change(trx, 'posts', { ...filter, state: 'shown' }, closed).execute();
}

/**
 * Has drawn again what shows sessions of a channel after a change of its settings, also in direct messages and Homes.
 * `isWhole`: in the channel also what was over.
 */
export async function redrawChannel(tx: Tx, channel: ChannelKey, { isWhole }: { isWhole: boolean }): Promise<void> {
	const watches = from(tx.trx, 'watches', channelOf(channel)).select('id');
	await markPosts(tx, { watchId: watches }, 'progress');
	await markDue(tx, null);
	if (!isWhole) return;
	const place = { teamId: channel.teamId, placeId: channel.channelId };
	await redrawOver(tx, { ...place, kind: [...WATCH_KINDS, ...QUESTION_KINDS] }, 'progress');
}

/** Has a channel's posts of a session's earlier watches drawn again: they must not offer *Watch again* any more. */
export async function redrawFormer(tx: Tx, watch: ChannelKey & { readonly session: SessionKey }): Promise<void> {
	const here = from(tx.trx, 'watches', { ...channelOf(watch), ...sessionOf(watch.session) }).select('id');
	await redrawOver(tx, { watchId: here.where('endedAt', 'is not', null), kind: WATCH_KINDS });
}

/** Has what an ended watch posted drawn again: newer ones have taken its place. */
export const redrawEnded = (tx: Tx, watchId: string) => redrawOver(tx, { watchId, kind: WATCH_KINDS });

/** Has the posts of a question drawn again that were over: another answer to it has arrived. */
export const redrawSettled = (tx: Tx, questionId: string) => redrawOver(tx, { questionId, kind: QUESTION_KINDS });

/** Has the direct message about an answer drawn again that was over: its author sends it again. */
export const redrawReceipt = (tx: Tx, { id, person }: Pick<Answer, 'id' | 'person'>) =>
	redrawOver(tx, { stream: streamOf({ kind: 'person', ...person, topic: id }), kind: 'receipt' });

/** Has the posts that match `filter` and were over drawn once more. */
async function redrawOver({ trx, now }: Tx, filter: Filter<'posts'>, urgency: CardUrgency = 'now'): Promise<void> {
	const closed = locked(trx, 'posts', { ...filter, state: 'closed' });
	const again = { state: 'shown', dueAt: now, urgency: URGENCIES.indexOf(urgency) };
	await change(trx, 'posts', { id: closed }, again).execute();
}

/** Plans a watch's card and open question anew if Slack had refused them; returns whether it had. */
export async function planRefused(tx: Tx, watch: SessionKey & { readonly id: string }): Promise<boolean> {
	const open = from(tx.trx, 'questions', { ...sessionOf(watch), settledAt: null }).select('id');
	const refused = from(tx.trx, 'posts', { watchId: watch.id, state: 'refused', kind: ['card', 'question'] });
	const shown = refused.where(({ eb, or }) => or([eb('questionId', 'is', null), eb('questionId', 'in', open)]));
	const id = locked(tx.trx, 'posts', { id: shown.select('id') });
	const anew = { state: 'planned', attempts: 0, dueAt: tx.now, lastError: null };
	const count = await countChanged(change(tx.trx, 'posts', { id }, anew));
	// It shows the question instead.
	if (count > 0) await markDue(tx, watch);
	return count > 0;
}

/** Has posts that may name somebody drawn again, and closes those to them. Returns how many are drawn. */
export async function redrawNaming({ trx, now }: Tx, userId: string): Promise<number> {
	const inSession = (table: 'answers' | 'views' | 'questions', column = 'userId') =>
		sql`(service, session_id) in (select service, session_id from ${sql.table(table)}
			where ${sql.ref(column)} = ${userId})`;
	const named = `%"${userId}"%`;
	const inLists = sql`(service, session_id) in (select service, session_id from answer_rules
		join channel_settings using (team_id, channel_id) where settings like ${named})`;
	const isNaming = sql<boolean>`ts is not null and place_id <> ${userId}
		and (kind = 'reminder' and session_id is null or content like ${named} or ${inLists}
			or ${inSession('answers')} or ${inSession('views')}
			or ${inSession('questions', 'fromUserId')} or ${inSession('questions', 'toUserId')})`;
	await silencePosts(trx, { placeId: userId });
	const wanted = sql<number>`wanted + 1`;
	// What is on its way may show the name, and is drawn again as soon as it has arrived.
	await change(trx, 'posts', { state: 'planned' }, { wanted }).execute();
	const due = { state: 'shown', dueAt: now, urgency: 1, wanted };
	const shown = (isIn: RawBuilder<boolean>) => change(trx, 'posts', { state: ['shown', 'closed'] }, due).where(isIn);
	return inParts(trx, 'posts', (isIn) => countChanged(shown(isIn).where(isNaming)));
}

/** The notices of an outage are found by the address of the service, also after it has moved. */
export async function moveNotices(trx: Db, { from: former, to }: { readonly from: string; readonly to: string }) {
	const kind = ['serviceDown', 'serviceBack'];
	const notices = from(trx, 'posts', { kind }).select(['id', 'uniqueKey']);
	for (const { id, uniqueKey } of await notices.execute()) {
		const [what, begin, ...address] = uniqueKey.split(':');
		if (address.join(':') === former)
			await change(trx, 'posts', { id }, { uniqueKey: `${what}:${begin}:${to}` }).execute();
	}
}

export const removePosts = (trx: Db, watchId: string | readonly string[]) =>
	remove(trx, 'posts', { watchId }).execute();

/** Whether a question of a watch stands in its channel. */
export const HAS_POSTED = sql<boolean>`exists (select 1 from posts where posts.watch_id = watches.id
	and posts.kind = 'question' and posts.ts is not null)`;

/** The items of a question as a read shows them at an index; undefined: it shows none. */
export type ItemsAt = (index: number) => QuestionView['items'] | undefined;

/**
 * Writes what a read changes of the questions of a session, which the caller has locked.
 */
export async function recordQuestions(
	tx: CipherTx,
	session: SessionKey,
	changes: readonly OccurrenceChange[],
	{ newest, itemsAt }: Pick<QuestionRead, 'newest'> & { readonly itemsAt: ItemsAt },
): Promise<void> {
	const { trx, cipher, now } = tx;
	const read = { session, newest, cipher, now };
	const rowOf = (id: string) => from(trx, 'questions', { id }).selectAll().executeTakeFirst();
	/** The hand-over of a question that is asked again while it is open: its person still has it. */
	let held: HeldQuestion | null = null;
	/** The open question that this read ends without an answer, soon after it was asked. */
	let replaced: Row<'questions'> | null = null;
	for (const one of changes) {
		switch (one.kind) {
			case 'seen':
				await noteSeen(trx, one.id, one);
				break;
			case 'settled': {
				const row = await rowOf(one.id);
				if (row === undefined) break;
				if (one.how === 'renewed') held = heldOf(row, cipher);
				const isSoon = row.settledAt === null && newest.readAt - row.askedAt < REPLACED_WITHIN_MS;
				if (isSoon && one.how !== 'answered' && !(await isGiven(trx, row))) replaced = row;
				const items = one.at === null ? undefined : itemsAt(one.at);
				if (items !== undefined) await keepAnswered(trx, row, items, cipher);
				await settleQuestion(trx, one.id, one.how, now);
				break;
			}
			case 'updated':
			case 'reopened': {
				const row = await rowOf(one.id);
				if (row === undefined) break;
				if (one.kind === 'updated') await rewordQuestion(trx, row, one.question, read);
				else {
					await settleOpen(trx, session, 'closed', now);
					await reopenQuestion(trx, row, one.question, read);
				}
				break;
			}
			case 'asked': {
				await settleOpen(trx, session, 'closed', now);
				// One that was answered before the first read of a watch is no news.
				const askedAt = one.settled !== null && newest.isFirst === true ? 0 : newest.readAt;
				const id = await addQuestion(trx, one.question, read, { askedAt, held, evidence: one.evidence });
				// The direct messages about it are about this one now.
				const told = held && { watchId: held.handOver.watchId, kind: ['handedOver', 'givenBack'], state: OPEN };
				if (told !== null) await change(trx, 'posts', told, { questionId: id }).execute();
				held = null;
				if (one.settled !== null) await settleQuestion(trx, id, one.settled, now);
				else if (replaced !== null) await showInstead(tx, replaced, { id, ...one.question });
				replaced = null;
			}
		}
	}
}

/** What an agent asks instead within this time stands in the post of the question that it replaces. */
const REPLACED_WITHIN_MS = 60_000;

/** Whether somebody has answered a question here, unless they took that back. */
const isGiven = (trx: Db, { id, ...row }: Row<'questions'>) =>
	isFound(
		from(trx, 'answers', { ...sessionOf(row), questionId: id })
			.select('id')
			.where('state', '!=', 'withdrawn'),
	);

/** Has the open posts of a question be of the one that its agent asks instead, with the reminders of that. */
async function showInstead(
	tx: Tx,
	former: Row<'questions'>,
	{ id, fingerprint }: Readonly<Record<'id' | 'fingerprint', string>>,
): Promise<void> {
	const { trx, now } = tx;
	// What is written later of this session is locked before its reminders.
	await locked(trx, 'posts', { ...sessionOf(former), state: OPEN }).execute();
	const live = await from(trx, 'watches', { ...sessionOf(former), endedAt: null })
		.selectAll()
		.execute();
	const shown: { postId: string; watch: Row<'watches'> }[] = [];
	for (const watch of live) {
		const open = { kind: 'question', watchId: watch.id, questionId: former.id, state: OPEN };
		const another = { questionId: id, uniqueKey: `${QUESTION_KEY}${id}` };
		const posted = await change(trx, 'posts', open, another).returning(['id', 'ts']).execute();
		for (const post of posted) {
			if (post.ts === null) continue;
			const content = { kind: 'question', changed: fingerprint !== former.fingerprint } satisfies PostContent;
			const undrawn = { content: JSON.stringify(content), shownAt: null, wanted: sql<number>`wanted + 1` };
			await change(trx, 'posts', { id: post.id }, undrawn).execute();
			shown.push({ postId: post.id, watch });
		}
	}
	await beginReminders(tx, shown, now);
}

/** Settles the open question of a session, if there is one. */
export async function settleOpen(trx: Db, session: SessionKey, how: SettledHow, now: number): Promise<void> {
	const open = await openQuestionOf(trx, session);
	if (open !== undefined) await settleQuestion(trx, open.id, how, now);
}

/** What `userId` gives back, with what the message about it shows. */
export type GivenBack = HandedQuestion & Pick<ContentOf<'givenBack'>, 'undelivered'> & { readonly userId: string };

/** `repeated`: it was given back before. */
export async function giveBack(tx: Tx, given: GivenBack) {
	const { trx, now } = tx;
	const { userId: by, undelivered, ...handed } = given;
	const asked = await lockHandedQuestion(trx, handed);
	const current = readHandOver(asked, handed.teamId);
	if (asked === undefined || current === null) return { kind: 'closed' } as const;
	if (current.to !== by) return { kind: 'notYours', handOver: current } as const;
	if (current.givenBackAt !== null) return { kind: 'givenBack', handOver: current, repeated: true } as const;
	const handOver = { ...current, givenBackAt: now };
	await giveBackQuestion(trx, asked, now);
	const how = undelivered ? { actor: PROGRAM, outcome: 'undelivered' } : { actor: by, outcome: 'givenBack' };
	recordHandOver(tx, handOver, { action: 'givenBack', ...how, about: handOver.from });
	const { id: handOverId, watchId } = handOver;
	const content = { kind: 'givenBack', watchId, handOverId, by, ...(undelivered && { undelivered }) } as const;
	await passOn(tx, handOver.session, { target: targetOfHandOver(handOver), key: 'givenBack', content });
	return { kind: 'givenBack', handOver, repeated: false } as const;
}

/** Gives an undeliverable question back and tells its giver, unless that is over. */
export async function giveBackUndelivered(tx: Tx, handOverId: string, questionId: string | null) {
	const held = from(tx.trx, 'questions', { id: questionId ?? '', handOverId });
	const handOver = readHandOver(await held.selectAll().executeTakeFirst());
	if (handOver !== null) await giveBack(tx, { ...handOver, userId: handOver.to, undelivered: true });
}

/** Records what became of who has a question. */
export function recordHandOver({ trx, now: at }: Tx, handOver: HandOver, event: Omit<AuditEvent, 'at'>): void {
	const { session, channelId: channel, fingerprint } = handOver;
	recordEvents(trx, { at, session: session.sessionId, channel, fingerprint, ...event });
}

/** Locks the session. The question; undefined when it is not open any more. */
export async function lockHandedQuestion(trx: Db, { session, fingerprint }: HandedQuestion) {
	await lockSession(trx, session);
	const question = await openQuestionOf(trx, session);
	return question?.fingerprint === fingerprint ? question : undefined;
}

/** Has all posts show who has the question, and queues the direct message. */
export async function passOn(tx: Tx, session: SessionKey, post: NewPost): Promise<void> {
	await markDue(tx, session);
	await planPosts(tx, [post]);
}

/** Has posts of a question be about another row of the same question, whose id is in their keys and contents, too. */
export async function pointPostsTo(trx: Db, questionId: string, id: string): Promise<void> {
	await replaceInPosts(trx, questionId, id);
	const uniqueKey = sql<string>`replace(unique_key, ${questionId}, ${id})`;
	await change(trx, 'posts', { questionId }, { questionId: id, uniqueKey }).execute();
}

/** Replaces a text in the content of all posts that have it. */
export async function replaceInPosts(trx: Db, text: string, other: string): Promise<void> {
	const content = sql<string>`replace(content, ${text}, ${other})`;
	await change(trx, 'posts', {}, { content }).where(sql<boolean>`${content} <> content`).execute();
}

/** Posts that are over, last shown before `before`. Not cards: they hold no text; the last says when one may come. */
function overBefore(trx: Db, before: number) {
	// Written out: SQLite uses a partial index only then.
	const over = from(trx, 'posts').select('id').where(sql<boolean>`state not in ('planned', 'shown')`);
	const isOld = sql<boolean>`created_at < ${before} and coalesce(shown_at, 0) < ${before}`;
	return over.where(isOld).where('kind', '!=', 'card');
}

/** Removes posts that were over before `before`. */
export const removeOver = (db: StoreDatabase, before: number) =>
	changeInBatches(db, (trx, limit) => remove(trx, 'posts', { id: overBefore(trx, before).limit(limit) }));
