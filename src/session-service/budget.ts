import { type Cell, createMemoryCell } from '../cell.ts';
import type { Clock } from '../clock.ts';
import {
	type BudgetState,
	decide,
	EMPTY_BUDGET_STATE,
	inWindow,
	observed,
	PRIORITIES,
	type RateLimitObservation,
	type RequestPriority,
	usageAt,
	withinPeoplesShare,
} from './budget-state.ts';
import { SessionServiceError } from './errors.ts';

export type RequestBudget = ReturnType<typeof createRequestBudget>;

/** The wait after the cell could not be read. */
const CELL_RETRY_MS = 1_000;

interface Waiter {
	readonly priority: RequestPriority;
	readonly count: number;
	readonly person: string;
	readonly ahead: boolean;
	readonly deadline: number;
	resolve(sequence: number): void;
	reject(error: unknown): void;
}

interface PermitOptions {
	/** Default: 1. */
	readonly count?: number;
	readonly signal?: AbortSignal | undefined;
	/** Clock milliseconds. */
	readonly deadline?: number;
	/** People take turns: whose turn the request uses. */
	readonly person?: string | undefined;
	/** Before the others of its priority. */
	readonly ahead?: boolean | undefined;
}

/**
 * The one counter of requests to the session service, which counts by client address. One process keeps it in memory;
 * replicas that share an address keep it in a row of their database, and this is one process's part of it. While the cell cannot be read (the database is
 * down) nothing is granted and everybody waits up to their deadline.
 *
 * @param requestsPerMinute at least 10, so that the pair of a delivery fits; the service allows an address 250
 * @param reservedPerSecond background requests that are kept for those that go ahead of others
 */
export function createRequestBudget({
	requestsPerMinute = 250,
	reservedPerSecond = () => 0,
	clock,
	cell = createMemoryCell(clock),
}: {
	requestsPerMinute?: number;
	reservedPerSecond?: () => number;
	clock: Clock;
	cell?: Cell<BudgetState>;
}) {
	if (!Number.isInteger(requestsPerMinute) || requestsPerMinute < 10) {
		throw new RangeError(`requestsPerMinute must be a whole number of at least 10, got ${requestsPerMinute}`);
	}
	const queues: Record<RequestPriority, Waiter[]> = { delivery: [], person: [], background: [] };
	/** The newest state that this process has seen: for statistics and hopeless deadlines, never for granting. */
	let latest: BudgetState = EMPTY_BUDGET_STATE;
	clock.onStep?.(() => {
		latest = EMPTY_BUDGET_STATE;
	});
	/** The number of each person's last turn; cleared when no person waits. */
	const lastTurns = new Map<string, number>();
	let turn = 0;
	let alarm: { readonly at: number; cancel(): void } | null = null;
	let granting = false;
	let grantAgain = false;

	function update<R>(change: (state: BudgetState) => { state: BudgetState; result: R }): Promise<R> {
		return cell.update((state) => {
			const changed = change(state ?? EMPTY_BUDGET_STATE);
			latest = changed.state;
			return changed;
		});
	}

	function waiting(): Waiter[] {
		return PRIORITIES.flatMap((priority) => queues[priority]);
	}

	function remove(waiter: Waiter): boolean {
		const queue = queues[waiter.priority];
		const index = queue.indexOf(waiter);
		if (index < 0) return false;
		queue.splice(index, 1);
		return true;
	}

	function refuse(waiter: Waiter, retryAt: number): void {
		if (!remove(waiter)) return;
		waiter.reject(
			new SessionServiceError('rate_limited', 'The request budget has no permit before the deadline', { retryAt }),
		);
	}

	/** When this request could be granted if no other one waited. */
	function earliestAt({ priority, count, ahead }: Waiter, now: number): number {
		const reserved = inWindow(reservedPerSecond());
		const decision = decide(latest, { now, limit: requestsPerMinute, priority, count, ahead, reserved });
		return decision.granted ? now : decision.retryAt;
	}

	/** Grants what can be granted, in rounds: again if it was called during a round. */
	async function grant(): Promise<void> {
		grantAgain = true;
		if (granting) return;
		granting = true;
		while (grantAgain) {
			grantAgain = false;
			const nextAt = await grantRound().catch(() => clock.now() + CELL_RETRY_MS);
			setAlarm(refuseTheLate(nextAt));
		}
		granting = false;
	}

	/** @returns the next moment at which something may be granted */
	async function grantRound(): Promise<number> {
		if (waiting().length === 0) return Number.POSITIVE_INFINITY;
		const now = clock.now();
		if (queues.person.length === 0) lastTurns.clear();
		const person = inTurns(queues.person, lastTurns);
		const asked = { delivery: [...queues.delivery], person, background: [...queues.background] };
		const { sequences, nextAt } = await update((state) => {
			const limits = { limit: requestsPerMinute, reserved: inWindow(reservedPerSecond()) };
			const grants = grantWaiting(state, now, limits, asked);
			return { state: grants.state, result: grants };
		});
		for (const priority of PRIORITIES) {
			for (const [index, sequence] of sequences[priority].entries()) {
				const waiter = asked[priority][index];
				if (waiter === undefined || sequence === null) continue;
				if (priority === 'person') lastTurns.set(waiter.person, ++turn);
				// The requests of a waiter that has left are not used.
				if (remove(waiter)) waiter.resolve(sequence);
			}
		}
		return nextAt;
	}

	/** @returns when to grant again: at `nextAt` or the first deadline */
	function refuseTheLate(nextAt: number): number {
		const now = clock.now();
		let next = nextAt;
		for (const waiter of waiting()) {
			if (waiter.deadline <= now) refuse(waiter, Math.max(now, earliestAt(waiter, now)));
			else next = Math.min(next, waiter.deadline);
		}
		return waiting().length === 0 ? Number.POSITIVE_INFINITY : next;
	}

	function setAlarm(at: number): void {
		if (alarm?.at === at) return;
		alarm?.cancel();
		alarm = null;
		if (at === Number.POSITIVE_INFINITY) return;
		const controller = new AbortController();
		const ownAlarm = { at, cancel: () => controller.abort() };
		alarm = ownAlarm;
		clock.sleep(Math.max(0, at - clock.now()), controller.signal).then(
			() => {
				if (alarm === ownAlarm) alarm = null;
				void grant();
			},
			() => undefined,
		);
	}

	return {
		/**
		 * Waits for the permit to send `count` requests. Resolves to the sequence number of the last one, for `observe`.
		 * @throws SessionServiceError `rate_limited` once it is certain that no permit comes before `deadline`
		 * @throws the signal's reason when it is aborted first; nothing is charged then
		 */
		acquire(priority: RequestPriority, options: PermitOptions = {}): Promise<number> {
			const { count = 1, signal, deadline = Number.POSITIVE_INFINITY, person = '', ahead = false } = options;
			const { promise, resolve, reject } = Promise.withResolvers<number>();
			if (signal?.aborted) {
				reject(signal.reason);
				return promise;
			}
			const waiter: Waiter = { priority, count, person, ahead, deadline, resolve, reject };
			const abort = () => {
				if (!remove(waiter)) return;
				reject(signal?.reason);
				void grant();
			};
			signal?.addEventListener('abort', abort, { once: true });
			if (ahead) queues[priority].unshift(waiter);
			else queues[priority].push(waiter);
			const at = earliestAt(waiter, clock.now());
			if (at > deadline) refuse(waiter, at);
			else void grant();
			return promise.finally(() => signal?.removeEventListener('abort', abort));
		},
		/**
		 * Takes in a response's headers. `sequence`: the number of its request; requests granted after it are charged against
		 * `remaining`.
		 */
		observe(headers: RateLimitObservation, sequence: number): void {
			const now = clock.now();
			update((state) => ({
				state: observed(state, headers, { now, limit: requestsPerMinute, sequence }),
				result: undefined,
			})).then(
				() => {
					// Refuses at once those whose deadline is before the end of a new pause.
					const { pausedUntil } = latest;
					for (const waiter of pausedUntil > clock.now() ? waiting() : []) {
						if (waiter.deadline < pausedUntil) refuse(waiter, pausedUntil);
					}
					void grant();
				},
				// The headers are lost; the next response has new ones.
				() => undefined,
			);
		},
		/** `used`: granted within the window. `free`: what may be granted now, before shares. `waiting`: in this process. */
		stats() {
			const { limit, free, delivery, person, background } = usageAt(latest, clock.now(), requestsPerMinute);
			const countOf = (priority: RequestPriority) => queues[priority].length;
			return {
				limit,
				used: { delivery, person, background },
				free,
				pausedUntil: latest.pausedUntil,
				waiting: { delivery: countOf('delivery'), person: countOf('person'), background: countOf('background') },
			};
		},
	};
}

/** The waiting requests by priority, each queue in the order of asking. */
type Queues = Readonly<Record<RequestPriority, readonly { readonly count: number; readonly ahead?: boolean }[]>>;

interface Grants {
	readonly state: BudgetState;
	/** For those at the front of each queue: the sequence number of their last request; null: passed over. */
	readonly sequences: Readonly<Record<RequestPriority, readonly (number | null)[]>>;
	/** When something more may be granted; infinity when nobody waits. */
	readonly nextAt: number;
}

/**
 * Orders waiting requests so that people take turns: in each round everybody has one, whoever was served least recently
 * first. The requests of one person stay in the order of asking.
 *
 * @param lastTurns the number of each person's last turn, from 1; people without one have had none
 */
export function inTurns<T extends { readonly person: string }>(
	waiting: readonly T[],
	lastTurns: ReadonlyMap<string, number>,
): T[] {
	const byPerson = Map.groupBy(waiting, ({ person }) => person);
	const people = [...byPerson].sort(([a], [b]) => (lastTurns.get(a) ?? 0) - (lastTurns.get(b) ?? 0));
	const turns: T[] = [];
	for (let round = 0; turns.length < waiting.length; round++) {
		for (const [, own] of people) {
			const next = own[round];
			if (next !== undefined) turns.push(next);
		}
	}
	return turns;
}

/**
 * Grants what can be granted at `now`: deliveries first, then people, then background, each in the order of its queue.
 * A delivery that waits holds back everything but people within their share: otherwise single requests would keep
 * taking what its pair needs. `reserved`: see `BudgetState`.
 */
export function grantWaiting(
	before: BudgetState,
	now: number,
	{ limit, reserved = 0 }: { readonly limit: number; readonly reserved?: number },
	queues: Queues,
): Grants {
	let state = before;
	let nextAt = Number.POSITIVE_INFINITY;

	function serve(priority: RequestPriority, mayPass: (count: number) => boolean): (number | null)[] {
		const sequences: (number | null)[] = [];
		/** Whether those that go ahead have what they may have. The others have a part of their own. */
		let isAheadFull = false;
		for (const { count, ahead = false } of queues[priority]) {
			if (!mayPass(count)) break;
			if (ahead && isAheadFull) {
				sequences.push(null);
				continue;
			}
			const decision = decide(state, { now, limit, priority, count, ahead, reserved });
			if (decision.granted) {
				state = decision.state;
				sequences.push(state.granted);
				continue;
			}
			nextAt = Math.min(nextAt, decision.retryAt);
			if (!ahead) break;
			isAheadFull = true;
			sequences.push(null);
		}
		return sequences;
	}

	const delivery = serve('delivery', () => true);
	const deliveriesWait = delivery.length < queues.delivery.length;
	const person = serve('person', (count) => !deliveriesWait || withinPeoplesShare(state, now, limit, count));
	// Background leaves so much that nothing fits while a delivery waits, and only what goes ahead while a person does.
	const background = serve('background', () => true);
	return { state, sequences: { delivery, person, background }, nextAt };
}
