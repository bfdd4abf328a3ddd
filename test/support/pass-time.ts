import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import type { ManualClock, TrafficEntry } from '../../fake-slack/index.ts';
import type { startApp } from './app.ts';

type StartedApp = Awaited<ReturnType<typeof startApp>>;
/** `slack`: where the program has one. `log`: its lines, where conditions look at them. */
type App = Pick<StartedApp, 'service'> & Partial<Pick<StartedApp, 'slack' | 'log'>>;

/** Calls without a response: time must pass until they end. */
const UNANSWERED = new Set(['hang', 'slow', 'late', 'held']);
/**
 * Turns of the event loop without anything to do, after which the program is taken to wait for its clock. One shows it; what
 * is sent between two connections of this process may take another to be ready, and one more to be read.
 */
const QUIET_TURNS = 5;
/** What Node.js calls work that ends by itself: the next turn of somebody, files, connections that begin, write or end. */
const WORK = /Immediate|Req|ConnectWrap|WriteWrap|ShutdownWrap/;
/** While a call is under way and nothing changes, conditions are looked at again after so long, on the machine's clock. */
const LOOK_AGAIN_MS = 10;

/** The client for what a person waits for repeats a failed call once, and sleeps on the machine's clock before. */
const REPEATED_WITHIN_MS = 250;
/** Failed calls of these methods are repeated later, on the program's clock. */
const REPEATED_LATER = new Set(['chat.postMessage', 'chat.update']);
/** When a look found a failed call that may be repeated, on the machine's clock. */
const failedAt = new WeakMap<TrafficEntry, number>();
const mayBeRepeated = ({ direction, name, status }: TrafficEntry) =>
	direction === 'call' && !REPEATED_LATER.has(name) && (status === null || status >= 500);

/** HTTP requests of this process without a response yet, whoever sends them. */
const requests = new Set<unknown>();
/** Connections and statements of PostgreSQL of this process without a response yet. */
const statements = new Set<unknown>();
/** Whether PostgreSQL owes this process a response. */
export const isDatabaseBusy = () => statements.size > 0;
/** How many of them began or ended so far. */
let events = 0;
function began(underWay: Set<unknown>, one: unknown): void {
	events += 1;
	underWay.add(one);
}
function ended(underWay: Set<unknown>, one: unknown): void {
	events += 1;
	underWay.delete(one);
}

const requestOf = (message: unknown) => (message as { request: unknown }).request;
const requestBegan = (message: unknown) => began(requests, requestOf(message));
const requestEnded = (message: unknown) => ended(requests, requestOf(message));

/**
 * Lets `passTime` know which HTTP requests are under way: undici reports each. For services that do not let the program
 * wait on their clock. Call it before the program starts, and call what it returns at the end.
 */
export function watchRequests(): () => void {
	subscribe('undici:request:create', requestBegan);
	subscribe('undici:request:trailers', requestEnded);
	subscribe('undici:request:error', requestEnded);
	return () => {
		unsubscribe('undici:request:create', requestBegan);
		unsubscribe('undici:request:trailers', requestEnded);
		unsubscribe('undici:request:error', requestEnded);
		requests.clear();
	};
}

/** The turns that are awaited here, which are no work. */
let turnsAwaited = 0;
let ioEventsSeen = 0;

/**
 * Waits for the next turn of the event loop. False: nothing arrived in it, and nobody in this process has anything to do
 * but to wait for a clock or for a connection.
 */
async function nextTurnWorked(): Promise<boolean> {
	turnsAwaited += 1;
	await nextTurn();
	turnsAwaited -= 1;
	const { events: ioEvents } = performance.nodeTiming.uvMetricsInfo;
	const hasArrived = ioEvents !== ioEventsSeen;
	ioEventsSeen = ioEvents;
	return hasArrived || process.getActiveResourcesInfo().filter((kind) => WORK.test(kind)).length > turnsAwaited;
}

/**
 * Resolves when the requests of this process that the service or Slack holds are the only ones under way, and the program has
 * used the responses to all others. Needs `watchRequests`.
 */
export async function onlyUnderWay(held: () => number): Promise<void> {
	for (let quiet = 0; quiet < QUIET_TURNS; ) {
		const worked = await nextTurnWorked();
		quiet = worked || requests.size !== held() ? 0 : quiet + 1;
	}
}

// Statements of PostgreSQL always count. pg reports nothing, so its two calls are watched here. Both take a callback or return a promise.
for (const name of ['connect', 'query'] as const) {
	const call = pg.Client.prototype[name] as (...values: unknown[]) => unknown;
	const watched = function (this: pg.Client, ...values: unknown[]): unknown {
		const mark = {};
		began(statements, mark);
		const callback = values.at(-1);
		if (typeof callback === 'function') {
			const end = (...results: unknown[]) => {
				ended(statements, mark);
				callback(...results);
			};
			return call.apply(this, [...values.slice(0, -1), end]);
		}
		const result = call.apply(this, values);
		const end = () => ended(statements, mark);
		Promise.resolve(result).then(end, end);
		return result;
	};
	Object.assign(pg.Client.prototype, { [name]: watched });
}

/** Sees when the program does nothing but wait for its clock. */
function createObserver({ service, slack, log = [] }: App) {
	/** All traffic before this entry is done. */
	let firstOpen = 0;
	let repeatedUntil = 0;
	const isBusy = () => {
		const traffic = slack?.traffic.all() ?? [];
		for (let entry = traffic[firstOpen]; entry !== undefined && entry.doneAt !== null; entry = traffic[firstOpen]) {
			firstOpen += 1;
			if (!mayBeRepeated(entry)) continue;
			if (!failedAt.has(entry)) failedAt.set(entry, performance.now());
			repeatedUntil = (failedAt.get(entry) ?? 0) + REPEATED_WITHIN_MS;
		}
		if (firstOpen < traffic.length || performance.now() < repeatedUntil) return true;
		if (statements.size > 0) return true;
		if (requests.size === 0) return false;
		const unanswered = service.log
			.list()
			.filter(
				({ status, reset, clientGone, faults }) =>
					status === null && !reset && !clientGone && faults.some((kind) => UNANSWERED.has(kind)),
			);
		return requests.size > unanswered.length;
	};
	/** Changes with what conditions look at, or soon after: a look at all posts costs more than an idle turn. */
	const changes = () => events + (slack?.traffic.all().length ?? 0) + firstOpen + log.length;
	let changesSeen = -1;
	let lookedAt = 0;
	const mayDiffer = (isBusyNow: boolean) =>
		changes() !== changesSeen || (isBusyNow && performance.now() > lookedAt + LOOK_AGAIN_MS);

	return {
		/** Resolves when all loops are asleep, or when `condition` holds before. Whether it holds. */
		async untilAsleep(condition: () => boolean): Promise<boolean> {
			for (let quiet = 0; quiet < QUIET_TURNS; ) {
				const isBusyNow = isBusy();
				if (mayDiffer(isBusyNow)) {
					changesSeen = changes();
					if (condition()) return true;
					lookedAt = performance.now();
				}
				const worked = await nextTurnWorked();
				quiet = worked || isBusyNow ? 0 : quiet + 1;
				// Another process owes a response, or somebody waits for the machine's clock.
				if (isBusyNow && !worked) await delay(1);
			}
			return condition();
		},
	};
}

/**
 * Moves the program's clock (and perhaps the session service's) from sleeper to sleeper until `condition` holds, never
 * while a call is under way. Rejects after `limitMs` of that clock with the text of `describe`.
 */
export async function passTime(
	app: App,
	clock: ManualClock,
	condition: () => boolean,
	{ describe, limitMs = 700_000 }: { describe: () => string; limitMs?: number | undefined },
): Promise<void> {
	const end = clock.now() + limitMs;
	const observer = createObserver(app);
	while (!(await observer.untilAsleep(condition))) {
		if (clock.now() >= end) throw new Error(`Not within ${limitMs} ms of the clock. ${describe()}`);
		const { nextWake } = clock;
		// Loops always sleep until their next look. When nobody does, the program is busy with something unseen.
		if (nextWake === null) await delay(1);
		else await clock.advance(Math.max(0, nextWake - clock.now()));
	}
}

/** Lets so much time pass, and all that is due in it be done. */
export async function passFor(app: App, clock: ManualClock, ms: number): Promise<void> {
	const end = clock.now() + ms;
	const observer = createObserver(app);
	await observer.untilAsleep(() => false);
	while (clock.now() < end) {
		const until = Math.min(clock.nextWake ?? end, end);
		await clock.advance(Math.max(0, until - clock.now()));
		await observer.untilAsleep(() => false);
	}
}

/** Lets time pass until `work` has ended; resolves or rejects as it does. */
export async function passTimeDuring<T>(app: App, clock: ManualClock, work: Promise<T>): Promise<T> {
	let isDone = false;
	const end = () => {
		isDone = true;
	};
	work.then(end, end);
	await passTime(app, clock, () => isDone, { describe: () => 'It did not end.' });
	return work;
}

/**
 * `clock` in whole milliseconds, as machines give them and PostgreSQL needs them. One second of it takes at least
 * `secondTakesMs` of real time, and each move as long as `afterMove`.
 */
export function steadyClock(
	clock: ManualClock,
	secondTakesMs = 0,
	afterMove: () => Promise<unknown> = async () => {},
): ManualClock {
	return {
		now: clock.now,
		sleep: (ms, signal) => clock.sleep(Math.ceil(ms), signal),
		async advance(ms) {
			await clock.advance(ms);
			if (secondTakesMs > 0) await delay((ms / 1_000) * secondTakesMs);
			await afterMove();
		},
		get sleeping() {
			return clock.sleeping;
		},
		get nextWake() {
			return clock.nextWake;
		},
	};
}
