import { describe, expect, it } from 'vitest';
import { classifyFailure, NotNoted, nextAttemptAt } from '../../src/delivery/failed-attempt.ts';
import { SessionServiceError } from '../../src/service/service.ts';
import { T0 } from '../store/support.ts';

const failed = (code: SessionServiceError['code'], about = {}) => new SessionServiceError(code, 'x', about);

describe('a failure', () => {
	const now = T0;
	it.each<[string, unknown, object]>([
		['401', failed('unauthorized'), { kind: 'later' }],
		['429', failed('rate_limited', { retryAt: now + 5 }), { kind: 'later', retryAt: now + 5 }],
		['no connection', failed('unavailable'), { kind: 'later' }],
		['a time-out of a PUT', failed('timed_out', { outcomeUnknown: true }), { kind: 'unknown' }],
		['garbage after a PUT', failed('unreadable_answer', { outcomeUnknown: true }), { kind: 'unknown' }],
		['garbage of a read', failed('unreadable_answer'), { kind: 'later' }],
		['a redirect', failed('redirected'), { kind: 'later' }],
		['404', failed('session_not_found'), { kind: 'missing' }],
		['400', failed('refused', { status: 400 }), { kind: 'later' }],
		['500 to a PUT', failed('unavailable', { status: 500, outcomeUnknown: true }), { kind: 'unknown', reported: true }],
		['a PUT too large', failed('request_too_large'), { kind: 'permanent' }],
		['a session of too many parts', failed('body_too_complex'), { kind: 'permanent' }],
		['a session too large', failed('body_too_large'), { kind: 'permanent' }],
		['a delivery that was not noted', new NotNoted(null), { kind: 'unknown', code: 'store_unavailable' }],
		['an unexpected error', new TypeError('x'), { kind: 'unknown', code: 'internal' }],
		['a value that is not an error', 'x', { kind: 'unknown', code: 'internal' }],
	])('%s is classified by its code', (_, error, failure) => {
		expect(classifyFailure(error, T0)).toMatchObject(failure);
	});

	it('is tried again after at least half of the delay, and never before the time that the service named', () => {
		expect(nextAttemptAt(0, 1, null, () => 0)).toBe(500);
		expect(nextAttemptAt(0, 1, null, () => 1)).toBe(1_000);
		expect(nextAttemptAt(0, 1_000, null, () => 1)).toBe(60_000);
		expect(nextAttemptAt(0, 1, 90_000, () => 1)).toBe(90_000);
		expect(nextAttemptAt(0, 5, 1, () => 1)).toBe(16_000);
	});
});
