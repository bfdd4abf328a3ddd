import { splitNote } from '../../domain/choices.ts';
import { mergeForPut, putBodyOf } from '../../domain/compare.ts';
import { draftIn } from '../../domain/contract.ts';
import { titleText, withoutListed } from '../../domain/listed-options.ts';
import { createMask, type Mask } from '../../domain/masking.ts';
import type { Question } from '../../domain/session.ts';
import { cutTo, isBlank, oneLine } from '../../domain/shown-text.ts';
import type { OnCut } from '../../domain/texts.ts';
import { agentText } from '../agent-text.ts';
import { type InputBlock, type KnownBlock, type PlainTextOption, plain } from '../blocks.ts';
import {
	ACTIONS,
	type ActionId,
	type FieldVariant,
	fieldBlockId,
	NO_OPTION,
	optionValue,
	secretBlockId,
	type ViewMetadata,
} from '../ids.ts';
import { richText, sentences, type Words } from '../rich-text.ts';
import {
	asksTheSame,
	DESCRIBED_FIELDS,
	type Field,
	INPUT_LIMIT,
	isShown,
	MOST_FIELDS,
	NONE_LABEL,
	OPTION_LIMIT,
	offerOf,
	PUT_LIMIT_BYTES,
	planFields,
	type Values,
} from './fields.ts';

/** A question as input blocks, or why it cannot be answered in Slack. */
export type Form =
	/** `metadata` has to go into the view: `readForm` needs it. */
	| {
			readonly kind: 'fields';
			readonly blocks: readonly KnownBlock[];
			readonly metadata: ViewMetadata;
	  }
	| { readonly kind: 'tooMany'; readonly count: number }
	/** The question's own texts are so long that the service would refuse the PUT. */
	| { readonly kind: 'tooLarge' }
	/** The person may not answer it; `why`, and whom to ask. */
	| { readonly kind: 'refused'; readonly why: Words };

/** The least room for answers in a PUT besides the question's own texts. */
const LEAST_ROOM_BYTES = 1000;
/** The form's part of the 250 KB that a view may take. */
const FORM_BYTES = 150_000;
const SMALLEST = { text: 75, offer: 60 };
/** UTF-16 units of a title or description, and of an initial value. The first size that fits into a view is used. */
const SHRINKING = [
	{ text: 2900, offer: INPUT_LIMIT },
	{ text: 1500, offer: INPUT_LIMIT },
	{ text: 700, offer: 1500 },
	{ text: 300, offer: 600 },
	{ text: 120, offer: 200 },
];

interface FormOptions {
	readonly secret?: readonly number[] | undefined;
	readonly onCut?: OnCut;
	readonly mask?: Mask;
	readonly elsewhere?: string;
}

/**
 * Builds the fields of the open items. `draft`: texts by position, shown cut to an input's limit. `metadata`: of the
 * view as it is, so that a refresh keeps every block_id. `secret`: positions of ticked boxes; default: what looks
 * secret. `elsewhere`: words for where to answer with a text that is longer than a field.
 */
export function buildForm(
	question: Question,
	metadata: ViewMetadata,
	draft: Values,
	{ secret, onCut, mask = createMask(), elsewhere = '' }: FormOptions = {},
): Form {
	const count = question.openItems.length;
	if (count > MOST_FIELDS) return { kind: 'tooMany', count };
	const { sent, messageIndex } = question;
	const emptyValues = sent.map(() => '');
	const most = PUT_LIMIT_BYTES - LEAST_ROOM_BYTES;
	const empty = putBodyOf(metadata.sessionId, messageIndex, mergeForPut(sent, emptyValues), most);
	if (empty === null) return { kind: 'tooLarge' };

	const isShownAgain = isShown(metadata, question);
	const fields = planFields(question, metadata, draft, secret ?? null);
	const boxed =
		fields.some((field) => field.secret || field.looksSecret) || (metadata.boxed && asksTheSame(metadata, question));
	const positionsOf = (test: (field: Field) => boolean) => fields.filter(test).map(({ position }) => position);
	const covered = positionsOf(({ options }) => options.some(mask.covers));
	const veiled = positionsOf(({ position }) => mask.covers(question.items[position]?.title ?? ''));
	const formOf = (size: (typeof SHRINKING)[number]) => {
		// `readForm` cuts texts to the limit of the first showing before it compares them.
		const limits = isShownAgain ? { ...size, offer: metadata.offerLimit } : size;
		const shown: ViewMetadata = {
			...metadata,
			messageIndex: question.messageIndex,
			fingerprint: question.fingerprint,
			shownHash: question.shownHash,
			putOverheadBytes: empty.length,
			fields: positionsOf(() => true),
			offered: positionsOf((field) => offerOf(field, limits.offer) !== null),
			shown: metadata.plainText ? 'plain' : 'guessed',
			asText: positionsOf((field) => field.variant === 'plain'),
			withOptions: positionsOf((field) => field.variant === 'guessed' && field.options.length > 0),
			secret: positionsOf((field) => field.secret),
			covered,
			veiled,
			optional: positionsOf((field) => field.optional),
			offerLimit: limits.offer,
			boxed,
		};
		const form = { question, metadata: shown, limits, onCut, mask, elsewhere };
		const inputs = [
			...fields.flatMap((field) => fieldBlocks(field, form)),
			...fields.filter(hasNote).map((field) => noteBlock(field, form)),
		];
		const blocks = boxed ? [...inputs, secretBox(form, fields)] : inputs;
		return { kind: 'fields', blocks, metadata: shown } as const;
	};
	for (const size of SHRINKING) {
		const form = formOf(size);
		if (Buffer.byteLength(JSON.stringify(form.blocks)) <= FORM_BYTES) return form;
	}
	return formOf(SMALLEST);
}

/* Hints and errors of form fields are plain text: Slack shows no mark-up in them. */

/** The label of the line at the end of a form, which belongs to the last field with options. */
export const NOTE_LABEL = 'Note, or your own answer';
/**
 * The last of options of which one is chosen. It is chosen at first, because Slack sends no form with an empty required
 * field, and people may want to write a text alone. Checkboxes need no such option: all can be empty.
 */
const NONE_OF_THESE = { text: plain(NONE_LABEL, 75), value: NO_OPTION };
export const HIDES_ANSWER = 'Hide this answer and delete it after delivery';
export const HIDES_ANSWERS = 'Hide these answers and delete them after delivery';

interface FieldContext {
	readonly question: Question;
	readonly metadata: ViewMetadata;
	readonly limits: (typeof SHRINKING)[number];
	readonly onCut: OnCut | undefined;
	readonly mask: Mask;
	readonly elsewhere: string;
}

/** The input of a field, below its description if that is long. */
function fieldBlocks(field: Field, form: FieldContext): KnownBlock[] {
	const { question, limits, onCut, mask, elsewhere } = form;
	const count = question.openItems.length;
	const { title = '', description: whole = '' } = question.items[field.position] ?? {};
	const listed = optionsOf(field).map(mask.read);
	// The agent's draft is the field's text, so the description need not repeat it. A person may have replaced it.
	const drafted = draftIn(whole);
	const told = drafted !== null && drafted.draft === field.text ? drafted.others : whole;
	// A description repeats options only if their labels are cut.
	const areWhole = listed.every((option) => option.length <= OPTION_LIMIT);
	const description = told.trim() === title.trim() ? '' : withoutListed(mask.read(told), areWhole ? listed : []);
	const label = labelOf(form, field.position, { limit: limits.text, listed });
	// A short description stands below its title, as on the service's own page.
	const isPlain = description.length <= 150 && !description.includes('\n');
	const isHint = count > DESCRIBED_FIELDS || isPlain;
	const text = isHint ? [] : agentText(description, Math.min(limits.text, 2900), onCut);
	const hint = sentences(
		isHint ? oneLine(description, Math.min(limits.text, 300), onCut) : '',
		field.text.length > limits.offer
			? `Your text of ${field.text.length.toLocaleString('en-US')} characters is longer than a field in Slack can ` +
					'show. The full text is sent if you do not change this field.'
			: '',
		field.looksSecret && field.kind === 'longText' && elsewhere !== ''
			? `Up to ${INPUT_LIMIT.toLocaleString('en-US')} characters fit here. For more, answer ${elsewhere}.`
			: '',
	);
	return [
		...richText(...text),
		inputBlock(field, form, field.variant, { label, element: elementOf(field, form), hint }),
	];
}

function noteBlock(field: Field, form: FieldContext): InputBlock {
	const { question, limits } = form;
	const offer = cutTo(splitNote(field.text, field).note, limits.offer);
	const typed = typedInput(field, ACTIONS.otherText, isBlank(offer) ? null : offer);
	// An input of one line removes the line ends.
	const element = { ...typed, ...LONG_TEXT, multiline: offer.includes('\n') };
	const isAlone = question.openItems.length === 1;
	const which = isAlone ? '' : ` to question ${question.openItems.indexOf(field.position) + 1}`;
	return inputBlock(field, form, 'other', { label: `${NOTE_LABEL}${which}`, element });
}

const optionsOf = ({ variant, options }: Field) => (variant === 'plain' ? [] : options);

const hasNote = ({ variant, noted }: Field) => variant === 'guessed' && noted;

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
		optional:
			metadata.partial ||
			field.optional ||
			variant === 'other' ||
			// The note alone may be the answer.
			(variant === 'guessed' && field.separator !== undefined && field.noted),
		dispatch_action: !field.secret,
		...(hint === '' ? {} : { hint: plain(hint, 2000) }),
	};
}

function elementOf(field: Field, { limits, metadata, mask }: FieldContext): InputBlock['element'] {
	const offer = offerOf(field, limits.offer);
	const typed = typedInput(field, ACTIONS.field, offer);
	if (field.variant === 'plain') return { ...typed, ...LONG_TEXT };
	const action_id = ACTIONS.field;
	switch (field.kind) {
		case 'yesNo':
		case 'choice': {
			// Slack returns text with emoji as `:names:` and `&` as an entity, but values as they are.
			const options = field.options.map((option, at): PlainTextOption => {
				const [label, rest] = inTwo(mask.read(option));
				return { text: label, value: optionValue(option, at), ...(rest && { description: rest }) };
			});
			const { chosen } = splitNote(field.text, field);
			const ticked = options.filter((_, at) => chosen.includes(field.options[at] ?? ''));
			if (field.separator !== undefined) return boxes(action_id, options, ticked);
			const none = hasNote(field) ? [NONE_OF_THESE] : [];
			const [initial_option] = [...ticked, ...none];
			const type = options.length + none.length <= MOST_BOXES ? 'radio_buttons' : 'static_select';
			return { type, action_id, options: [...options, ...none], ...(initial_option && { initial_option }) };
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
		case 'line':
		case 'longText':
			// A key may have several lines, and an input of one line removes the line ends.
			return { ...typed, ...LONG_TEXT, multiline: field.kind === 'longText' || (field.secret && metadata.plainText) };
	}
}

/** The beginning of a long option, and its rest. The text above shows all of it. */
function inTwo(option: string) {
	if (option.length <= OPTION_LIMIT) return [plain(option, OPTION_LIMIT), null] as const;
	const start = cutTo(option, OPTION_LIMIT - 1);
	return [plain(`${start}…`, OPTION_LIMIT), plain(`…${option.slice(start.length)}`, OPTION_LIMIT)] as const;
}

const LONG_TEXT = { type: 'plain_text_input', multiline: true, max_length: INPUT_LIMIT } as const;

/** Secret inputs do not report typing to us. */
function typedInput({ secret }: Field, actionId: ActionId, offer: string | null) {
	return {
		action_id: actionId,
		...(offer === null ? {} : { initial_value: offer }),
		...(secret ? {} : { dispatch_action_config: { trigger_actions_on: ['on_character_entered' as const] } }),
	};
}

/** The title, with the item's place if another has the same title; without a title, the place alone. */
function labelOf(
	{ question, mask, onCut }: FieldContext,
	position: number,
	{ limit, listed = [] }: { limit: number; listed?: readonly string[] },
): string {
	const named = titleText(mask.read(question.items[position]?.title ?? ''), listed);
	const title = oneLine(named, Math.min(1900, limit), onCut);
	const place = question.openItems.indexOf(position) + 1;
	const count = question.openItems.length;
	if (title === '') return count === 1 ? 'Your answer' : `Question ${place} of ${count}`;
	const itemTitle = question.items[position]?.title;
	const isUnique = question.openItems.filter((other) => question.items[other]?.title === itemTitle).length === 1;
	return isUnique ? title : `${title} (question ${place} of ${count})`;
}

/** Slack takes ten checkboxes or radio buttons in a group; more options are chosen from a list. */
const MOST_BOXES = 10;

function boxes(action_id: ActionId, options: PlainTextOption[], ticked: PlainTextOption[], placeholder = 'Choose') {
	const choice = { action_id, options, ...(ticked.length > 0 && { initial_options: ticked }) };
	if (options.length <= MOST_BOXES) return { type: 'checkboxes' as const, ...choice };
	return { type: 'multi_static_select' as const, placeholder: plain(placeholder, 75), ...choice };
}

/** UTF-16 units of a title in an option of 75, which begins with the item's place. */
const BOX_TITLE = 60;

function secretBox(form: FieldContext, fields: readonly Field[]): KnownBlock {
	const { question, metadata, mask } = form;
	const options = fields.map(({ position }): PlainTextOption => {
		const place = question.openItems.indexOf(position) + 1;
		const title = oneLine(mask.read(titleText(question.items[position]?.title ?? '')), BOX_TITLE);
		const text = `${place}. ${title || labelOf(form, position, { limit: BOX_TITLE })}`;
		return { text: plain(fields.length === 1 ? HIDES_ANSWER : text, 75), value: `${position}` };
	});
	const ticked = options.filter((_, at) => fields[at]?.secret === true);
	const block_id = secretBlockId(metadata);
	const element = boxes(ACTIONS.secret, options, ticked, 'Choose which');
	// A lone box says everything, so it needs no label.
	if (fields.length === 1) return { type: 'actions', block_id, elements: [element] };
	return { type: 'input', block_id, label: plain(HIDES_ANSWERS, 75), optional: true, dispatch_action: true, element };
}
