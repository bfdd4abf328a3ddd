import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { skipUnless } from '../../test/support/skip-unless.ts';
import { problemsOfUnit } from './systemd.ts';

const UNIT = readFileSync(new URL('../../ops/handraise.service', import.meta.url), 'utf8');

describe('the systemd unit', skipUnless(problemsOfUnit(UNIT) !== null, 'systemd is not installed'), () => {
	it('is valid, and exposes little', () => {
		expect(problemsOfUnit(UNIT)).toEqual([]);
	});

	it('is refused with an unknown key, and without its hardening', () => {
		expect(problemsOfUnit(UNIT.replace('RestartSec=', 'RestartSeconds='))).toEqual([
			expect.stringContaining('RestartSeconds'),
		]);
		const open = UNIT.split('\n').filter(
			(line) => !/^(?:Protect|Private|Restrict|SystemCall|Capab|DynamicUser)/.test(line),
		);
		expect(problemsOfUnit(open.join('\n'))).toEqual([expect.stringContaining('Overall exposure level')]);
	});
});
