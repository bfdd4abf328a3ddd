import type { InputBlock } from '@slack/types';
import { describe, expect, it } from 'vitest';
import { readForm, withoutChoices } from '../../../src/slack/form/fields.ts';
import { newMetadata } from '../../../src/slack/ids.ts';
import { readView } from '../../../src/slack/request.ts';
import { expectSafeView } from '../support/check.ts';
import { type AskedItem, fieldsOf, formOf, questionOf } from '../support/questions.ts';

const metadata = newMetadata({ sessionId: '3f9a2c1d', formId: 'form-1' });
const TOPPINGS = { title: 'Which toppings? Select all that apply.', description: '- Ham\n- Olives\n- Basil' };
const SHOPS = { title: 'Which shops? Select all that apply.', description: '- Acme, Inc.\n- Bolt\n- Nut, Ltd.' };
const listOf = (count: number): AskedItem => ({
	title: 'Which rooms? Select all that apply.',
	description: Array.from({ length: count }, (_, at) => `- Room ${at}`).join('\n'),
});

/** What a field shows as ticked or typed. */
function initialOf({ element }: InputBlock): unknown {
	if (element.type === 'checkboxes' || element.type === 'multi_static_select')
		return element.initial_options?.map(({ value }) => value);
	return 'initial_value' in element ? element.initial_value : undefined;
}

describe('the field of several options', () => {
	it.each([
		[3, 'checkboxes'],
		[10, 'checkboxes'],
		[11, 'multi_static_select'],
		[99, 'multi_static_select'],
	])('of %i is %s, with a line for an own answer or a note', (count, type) => {
		const [field, note] = fieldsOf(formOf([listOf(count)], metadata).blocks);
		expect(field).toMatchObject({ optional: true, dispatch_action: true, element: { type, action_id: 'form.field' } });
		expect(field?.element).not.toHaveProperty('initial_options');
		expect(note?.element).toMatchObject({ type: 'plain_text_input', action_id: 'form.other_text' });
	});

	it('is long text if Slack cannot take the options', () => {
		const fields = fieldsOf(formOf([listOf(100)], metadata).blocks);
		expect(fields.map(({ element }) => element.type)).toEqual(['plain_text_input']);
	});

	it.each<[item: AskedItem, text: string, ticked: string[] | undefined, note: string | undefined]>([
		[TOPPINGS, 'Ham, Basil', ['Ham', 'Basil'], undefined],
		[TOPPINGS, 'basil, ham', ['Ham', 'Basil'], undefined],
		[TOPPINGS, 'Olives', ['Olives'], undefined],
		[TOPPINGS, 'Ham, Basil. Thin, please', ['Ham', 'Basil'], 'Thin, please'],
		[TOPPINGS, 'Ham and what else you have', undefined, 'Ham and what else you have'],
		[SHOPS, 'Bolt\nNut, Ltd.', ['Bolt', 'Nut, Ltd.'], undefined],
		[SHOPS, 'Nut, Ltd.\nBy Friday', ['Nut, Ltd.'], 'By Friday'],
		[listOf(12), 'Room 3, Room 11', ['Room 3', 'Room 11'], undefined],
	])('of %j shows %j as the ticked %j and the note %j', (item, text, ticked, note) => {
		const form = formOf([item], metadata, { draft: { 0: text } });
		expect(fieldsOf(form.blocks).map(initialOf)).toEqual([ticked, note]);
		expect(form.metadata).toMatchObject({ offered: [0], asText: [], withOptions: [0] });
	});

	it('keeps its block_id in a refresh, whatever is ticked, and changes it for plain text', () => {
		const ids = (form: ReturnType<typeof formOf>) => fieldsOf(form.blocks).map(({ block_id: id }) => id);
		const first = formOf([TOPPINGS], metadata);
		const again = formOf([TOPPINGS], first.metadata, { draft: { 0: 'Ham, Basil. Thin' } });
		expect(ids(again)).toEqual(ids(first));
		const plain = formOf([TOPPINGS], { ...again.metadata, plainText: true }, { draft: { 0: 'Ham, Basil. Thin' } });
		expect(ids(plain)).toHaveLength(1);
		expect(ids(first)).not.toContain(ids(plain)[0]);
		expect(fieldsOf(plain.blocks)[0]?.element).toMatchObject({ initial_value: 'Ham, Basil. Thin' });
	});

	it('shows nothing of a secret answer', () => {
		const form = formOf([TOPPINGS], metadata, { draft: { 0: 'Ham, Basil' }, secret: [0] });
		expect(fieldsOf(form.blocks)[0]?.element).not.toHaveProperty('initial_options');
		expect(fieldsOf(form.blocks)[0]?.dispatch_action).toBe(false);
	});

	it('names the options with a note, and chooses none, below another text', () => {
		const carried = (item: AskedItem, text: string) => withoutChoices(questionOf([item]), metadata, { 0: text })[0];
		expect(carried(TOPPINGS, 'Ham, Basil')).toBeUndefined();
		expect(carried(TOPPINGS, 'Ham, Basil. Thin')).toBe('Ham; Basil: Thin');
		const named = carried(SHOPS, 'Acme, Inc.\nBolt\nBy Friday\nor so') ?? '';
		expect(named).toBe('Acme, Inc.; Bolt: By Friday\nor so');
		expect(carried(SHOPS, named)).toBe(named);
	});
});

describe('reading several options', () => {
	const draft = { 0: 'Ham, Basil. Thin' };
	function read(selected: readonly string[] | null | undefined, more: { acted?: boolean; note?: string | null } = {}) {
		const form = formOf([TOPPINGS], metadata, { draft });
		const [field = '', other = ''] = fieldsOf(form.blocks).map(({ block_id: id = '' }) => id);
		const element = { type: 'checkboxes', selected_options: selected?.map((value) => ({ value })) ?? selected };
		const { choices } = readView({ id: 'V1', blocks: form.blocks });
		const values = {
			...(selected !== undefined && { [field]: { 'form.field': element } }),
			...(more.note !== undefined && {
				[other]: { 'form.other_text': { type: 'plain_text_input', value: more.note } },
			}),
		};
		const acted = more.acted === true ? field : undefined;
		return readForm({ values, choices, metadata: form.metadata, draft, acted }).values[0];
	}

	it.each([
		['those that nobody touched and Slack leaves out', undefined, {}, draft[0]],
		['those of which Slack returns an empty list', [], {}, draft[0]],
		['those of which Slack returns null', null, {}, draft[0]],
		['other ones, in the order of the item', ['Basil', 'Olives'], {}, 'Olives, Basil. Thin'],
		['none, in the event of the boxes', [], { acted: true }, 'Thin'],
		['the old ones beside a new note', [], { note: 'Thick' }, 'Ham, Basil. Thick'],
		['new ones and a new note', ['Olives'], { note: 'Thick' }, 'Olives. Thick'],
	] as const)('reads %s', (_, selected, more, text) => {
		expect(read(selected, more)).toBe(text);
	});

	it.each([TOPPINGS, SHOPS, listOf(99)])('is a view that Slack takes: %j', (item) => {
		const { blocks } = formOf([item], metadata, { draft: { 0: item.description?.replaceAll('- ', '') ?? '' } });
		expectSafeView({
			type: 'modal',
			title: { type: 'plain_text', text: '⏳ a' },
			submit: { type: 'plain_text', text: 'a' },
			blocks,
		} as never);
	});
});
