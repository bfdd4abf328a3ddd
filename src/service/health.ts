import { type Clock, elapsedSince, uptimeOf } from '../kernel/clock.ts';
import { createMemo } from '../kernel/memory.ts';
import { NOT_FOUND_CODES } from './service.ts';

/** The service is down when no call has succeeded for this time, and `DOWN_AFTER_FAILURES` have failed. */
export const DOWN_AFTER_MS = 30_000;
/** One 429 is enough instead, because there are few calls after it. */
const DOWN_AFTER_FAILURES = 3;

const LIMITED = 'rate_limited';
/** Failures that certainly concern the whole service. Others (an unreadable response) may concern one session. */
export const OUTAGE_CODES = new Set<string>(['unavailable', 'timed_out', 'unauthorized', 'redirected', LIMITED]);

/** Failures that concern one session. */
const OWN_CODES: ReadonlySet<string> = new Set(['body_too_large', 'body_too_complex', 'other_session']);

/** A session is gone after this many 404s in a row over this time, if others or the list could be read meanwhile. */
const GONE_AFTER = { count: 3, ms: 10 * 60_000 } as const;
/** The longest gap between such reads. */
const READABLE_WITHIN_MS = 5 * 60_000;
/** A session is also gone after only 404s for this time, even if nothing else could be read. */
const ALL_GONE_AFTER_MS = 24 * 3_600_000;

/** When any process last read a watched session other than this one; null: never. */
type OtherReadAt = (sessionId: string) => Promise<number | null>;

/** Judges by the calls of all parts whether the service works, so that an outage is one notice, not one a session. */
export function createServiceHealth({ clock }: { clock: Clock }, otherReadAt: OtherReadAt = async () => null) {
	const startedAt = uptimeOf(clock);
	let failures = 0;
	let limited = false;
	/** When the first call after the last success failed, by uptime; null: the newest call succeeded. */
	let failingFrom: number | null = null;
	let down: boolean | null = null;
	let newestCode = '';
	let isCertain = false;
	/** When something was last read. */
	const newestRead = createMemo(clock, () => Number.NEGATIVE_INFINITY);
	/** Since when there was no gap of `READABLE_WITHIN_MS` between reads. */
	let readableSince = 0;
	/** The sessions that could not be read since the last success. */
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
			// Listeners hear only of the end of an outage. Fewer failures may concern one session, which backs off itself.
			const wasFailing = this.down === true || failures >= DOWN_AFTER_FAILURES;
			failures = 0;
			limited = false;
			isCertain = false;
			failingFrom = null;
			down = false;
			if (wasFailing) for (const listener of listeners) listener();
		},
		/** The list could be read. If several sessions cannot be read, this says nothing, because their path differs. */
		listed() {
			if (unread.size > 1) return;
			if (failures > 0 && !isCertain) this.succeeded(true);
			else noteRead(clock.now());
		},
		/** `isDoubted`: the session was readable before, and no other was read since, so the failure may be its own. */
		failed(code: string, isDoubted = false) {
			if (!OUTAGE_CODES.has(code) && !(isDoubted && (code === NOT_FOUND_CODES.all || unread.size > 1))) return;
			isCertain ||= OUTAGE_CODES.has(code);
			newestCode = code;
			failures += 1;
			limited ||= code === LIMITED;
			failingFrom ??= uptimeOf(clock);
		},
		/**
		 * Judges one more failure of a session that was readable before. A 404 may also come from a gateway. `former`: the
		 * failures in a row so far; its `code` is set when only this session seems to fail, because other sessions were
		 * read, or no other one failed. @returns the failures with this one, and the code to record
		 */
		async missed(
			sessionId: string,
			former: { count: number; since: number | null; isMissing?: boolean; code?: string | null } | null,
			code: string = NOT_FOUND_CODES.gone,
		) {
			const now = clock.now();
			const isMissing = code === NOT_FOUND_CODES.gone;
			// Only 404s in a row mean that a session is gone, so other failures begin a new row.
			const before = (former?.isMissing ?? true) === isMissing ? former : null;
			unread.add(sessionId);
			noteRead((await otherReadAt(sessionId)) ?? newestRead.get());
			const readAt = newestRead.get();
			const count = 1 + (before?.count ?? 0);
			const since = count === 1 ? now : Math.min(before?.since ?? now, now);
			// Time in which this process did not run or slept does not count.
			const ms = Math.min(elapsedSince(clock, since), uptimeOf(clock) - startedAt);
			const wasAlone = before?.code != null;
			if (isMissing) {
				const isOtherRead = count >= GONE_AFTER.count && readAt > since;
				const readableMs = now - readAt > READABLE_WITHIN_MS ? 0 : elapsedSince(clock, readableSince);
				const isGone = (isOtherRead && Math.min(ms, readableMs) >= GONE_AFTER.ms) || ms >= ALL_GONE_AFTER_MS;
				const isAlone = isOtherRead || wasAlone;
				const meant = NOT_FOUND_CODES[isGone ? 'gone' : isAlone ? 'one' : 'all'];
				return { run: { count, since, isMissing, code: isAlone ? meant : null }, code: meant };
			}
			// The first failures may pass within seconds.
			const isLong = count >= GONE_AFTER.count && ms >= DOWN_AFTER_MS;
			const isOnlyOne = unread.size < 2 && !OUTAGE_CODES.has(code);
			const isAlone = (isLong && (readAt > since || isOnlyOne)) || wasAlone || OWN_CODES.has(code);
			return { run: { count, since, isMissing, code: isAlone ? code : null }, code };
		},
		/** Null: no call has succeeded, and no outage was found. It may become true by time alone. */
		get down() {
			const isEnough = limited || failures >= DOWN_AFTER_FAILURES;
			if (isEnough && failingFrom !== null && uptimeOf(clock) - failingFrom >= DOWN_AFTER_MS) down = true;
			return down;
		},
		/** The code of the newest failure of the whole service; empty before the first. */
		get newestCode() {
			return newestCode;
		},
		/** When the first call after the last success failed, clock milliseconds; null: the newest call succeeded. */
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
