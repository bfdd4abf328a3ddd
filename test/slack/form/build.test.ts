import type { InputBlock, KnownBlock } from '@slack/types';
import { describe, expect, it } from 'vitest';
import { buildForm } from '../../../src/slack/form/build.ts';
import { NO_OPTION, newMetadata, type ViewMetadata } from '../../../src/slack/ids.ts';
import { type AskedItem, fieldsOf, formOf, questionOf, textsOf } from '../support/questions.ts';

const metadata = newMetadata({ sessionId: '3f9a2c1d', formId: 'form-1' });
const listOf = (count: number): AskedItem => ({
	title: 'Hall',
	description: `One of: ${Array.from({ length: count }, (_, at) => `Hall ${at}`).join(', ')}`,
});

const typed = (title: string, multiline: boolean) => ({
	item: { title },
	type: 'plain_text_input',
	more: { multiline },
});

describe('inputs', () => {
	it.each<{ what: string; item: AskedItem; type: string; more?: object }>([
		{ what: 'yes or no', item: { title: 'Proceed?', description: '(yes/no)' }, type: 'radio_buttons' },
		{ what: 'a few options', item: { title: 'Hall', description: 'One of: A, B, C' }, type: 'radio_buttons' },
		{ what: 'many options', item: listOf(10), type: 'static_select' },
		{ what: 'nine options', item: listOf(9), type: 'radio_buttons' },
		{ what: 'a number', item: { title: 'How many guests?' }, type: 'number_input', more: { is_decimal_allowed: true } },
		{ what: 'an address', item: { title: 'Your e-mail address' }, type: 'email_text_input' },
		{ what: 'a link', item: { title: 'URL of the page' }, type: 'url_text_input' },
		{ what: 'a date', item: { title: 'Departure date' }, type: 'datepicker' },
		{ what: 'a time', item: { title: 'Start time' }, type: 'timepicker' },
		{ what: 'a password', item: { title: 'Password' }, type: 'plain_text_input', more: { multiline: false } },
		...[
			...'SSH private key | Ihr privater Schlüssel | 秘密鍵 | Service account JSON'.split(' | '),
			...'Códigos de recuperación | .env with the database password'.split(' | '),
		].map((title) => ({ what: `the lines of “${title}”`, ...typed(title, true) })),
		...'Passphrase of the private key | Recovery code | Passwort für das Zertifikat'
			.split(' | ')
			.map((title) => ({ what: `the line of “${title}”`, ...typed(title, false) })),
		{
			what: 'anything',
			item: { title: 'What now?' },
			type: 'plain_text_input',
			more: { multiline: true, max_length: 3000 },
		},
	])('chooses the input for $what', ({ item, type, more }) => {
		const [field] = fieldsOf(formOf([item], metadata).blocks);
		expect(field?.element).toMatchObject({ type, action_id: 'form.field', ...more });
		expect(field?.optional).toBe(false);
	});

	it('offers one line for an own answer or a note at its end, and a last option for it where that belongs', () => {
		const hall = { title: 'Hall', description: 'One of: A, B' };
		const items = [{ title: 'Proceed?', description: '(yes/no)' }, { title: 'Remarks' }];
		const [first, choice, text, note, ...others] = fieldsOf(formOf([hall, ...items], metadata).blocks);
		expect(others).toEqual([]);
		expect(optionsOf(first)).toEqual([
			['A', 'A'],
			['B', 'B'],
		]);
		expect(first).toMatchObject({ optional: false });
		expect(first?.element).not.toHaveProperty('initial_option');
		expect(text).toMatchObject({ label: { text: 'Remarks' } });
		expect(optionsOf(choice)).toEqual([
			['Yes', 'Yes'],
			['No', 'No'],
			['None of these (write below)', NO_OPTION],
		]);
		// Slack would refuse a text alone where a required choice is empty.
		expect(choice).toMatchObject({ optional: false, element: { initial_option: { value: NO_OPTION } } });
		const line = { type: 'plain_text_input', action_id: 'form.other_text', multiline: false };
		expect(note).toMatchObject({
			optional: true,
			label: { text: 'Note, or your own answer to question 2' },
			element: line,
		});
		expect(note).not.toHaveProperty('hint');
		const own = fieldsOf(formOf([hall], metadata, { draft: { 0: 'The garden' } }).blocks);
		expect(own[1]).toMatchObject({ label: { text: 'Note, or your own answer' } });
		expect(own.map(({ element }) => element)).toMatchObject([
			{ initial_option: { value: NO_OPTION } },
			{ initial_value: 'The garden' },
		]);
		const lines = fieldsOf(formOf([hall], metadata, { draft: { 0: 'A. one\ntwo' } }).blocks)[1];
		expect(lines?.element).toMatchObject({ multiline: true, initial_value: 'one\ntwo' });
		// Slack takes no initial value that shows nothing.
		const blank = fieldsOf(formOf([hall], metadata, { draft: { 0: 'A. \n' } }).blocks)[1];
		expect(blank?.element).not.toHaveProperty('initial_value');
	});

	it('shows an own text for options without that line as plain text, also in a refresh', () => {
		const hall = { title: 'Hall', description: 'One of: A, B' };
		const items = [hall, { title: 'Proceed?', description: '(yes/no)' }];
		for (const text of ['The garden', 'A. The garden']) {
			for (const before of [metadata, formOf(items, metadata).metadata]) {
				const form = formOf(items, before, { draft: { 0: text, 1: 'Perhaps' } });
				expect(fieldsOf(form.blocks).map(({ element }) => element)).toMatchObject([
					{ type: 'plain_text_input', initial_value: text },
					{ type: 'radio_buttons', initial_option: { value: NO_OPTION } },
					{ type: 'plain_text_input', initial_value: 'Perhaps' },
				]);
			}
		}
		expect(fieldsOf(formOf(items, metadata, { draft: { 0: 'b' } }).blocks)[0]?.element).toMatchObject({
			initial_option: { value: 'B' },
		});
	});

	it.each([
		['One of: A1, B2', undefined],
		['**Options**:\n- A1\n- B2', undefined],
		['{"options": ["A1", "B2"]}', undefined],
		['B2 costs more. Options: A1 | B2', 'B2 costs more.'],
	])('shows the description %j only if it says more than the options', (description, hint) => {
		const [choice] = fieldsOf(formOf([{ title: 'Hall', description }], metadata).blocks);
		expect(optionsOf(choice)).toHaveLength(3);
		expect(choice?.hint?.text).toBe(hint);
	});

	it('shows options that are longer than a label whole above, as they are written', () => {
		const long = `The hall ${'by the sea '.repeat(12).trim()}`;
		const longer = `The hall ${'in the park '.repeat(20).trim()}`;
		const { blocks } = formOf([{ title: 'Hall', description: `Options: ${long} | None | ${longer}` }], metadata);
		const text = JSON.stringify(blocks[0]);
		expect(text).toContain(`Options: ${long} | None | ${longer}`);
		const [choice] = fieldsOf(blocks);
		type Shown = { text: { text: string }; description?: { text: string }; value: string };
		const element = choice?.element as { options: Shown[] };
		const labels = element.options.map((option) => [option.text.text, option.description?.text]);
		expect(labels).toEqual([
			[`${long.slice(0, 74)}…`, `…${long.slice(74)}`],
			['None', undefined],
			[`${longer.slice(0, 74)}…`, `…${longer.slice(74, 147)}…`],
			['None of these (write below)', undefined],
		]);
		// Slack takes 150 characters: the third one's text is kept beside the form.
		expect(element.options.map(({ value }) => value)).toEqual([long, 'None', 'handraise.2', NO_OPTION]);
	});

	it.each([
		['5\u202e00 EUR', '500 EUR'],
		['500\u200b EUR', '500 EUR'],
		['500\u00a0EUR', '500 EUR'],
		['password: hunter2-first', 'password: hunter2-second'],
		['None of these (write below)', 'All of these'],
	])('offers no choice between %j and %j, which look the same, or like one of ours', (one, other) => {
		const [field, ...others] = fieldsOf(
			formOf([{ title: 'Which?', description: `Options:\n- ${one}\n- ${other}` }], metadata).blocks,
		);
		expect(others).toEqual([]);
		expect(field?.element.type).toBe('plain_text_input');
	});

	it('leaves out the agent’s draft only where the field has it', () => {
		const description = 'For the letter.\nDraft: Dear Bob, it is 900 EUR.';
		const hintOf = (title: string, draft: Record<number, string>) =>
			JSON.stringify(formOf([{ title, description }], metadata, { draft }).blocks);
		const drafted = 'Dear Bob, it is 900 EUR.';
		expect(hintOf('Text', { 0: drafted }).split(drafted)).toHaveLength(2);
		for (const shown of [hintOf('Text', { 0: 'Dear Ann' }), hintOf('Password', { 0: drafted })])
			expect(shown.split(drafted)).toHaveLength(2);
	});

	it('uses long text if Slack cannot take an option or there are too many', () => {
		const many = `One of: ${Array.from({ length: 100 }, (_, at) => `choice ${at}`).join(', ')}`;
		// As the value of an option this would make the whole view text that is no JSON.
		const halfPair = 'One of: Red, Blue \ud83d';
		for (const description of [many, halfPair]) {
			const fields = fieldsOf(formOf([{ title: 'Hall', description }], metadata).blocks);
			expect(fields.map(({ element }) => element.type)).toEqual(['plain_text_input']);
		}
	});

	it('uses long text for every item in plain text', () => {
		const items = [
			{ title: 'Notes' },
			{ title: 'Hall', description: 'One of: A, B' },
			{ title: 'Your e-mail address' },
		];
		const fields = fieldsOf(formOf(items, { ...metadata, plainText: true }).blocks);
		expect(fields).toHaveLength(3);
		for (const { element } of fields) expect(element).toMatchObject({ type: 'plain_text_input', multiline: true });
	});

	it('takes several lines for a secret in plain text without changing its block_id', () => {
		const [guessed] = fieldsOf(formOf([{ title: 'Password' }], metadata).blocks);
		const [plain] = fieldsOf(formOf([{ title: 'Password' }], { ...metadata, plainText: true }).blocks);
		expect(guessed?.element).toMatchObject({ multiline: false });
		expect(plain?.element).toMatchObject({ multiline: true });
		expect(plain?.block_id).toBe(guessed?.block_id);
	});

	it('reports typing, but not in secret fields', () => {
		const [secret, text] = fieldsOf(formOf([{ title: 'Password' }, { title: 'Notes' }], metadata).blocks);
		expect(secret?.dispatch_action).toBe(false);
		expect(secret?.element).not.toHaveProperty('dispatch_action_config');
		expect(text).toMatchObject({
			dispatch_action: true,
			element: { dispatch_action_config: { trigger_actions_on: ['on_character_entered'] } },
		});
	});

	it('makes every input optional for a partial answer', () => {
		const fields = fieldsOf(formOf([{ title: 'a' }, { title: 'b' }], { ...metadata, partial: true }).blocks);
		expect(fields.map(({ optional }) => optional)).toEqual([true, true]);
	});
});

describe('labels and hints', () => {
	it('shows the title as label and a short description as hint', () => {
		const [field] = fieldsOf(formOf([{ title: 'Colour', description: 'of the front door' }], metadata).blocks);
		expect(field).toMatchObject({ label: { text: 'Colour' }, hint: { text: 'of the front door' } });
	});

	it('shows a long description as text above the input', () => {
		const { blocks } = formOf([{ title: 'Colour', description: `**Think** of <!here>\n${'x'.repeat(200)}` }], metadata);
		expect(blocks.map(({ type }) => type)).toEqual(['rich_text', 'input']);
		expect(textsOf(blocks)[0]).toMatch(/^> \*Think\* of <!here>\n> x+$/);
	});

	it('says how much of a very long description is cut', () => {
		const { blocks } = formOf([{ title: 'a', description: 'x'.repeat(10_000) }], metadata);
		expect(textsOf(blocks)[0]).toMatch(/x\n> … \([\d,]+ more characters\)$/);
	});

	it('names the place of items without a title or with the same title', () => {
		const fields = fieldsOf(formOf([{ title: '' }, { title: 'Name' }, { title: 'Name' }], metadata).blocks);
		expect(fields.map(({ label }) => label.text)).toEqual([
			'Question 1 of 3',
			'Name (question 2 of 3)',
			'Name (question 3 of 3)',
		]);
		expect(fieldsOf(formOf([{ title: ' ' }], metadata).blocks)[0]?.label.text).toBe('Your answer');
	});
});

describe('buildForm', () => {
	it('has fields for open items only and keeps their positions', () => {
		const form = formOf([{ title: 'a', value: 'done' }, { title: 'b' }], metadata, { status: 'humanInput' });
		expect(form.metadata.fields).toEqual([1]);
		expect(fieldsOf(form.blocks)[0]?.block_id).toMatch(/^q\.1\.[0-9a-f]{8}\.1\.guessed$/);
	});

	it('shows up to 30 items with their descriptions and up to 90 without', () => {
		const items = (count: number) =>
			Array.from({ length: count }, (_, at) => ({ title: `t${at}`, description: `${at} ${'x'.repeat(200)}` }));
		expect(formOf(items(30), metadata).blocks).toHaveLength(60);
		const bare = formOf(items(31), metadata).blocks;
		expect(bare).toHaveLength(31);
		expect(fieldsOf(bare)[30]?.hint?.text).toMatch(/^30 x+/);
		expect(formOf(items(90), metadata).blocks).toHaveLength(90);
		expect(buildForm(questionOf(items(91)), metadata, {})).toEqual({ kind: 'tooMany', count: 91 });
	});

	it('builds no form if the question alone is larger than the service accepts', () => {
		const form = buildForm(questionOf([{ title: 'a', description: '漢'.repeat(40_000) }]), metadata, {});
		expect(form).toEqual({ kind: 'tooLarge' });
	});

	it('counts the bytes of the PUT without the values', () => {
		const items = [
			{ title: 'ä', description: '"', value: '' },
			{ title: 'b', description: '', value: 'kept' },
		];
		const { putOverheadBytes } = formOf(items, metadata, { status: 'humanInput' }).metadata;
		const body = { sessionId: '3f9a2c1d', humanInputResponse: items, messageIndex: 1 };
		expect(putOverheadBytes).toBe(Buffer.byteLength(JSON.stringify(body)));
	});

	it('keeps every block_id on refresh, paging and optional fields, and changes all of them for plain text', () => {
		const items = [
			{ title: 'Your e-mail address' },
			{ title: 'Hall', description: 'One of: A, B' },
			{ title: 'Notes' },
		];
		const ids = (of: ViewMetadata, draft = {}) => formOf(items, of, { draft });
		const first = ids(metadata);
		const half = { 0: 'ada@', 1: 'C', 2: 'x' };
		expect(idsOf(ids(first.metadata, half).blocks)).toEqual(idsOf(first.blocks));
		expect(idsOf(ids({ ...first.metadata, partial: true, page: 3 }, half).blocks)).toEqual(idsOf(first.blocks));
		const plain = ids({ ...first.metadata, plainText: true }, half);
		expect(idsOf(plain.blocks).some((id) => idsOf(first.blocks).includes(id))).toBe(false);
		expect(initials(plain.blocks)).toEqual(['ada@', 'C', 'x']);
		const back = ids({ ...plain.metadata, plainText: false }, half);
		expect(fieldsOf(back.blocks).map(({ element }) => element.type)).toEqual([
			'plain_text_input',
			'radio_buttons',
			'plain_text_input',
			'plain_text_input',
		]);
		expect(initials(back.blocks)).toEqual(['ada@', 'x', 'C']);
	});
});

describe('initial values', () => {
	it.each<[item: AskedItem, text: string, initial: object]>([
		[{ title: 'Proceed?', description: '(yes/no)' }, 'No', { initial_option: { value: 'No' } }],
		[{ title: 'Hall', description: 'One of: A, B' }, 'B', { initial_option: { value: 'B' } }],
		[{ title: 'Hall', description: 'One of: A, B' }, 'B. By the door', { initial_option: { value: 'B' } }],
		[{ title: 'How many guests?' }, '12.5', { initial_value: '12.5' }],
		[{ title: 'Your e-mail address' }, 'ada@example.org', { initial_value: 'ada@example.org' }],
		[{ title: 'URL of the page' }, 'https://example.org', { initial_value: 'https://example.org' }],
		[{ title: 'Departure date' }, '2026-02-28', { initial_date: '2026-02-28' }],
		[{ title: 'Start time' }, '09:30', { initial_time: '09:30' }],
		[{ title: 'Notes' }, 'a\nb', { initial_value: 'a\nb' }],
	])('fills in an initial value: %j with %j', (item, text, initial) => {
		const form = formOf([item], metadata, { draft: { 0: text } });
		expect(fieldsOf(form.blocks)[0]?.element).toMatchObject(initial);
		expect(form.metadata.offered).toEqual([0]);
	});

	it.each<[item: AskedItem, text: string]>([
		[{ title: 'How many guests?' }, 'a dozen'],
		[{ title: 'Your e-mail address' }, 'ada@'],
		[{ title: 'URL of the page' }, 'example'],
		[{ title: 'Departure date' }, '2026-02-30'],
		[{ title: 'Start time' }, '25:00'],
	])('turns a field into plain text if its input does not take the initial value: %j with %j', (item, text) => {
		const form = formOf([item], metadata, { draft: { 0: text } });
		expect(fieldsOf(form.blocks)[0]?.element).toMatchObject({ type: 'plain_text_input', initial_value: text });
		expect(form.metadata.asText).toEqual([0]);
	});

	it('offers no initial value for a secret', () => {
		const form = formOf([{ title: 'Password' }], metadata, { draft: { 0: 'hunter2' } });
		expect(JSON.stringify(form)).not.toContain('hunter2');
		expect(form.metadata).toMatchObject({ secret: [0], offered: [] });
		const long = formOf([{ title: 'Password' }], metadata, { draft: { 0: 'x'.repeat(4321) } });
		expect(JSON.stringify(long)).not.toContain('4,321');
	});

	it('cuts an initial value that is longer than an input and says so', () => {
		const form = formOf([{ title: 'Notes' }], metadata, { draft: { 0: 'x'.repeat(12_340) } });
		const [field] = fieldsOf(form.blocks);
		expect(field?.element).toMatchObject({ initial_value: 'x'.repeat(3000) });
		expect(field?.hint?.text).toContain('Your text of 12,340 characters is longer than a field in Slack can show.');
	});

	it('shortens initial values rather than making the view too large', () => {
		const items = Array.from({ length: 90 }, (_, at) => ({ title: `t${at}` }));
		const draft = Object.fromEntries(items.map((_, at) => [at, '漢'.repeat(3000)]));
		const form = formOf(items, metadata, { draft });
		expect(Buffer.byteLength(JSON.stringify(form.blocks))).toBeLessThan(150_000);
		expect(form.metadata.offerLimit).toBeLessThan(3000);
		expect(initials(form.blocks).every((text) => text.length === form.metadata.offerLimit)).toBe(true);
		// The fields still hold the text as it was cut first, so later showings must compare with the same limit.
		const again = formOf(items, form.metadata, { draft: { 0: 'short' } });
		expect(again.metadata.offerLimit).toBe(form.metadata.offerLimit);
	});
});

function idsOf(blocks: readonly KnownBlock[]): (string | undefined)[] {
	return fieldsOf(blocks).map(({ block_id }) => block_id);
}

function initials(blocks: readonly KnownBlock[]): string[] {
	return fieldsOf(blocks).flatMap(({ element }) =>
		'initial_value' in element && typeof element.initial_value === 'string' ? [element.initial_value] : [],
	);
}

function optionsOf(field: InputBlock | undefined): [string, string | undefined][] {
	const options = field?.element.type === 'radio_buttons' ? field.element.options : [];
	return options.map(({ text, value }) => [text.text, value]);
}
