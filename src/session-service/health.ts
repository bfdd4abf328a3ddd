import { type Clock, createMemo, elapsedSince, uptimeOf } from '../core/basics.ts';
import { MISSING } from './service.ts';

/** The service is down when no call has succeeded for this long... */
export const DOWN_AFTER_MS = 30_000;
/** ...and this many have failed, or one was limited: calls are rare after that. */
const DOWN_AFTER_FAILURES = 3;

const LIMITED = 'rate_limited';
/** Failures that certainly concern the whole service. Others (an unreadable response) do while nothing else is read. */
export const OUTAGE_CODES = new Set<string>(['unavailable', 'timed_out', 'unauthorized', 'redirected', LIMITED]);

/** These concern one session. */
const OWN_CODES: ReadonlySet<string> = new Set(['body_too_large', 'body_too_complex', 'other_session']);

/** A session is gone after this many 404s in a row, over this long, in which others or the list could be read… */
const GONE_AFTER = { count: 3, ms: 10 * 60_000 } as const;
/** …without a longer gap… */
const READABLE_WITHIN_MS = 5 * 60_000;
/** …or where nothing could be read, after this long with nothing but 404s. */
const ALL_GONE_AFTER_MS = 24 * 3_600_000;

/** When any process last read another watched session; null: never. */
type OtherReadAt = (sessionId: string) => Promise<number | null>;

/** Whether the service works, judged by the calls of all parts: one notice for an outage, not one for each session. */
export function createServiceHealth({ clock }: { clock: Clock }, otherReadAt: OtherReadAt = async () => null) {
	const startedAt = uptimeOf(clock);
	let failures = 0;
	let limited = false;
	/** By uptime: when the first call failed since the last success; null when the newest call succeeded. */
	let failingFrom: number | null = null;
	let down: boolean | null = null;
	let newestCode = '';
	let isCertain = false;
	/** When something was last read, and since when without a longer gap than `READABLE_WITHIN_MS`. */
	const newestRead = createMemo(clock, () => Number.NEGATIVE_INFINITY);
	let readableSince = 0;
	/** The sessions that could not be read since one was. */
	const unread = new Set<string>();
	const listeners: (() => void)[] = [];

	function noteRead(at: number): void {
		const readAt = newestRead.get();
		if (at - readAt > READABLE_WITHIN_MS) readableSince = at;
		newestRead.set(Math.max(readAt, at));
	}

	return {
		succeeded(isList = false) {
			noteRead(clock.now());
			if (!isList) unread.clear();
			// Fewer failures in a row may concern one session, which backs off by itself.
			const wasFailing = this.down === true || failures >= DOWN_AFTER_FAILURES;
			failures = 0;
			limited = false;
			isCertain = false;
			failingFrom = null;
			down = false;
			if (wasFailing) for (const listener of listeners) listener();
		},
		/** The list could be read, which says nothing of several sessions that cannot: they have another path. */
		listed() {
			if (unread.size > 1) return;
			if (failures > 0 && !isCertain) this.succeeded(true);
			else noteRead(clock.now());
		},
		/** `isDoubted`: of a session that could be read before, while no other was: it may fail for a reason of its own. */
		failed(code: string, isDoubted = false) {
			if (!OUTAGE_CODES.has(code) && !(isDoubted && (code === MISSING.all || unread.size > 1))) return;
			isCertain ||= OUTAGE_CODES.has(code);
			newestCode = code;
			failures += 1;
			limited ||= code === LIMITED;
			failingFrom ??= uptimeOf(clock);
		},
		/**
		 * What one more failure of a session means that could be read before: gateways say 404 too. `former`: those in a
		 * row so far; its `code` is null unless it seems to be this session alone, because any process has read others, or
		 * no other one failed.
		 */
		async missed(
			sessionId: string,
			former: { count: number; since: number | null; isMissing?: boolean; code?: string | null } | null,
			code: string = MISSING.gone,
		) {
			const now = clock.now();
			const isMissing = code === MISSING.gone;
			// Only 404s tell that a session is gone.
			const before = (former?.isMissing ?? true) === isMissing ? former : null;
			unread.add(sessionId);
			noteRead((await otherReadAt(sessionId)) ?? newestRead.get());
			const readAt = newestRead.get();
			const count = 1 + (before?.count ?? 0);
			const since = count === 1 ? now : Math.min(before?.since ?? now, now);
			// Not while this process was stopped or asleep.
			const ms = Math.min(elapsedSince(clock, since), uptimeOf(clock) - startedAt);
			// The first ones may pass within seconds.
			const isLong = count >= GONE_AFTER.count && (isMissing || ms >= DOWN_AFTER_MS);
			const isOtherRead = isLong && readAt > since;
			const isOnlyOne = isLong && unread.size < 2 && !isMissing && !OUTAGE_CODES.has(code);
			const isAlone = isOtherRead || isOnlyOne || before?.code != null || OWN_CODES.has(code);
			const readableMs = now - readAt > READABLE_WITHIN_MS ? 0 : elapsedSince(clock, readableSince);
			const isGone = isOtherRead && Math.min(ms, readableMs) >= GONE_AFTER.ms;
			const kind = isGone || ms >= ALL_GONE_AFTER_MS ? 'gone' : isAlone ? 'one' : 'all';
			const meant = isMissing ? MISSING[kind] : code;
			return { run: { count, since, isMissing, code: isAlone ? meant : null }, code: meant };
		},
		/** Null until a call succeeded or an outage was found. May become true by time alone. */
		get down() {
			const isEnough = limited || failures >= DOWN_AFTER_FAILURES;
			if (isEnough && failingFrom !== null && uptimeOf(clock) - failingFrom >= DOWN_AFTER_MS) down = true;
			return down;
		},
		/** Of the newest failure of the whole service; empty before the first. */
		get newestCode() {
			return newestCode;
		},
		/** When the first call failed since the last success, clock milliseconds; null when the newest call succeeded. */
		get failingSince() {
			return failingFrom === null ? null : Math.round(clock.now() - (uptimeOf(clock) - failingFrom));
		},
		onRecovered(listener: () => void) {
			listeners.push(listener);
		},
	};
}

export type ServiceHealth = ReturnType<typeof createServiceHealth>;
export type Missed = ServiceHealth['missed'];

/** The service is slower when even the quickest of the latest reads takes this many times as long as one alone… */
const SLOWER = 1.5;
const NOT_SLOWER = 1.25;
/** …and by more than this. */
const ALLOWANCE_MS = 50;
/** Of this many reads alone, the third quickest counts: sessions differ, and other calls may stand before most. */
const ALONE_KEPT = 10;
/** After this many reads, one has to be alone; after twice as many, any counts: one of each kind is always allowed. */
const ALONE_EVERY = 50;
const LEAST_COMPARED = 3;
/** Before one more read may be under way, this many rounds of reads have to be quick. */
const QUICK_ROUNDS = 5;
/** A read that takes longer, and `HANGS` times as long as one alone, hangs: others do not wait for it. */
const HANGS_AFTER_MS = 3_000;
const HANGS = 4;

/**
 * How many reads for watching may be under way at once (`most`: with those that hang): fewer when they get slower than
 * one alone, more when not, as TCP's congestion control does. A slow service works on one call after another, and our
 * reads would stand before the calls of people and deliveries. Sessions differ, so the quickest counts.
 */
export function createReadWindow({ most, clock }: { most: number; clock: Clock }) {
	let size = 1;
	/** Until a round is slow, each quick one doubles the size. */
	let isStarting = true;
	const running = new Set<{ readonly beganAt: number; isAlone: boolean }>();
	let sinceAlone = ALONE_EVERY;
	let alone: number[] = [];
	/** `place`: how many were under way when it began, itself included. */
	let latest: { tookMs: number; place: number }[] = [];
	/** Quick reads that were under way with as many others as allowed. After fewer, more might not be quick. */
	let quickCount = 0;

	function resize(next: number): void {
		size = Math.min(most, Math.max(1, next));
		latest = [];
		quickCount = 0;
	}

	const aloneMs = () => Math.max(0, ...alone.toSorted((one, other) => one - other).slice(0, 3));

	function inPlace() {
		const since = uptimeOf(clock) - Math.max(HANGS_AFTER_MS, HANGS * aloneMs());
		return [...running].filter(({ beganAt }) => beganAt >= since);
	}

	function adapt(newest: (typeof latest)[number]): void {
		const compared = Math.max(LEAST_COMPARED, size);
		latest = [...latest, newest].slice(-compared);
		if (latest.length < compared || alone.length === 0) return;
		const full = latest.filter((read) => read.place >= size);
		const quickest = (reads: typeof latest) => Math.min(...reads.map(({ tookMs }) => tookMs));
		if (quickest(latest) > SLOWER * aloneMs() + ALLOWANCE_MS) {
			isStarting = false;
			resize(Math.floor(size / 2));
		} else if (newest.place >= size && quickest(full) < NOT_SLOWER * aloneMs() + ALLOWANCE_MS) {
			quickCount += 1;
			if (isStarting) resize(2 * size);
			else if (quickCount >= QUICK_ROUNDS * size) resize(size + 1);
		}
	}

	return {
		size: () => size,
		/** How many more may begin now; below 1: none. */
		room: () => Math.min(most - running.size, (sinceAlone >= ALONE_EVERY ? 1 : size) - inPlace().length),
		/** A read begins. Call the result at its end with how long the service took, ms; null: that is not known. */
		begin(): (tookMs: number | null) => void {
			const others = inPlace();
			for (const other of others) other.isAlone = false;
			const place = others.length + 1;
			const read = { beganAt: uptimeOf(clock), isAlone: place === 1 };
			running.add(read);
			sinceAlone += 1;
			return (tookMs) => {
				running.delete(read);
				const isAlone = read.isAlone || sinceAlone >= 2 * ALONE_EVERY;
				if (isAlone) sinceAlone = 0;
				// Below 0: the clock was put back meanwhile.
				if (tookMs === null || tookMs < 0) return;
				if (isAlone) alone = [...alone, tookMs].slice(-ALONE_KEPT);
				adapt({ tookMs, place });
			};
		},
	};
}
