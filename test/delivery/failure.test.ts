import { describe, expect, it } from 'vitest';
import { classifyFailure, nextAttemptAt } from '../../src/delivery/put.ts';
import { SessionServiceError } from '../../src/service/service.ts';
import { T0 } from '../store/support.ts';

describe('a failure', () => {
	const now = T0;
	it.each<[string, unknown, object]>([
		['401', new SessionServiceError('unauthorized', 'x'), { kind: 'later' }],
		['429', new SessionServiceError('rate_limited', 'x', { retryAt: now + 5 }), { kind: 'later', retryAt: now + 5 }],
		['no connection', new SessionServiceError('unavailable', 'x'), { kind: 'later' }],
		[
			'5xx to a PUT',
			new SessionServiceError('unavailable', 'x', { outcomeUnknown: true, status: 500 }),
			{ kind: 'unknown' },
		],
		['a time-out of a PUT', new SessionServiceError('timed_out', 'x', { outcomeUnknown: true }), { kind: 'unknown' }],
		[
			'garbage after a PUT',
			new SessionServiceError('unreadable_answer', 'x', { outcomeUnknown: true }),
			{ kind: 'unknown' },
		],
		['garbage of a read', new SessionServiceError('unreadable_answer', 'x'), { kind: 'later' }],
		['a redirect', new SessionServiceError('redirected', 'x'), { kind: 'later' }],
		['404', new SessionServiceError('session_not_found', 'x'), { kind: 'missing' }],
		['400', new SessionServiceError('refused', 'x', { status: 400 }), { kind: 'later' }],
		[
			'500 to a PUT',
			new SessionServiceError('unavailable', 'x', { status: 500, outcomeUnknown: true }),
			{ kind: 'unknown', reported: true },
		],
		['a PUT too large', new SessionServiceError('request_too_large', 'x'), { kind: 'permanent' }],
		['a session of too many parts', new SessionServiceError('body_too_complex', 'x'), { kind: 'permanent' }],
		['a session too large', new SessionServiceError('body_too_large', 'x'), { kind: 'permanent' }],
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
