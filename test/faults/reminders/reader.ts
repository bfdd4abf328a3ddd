import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../src/core/clock.ts';
import type { Planner } from '../../../src/features/watch/schedule.ts';
import type { WatchStore } from '../../../src/features/watch/watch-store.ts';
import type { TakenSession } from '../../../src/features/watch/watched-session-store.ts';
import { coreOf } from '../../support/core.ts';
import type { Random } from '../../support/random.ts';
import type { Read } from './history.ts';
import { createLoop } from './loop.ts';
import type { Program } from './program.ts';
import type { Service } from './service.ts';

interface Options {
	readonly program: Program;
	readonly watches: WatchStore;
	readonly serviceUrl: string;
	readonly service: Service;
	readonly reads: Read[];
	readonly onNews: () => void;
	readonly clock: Clock;
	readonly random: Random;
}

const LEASE_MS = 21_000;
/** About what the service's limit leaves to watching. */
const INTERVAL_MS = 333;
const READS_AT_ONCE = 16;
/** So rarely that a reminder has to ask for its own read. */
const REGULARLY_MS = 30 * 60_000;
const LONGEST_BACKOFF_MS = 60_000;
const MAX_DAYS = 7;

const PLANNER: Planner = {
	plan() {},
	nextRead({ failures, nextRead }, now) {
		if (failures === 0) return { at: now + REGULARLY_MS, by: now + REGULARLY_MS * 1.3 };
		const at = now + Math.min(LONGEST_BACKOFF_MS, 4_000 * 2 ** (failures - 1));
		return { at, by: nextRead.by < nextRead.at ? nextRead.by : at };
	},
};

/**
 * Reads sessions that are due: the poller without its schedule, which would read far more often than this run needs.
 * After an outage the first success makes the failed reads due, as in the poller.
 */
export function createReader(options: Options) {
	const { program, watches, serviceUrl, service, reads, onNews, clock, random } = options;
	const reading = program.createReading(coreOf({ clock, config: { WATCH_MAX_DAYS: MAX_DAYS } }), PLANNER);
	let roomAt = 0;
	/** Also at the start, because another process may have stored back-offs. */
	let isFailing = true;

	async function read(taken: TakenSession, token: string): Promise<void> {
		const { session: key } = taken;
		const beganAt = clock.now();
		const ms = Math.round(random.between(200, 3_000));
		const back = Math.round(ms * random.uniform());
		await clock.sleep(ms - back);
		const stateAt = clock.now();
		const held = { session: key, token };
		try {
			const session = service.read(key.sessionId);
			await clock.sleep(back);
			const now = clock.now();
			const ours = { ours: program.NO_ANSWERS, arrived: [] };
			const found = { session, readAt: beganAt };
			const { update, watches: news } = reading.succeeded(taken, found, await watches.ofSession(key, now), ours);
			// A process that is killed meanwhile hears nothing more of it.
			const stored: Read = { sessionId: key.sessionId, beganAt, stateAt, storedAt: now, isSure: false };
			reads.push(stored);
			const outcome = await watches.record(held, { update, watches: news, now });
			if (outcome === null) {
				reads.splice(reads.lastIndexOf(stored), 1);
				return;
			}
			stored.isSure = true;
			if (news.length > 0) onNews();
			if (isFailing) await endBackoffs();
			isFailing = false;
		} catch (error) {
			if (!service.isAway) throw error;
			isFailing = true;
			const now = clock.now();
			await watches.record(held, { ...reading.failed(taken, [], false), now });
		}
	}

	async function endBackoffs(): Promise<void> {
		const moves = program.movesFor(await watches.outlines(serviceUrl), PLANNER, clock.now(), true);
		await watches.reschedule(moves);
	}

	/** Begins a read that is due. Returns the milliseconds until the next one may be. */
	async function turn(): Promise<number> {
		const now = clock.now();
		if (loop.underWay.size >= READS_AT_ONCE) return REGULARLY_MS;
		if (roomAt > now) return roomAt - now;
		const token = randomUUID();
		const [taken] = await watches.takeDue(serviceUrl, { token, ms: LEASE_MS }, 1, { now, only: null });
		if (taken === undefined) {
			const dueAt = await watches.nextReadDueAt(serviceUrl, null);
			return dueAt === null ? REGULARLY_MS : Math.max(10, dueAt - now);
		}
		roomAt = now + INTERVAL_MS;
		loop.begin(read(taken, token));
		return INTERVAL_MS;
	}

	const loop = createLoop(clock, turn);
	return loop;
}
