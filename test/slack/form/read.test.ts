import { describe, expect, it } from 'vitest';
import { validateResponseActionErrors } from '../../../fake-slack/index.ts';
import { FIELD_ERRORS, PUT_LIMIT_BYTES, readForm } from '../../../src/slack/form/fields.ts';
import { decodeMetadata, encodeMetadata, NO_OPTION, newMetadata } from '../../../src/slack/ids.ts';
import { readView } from '../../../src/slack/request.ts';
import { type AskedItem, fieldsOf, formOf } from '../support/questions.ts';
import { stateOf } from '../support/slack-state.ts';

const metadata = newMetadata({ sessionId: '3f9a2c1d', formId: 'form-1' });
const hall: AskedItem = { title: 'Hall', description: 'One of: A, B' };

/** What a person filled into the fields of one position: the input, and the line for an own answer or a note. */
interface Filled {
	readonly field?: object;
	readonly other?: string | null;
}

/** Builds the form, fills it in and reads it as Slack returns it. */
function answer(
	items: readonly AskedItem[],
	filled: Readonly<Record<number, Filled>>,
	more: {
		partial?: boolean;
		plainText?: boolean;
		draft?: Record<number, string>;
		untouched?: 'kept' | 'null' | 'absent';
	} = {},
) {
	const { partial = false, plainText = false, draft = {}, untouched = 'kept' } = more;
	const form = formOf(items, { ...metadata, partial, plainText }, { draft });
	const state: Record<string, Record<string, object>> = stateOf(form as never, untouched) as never;
	for (const { block_id: id = '', element } of fieldsOf(form.blocks)) {
		const [, , , position, variant] = id.split('.');
		const done = filled[Number(position)];
		if (variant === 'other' && done?.other !== undefined) {
			state[id] = { 'form.other_text': { type: 'plain_text_input', value: done.other } };
		}
		if (variant !== 'other' && done?.field !== undefined)
			state[id] = { 'form.field': { type: element.type, ...done.field } };
	}
	const decoded = decodeMetadata(encodeMetadata(form.metadata));
	if (decoded === null) throw new Error('the metadata cannot be read back');
	const { choices } = readView({ id: 'V1', blocks: form.blocks });
	const reading = readForm({ values: state, choices, metadata: decoded, draft });
	if (Object.keys(reading.fieldErrors).length === 0) return reading;
	expect(validateResponseActionErrors({ type: 'modal', blocks: form.blocks }, reading.fieldErrors)).toEqual([]);
	return reading;
}

const option = (value: string, text = value) => ({ selected_option: { value, text: { type: 'plain_text', text } } });

describe('readForm', () => {
	const proceed: AskedItem = { title: 'Proceed?', description: '(yes/no)' };
	it.each<[what: string, item: AskedItem, filled: Filled, value: string]>([
		['text', { title: 'Notes' }, { field: { value: ' two\nlines ' } }, ' two\nlines '],
		['yes', proceed, { field: option('Yes') }, 'Yes'],
		['no', proceed, { field: option('No') }, 'No'],
		['an option', hall, { field: option('B') }, 'B'],
		['an option with a note', hall, { field: option('B'), other: 'By the door, please' }, 'B. By the door, please'],
		['a refusal with its reason', proceed, { field: option('No'), other: 'Too expensive' }, 'No. Too expensive'],
		['a text without an option', hall, { other: 'The garden' }, 'The garden'],
		['a text beside "none of these"', hall, { field: option(NO_OPTION), other: 'The garden' }, 'The garden'],
		['an option with a blank note', hall, { field: option('B'), other: ' ' }, 'B'],
		['a number as typed', { title: 'How many guests?' }, { field: { value: '007.50' } }, '007.50'],
		['a password', { title: 'Password' }, { field: { value: 'hunter2' } }, 'hunter2'],
	])('reads %s as a string', (_, item, filled, value) => {
		const reading = answer([item], { 0: filled });
		expect(reading).toMatchObject({ values: { 0: value }, missing: [], fieldErrors: {} });
	});

	it('reads dates and times as Slack writes them', () => {
		const items = [{ title: 'Departure date' }, { title: 'Start time' }];
		const reading = answer(items, {
			0: { field: { selected_date: '2026-12-12' } },
			1: { field: { selected_time: '09:30' } },
		});
		expect(reading).toMatchObject({ values: { 0: '2026-12-12', 1: '09:30' }, fieldErrors: {} });
	});

	it('reads the original text of an option that Slack changed', () => {
		const item = { title: 'Mood', description: 'One of: 👍 & more, :wave:, fine' };
		expect(answer([item], { 0: { field: option('👍 & more', ':+1: &amp; more') } }).values).toEqual({ 0: '👍 & more' });
	});

	it('keeps secrets out of drafts', () => {
		const reading = answer([{ title: 'Password' }, { title: 'Notes' }], {
			0: { field: { value: 'hunter2' } },
			1: { field: { value: 'x' } },
		});
		expect(reading.draft).toEqual({ 1: 'x' });
	});
});

describe('missing values', () => {
	it('reports a missing value at its field', () => {
		const reading = answer([{ title: 'a' }, { title: 'b' }], {
			0: { field: { value: 'x' } },
			1: { field: { value: ' \n' } },
		});
		expect(reading).toMatchObject({ values: { 0: 'x', 1: '' }, missing: [1] });
		expect(Object.entries(reading.fieldErrors)).toEqual([
			[expect.stringMatching(/^q\.1\.[0-9a-f]{8}\.1\.guessed$/), expect.stringContaining('Please fill this in')],
		]);
	});

	it('allows empty fields in a partial answer, but not all of them', () => {
		const items = [{ title: 'a' }, { title: 'b' }];
		expect(answer(items, { 1: { field: { value: 'x' } } }, { partial: true })).toMatchObject({
			values: { 0: '', 1: 'x' },
			missing: [0],
			fieldErrors: {},
		});
		const nothing = answer(items, {}, { partial: true });
		expect(Object.values(nothing.fieldErrors)).toEqual(['Fill in at least one field.']);
	});

	it('reports a choice without option and text', () => {
		for (const fields of [{}, { 0: { field: option(NO_OPTION) } }, { 0: { field: option(NO_OPTION), other: ' ' } }]) {
			const { fieldErrors } = answer([hall], fields);
			expect(Object.entries(fieldErrors)).toEqual([[expect.stringContaining('.guessed'), FIELD_ERRORS.missingChoice]]);
		}
	});
});

describe('values of a wrong format', () => {
	it.each<[item: AskedItem, field: object, words: string]>([
		[{ title: 'How many guests?' }, { value: 'a dozen' }, 'number'],
		[{ title: 'Your e-mail address' }, { value: 'ada' }, 'e-mail'],
		[{ title: 'URL of the page' }, { value: 'javascript:alert(1)' }, 'web address'],
		[{ title: 'Departure date' }, { selected_date: '2026-02-30' }, 'date'],
		[{ title: 'Start time' }, { selected_time: '24:00' }, 'time'],
	])('reports a wrong format at its field: %j', (item, field, words) => {
		expect(Object.values(answer([item], { 0: { field } }).fieldErrors)).toEqual([expect.stringContaining(words)]);
	});

	it('accepts any format and any password in plain text', () => {
		const items = [{ title: 'Password' }, { title: 'Notes' }, { title: 'How many guests?' }];
		const values = { 0: 'a\nb', 1: 'c', 2: 'a dozen' };
		const filled = Object.fromEntries(Object.entries(values).map(([at, value]) => [at, { field: { value } }]));
		const reading = answer(items, filled, { plainText: true });
		expect(reading).toMatchObject({ values, draft: { 1: 'c', 2: 'a dozen' }, missing: [], fieldErrors: {} });
		expect(reading.draft).not.toHaveProperty('0');
	});

	it('reports an answer that is too large at the longest text', () => {
		const items = [{ title: 'a', description: 'x'.repeat(95_000) }, { title: 'b' }];
		const fits = { 0: { field: { value: '漢'.repeat(100) } }, 1: { field: { value: 'y'.repeat(2000) } } };
		expect(answer(items, fits).fieldErrors).toEqual({});
		const over = answer(items, { ...fits, 1: { field: { value: '漢'.repeat(2000) } } });
		expect(Object.entries(over.fieldErrors)).toEqual([
			[
				expect.stringMatching(/\.1\.guessed$/),
				expect.stringMatching(/^The question and your answers together are \d+ kB larger/),
			],
		]);
	});

	it('counts the size of an answer to the byte', () => {
		const form = formOf([{ title: 'a' }], metadata);
		const room = PUT_LIMIT_BYTES - form.metadata.putOverheadBytes;
		const [{ block_id: id = '' } = {}] = fieldsOf(form.blocks);
		const errors = (value: string) =>
			readForm({ values: { [id]: { 'form.field': { value } } }, choices: {}, metadata: form.metadata, draft: {} })
				.fieldErrors;
		expect(errors('x'.repeat(room))).toEqual({});
		expect(Object.keys(errors('x'.repeat(room + 1)))).toEqual([id]);
	});
});

describe('initial values', () => {
	const items = [{ title: 'Notes' }, hall, { title: 'How many guests?' }];
	const draft = { 0: 'x'.repeat(12_340), 1: 'A. The garden', 2: '12' };

	it.each(['kept', 'null', 'absent'] as const)(
		'reads initial values in full when Slack returns untouched fields as %s',
		(untouched) => {
			expect(answer(items, {}, { draft, untouched })).toMatchObject({ values: draft, missing: [], fieldErrors: {} });
		},
	);

	it('reads typed text instead of the initial value', () => {
		const filled = { 0: { field: { value: 'short' } }, 1: { field: option('B') }, 2: { field: { value: '3' } } };
		expect(answer(items, filled, { draft }).values).toEqual({ 0: 'short', 1: 'B. The garden', 2: '3' });
	});

	it('reads the note beside an option that Slack leaves out, and the other way round, and what the person emptied', () => {
		const form = formOf([hall], metadata, { draft: { 0: 'A. The garden' } });
		const [choice = '', note = ''] = fieldsOf(form.blocks).map(({ block_id: id = '' }) => id);
		const { choices } = readView({ id: 'V1', blocks: form.blocks });
		const read = (values: object, acted?: string) =>
			readForm({ values: values as never, choices, metadata: form.metadata, draft: { 0: 'A. The garden' }, acted })
				.values[0];
		const chosen = { [choice]: { 'form.field': option('B') } };
		const written = { [note]: { 'form.other_text': { type: 'plain_text_input', value: 'The pond' } } };
		expect([read({}), read(chosen), read(written), read({ ...chosen, ...written })]).toEqual([
			'A. The garden',
			'B. The garden',
			'A. The pond',
			'B. The pond',
		]);
		const emptied = { [note]: { 'form.other_text': { type: 'plain_text_input', value: null } } };
		const unchosen = { [choice]: { 'form.field': { type: 'static_select', selected_option: null } } };
		expect([read(emptied, note), read(unchosen, choice)]).toEqual(['A', 'The garden']);
	});

	it.each(['kept', 'null', 'absent'] as const)(
		'reads once what was typed as text and is shown as Yes, when Slack returns untouched fields as %s',
		(untouched) => {
			const asked = { title: 'Proceed?', description: '(yes/no)' };
			expect(answer([asked], {}, { draft: { 0: 'yes' }, untouched }).values).toEqual({ 0: 'Yes' });
		},
	);

	it.each([
		['A, by the door', 'A. A, by the door'],
		['a lot of light', 'A. a lot of light'],
		['a', 'A'],
		['By the door', 'A. By the door'],
		['All of it', 'A. All of it'],
		['(by the door)', 'A. (by the door)'],
	])('sends the option before its note %j, and one that is the option once', (other, sent) => {
		expect(answer([hall], { 0: { field: option('A'), other } }).values).toEqual({ 0: sent });
	});

	it('reads an empty value for the emptied field of the event', () => {
		const form = formOf([{ title: 'Notes' }], metadata, { draft: { 0: 'old' } });
		const [{ block_id: id = '' } = {}] = fieldsOf(form.blocks);
		const values = { [id]: { 'form.field': { type: 'plain_text_input', value: null } } };
		const input = { values, choices: {}, metadata: form.metadata, draft: { 0: 'old' } };
		expect(readForm({ ...input, acted: id }).values).toEqual({ 0: '' });
		expect(readForm(input).values).toEqual({ 0: 'old' });
	});

	it('reads no draft into a field that was shown empty', () => {
		const form = formOf([{ title: 'Notes' }], metadata);
		expect(
			readForm({ values: {}, choices: {}, metadata: form.metadata, draft: { 0: 'of another form' } }).values,
		).toEqual({ 0: '' });
	});
});

describe('malformed states', () => {
	it.each([null, 'x', 7, [], { a: 1 }, { 'q.1.x.0.guessed': { 'form.field': { value: 7 } } }])(
		'reads a malformed state as empty: %j',
		(values) => {
			const form = formOf([{ title: 'a' }], metadata);
			const view = readView({ id: 'V1', state: { values } });
			expect(readForm({ values: view.values, choices: {}, metadata: form.metadata, draft: {} })).toMatchObject({
				values: { 0: '' },
				missing: [0],
			});
		},
	);
});
