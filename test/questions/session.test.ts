import { expect, it } from 'vitest';
import { isOver, isWaiting, statusKind } from '../../src/questions/session.ts';

it.each([
	{ status: 'active', kind: 'active', over: false, waiting: false },
	{ status: 'humanInput', kind: 'humanInput', over: false, waiting: true },
	{ status: 'inactive', kind: 'inactive', over: false, waiting: false },
	{ status: 'paused', kind: 'paused', over: false, waiting: false },
	{ status: 'stopped', kind: 'stopped', over: true, waiting: false },
	{ status: 'completed', kind: 'completed', over: true, waiting: false },
	{ status: 'failed', kind: 'failed', over: true, waiting: false },
	{ status: 'Completed', kind: 'unknown', over: false, waiting: false },
	{ status: '', kind: 'unknown', over: false, waiting: false },
	{ status: 'constructor', kind: 'unknown', over: false, waiting: false },
])('classifies the status "$status"', ({ status, kind, over, waiting }) => {
	expect(statusKind(status)).toBe(kind);
	expect(isOver(status)).toBe(over);
	expect(isWaiting(status)).toBe(waiting);
});
