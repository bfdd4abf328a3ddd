import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as validator from './index.ts';
import { isObject } from './payload.ts';
import { countLimits, numberLimits } from './rules/counts.ts';
import { lengthLimits } from './rules/lengths.ts';
import { accepted } from './samples/accepted.ts';
import { boundaries } from './samples/boundaries.ts';
import { judge, type Sample } from './samples/build.ts';
import { refused } from './samples/refused.ts';

describe('what Slack accepts', () => {
	it.each(accepted)('accepts $name', (sample) => {
		expect(judge(validator, sample)).toEqual([]);
	});
});

describe('what Slack refuses', () => {
	it.each(refused)('refuses $name', (sample) => {
		const messages = judge(validator, sample).map((problem) => problem.message);
		expect(messages.filter((message) => message.includes(sample.says ?? 'nothing is expected'))).not.toEqual([]);
	});

	it('names the error as the method answers it', () => {
		const errors = (value: unknown) => validator.validateMessage(value).map((problem) => problem.error);
		expect(errors({})).toEqual(['no_text']);
		expect(errors({ blocks: [{ type: 'nope' }] })).toEqual(['invalid_blocks']);
		expect(errors({ text: 'a', blocks: Array.from({ length: 6 }, () => long) })).toEqual(['msg_blocks_too_long']);
		expect(errors({ text: 'a', metadata: {} })).toContain('invalid_metadata_format');
		expect(validator.validateView({ type: 'nope' })[0]?.error).toBe('invalid_arguments');
		const wide = { type: 'section', text: { type: 'mrkdwn', text: '\u{1F600}'.repeat(750) } };
		const view = { type: 'home', blocks: Array.from({ length: 94 }, () => wide) };
		expect(validator.validateView(view)).toEqual([
			{ error: 'view_too_large', message: 'must be at most 250 KB [json-pointer:/view]', pointer: '/view' },
		]);
	});

	it('points to the place', () => {
		const [problem] = validator.validateBlocks([{ type: 'divider' }, { type: 'section', text: null }], 'home');
		expect(problem).toEqual({
			error: 'invalid_blocks',
			message: 'must provide an object [json-pointer:/blocks/1/text]',
			pointer: '/blocks/1/text',
		});
	});

	it('counts a character outside the basic plane as two', () => {
		const title = (text: string) =>
			validator.validateView({ type: 'modal', title: { type: 'plain_text', text }, blocks: [] });
		expect(title('\u{1F600}'.repeat(12))).toEqual([]);
		expect(title('\u{1F600}'.repeat(13))).not.toEqual([]);
	});
});

const long = { type: 'section', text: { type: 'mrkdwn', text: 'x'.repeat(3000) } };

it('takes any JSON without failing, and points into it', () => {
	const type = fc.constantFrom('section', 'actions', 'input', 'static_select', 'rich_text', 'modal', 'plain_text', 'x');
	const name = fc.constantFrom(
		'type',
		'text',
		'blocks',
		'elements',
		'element',
		'options',
		'title',
		'block_id',
		'value',
	);
	const { tree } = fc.letrec((tie) => ({
		tree: fc.oneof(
			{ maxDepth: 6 },
			fc.jsonValue({ maxDepth: 1 }),
			type,
			fc.array(tie('tree')),
			fc.dictionary(name, tie('tree')),
		),
	}));
	fc.assert(
		fc.property(tree, (value) => {
			const problems = [
				...validator.validateMessage(value),
				...validator.validateMessage({ text: 'a', blocks: value }),
				...validator.validateView(value),
				...validator.validateView({ type: 'home', blocks: value }),
				...validator.validateBlocks(value, 'modal'),
				...validator.validateResponseActionErrors({ type: 'home', blocks: value }, value),
			];
			expect(
				problems.filter(({ message, pointer }) => pointer !== '' && !message.endsWith(`[json-pointer:${pointer}]`)),
			).toEqual([]);
		}),
		{ numRuns: 500 },
	);
});

describe('limits', () => {
	it.each(boundaries)('holds $id at its edge', ({ kept, broken }) => {
		for (const sample of kept) expect({ [sample.name]: judge(validator, sample) }).toEqual({ [sample.name]: [] });
		for (const sample of broken)
			expect({ [sample.name]: judge(validator, sample).length }).not.toEqual({ [sample.name]: 0 });
	});
});

/** Every object below the message or view, its free-form parts (metadata's payload, attachments' own fields) left out. */
function objectsIn(value: unknown): Record<string, unknown>[] {
	if (Array.isArray(value)) return value.flatMap(objectsIn);
	if (!isObject(value)) return [];
	return [
		value,
		...Object.entries(value).flatMap(([name, child]) => (name === 'event_payload' ? [] : objectsIn(child))),
	];
}

/** A message has arguments that are none of the validator's business, and attachments have fields of an older kind. */
function isStrict(object: Record<string, unknown>, { subject }: Sample): boolean {
	return !(subject.kind === 'message' && (object === subject.value || 'color' in object));
}

/** The reference page's numbers once more: the boundaries above come from the tables and would follow a wrong one. */
const documented = {
	'view.title.text': 24,
	'view.submit.text': 24,
	'view.close.text': 24,
	'view.private_metadata': 3000,
	'view.callback_id': 255,
	'view.external_id': 255,
	'*.block_id': 255,
	'*.action_id': 255,
	'mrkdwn.text': 3000,
	'section.fields[].text': 2000,
	'header.text.text': 150,
	'input.label.text': 2000,
	'input.hint.text': 2000,
	'*.placeholder.text': 150,
	'plain_text_input.initial_value': 3000,
	'button.text.text': 75,
	'button.value': 2000,
	'button.url': 3000,
	'static_select.options[].text.text': 75,
	'static_select.options[].value': 150,
	'image.image_url': 3000,
	'image.alt_text': 2000,
	'*.confirm.title.text': 100,
	'*.confirm.text.text': 300,
	'*.confirm.confirm.text': 30,
	'*.confirm.deny.text': 30,
	'message.blocks': 50,
	'view.blocks': 100,
	'section.fields': 10,
	'actions.elements': 25,
	'context.elements': 10,
	'context_actions.elements': 5,
	'static_select.options': 100,
	'multi_static_select.options': 100,
	'radio_buttons.options': 10,
	'checkboxes.options': 10,
	'overflow.options': 5,
	'plain_text_input.max_length': 3000,
};

it("has the numbers of Slack's documentation", () => {
	const tables = [...lengthLimits, ...countLimits, ...numberLimits];
	const limits = Object.fromEntries(tables.map(({ type, path, max }) => [`${type}.${path}`, max]));
	expect(limits).toMatchObject(documented);
});

describe('shapes', () => {
	const strict = accepted.filter(({ subject }) => subject.kind !== 'errors');

	it.each(strict)('refuses a foreign field and null anywhere in $name', (sample) => {
		for (const object of objectsIn(sample.subject.value).filter((candidate) => isStrict(candidate, sample))) {
			object.foreign = 1;
			const withForeign = judge(validator, sample);
			delete object.foreign;
			expect({ object, problems: withForeign.length }).not.toEqual({ object, problems: 0 });
			for (const [name, value] of Object.entries(object)) {
				if (value === undefined) continue;
				object[name] = null;
				const withNull = judge(validator, sample);
				object[name] = value;
				expect({ name, object, problems: withNull.length }).not.toEqual({ name, object, problems: 0 });
			}
		}
		expect(judge(validator, sample)).toEqual([]);
	});
});
