import { expect, it } from 'vitest';
import { type ListKnowledge, nextRead, type SessionOutline } from '../../src/sessions/schedule.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const NOW = Date.parse('2026-01-05T09:00:00Z');
const WHOLE: ListKnowledge = { isComplete: true };
const CUT: ListKnowledge = { isComplete: false };

/** A session that was read just now, and showed something new `steadyMs` ago. */
function outline({ steadyMs = 0, ...rest }: Partial<SessionOutline> & { steadyMs?: number } = {}): SessionOutline {
	return {
		session: { service: 'https://service.example', sessionId: 's1' },
		status: 'active',
		question: null,
		isChecking: false,
		lastReadAt: NOW,
		lastChangeAt: NOW - steadyMs,
		failures: 0,
		overSince: null,
		nextRead: { at: NOW, by: NOW },
		earlyReadAskedAt: null,
		reads: { unread: null, byteCount: 0, tookMs: 0 },
		listed: null,
		...rest,
	};
}

const inMs = (one: SessionOutline, list: ListKnowledge = null) => nextRead(one, list, NOW).at - NOW;

const asking = { status: 'humanInput', question: 'open' } as const;

it.each<[string, Parameters<typeof outline>[0], ListKnowledge, number]>([
	['works', {}, null, 2.5 * SECOND],
	['works', {}, WHOLE, 4 * SECOND],
	['works, and the list is cut off', {}, CUT, 2.5 * SECOND],
	['asks', asking, null, 2.5 * SECOND],
	['asks and is listed', { ...asking, listed: 0 }, CUT, 4 * SECOND],
	['has said nothing for ten minutes', { steadyMs: 10 * MINUTE }, null, 30 * SECOND],
	['has said nothing for ten minutes', { steadyMs: 10 * MINUTE }, WHOLE, 10 * MINUTE],
	['was answered ten minutes ago', { question: 'answered', steadyMs: 10 * MINUTE }, WHOLE, 2 * MINUTE],
	['was answered an hour ago', { question: 'answered', steadyMs: HOUR }, WHOLE, 10 * MINUTE],
	['has said nothing for ten minutes, and the list is cut off', { steadyMs: 10 * MINUTE }, CUT, 30 * SECOND],
	['has asked for hours', { ...asking, listed: NOW, steadyMs: 5 * HOUR }, WHOLE, 2 * MINUTE],
	['has asked for hours beside a list that lacks it', { ...asking, steadyMs: 5 * HOUR }, WHOLE, 30 * SECOND],
	['has asked for hours and works on', { question: 'open', steadyMs: 5 * HOUR }, WHOLE, 2 * MINUTE],
	['perhaps asks again', { steadyMs: HOUR, isChecking: true }, WHOLE, MINUTE],
	['is over', { status: 'completed', overSince: NOW }, WHOLE, 2 * SECOND],
	['was never read', { lastReadAt: null, lastChangeAt: null }, WHOLE, 0],
	['has 5 MB in each response', { reads: { unread: null, byteCount: 5_120_000, tookMs: 0 } }, WHOLE, 10 * SECOND],
	['takes the service 3 s', { reads: { unread: null, byteCount: 0, tookMs: 3_000 } }, null, 9 * SECOND],
	['takes it a minute', { reads: { unread: null, byteCount: 0, tookMs: MINUTE } }, null, 20 * SECOND],
	['failed once', { failures: 1 }, WHOLE, 4 * SECOND],
	['fails for long', { failures: 9 }, null, MINUTE],
])('a session that %s is read again: %o, list %o', (_, fields, list, ms) => {
	expect(inMs(outline(fields), list)).toBe(ms);
});

it('reads a session 2, 5, 15 and 60 s after an answer', () => {
	const quiet = { steadyMs: HOUR, earlyReadAskedAt: NOW };
	const times: number[] = [];
	let lastReadAt = NOW;
	for (let count = 0; count < 5; count += 1) {
		const { at } = nextRead(outline({ ...quiet, lastReadAt, lastChangeAt: NOW - HOUR }), WHOLE, lastReadAt);
		lastReadAt = at;
		times.push((at - NOW) / SECOND);
	}
	expect(times).toEqual([2, 5, 15, 60, 660]);
});

it('puts a read that comes too late to now, and none before it', () => {
	expect(nextRead(outline({ lastReadAt: NOW - HOUR }), null, NOW)).toEqual({ at: NOW, by: NOW });
});

it('keeps the place of a failing session that somebody awaits', () => {
	const awaited = outline({ failures: 2, nextRead: { at: NOW, by: NOW - MINUTE } });
	expect(nextRead(awaited, null, NOW)).toEqual({ at: NOW + 8 * SECOND, by: NOW - MINUTE });
	const planned = outline({ failures: 2, nextRead: { at: NOW, by: NOW } });
	expect(nextRead(planned, null, NOW)).toEqual({ at: NOW + 8 * SECOND, by: NOW + 8 * SECOND });
});
