import { z } from 'zod';
import { createForgetting } from '../delivery/retention-store.ts';
import { isBlocking, SUBMISSION } from '../domain/answer.ts';
import { forgottenName } from '../domain/person.ts';
import { DAY_MS } from '../kernel/clock.ts';
import { parseOrNull } from '../kernel/values.ts';
import { removeDiscoveries } from '../sessions/discovery-store.ts';
import { endWatchById } from '../sessions/watch-store.ts';
import { type Cipher, type Db, from, isPostgres, type Row, sql, type Tx } from '../store/database.ts';
import { PERSON_TABLES, type PersonPage, removeRowsOf, replacePerson, rowsOfPerson } from '../store/person-ids.ts';
import { readHandOver, removeNotesOf } from '../store/question-store.ts';
import { markForCompaction } from '../store/secret-wiping.ts';
import { liveWatches } from '../store/watches.ts';
import { giveBack } from '../surfaces/giving-back-store.ts';
import { redrawNaming } from '../surfaces/redraw-store.ts';
import { endHeldLeases } from '../surfaces/reminder-store.ts';
import { forgetForms, rebuildInboxes } from '../surfaces/view-plan-store.ts';

/** The tables that nobody else writes meanwhile. Each row of shared states is written alone. */
const LOCKED = PERSON_TABLES.filter((table) => table !== 'shared_states').map((table) => sql.table(table));

/** Hands out what is stored about a person, and forgets them. `days`: how long a post is stored. */
export function createPersonStore(cipher: Cipher, days: number) {
	const ofAnswers = createForgetting(cipher);

	return {
		/**
		 * Forgets somebody, all or nothing: a random name replaces their id everywhere, and what was only theirs goes.
		 * `refused`: an answer of theirs is not sent yet, or under way. `unreadable`: answers that may name them. `left`:
		 * answers of which no post is stored any more. On PostgreSQL it fails at once while somebody writes, because a
		 * transaction that never waits for a lock is in no deadlock.
		 */
		async forget(tx: Tx, userId: string) {
			const { trx } = tx;
			if (isPostgres(trx))
				await sql`lock table ${sql.join(LOCKED)}, watched_sessions in exclusive mode nowait`.execute(trx);
			const own = from(trx, 'answers', { userId }).select(['sessionId', 'state']);
			const answers = await own.select(['acceptedAt', 'submission']).orderBy('acceptedAt').orderBy('id').execute();
			const live = answers.filter(({ state }) => isBlocking(state));
			if (live.length > 0) return { kind: 'refused', sessionIds: live.map(({ sessionId }) => sessionId) } as const;
			const unreadable = await ofAnswers.countUnreadable(trx, userId);
			if (unreadable > 0) return { kind: 'unreadable', count: unreadable } as const;
			const name = forgottenName();
			/** In words for the operator, in the order of this transaction. */
			const counts: Record<string, number> = { 'answers, now without author and texts': answers.length };
			counts['discarded answers that waited for their author'] = await ofAnswers.discardWaiting(tx, userId);
			const open = from(trx, 'questions', { toUserId: userId, settledAt: null, givenBackAt: null }).selectAll();
			const held = (await open.execute()).flatMap((row) => readHandOver(row) ?? []);
			for (const handOver of held) await giveBack(tx, { ...handOver, userId });
			counts['questions given back that they had by hand-over'] = held.length;
			await removeNotesOf(trx, userId);
			// Nobody else reads their direct message with the app.
			const isDirect = sql<boolean>`channel_id like 'D%'`;
			const direct = await liveWatches(trx, { createdBy: userId }).where(isDirect).execute();
			const ending = { reason: 'unwatched', posts: [] } as const;
			for (const { id } of direct) await endWatchById(tx, id, ending);
			await removeDiscoveries(trx, userId, isDirect);
			counts['watches ended in their direct message (others go on)'] = direct.length;
			const drawn = await redrawNaming(tx, userId);
			// Work that has read their id begins again, because it loses its lease. Answers of others keep theirs: their PUT
			// may be under way, and would be sent twice. Their `update` looks up whom it names.
			await endHeldLeases(trx);
			await rebuildInboxes(trx, tx.now);
			counts['answers of others that no longer say who was first'] = await ofAnswers.leaveOthers(tx, userId, name);
			await ofAnswers.forgetAuthor(trx, userId, name);
			Object.assign(counts, await removeRowsOf(trx, userId));
			counts['other places, now without their id'] = await replacePerson(trx, userId, name);
			if (Object.values(counts).every((count) => count === 0)) return { kind: 'nothing' } as const;
			// Forms of others may say that this person is answering.
			await forgetForms(trx);
			if (!isPostgres(trx)) await markForCompaction(trx);
			counts['messages in Slack that may name them, being drawn again'] = drawn;
			const older = answers.filter(({ acceptedAt }) => acceptedAt < tx.now - days * DAY_MS);
			return { kind: 'forgotten', name, counts, days, left: [...new Set(older.map(placeOf))] } as const;
		},

		/** A page of what is stored about somebody in a table; `next`: where to go on, null at its end. */
		async page(trx: Db, userId: string, place: PersonPage) {
			const { rows, next } = await rowsOfPerson(trx, cipher, userId, place);
			return { rows: rows.map((row) => shownOf(place.table, row, userId)), next };
		},
	};
}

/** Where an answer is found in Slack: session, time, channel, and the `ts` of its thread if it has one. */
function placeOf(row: Pick<Row<'answers'>, 'sessionId' | 'acceptedAt' | 'submission'>): string {
	const { channelId = '', threadTs } = parseOrNull(SUBMISSION, row.submission)?.origin ?? {};
	return [row.sessionId, new Date(row.acceptedAt).toISOString(), channelId, threadTs ?? ''].join(' ').trim();
}

/** The columns that are shown of a row of somebody else. */
const OF_OTHERS = new Set(['id', 'viewId', 'service', 'sessionId', 'messageIndex', 'other']);

/** A row as the export shows it: JSON parsed, times in ISO format, without secrets and what others wrote. */
function shownOf(table: string, row: Readonly<Record<string, unknown>>, userId: string) {
	const isOthers = 'userId' in row && row.userId !== userId;
	const { leaseToken: _, leasedUntil: __, secrets: ___, ...all } = row;
	const told = Object.entries(all).filter(([name, value]) => value !== null && (!isOthers || OF_OTHERS.has(name)));
	const shown = Object.fromEntries(told.map(([name, value]) => [name, jsonOf(value)]));
	const { other } = shown as { other?: string | { person?: { userId?: string } } };
	if (typeof other === 'object' && other.person?.userId !== userId) delete shown.other;
	// What the agent asked.
	if (table === 'questions') delete shown.content;
	if (table === 'answers') delete (Object(shown.content) as { asked?: unknown }).asked;
	// A note belongs to whoever wrote it.
	if (shown.fromUserId !== userId) delete shown.handOverNote;
	// It has the agent's texts. What the person typed is in their drafts.
	if (table === 'views') delete shown.view;
	// It has others, too, who joined or left a channel.
	if (table === 'shared_states') shown.state = (shown.state as Record<string, unknown>)?.[userId];
	const secret: unknown[] = Array.isArray(shown.secretPositions) ? shown.secretPositions : [];
	const { items }: { items?: unknown } = Object(shown.content);
	if (table === 'answers' && Array.isArray(items))
		for (const [at, item] of items.entries()) if (item.secret || secret.includes(at)) item.value = 'hidden';
	// Milliseconds from 2001 to 2286, which no count or length reaches.
	const isTime = (value: unknown) => typeof value === 'number' && value >= 1e12 && value < 1e13;
	return JSON.parse(JSON.stringify(shown), (_, value) => (isTime(value) ? new Date(value).toISOString() : value));
}

const jsonOf = (value: unknown) =>
	typeof value === 'string' && /^[[{"]/.test(value) ? (parseOrNull<unknown>(z.unknown(), value) ?? value) : value;
