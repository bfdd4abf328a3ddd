import { describe, expect, it } from 'vitest';
import { responseActionRules } from './rules/response-action.ts';
import { rules } from './rules.ts';
import { boundaries } from './samples/boundaries.ts';
import { judge, type Sample } from './samples/build.ts';
import { refused } from './samples/refused.ts';
import { createSlackValidator } from './validator.ts';

/** Samples that belong to a rule by its id come first; the others are looked through only where there are none. */
function candidates(id: string): Sample[] {
	const own = boundaries.filter((boundary) => boundary.id === id).flatMap(({ broken }) => broken);
	return own.length > 0 ? own : refused;
}

describe('every rule is needed', () => {
	it.each(rules)('accepts something Slack refuses once $id is taken out', ({ id }) => {
		const without = createSlackValidator({
			rules: rules.filter((rule) => rule.id !== id),
			errorsRules: responseActionRules,
		});
		expect(candidates(id).some((sample) => judge(without, sample).length === 0)).toBe(true);
	});

	it.each(responseActionRules)('accepts errors Slack refuses once $id is taken out', ({ id }) => {
		const without = createSlackValidator({ rules, errorsRules: responseActionRules.filter((rule) => rule.id !== id) });
		expect(refused.some((sample) => sample.subject.kind === 'errors' && judge(without, sample).length === 0)).toBe(
			true,
		);
	});

	it('has one id and a source for each rule', () => {
		const all = [...rules, ...responseActionRules];
		expect(new Set(all.map((rule) => rule.id)).size).toBe(all.length);
		expect(all.filter((rule) => rule.source === '')).toEqual([]);
	});
});
