import type { Sabotage } from '../sabotage.ts';

const TESTS = ['validation/validation.test.ts'];

/** What carries the tables of validation: that each row of them is needed, rules.test.ts shows by itself. */
export const VALIDATION: readonly Sabotage[] = [
	{
		name: 'takes the same option in two groups',
		file: 'validation/rules/options.ts',
		from: "[...at(part, 'options[]'), ...at(part, 'option_groups[].options[]')]",
		to: "[...at(part, 'options[]')]",
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
		name: 'refuses metadata of {} in chat.update',
		file: 'validation/payload.ts',
		from: 'const { metadata: _, ...rest } = value;\n\treturn rest;',
		to: 'return value;',
		tests: [...TESTS, 'messages.test.ts'],
	},
];
