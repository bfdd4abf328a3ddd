import type { Kysely } from 'kysely';
import {
	type GiveBackResult,
	type HandedQuestion,
	type HandOver,
	type HandOverResult,
	type HandOverStore,
	type NewHandOver,
	obstacleTo,
} from '../inbox/hand-over.ts';
import type { SessionKey } from '../watches/watch.ts';
import { hasOpenQuestion } from '../watches/watched-session.ts';
import type { StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import { handOverRow, readHandOver } from './hand-over-rows.ts';
import { endSnooze } from './snooze-store.ts';
import type { Tables } from './tables.ts';
import { readDigest, readWatch } from './watch-rows.ts';
import {
	inChannel,
	liveWatches,
	lockSession,
	onSession,
	queueAnnouncements,
	queueRedraws,
	readShown,
	settleDirectMessage,
	wantCards,
} from './watch-writes.ts';

/** `HandOverStore` over SQLite or PostgreSQL; its docstrings are the contract. */
export function createHandOverStore({ db, cipher }: { db: StoreDatabase; cipher: Cipher }): HandOverStore {
	/** Locks the session. The open question's index; null when it does not ask this question any more. */
	async function lockQuestion(trx: Kysely<Tables>, { session, fingerprint }: HandedQuestion): Promise<number | null> {
		const row = await lockSession(trx, db.dialect, session);
		const digest = readDigest(row?.digest ?? null);
		if (digest === null || !hasOpenQuestion(digest)) return null;
		return digest.question?.fingerprint === fingerprint ? digest.question.messageIndex : null;
	}

	/** Has posts and cards show who has the question. */
	async function showEverywhere(trx: Kysely<Tables>, session: SessionKey, now: number): Promise<void> {
		await queueRedraws(trx, cipher, session, now);
		await wantCards(trx, db.dialect, session, now);
	}

	async function handOver(trx: Kysely<Tables>, wish: NewHandOver, now: number): Promise<HandOverResult> {
		const messageIndex = await lockQuestion(trx, wish);
		const watch = await liveWatches(trx).where('id', '=', wish.watchId).executeTakeFirst();
		if (messageIndex === null || watch === undefined) return { kind: 'closed' };
		const current = await handOverOf(trx, wish);
		const obstacle = obstacleTo(wish, current);
		if (obstacle !== null && current !== null) return { kind: obstacle, handOver: current };
		const { announcement, replaces: _, ...handed } = wish;
		const next: HandOver = { ...handed, count: (current?.count ?? 0) + 1, handedOverAt: now, givenBackAt: null };
		const row = handOverRow(next);
		await trx
			.insertInto('hand_overs')
			.values(row)
			.onConflict((conflict) => conflict.columns(['service', 'session_id', 'team_id']).doUpdateSet(row))
			.execute();
		await endSnooze(trx, { teamId: wish.teamId, userId: wish.to }, wish.session);
		const settled = { kind: 'settle', messageIndex, how: 'handedOn' } as const;
		if (current !== null) await settleDirectMessage(trx, cipher, current, { settled, now });
		// Before the direct message, which shows the newest state anyway.
		await showEverywhere(trx, wish.session, now);
		await queueAnnouncements(trx, cipher, [announcement], now);
		return { kind: 'handedOver', handOver: next };
	}

	async function giveBack(
		trx: Kysely<Tables>,
		question: Parameters<HandOverStore['giveBack']>[0],
		{ now, told }: Parameters<HandOverStore['giveBack']>[1],
	): Promise<GiveBackResult> {
		const messageIndex = await lockQuestion(trx, question);
		const current = await handOverOf(trx, question);
		if (messageIndex === null || current === null) return { kind: 'closed' };
		if (current.to !== question.userId) return { kind: 'notYours', handOver: current };
		if (current.givenBackAt !== null) return { kind: 'givenBack', handOver: current, repeated: true };
		await trx
			.updateTable('hand_overs')
			.set({ given_back_at: now })
			.where((eb) => eb.and(keyOf(question)))
			.execute();
		const settled = { kind: 'settle', messageIndex, how: 'givenBack' } as const;
		await settleDirectMessage(trx, cipher, current, { settled, now });
		const givenBack = { ...current, givenBackAt: now };
		// Before the direct message, which shows the newest state anyway.
		await showEverywhere(trx, question.session, now);
		await queueAnnouncements(trx, cipher, [told(givenBack)], now);
		return { kind: 'givenBack', handOver: givenBack, repeated: false };
	}

	return {
		handOver: (wish, now) => db.write((trx) => handOver(trx, wish, now)),
		giveBack: (question, options) => db.write((trx) => giveBack(trx, question, options)),
		handOverOf: (question) => handOverOf(db.read, question),

		async watchedIn(channel, session) {
			const row = await liveWatches(db.read).where(inChannel(channel)).where(onSession(session)).executeTakeFirst();
			const watch = row === undefined ? null : readWatch(row);
			if (watch === null) return null;
			const { view, checkedAt } = await readShown(db, cipher, session);
			return view === null ? null : { watch, view, checkedAt };
		},
	};
}

/** Null too when the session's hand-over is about another question. */
async function handOverOf(read: Kysely<Tables>, question: HandedQuestion): Promise<HandOver | null> {
	const row = await read
		.selectFrom('hand_overs')
		.selectAll()
		.where((eb) => eb.and(keyOf(question)))
		.executeTakeFirst();
	return row === undefined || row.fingerprint !== question.fingerprint ? null : readHandOver(row);
}

function keyOf({ teamId, session: { service, sessionId } }: HandedQuestion) {
	return { service, session_id: sessionId, team_id: teamId };
}
