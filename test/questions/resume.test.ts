import { expect, it } from 'vitest';
import { type ResumeOutcome, resumeOutcome } from '../../src/questions/resume.ts';
import { saying } from './sessions.ts';

it.each<[before: string, status: string, more: number, outcome: ResumeOutcome]>([
	['humanInput', 'active', 0, 'resumed'],
	['humanInput', 'humanInput', 1, 'resumed'],
	['humanInput', 'humanInput', 0, 'notYet'],
	['humanInput', 'inactive', 0, 'notYet'],
	['humanInput', 'queued', 0, 'notYet'],
	['humanInput', 'paused', 0, 'paused'],
	['humanInput', 'paused', 1, 'resumed'],
	['humanInput', 'failed', 0, 'failed'],
	['humanInput', 'failed', 2, 'failed'],
	['humanInput', 'stopped', 0, 'stopped'],
	['humanInput', 'stopped', 1, 'stopped'],
	['humanInput', 'completed', 3, 'completed'],
	['active', 'active', 0, 'notYet'],
	['active', 'active', 1, 'resumed'],
	['active', 'humanInput', 0, 'notYet'],
	['active', 'paused', 0, 'paused'],
	['paused', 'paused', 0, 'notYet'],
	['paused', 'active', 0, 'resumed'],
	['inactive', 'active', 0, 'resumed'],
	['inactive', 'inactive', 1, 'resumed'],
	['humanInput', 'humanInput', -1, 'notYet'],
	['humanInput', 'active', -1, 'resumed'],
])('from %s to %s with %i assistant messages more is %s', (before, status, more, outcome) => {
	const messages = [saying('task', 'user'), ...Array.from({ length: 3 + more }, () => saying('step'))];
	expect(resumeOutcome({ status: before, assistantCount: 3 }, { status, messages })).toBe(outcome);
});
