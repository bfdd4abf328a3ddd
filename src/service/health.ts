import { type Clock, elapsedSince, uptimeOf } from '../kernel/clock.ts';
import { createMemo } from '../kernel/memory.ts';
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
