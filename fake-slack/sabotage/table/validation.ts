import type { Sabotage } from '../sabotage.ts';

const TESTS = ['validation/validation.test.ts'];

/** What carries the tables of validation: that each row of them is needed, rules.test.ts shows by itself. */
export const VALIDATION: readonly Sabotage[] = [
	{
		name: 'lets the options of radio buttons be longer',
		file: 'validation/rules/lengths.ts',
		from: "'multi_static_select', 'radio_buttons', 'checkboxes', 'overflow']",
		to: "'multi_static_select', 'checkboxes', 'overflow']",
		tests: TESTS,
	},
	{
		name: 'takes eleven radio buttons',
		file: 'validation/rules/counts.ts',
		from: "count('radio_buttons', 'options', { min: 1, max: 10 }, options)",
		to: "count('radio_buttons', 'options', { min: 1, max: 11 }, options)",
		tests: TESTS,
	},
	{
		name: 'takes text of more than 40,000 characters',
		file: 'validation/rules/lengths.ts',
		from: "limit('message', 'text', 40_000,",
		to: "limit('message', 'text', 400_000,",
		tests: TESTS,
	},
	{
		name: 'takes the same option in two groups',
		file: 'validation/rules/options.ts',
		from: "[...at(part, 'options[]'), ...at(part, 'option_groups[].options[]')]",
		to: "[...at(part, 'options[]')]",
		tests: TESTS,
	},
	{
		name: 'takes the same option twice',
		file: 'validation/rules/options.ts',
		from: 'seen.add(own);',
		to: '',
		tests: TESTS,
	},
	{
		name: 'takes an initial option that is not offered',
		file: 'validation/rules/options.ts',
		from: 'if (!isOffered) report(chosen, initial.pointer);',
		to: '',
		tests: TESTS,
	},
	{
		name: 'does not look at the shape of payloads',
		file: 'validation/payload.ts',
		from: '.errors(input.kind, withoutEmptyMetadata(value, input.method))',
		to: '.errors(input.kind, withoutEmptyMetadata(value, input.method)).slice(0, 0)',
		tests: TESTS,
	},
	{
		name: 'points at the wrong place of a view',
		file: 'validation/payload.ts',
		from: "input.kind === 'view' ? '/view' : '/blocks';",
		to: "input.kind === 'view' ? '' : '/blocks';",
		tests: TESTS,
	},
	{
		name: 'refuses metadata of {} in chat.update',
		file: 'validation/payload.ts',
		from: 'const { metadata: _, ...rest } = value;\n\treturn rest;',
		to: 'return value;',
		tests: [...TESTS, 'messages.test.ts'],
	},
	{
		name: 'takes every surface for a modal',
		file: 'validation/validator.ts',
		from: "return isHome ? 'home' : 'modal';",
		to: "return isHome ? 'modal' : 'modal';",
		tests: TESTS,
	},
	{
		name: 'takes errors for anything',
		file: 'validation/validator.ts',
		from: 'for (const rule of tables.errors) rule.check(payload, errors, report);',
		to: '',
		tests: [...TESTS, 'submissions.test.ts'],
	},
];
