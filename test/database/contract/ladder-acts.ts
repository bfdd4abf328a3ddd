import type { Watch } from '../../../src/database/watch.ts';
import { hasOpenQuestion } from '../../../src/database/watch.ts';
import type { LadderBatch, LadderOutcome } from '../../../src/features/remind/ladder-store.ts';
import type { OccurrenceChange } from '../../../src/questions/occurrences.ts';
import { type SessionSnapshot, snapshotOf } from '../../../src/questions/session-snapshot.ts';
import { addWatch, assistant, session } from '../../features/watch/support.ts';
import type { Subject } from '../contract.ts';
import { LEASE, SERVICE, T0, touchSession } from '../support.ts';
import { asking, type C1, KEY, news, read, watchActs } from './watch-acts.ts';

export const REMIND_AT = T0 + 900_000;
export const WAIT = { kind: 'wait', dueAt: REMIND_AT, reminderDueAt: null, heldBy: null, readBy: null } as const;

/** What tests of ladders do with a store again and again. */
export function ladderActs(subject: Subject) {
	const { recorded, posted } = watchActs(subject);
	const ladders = () => subject.store.ladders;
	const replica = () => subject.replica.ladders;

	const asks = (title = 'Colour') => session({ status: 'humanInput', messages: [assistant('Which?', title)] });

	/** A watch whose question was posted at `T0`. */
	async function asked(overrides: Parameters<typeof addWatch>[1] = {}, title = 'Colour'): Promise<Watch> {
		const asking = asks(title);
		const watch = await addWatch(subject.store.watches, { view: snapshotOf(asking, T0), ...overrides });
		await posted();
		await announce(watch, title);
		await posted();
		return watch;
	}

	/** Queues the post of the watch's question, as a read does. */
	async function announce(watch: Watch, title = 'Colour'): Promise<void> {
		const view = snapshotOf(asks(title), T0);
		const posts = [asking(watch, `question:${title}`)];
		await recorded([news(watch, { posts })], await again(view, watch.session));
	}

	/** A read of this content, after which the session is due again at once. */
	async function again(view: SessionSnapshot, { service, sessionId } = KEY) {
		const asked = subject.store.db.read.selectFrom('questions').selectAll().where('settledAt', 'is', null);
		const here = asked.where('service', '=', service).where('sessionId', '=', sessionId);
		const open = await here.executeTakeFirst();
		const { question } = view.digest;
		const isOpen = question !== null && hasOpenQuestion(view.digest);
		const isSame = isOpen && open?.fingerprint === question.fingerprint;
		const questions: OccurrenceChange[] = [];
		if (open !== undefined && !isSame) questions.push({ kind: 'settled', how: isOpen ? 'changed' : 'closed' });
		if (isOpen && !isSame) questions.push({ kind: 'asked', question, settled: null });
		return read({ view, questions, nextRead: { at: T0, by: T0 } });
	}

	const take = (now = T0, lease = LEASE, options: { limit?: number; except?: (typeof C1)[] } = {}) =>
		ladders().takeDue(SERVICE, lease, { now, limit: 100, except: [], ...options });

	async function takeOne(now = T0): Promise<LadderBatch['ladders'][number]> {
		const [batch, ...others] = await take(now);
		const [taken, ...more] = batch?.ladders ?? [];
		if (taken === undefined || others.length + more.length > 0) throw new Error('not exactly one ladder is due');
		return taken;
	}

	type Wait = Omit<Extract<LadderOutcome, { kind: 'wait' }>, 'ladder' | 'changeCount' | 'kind'>;

	async function waits(wait: Partial<Wait> = {}, now = T0) {
		const { ladder, changeCount } = await takeOne(now);
		return ladders().record(LEASE.token, [{ ladder, changeCount, ...WAIT, ...wait }], { post: null, now });
	}

	/** The ladders of these sessions ask for reads in the order of these times. */
	async function asksForReads(now: number, places: Readonly<Record<string, number>>): Promise<void> {
		const due = (await take(now)).flatMap((batch) => batch.ladders);
		const outcomes = due.map((taken): LadderOutcome => {
			const readBy = places[taken.ladder.session.sessionId] ?? null;
			return { ...taken, ...WAIT, dueAt: now, readBy };
		});
		await ladders().record(LEASE.token, outcomes, { post: null, now });
	}

	/** Makes the ladders of these sessions due one after the other, the first the longest ago. */
	async function dueFrom(sessionIds: readonly string[]): Promise<void> {
		for (const [index, sessionId] of sessionIds.entries()) {
			await touchSession(subject.store, { ...KEY, sessionId }, T0 - 1_000 + index);
		}
	}

	/** Channels and sessions in the order in which they were taken. */
	const channelsOf = (batches: readonly LadderBatch[]) =>
		batches.map((batch) => {
			const sessionIds = batch.ladders.map(({ ladder }) => ladder.session.sessionId);
			return `${batch.channel.channelId}: ${sessionIds.join(' ')}`;
		});

	/** A watch of another session in the same channel, with its question posted. */
	async function another(sessionId: string): Promise<Watch> {
		const view = { ...snapshotOf(asks(), T0), sessionId };
		const watch = await addWatch(subject.store.watches, { sessionId, view });
		await posted();
		await subject.store.watches.takeDue(SERVICE, LEASE, 10, { now: T0, only: null });
		const update = news(watch, { posts: [asking(watch)] });
		const held = { session: { ...KEY, sessionId }, token: LEASE.token };
		const seen = await again(view, held.session);
		await subject.store.watches.record(held, { update: seen, watches: [update], now: T0 });
		await posted();
		return watch;
	}

	/** Watches of the same session in another channel. */
	async function addChannels(): Promise<void> {
		const watch = await addWatch(subject.store.watches, { channelId: 'C2', view: snapshotOf(asks(), T0) });
		await posted();
		await subject.store.watches.takeDue(SERVICE, LEASE, 10, { now: T0 + 20_000, only: null });
		const update = news(watch, { posts: [asking(watch)] });
		const held = { session: KEY, token: LEASE.token };
		await subject.store.watches.record(held, { update: read(), watches: [update], now: T0 });
		await posted();
	}
	return {
		ladders,
		replica,
		asks,
		asked,
		announce,
		again,
		take,
		takeOne,
		waits,
		asksForReads,
		dueFrom,
		channelsOf,
		another,
		addChannels,
		recorded,
		posted,
	};
}
