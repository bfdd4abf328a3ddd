import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as validator from './index.ts';
import { judge } from './judge.ts';
import { isObject } from './payload.ts';
import { accepted, fixtures, refused } from './samples/index.ts';
import type { Accepted } from './samples/sample.ts';

describe('what Slack accepts', () => {
	it.each(accepted)('accepts $name', (sample) => {
		expect(judge(validator, sample)).toEqual([]);
	});
});

describe('what Slack refuses', () => {
	it.each(refused)('refuses $name', (sample) => {
		expect(judge(validator, sample).map((problem) => problem.message)).toEqual(sample.says);
	});

	it('names the error as the method answers it', () => {
		const errors = (value: unknown) => validator.validateMessage(value).map((problem) => problem.error);
		expect(errors({})).toEqual(['no_text']);
		expect(errors({ blocks: [{ type: 'nope' }] })).toEqual(['invalid_blocks']);
		expect(errors({ text: 'a', blocks: Array.from({ length: 6 }, () => long) })).toEqual(['msg_blocks_too_long']);
		expect(errors({ text: 'a', metadata: {} })).toContain('invalid_metadata_format');
		expect(errors({ text: 'a', blocks: '[{' })).toEqual(['invalid_blocks_format']);
		expect(errors({ text: 'a', attachments: [] })).toEqual(['not_in_this_fake_slack']);
		expect(errors({ text: 'x'.repeat(40_001) })).toEqual(['msg_too_long']);
		expect(validator.validateView({ type: 'nope' })[0]?.error).toBe('invalid_arguments');
		const wide = { type: 'section', text: { type: 'mrkdwn', text: '\u{1F600}'.repeat(750) } };
		const view = { type: 'home', blocks: Array.from({ length: 94 }, () => wide) };
		expect(validator.validateView(view)).toEqual([
			{ error: 'view_too_large', message: 'must be at most 250 KB [json-pointer:/view]', pointer: '/view' },
		]);
	});

	it('names half a surrogate pair as unreadable JSON text', () => {
		const broken = { type: 'section', text: { type: 'mrkdwn', text: '\ud83d' } };
		const errors = (value: unknown) => validator.validateMessage(value).map((problem) => problem.error);
		expect(errors({ text: 'a', blocks: [broken] })).toEqual(['invalid_blocks_format']);
		expect(errors({ text: 'a', metadata: { event_type: 'a', event_payload: { id: '\ud83d' } } })).toEqual([
			'invalid_metadata_format',
		]);
		expect(validator.validateView({ type: 'home', blocks: [broken] })[0]?.error).toBe('invalid_arguments');
	});

	it('points to the place', () => {
		const [problem] = validator.validateMessage({ blocks: [{ type: 'divider' }, { type: 'section', text: null }] });
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

it('accepts any JSON without failing, and points into it', () => {
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
			fc.array(tie('tree'), { maxLength: 4 }),
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
				...validator.validateResponseActionErrors({ type: 'home', blocks: value }, value),
			];
			expect(
				problems.filter(({ message, pointer }) => pointer !== '' && !message.endsWith(`[json-pointer:${pointer}]`)),
			).toEqual([]);
		}),
		{ numRuns: 500 },
	);
});

/**
 * Every object inside the message or view, without its free-form part (metadata's payload). Of
 * equal neighbours in a list only the first and the last.
 */
function objectsIn(value: unknown): Record<string, unknown>[] {
	if (Array.isArray(value)) {
		const texts = value.map((item) => JSON.stringify(item));
		const isInside = (_: unknown, index: number) =>
			texts[index - 1] === texts[index] && texts[index] === texts[index + 1];
		return value.filter((item, index) => !isInside(item, index)).flatMap(objectsIn);
	}
	if (!isObject(value)) return [];
	return [
		value,
		...Object.entries(value).flatMap(([name, child]) => (name === 'event_payload' ? [] : objectsIn(child))),
	];
}

/** A message has arguments that the validator does not check. */
function isStrict(object: Record<string, unknown>, { subject }: Accepted): boolean {
	return !(subject.kind === 'message' && object === subject.value);
}

describe('shapes', () => {
	const strict = fixtures.filter(({ subject }) => subject.kind !== 'errors');

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
