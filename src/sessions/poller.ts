import { isDeepStrictEqual } from 'node:util';
import type { Core } from '../core.ts';
import { nearMissAt } from '../domain/near-misses.ts';
import type { OccurrenceChange } from '../domain/occurrences.ts';
import { askedAt } from '../domain/options.ts';
import { questionAt, type Session } from '../domain/session.ts';
import { MINUTE_MS, uptimeOf } from '../kernel/clock.ts';
import { codeOf } from '../kernel/errors.ts';
import { createLeaseLoop, leaseQueue } from '../kernel/lease-loop.ts';
import { retryAtOf } from '../kernel/retries.ts';
import type { BackgroundBudget } from '../service/budget.ts';
import { DOWN_AFTER_MS, OUTAGE_CODES, type ServiceHealth } from '../service/health.ts';
import { type MeasuredReading, NO_PERMIT_CODES, NOT_FOUND_CODES, type SessionReading } from '../service/service.ts';
import type { DueSession, SessionStore, TakenSession } from '../store/watched-sessions.ts';
import { createReading, keptOf, type ReadAnswers } from './reading.ts';
import type { ReadOutcome, RecordingStore, SessionUpdate } from './recording-store.ts';
import type { ListKnowledge } from './schedule.ts';
import type { WatchStore } from './watch-store.ts';

export interface PollerOptions {
	readonly budget: BackgroundBudget;
	/** Counts the calls of all parts. The first success ends an outage. */
	readonly health: ServiceHealth;
	/** What our answers and earlier reads mean for a session as read. */
	readonly ourAnswers: (reading: SessionReading) => Promise<ReadAnswers>;
	readonly list: () => ListKnowledge;
}

/** A service may handle one call at a time. More reads would delay the calls of people and deliveries. */
const READS_AT_ONCE = 4;
/** While each of the newest calls takes this long, only one read runs at a time. */
const LONG_CALL_MS = 500;
/** The longest pause after a read that failed: its time includes the wait for a permit. */
const LONGEST_REST_MS = 20_000;
/** A session that was never read counts as gone after this many failed reads, the newest with 404. */
const UNREAD_TRIES = 3;
/** How often to look whether people still wait for the service. */
const LOOK_MS = 250;
/** How often to count the watched sessions, for the metrics. */
const COUNT_MS = 15_000;

/** Reads watched sessions when they are due, and stores the changes together with the posts of them. */
export function createPoller(
	core: Core<{ sessions: SessionStore; watches: WatchStore; reads: RecordingStore }>,
	options: PollerOptions,
) {
	const { sessionService, serviceUrl, clock, log, store } = core;
	const { sessions } = store;
	const { watches: metrics } = core.metrics;
	const { budget, health } = options;
	const reading = createReading(core, options.list);
	let underWay = 0;
	/** The ends of the pauses after reads, by uptime. Each keeps the place of its read for as long as that took. */
	let pausesUntil: readonly number[] = [];
	/** The next read is one in turn. It follows those that go ahead, so that these do not starve the others. */
	let inTurn = false;
	/** When the first read is due after those that were taken; null: more may be due now. */
	let laterAt: number | null = null;
	/** By uptime, as `noteAgainAt`: the clock may be set in between. */
	let countAt = Number.NEGATIVE_INFINITY;
	/** `health.down` as this process last stored it. */
	let notedDown: boolean | null = null;
	let noteAgainAt = Number.NEGATIVE_INFINITY;
	health.onRecovered(readFailingSoon);

	const reads = leaseQueue<DueSession>({
		itemsName: 'reads',
		rows: sessions.rows,
		concurrency: READS_AT_ONCE,
		async prepare() {
			if (countAt <= uptimeOf(clock)) {
				countAt = uptimeOf(clock) + COUNT_MS;
				// Not awaited: the look that follows is one with those of the other loops.
				void sessions.count(serviceUrl).then(metrics.watchedSessions, () => undefined);
			}
			await noteHealth();
		},
		async take(lease, room) {
			if (freeAt() > clock.now()) return [];
			const limit = inTurn ? 1 : Math.min(room, free());
			const due = inTurn
				? await sessions.takeInTurn(serviceUrl, lease, clock.now())
				: await sessions.takeDue(serviceUrl, lease, limit, clock.now());
			laterAt = due.length < limit ? (due[0]?.laterAt ?? Number.POSITIVE_INFINITY) : null;
			inTurn = !inTurn && due.some(({ nextRead: { at, by } }) => by < at);
			return due;
		},
		async nextDueAt() {
			const now = clock.now();
			const downAt = (health.failingSince ?? Number.NEGATIVE_INFINITY) + DOWN_AFTER_MS;
			// The end of a read wakes the loop.
			const at =
				freeAt() === Number.POSITIVE_INFINITY
					? Number.POSITIVE_INFINITY
					: Math.max((await sessions.nextDueAt(serviceUrl)) ?? Number.POSITIVE_INFINITY, freeAt());
			// An outage has to be stored by then, even if nothing is read meanwhile.
			return downAt > now ? Math.min(at, downAt) : at;
		},
		dueAfterTake: () => laterAt,
		work: readAndRecord,
		logFailure: ({ session: { sessionId } }, error) => log.warn('read_not_stored', { sessionId, code: codeOf(error) }),
		async renew(held, ms) {
			const taken = held.map(({ item: { session }, token }) => ({ session, token }));
			const kept = await sessions.renew(taken, ms, clock.now());
			const ids = new Set(kept.map(({ sessionId }) => sessionId));
			return held.filter(({ item }) => ids.has(item.session.sessionId));
		},
		release: (held) => sessions.release(held.map(({ token }) => token)),
	});
	const loop = createLeaseLoop(core, reads);

	/** How many reads may begin now. */
	function free(): number {
		const now = uptimeOf(clock);
		pausesUntil = pausesUntil.filter((until) => until > now);
		return (budget.isSlow(LONG_CALL_MS) ? 1 : READS_AT_ONCE) - underWay - pausesUntil.length;
	}

	/** When the next read may begin, if nothing changes before. */
	function freeAt(): number {
		const now = clock.now();
		if (free() < 1) return now + Math.min(...pausesUntil) - uptimeOf(clock);
		return budget.freeAt() ?? now + LOOK_MS;
	}

	function readFailingSoon(): void {
		void sessions.readFailing(serviceUrl, clock.now()).catch(() => undefined);
	}

	async function readOnce({ session, arrived }: DueSession, signal: AbortSignal): Promise<MeasuredReading> {
		underWay += 1;
		const beganAt = uptimeOf(clock);
		let pauseMs = 0;
		try {
			const found = await sessionService.read(session.sessionId, { priority: 'background', signal, arrived });
			pauseMs = found.tookMs;
			return found;
		} catch (error) {
			if (!NO_PERMIT_CODES.has(codeOf(error))) pauseMs = Math.min(LONGEST_REST_MS, uptimeOf(clock) - beganAt);
			throw error;
		} finally {
			underWay -= 1;
			pausesUntil = [...pausesUntil, uptimeOf(clock) + pauseMs];
		}
	}

	async function readAndRecord(watched: DueSession, token: string, signal: AbortSignal): Promise<void> {
		const { session: key, lastReadAt } = watched;
		let found: MeasuredReading;
		try {
			found = await readOnce(watched, signal);
		} catch (error) {
			signal.throwIfAborted();
			await recordFailure(watched, token, error);
			return;
		}
		health.succeeded();
		const watches = await store.watches.ofSession(key);
		const ours = await options.ourAnswers(found);
		const outcome = reading.succeeded(watched, found, watches, ours);
		const isChanged = outcome.update.snapshot !== undefined;
		metrics.read(isChanged ? 'changed' : 'unchanged');
		if (isChanged && lastReadAt !== null) metrics.detectionAge(Math.max(0, clock.now() - lastReadAt));
		if (await record(watched, token, outcome)) noteUnclear(found.session, outcome.update.found?.changes);
		await noteHealth();
	}

	/** False: nothing was stored, see `RecordingStore.record`. */
	async function record(taken: TakenSession, token: string, { update, watches }: ReadOutcome): Promise<boolean> {
		const outcome = { update, watches, now: clock.now(), isNews: changesQuestion(taken, update) };
		const { session, lastReadAt } = taken;
		if (!(await store.reads.record({ session, token, lastReadAt }, outcome))) return false;
		for (const { card } of watches) if (card !== null) metrics.card('wanted');
		return true;
	}

	/** Logs for the authors of agents, once for a question, what nearly follows the contract of docs/asking.md. */
	function noteUnclear(session: Session, changes: readonly OccurrenceChange[] = []): void {
		for (const change of changes) {
			const question = change.kind === 'asked' ? questionAt(session, change.question.messageIndex) : null;
			if (question === null) continue;
			// Beyond the 90th, items are not read.
			for (const [position, item] of question.items.entries()) {
				if (item.isCut === true) continue;
				const { isUnclear, why: reason } = askedAt(question, position);
				const why = isUnclear ? reason : nearMissAt(question, position);
				if (why !== null) log.warn('asking_unclear', { sessionId: session.sessionId, item: position + 1, why });
			}
		}
	}

	async function recordFailure(taken: TakenSession, token: string, error: unknown): Promise<void> {
		const code = codeOf(error);
		const now = clock.now();
		const failures = taken.failures + 1;
		const { session, lastReadAt, reads } = taken;
		if (NO_PERMIT_CODES.has(code)) {
			health.failed(code);
			// Not a failure of the session: the budget pauses all reads, and this one comes first after that.
			const at = Math.max(now, budget.pausedUntil(), retryAtOf(error, now) ?? 0);
			await record(taken, token, { update: { ...keptOf(taken), nextRead: { at, by: now } }, watches: [] });
			return;
		}
		metrics.read('failed');
		const { sessionId } = session;
		const missed = lastReadAt === null ? null : await health.missed(sessionId, reads.unread, code);
		const meant = missed?.code ?? code;
		health.failed(meant, missed?.run.code === null);
		const isGone = meant === NOT_FOUND_CODES.gone && (missed !== null || failures >= UNREAD_TRIES);
		const watches = await store.watches.ofSession(session);
		const noted = { ...taken, reads: { ...reads, unread: missed?.run ?? null } };
		await record(taken, token, reading.failed(noted, watches, isGone));
		log.info({ sessionId, code: meant, failures }, 'a watched session could not be read');
		await noteHealth();
	}

	/** Stores that the service is down or back: repeated, because another replica may have stored the opposite since. */
	async function noteHealth(): Promise<void> {
		const { down } = health;
		const now = clock.now();
		// A code that is no certain outage is not stored again: another process may have read something since.
		const isKept = noteAgainAt > uptimeOf(clock) || (down === true && !OUTAGE_CODES.has(health.newestCode));
		if (down === null || (down === notedDown && isKept)) return;
		const since = health.failingSince ?? now;
		const unlessReadSince = now - DOWN_AFTER_MS;
		const outage = { service: serviceUrl, now, down, since, unlessReadSince, code: health.newestCode };
		const isNews = await store.reads.noteOutage(outage);
		notedDown = down;
		noteAgainAt = uptimeOf(clock) + MINUTE_MS;
		if (!isNews) return;
		// The recovery ends the back-offs of reads, also of those by other processes.
		if (!down) readFailingSoon();
		log.warn(down ? 'service_down' : 'service_back', { code: health.newestCode });
	}

	return loop;
}

/** Whether a read changes what people see of questions: one was asked, changed or settled, or its session renamed. */
export function changesQuestion(
	{ snapshot: before }: Pick<TakenSession, 'snapshot'>,
	{ snapshot, found, isGone }: SessionUpdate,
): boolean {
	if (isGone === true || found?.changes.some(({ kind }) => kind !== 'seen')) return true;
	if (snapshot === undefined || snapshot.question === null) return false;
	// Steps after a question show in no inbox.
	const question = { ...snapshot.question, stepsSince: before?.question?.stepsSince };
	return snapshot.name !== before?.name || !isDeepStrictEqual(question, before?.question);
}
