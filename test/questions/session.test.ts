import { expect, it } from 'vitest';
import { isOver, isWaiting, statusKind } from '../../src/questions/session.ts';

it.each([
	['active', 'active', false, false],
	['humanInput', 'humanInput', false, true],
	['inactive', 'inactive', false, false],
	['paused', 'paused', false, false],
	['stopped', 'stopped', true, false],
	['completed', 'completed', true, false],
	['failed', 'failed', true, false],
	['Completed', 'unknown', false, false],
	['', 'unknown', false, false],
	['constructor', 'unknown', false, false],
])('knows the status %j', (status, kind, over, waiting) => {
	expect(statusKind(status)).toBe(kind);
	expect(isOver(status)).toBe(over);
	expect(isWaiting(status)).toBe(waiting);
});
