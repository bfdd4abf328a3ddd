import { describe, expect, it } from 'vitest';
import { readForm } from '../../../src/slack/form/fields.ts';
import {
	decodeMetadata,
	encodeMetadata,
	newMetadata,
	secretBlockId,
	type ViewMetadata,
} from '../../../src/slack/ids.ts';
import { type AskedItem, boxOf, fieldsOf, formOf } from '../support/questions.ts';

const metadata = newMetadata({ sessionId: '3f9a2c1d', formId: 'form-1' });
const door: AskedItem = { title: 'Which door?' };
const password: AskedItem = { title: 'Password' };

function itemsOf(count: number): AskedItem[] {
	return Array.from({ length: count }, (_, at) => ({ title: `Item ${at}`, description: '' }));
}

describe('secretBox', () => {
	it('shows a box only where an item looks secret, is ticked, or the person asked for it', () => {
		const { metadata: shown, blocks } = formOf([door], metadata);
		expect(boxOf(blocks)).toBeUndefined();
		const box = boxOf(formOf([door], { ...shown, boxed: true }).blocks);
		expect(box).toMatchObject({
			type: 'actions',
			element: {
				type: 'checkboxes',
				options: [{ value: '0', text: { text: 'Hide this answer and delete it after delivery' } }],
			},
		});
		expect(box?.element).not.toHaveProperty('initial_options');
		const ticked = formOf([door], metadata, { secret: [0] });
		expect(boxOf(ticked.blocks)?.element).toMatchObject({ initial_options: [{ value: '0' }] });
		// It stays when the person takes the tick away, and goes with its question.
		expect(boxOf(formOf([door], ticked.metadata, { secret: [] }).blocks)).toBeDefined();
		expect(boxOf(formOf([{ title: 'Which hall?' }], ticked.metadata).blocks)).toBeUndefined();
	});

	it('names several items and ticks those that look secret', () => {
		const form = formOf([door, password, { title: '' }], metadata);
		const box = boxOf(form.blocks);
		const label = { text: 'Hide these answers and delete them after delivery' };
		expect(box).toMatchObject({ type: 'input', label, optional: true, dispatch_action: true });
		const element = box?.element?.type === 'checkboxes' ? box.element : null;
		expect(element?.options.map(({ text }) => text.text)).toEqual([
			'1. Which door?',
			'2. Password',
			'3. Question 3 of 3',
		]);
		expect(element?.initial_options).toMatchObject([{ value: '1' }]);
		expect(form.metadata).toMatchObject({ secret: [1] });
	});

	it.each([10, 11, 30, 90])('is one block for %i fields', (count) => {
		const { blocks } = formOf(itemsOf(count), metadata, { secret: [0] });
		expect(boxOf(blocks)?.element?.type).toBe(count <= 10 ? 'checkboxes' : 'multi_static_select');
		expect(blocks.filter(({ block_id: id }) => id?.startsWith('s.'))).toHaveLength(1);
	});

	it('has another block_id for another question', () => {
		const [one, other] = [door, password].map((item) => boxOf(formOf([item], metadata, { secret: [0] }).blocks));
		expect(one?.block_id).not.toBe(other?.block_id);
	});

	it('keeps the field of a ticked item, without initial value, when the others become plain text', () => {
		const items: AskedItem[] = [{ title: 'How many guests?' }, { title: 'Your e-mail address' }];
		const first = formOf(items, metadata);
		const shown: ViewMetadata = { ...first.metadata, secret: [0], plainText: true };
		const draft = { 0: '1234', 1: 'ada@example.org' };
		const plain = formOf(items, shown, { draft, secret: [0] });
		const ids = (form: typeof first) => fieldsOf(form.blocks).map(({ block_id: id }) => id);
		expect(ids(plain)[0]).toBe(ids(first)[0]);
		expect(ids(plain)[1]).not.toBe(ids(first)[1]);
		expect(JSON.stringify(plain)).not.toContain('1234');
		const back = formOf(items, { ...plain.metadata, plainText: false }, { draft, secret: [0] });
		expect(ids(back)[0]).toBe(ids(first)[0]);
		// A field that is ticked while it is plain text stays plain text.
		const ticked = formOf(
			items,
			{ ...formOf(items, { ...metadata, plainText: true }).metadata, plainText: false },
			{ draft, secret: [1] },
		);
		expect(ids(ticked)[1]).toBe(ids(plain)[1]);
	});
});

describe('reading the secret box', () => {
	const items = [door, password];
	function secretIn(selected: readonly string[] | null | undefined, more: { acted?: boolean; secret?: number[] } = {}) {
		const form = formOf(items, metadata, { secret: more.secret });
		const decoded = decodeMetadata(encodeMetadata(form.metadata));
		if (decoded === null) throw new Error('the metadata cannot be read back');
		const id = secretBlockId(decoded);
		const options = selected?.map((value) => ({ value, text: { type: 'plain_text', text: value } })) ?? selected;
		const values =
			selected === undefined ? {} : { [id]: { 'form.secret': { type: 'checkboxes', selected_options: options } } };
		return readForm({
			values,
			choices: {},
			metadata: decoded,
			draft: {},
			...(more.acted === true ? { acted: id } : {}),
		}).secret;
	}

	it.each([
		['is ticked for both', ['0', '1'], [0, 1]],
		['is ticked for another one', ['0'], [0]],
		['was left as it was offered, and Slack leaves it out', undefined, [1]],
		['was left as it was offered, and Slack returns null', null, [1]],
		['was left as it was offered, and Slack returns an empty list', [], [1]],
		['holds positions without a field', ['7', 'x'], [1]],
	] as const)('reads a box that %s', (_what, selected, secret) => {
		expect(secretIn(selected)).toEqual(secret);
	});

	it('reads an emptied box in its own event and afterwards', () => {
		expect(secretIn([], { acted: true })).toEqual([]);
		expect(secretIn([], { secret: [] })).toEqual([]);
	});

	it('keeps only ticked values out of drafts', () => {
		const form = formOf(items, metadata);
		const ids = fieldsOf(form.blocks).map(({ block_id: id = '' }) => id);
		const box = { 'form.secret': { type: 'checkboxes', selected_options: [{ value: '0' }] } };
		const values = {
			[ids[0] ?? '']: { 'form.field': { value: 'the blue one' } },
			[ids[1] ?? '']: { 'form.field': { value: 'not that secret' } },
			[secretBlockId(form.metadata)]: box,
		};
		const reading = readForm({ values, choices: {}, metadata: form.metadata, draft: {} });
		expect(reading.draft).toEqual({ 1: 'not that secret' });
		expect(reading.values).toEqual({ 0: 'the blue one', 1: 'not that secret' });
	});
});
