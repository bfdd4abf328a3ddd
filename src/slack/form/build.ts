import type { InputBlock, KnownBlock, PlainTextOption } from '@slack/types';
import type { OnCut } from '../../core/cut.ts';
import { mergeForPut, putBodyOf } from '../../questions/compare.ts';
import { YES_NO } from '../../questions/input-kind.ts';
import type { Question } from '../../questions/session.ts';
import { ACTIONS, type ActionId, type FieldVariant, fieldBlockId, secretBlockId, type ViewMetadata } from '../ids.ts';
import { context, section } from '../parts.ts';
import { isBlank, oneLine, plain, quotedMarkdown, quotedTitle } from '../text.ts';
import { sentences } from '../words.ts';
import {
	DESCRIBED_FIELDS,
	type Field,
	hasOptions,
	INPUT_LIMIT,
	isShown,
	MOST_FIELDS,
	OTHER_OPTION,
	offerOf,
	PUT_LIMIT_BYTES,
	planFields,
	type Values,
	yesNoOption,
} from './fields.ts';

/** A question as input blocks, or why it cannot be answered in Slack. */
export type Form =
	/** `metadata` has to go into the view: `readForm` needs it. */
	| { readonly kind: 'fields'; readonly blocks: readonly KnownBlock[]; readonly metadata: ViewMetadata }
	| { readonly kind: 'tooMany'; readonly count: number }
	/** The question's own texts are so long that the service would refuse the PUT. */
	| { readonly kind: 'tooLarge' };

/** The least room for answers besides the question's own texts. */
const LEAST_ROOM_BYTES = 1000;
/** Of the 250 KB that a view may take; the other blocks need some of it. */
const FORM_BYTES = 150_000;
/** With more fields, the warning about secrets is in the hints, because there is no room for a block. */
const FEW_FIELDS = 10;
const SMALLEST = { text: 75, offer: 60 };
/** Characters of a title or a description, and of an initial value; fewer when a form would outgrow a view. */
const SHRINKING = [
	{ text: 2900, offer: INPUT_LIMIT },
	{ text: 1500, offer: INPUT_LIMIT },
	{ text: 700, offer: 1500 },
	{ text: 300, offer: 600 },
	{ text: 120, offer: 200 },
];

/**
 * Builds the fields of the open items. `draft`: by position; shown cut to what an input takes. `metadata`: of the view as it
 * is, so that a refresh keeps every block_id. `secret`: positions whose box is ticked; if left out, those that look secret.
 */
export function buildForm(
	question: Question,
	metadata: ViewMetadata,
	draft: Values,
	{ secret, onCut }: { secret?: readonly number[] | undefined; onCut?: OnCut } = {},
): Form {
	const count = question.openItems.length;
	if (count > MOST_FIELDS) return { kind: 'tooMany', count };
	const emptyValues = question.items.map(() => '');
	const empty = putBodyOf(metadata.sessionId, question.messageIndex, mergeForPut(question.items, emptyValues));
	const bytes = Buffer.byteLength(empty);
	if (bytes + LEAST_ROOM_BYTES > PUT_LIMIT_BYTES) return { kind: 'tooLarge' };

	const isShownAgain = isShown(metadata, question);
	const fields = planFields(question, metadata, draft, secret ?? null);
	const warned = count <= FEW_FIELDS ? fields.find((field) => field.secret) : undefined;
	const positionsOf = (test: (field: Field) => boolean) => fields.filter(test).map(({ position }) => position);
	const formOf = (size: (typeof SHRINKING)[number]) => {
		// `readForm` cuts texts to the limit of the first showing before it compares them.
		const limits = isShownAgain ? { ...size, offer: metadata.offerLimit } : size;
		const shown: ViewMetadata = {
			...metadata,
			messageIndex: question.messageIndex,
			fingerprint: question.fingerprint,
			shownHash: question.shownHash,
			putOverheadBytes: bytes,
			fields: positionsOf(() => true),
			offered: positionsOf((field) => offerOf(field, limits.offer) !== null),
			shown: metadata.plainText ? 'plain' : 'guessed',
			asText: positionsOf((field) => field.variant === 'plain'),
			withOptions: positionsOf((field) => field.variant === 'guessed' && hasOptions(field)),
			secret: positionsOf((field) => field.secret),
			offerLimit: limits.offer,
		};
		const form = { question, metadata: shown, limits, onCut };
		const inputs = fields.flatMap((field) => [
			...context(field === warned ? `⚠️ ${SECRET_WARNING}` : ''),
			...fieldBlocks(field, form),
		]);
		return { kind: 'fields', blocks: [...inputs, secretBox(form, fields)], metadata: shown } as const;
	};
	for (const size of SHRINKING) {
		const form = formOf(size);
		if (Buffer.byteLength(JSON.stringify(form.blocks)) <= FORM_BYTES) return form;
	}
	return formOf(SMALLEST);
}

/* Hints and errors of form fields are plain text: Slack shows no mark-up in them. */

export const SECRET_WARNING =
	'Slack cannot hide what you type, so check who can see your screen. Handraise never shows the answer again, and removes it after delivery.';

export const NEVER_GIVE = 'Never give an agent a password that you would not give to the people who run it.';

const SECRET_MEANING =
	'Handraise shows a secret answer to nobody, and removes it after delivery. The agent may still repeat it.';

const SECRET_TICKED =
	'Whatever looks like a password or a code is ticked. Without the tick, it is treated like any other answer.';

function cutHint(characters: number): string {
	return `Your text of ${characters.toLocaleString('en-US')} characters is longer than a field in Slack can show. The full text is sent if you do not change this field.`;
}

interface FieldContext {
	readonly question: Question;
	/** Of the view with these fields. */
	readonly metadata: ViewMetadata;
	readonly limits: (typeof SHRINKING)[number];
	readonly onCut: OnCut | undefined;
}

/** A long description, the input, and the text for "Something else…". */
function fieldBlocks(field: Field, form: FieldContext): KnownBlock[] {
	const { question, limits, onCut } = form;
	const count = question.openItems.length;
	const { title = '', description = '' } = question.items[field.position] ?? {};
	const label = labelOf(question, field.position, limits.text, onCut);
	const short = oneLine(description, limits.text);
	const isHint = count > DESCRIBED_FIELDS || (short.length <= 150 && !description.trim().includes('\n'));
	const text = isHint ? '' : quotedMarkdown(description, Math.min(limits.text, 2900), onCut);
	const hint = sentences(
		field.secret && count > FEW_FIELDS ? SECRET_WARNING : '',
		isHint && description.trim() !== title.trim() && !repeatsOptions(field, description)
			? quotedTitle(description, Math.min(limits.text, 300), onCut)
			: '',
		field.text.length > limits.offer ? cutHint(field.text.length) : '',
	);
	const blocks = [
		...section(text, { expand: true }),
		inputBlock(field, form, field.variant, { label, element: elementOf(field, form), hint }),
	];
	if (!hasOtherText(field)) return blocks;
	const other = `Something else, for: ${labelOf(question, field.position, OTHER_TITLE)}`;
	const offer = field.options.includes(field.text) ? null : offerOf(field, limits.offer);
	const element = { ...typedInput(field, ACTIONS.otherText, offer), ...LONG_TEXT };
	return [...blocks, inputBlock(field, form, 'other', { label: other, element })];
}

/** Whether a description only repeats the options of its field: "One of: A, B". */
function repeatsOptions(field: Field, description: string): boolean {
	if (!hasOtherText(field)) return false;
	const longestFirst = field.options.toSorted((a, b) => b.length - a.length);
	const remainder = longestFirst.reduce((text, option) => text.replace(option, ' '), description);
	return /^(one|either|any|of|options?|choices?|choose|pick|or|and|[\s,;:.?/|()"'-])*$/i.test(remainder.slice(0, 200));
}

function hasOtherText({ variant, kind }: Field): boolean {
	return variant === 'guessed' && kind === 'choice';
}

function inputBlock(
	field: Field,
	{ metadata }: FieldContext,
	variant: FieldVariant,
	{ label, element, hint = '' }: { label: string; element: InputBlock['element']; hint?: string },
): InputBlock {
	return {
		type: 'input',
		block_id: fieldBlockId(metadata, field.position, variant),
		label: plain(label, 2000),
		element,
		// Slack would refuse a choice that is required before it sends the other text; `readForm` checks that there is one.
		optional: metadata.partial || hasOtherText(field),
		dispatch_action: !field.secret,
		...(hint === '' ? {} : { hint: plain(hint, 2000) }),
	};
}

function elementOf(field: Field, { limits, metadata }: FieldContext): InputBlock['element'] {
	const offer = offerOf(field, limits.offer);
	const typed = typedInput(field, ACTIONS.field, offer);
	if (field.variant === 'plain') return { ...typed, ...LONG_TEXT };
	const action_id = ACTIONS.field;
	switch (field.kind) {
		case 'yesNo':
			return oneOf('radio_buttons', YES_NO.map(option), yesNoOption(offer ?? ''));
		case 'choice': {
			const { options, text } = field;
			const chosen = options.includes(text) || isBlank(text) ? text : OTHER_OPTION;
			const type = options.length <= 5 ? 'radio_buttons' : 'static_select';
			return oneOf(type, [...options.map(option), OTHER_CHOICE], chosen);
		}
		case 'number':
			return { ...typed, type: 'number_input', is_decimal_allowed: true };
		case 'email':
			return { ...typed, type: 'email_text_input' };
		case 'url':
			return { ...typed, type: 'url_text_input' };
		case 'date':
			return { type: 'datepicker', action_id, ...(offer === null ? {} : { initial_date: offer }) };
		case 'time':
			return { type: 'timepicker', action_id, ...(offer === null ? {} : { initial_time: offer }) };
		default: {
			// A key may have several lines, and an input of one line removes the line ends.
			const multiline = field.kind === 'longText' || (field.secret && metadata.plainText);
			return { ...typed, ...LONG_TEXT, multiline };
		}
	}
}

const LONG_TEXT = { type: 'plain_text_input', multiline: true, max_length: INPUT_LIMIT } as const;

/** Slack does not report what is typed into a secret one. */
function typedInput({ secret }: Field, actionId: ActionId, offer: string | null) {
	return {
		action_id: actionId,
		...(offer === null ? {} : { initial_value: offer }),
		...(secret ? {} : { dispatch_action_config: { trigger_actions_on: ['on_character_entered' as const] } }),
	};
}

function oneOf(type: 'static_select' | 'radio_buttons', options: PlainTextOption[], chosen: string | undefined) {
	const initial = options.find(({ value }) => value === chosen);
	return { type, action_id: ACTIONS.field, options, ...(initial === undefined ? {} : { initial_option: initial }) };
}

/** Slack returns the text with emoji as `:names:` and `&` as an entity, but the value as it is. */
function option(value: string): PlainTextOption {
	return { text: plain(value, 75), value };
}

/** UTF-16 units that leave room for the other words of the label, so that the title keeps its closing mark. */
const OTHER_TITLE = 100;
const OTHER_CHOICE: PlainTextOption = { text: plain('Something else…', 75), value: OTHER_OPTION };

/** The quoted title, with its place where another title is the same; the place alone without a title. */
function labelOf(question: Question, position: number, limit: number, onCut?: OnCut): string {
	const title = quotedTitle(question.items[position]?.title ?? '', Math.min(1900, limit), onCut);
	const place = question.openItems.indexOf(position) + 1;
	const count = question.openItems.length;
	if (title === '') return count === 1 ? 'Your answer' : `Question ${place} of ${count}`;
	const itemTitle = question.items[position]?.title;
	const isUnique = question.openItems.filter((other) => question.items[other]?.title === itemTitle).length === 1;
	return isUnique ? title : `${title} (question ${place} of ${count})`;
}

/** Slack takes ten checkboxes in a group; more items are chosen from a list. */
const MOST_BOXES = 10;
/** Of the 75 characters of an option, which begins with the item's place. */
const BOX_TITLE = 60;

function secretBox({ question, metadata }: FieldContext, fields: readonly Field[]): InputBlock {
	const options = fields.map(({ position }): PlainTextOption => {
		const place = question.openItems.indexOf(position) + 1;
		const text =
			fields.length === 1
				? 'Hide it, and remove it after delivery'
				: `${place}. ${quotedTitle(question.items[position]?.title ?? '', BOX_TITLE) || labelOf(question, position, BOX_TITLE)}`;
		return { text: plain(text, 75), value: `${position}` };
	});
	const ticked = options.filter((_, at) => fields[at]?.secret === true);
	const choice = { action_id: ACTIONS.secret, options, ...(ticked.length > 0 && { initial_options: ticked }) };
	const hint = sentences(fields.some((field) => field.looksSecret) ? SECRET_TICKED : '', SECRET_MEANING, NEVER_GIVE);
	return {
		type: 'input',
		block_id: secretBlockId(metadata),
		label: plain(fields.length === 1 ? 'Keep this answer secret' : 'Keep secret', 75),
		optional: true,
		dispatch_action: true,
		element:
			options.length <= MOST_BOXES
				? { type: 'checkboxes', ...choice }
				: { type: 'multi_static_select', placeholder: plain('Choose the secret ones', 75), ...choice },
		hint: plain(hint, 500),
	};
}
