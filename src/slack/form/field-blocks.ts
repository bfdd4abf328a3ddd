import type { InputBlock, KnownBlock, PlainTextOption } from '@slack/types';
import type { OnCut } from '../../cut.ts';
import { YES_NO } from '../../questions/input-kind.ts';
import type { Question } from '../../questions/open-question.ts';
import { ACTIONS, type ActionId, blockId, type FieldVariant, fieldBlockId, secretBlockId } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { isBlank, mrkdwn, oneLine, plain, quotedMarkdown, quotedTitle } from '../text.ts';
import { type Field, hasOptions, INPUT_LIMIT, offerOf, yesNoOption } from './plan.ts';

/* Hints and errors of form fields are plain text: Slack shows no mark-up in them. */

export const SECRET_WARNING =
	'Slack cannot hide what you type, so check who can see your screen. Handraise never shows the answer again, and removes it after delivery.';

export const NEVER_GIVE = 'Never give an agent a password that you would not give to the people who run it.';

const SECRET_MEANING =
	'Handraise shows a secret answer to nobody, and removes it after delivery. The agent may still repeat it.';

const SECRET_TICKED =
	'Whatever looks like a password or a code is ticked. Without the tick, it is treated like any other answer.';

/** The hint of a field that shows only the beginning of a text. */
function cutHint(characters: number): string {
	return `Your text of ${characters.toLocaleString('en-US')} characters is longer than a field in Slack can show. The full text is sent if you do not change this field.`;
}

/** How many characters are shown; fewer when a form would outgrow a view. */
export interface FieldLimits {
	/** Of a title or a description. */
	readonly text: number;
	/** Of an initial value. */
	readonly offer: number;
}

interface FieldContext {
	readonly question: Question;
	readonly metadata: ViewMetadata;
	/** Descriptions are hints only. */
	readonly bare: boolean;
	/** The warning about secrets is in the hints, because there is no room for a block. */
	readonly warnsInHints: boolean;
	readonly limits: FieldLimits;
	readonly onCut: OnCut | undefined;
}

/** The `value` of "Something else…". */
export const OTHER_OPTION = 'other';

/** One to three blocks: a long description, the input, and the text for "Something else…". */
export function fieldBlocks(field: Field, context: FieldContext): KnownBlock[] {
	const { question, bare, warnsInHints, limits, onCut } = context;
	const { title = '', description = '' } = question.items[field.position] ?? {};
	const label = labelOf(question, field.position, limits.text, onCut);
	const short = oneLine(description, limits.text);
	const isHint = bare || (short.length <= 150 && !description.trim().includes('\n'));
	const text = isHint ? '' : quotedMarkdown(description, Math.min(limits.text, 2900), onCut);
	const about: KnownBlock[] =
		text === ''
			? []
			: [{ type: 'section', block_id: blockId('about', field.position), text: mrkdwn(text), expand: true }];
	const hints = [
		warnsInHints && field.secret ? SECRET_WARNING : '',
		isHint && description.trim() !== title.trim() && !repeatsOptions(field, description)
			? quotedTitle(description, Math.min(limits.text, 300), onCut)
			: '',
		field.text.length > limits.offer ? cutHint(field.text.length) : '',
	].filter((hint) => hint !== '');
	const input = inputBlock(field, context, label, hints.join(' '));
	return [...about, input, ...(hasOtherText(field) ? [otherBlock(field, context)] : [])];
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

function inputBlock(field: Field, context: FieldContext, label: string, hint: string): InputBlock {
	return {
		type: 'input',
		block_id: idOf(field, context, field.variant),
		label: plain(label, 2000),
		element: elementOf(field, context),
		// Slack would refuse a choice that is required before it sends the other text; `readForm` checks that there is one.
		optional: context.metadata.partial || hasOtherText(field),
		dispatch_action: !field.secret,
		...(hint === '' ? {} : { hint: plain(hint, 2000) }),
	};
}

function elementOf(field: Field, { limits, metadata }: FieldContext): InputBlock['element'] {
	const offer = offerOf(field, limits.offer);
	const typed = typedInput(field, ACTIONS.field, offer);
	if (field.variant === 'plain')
		return { ...typed, type: 'plain_text_input', multiline: true, max_length: INPUT_LIMIT };
	const action_id = ACTIONS.field;
	switch (field.kind) {
		case 'yesNo':
			return oneOf('radio_buttons', YES_NO.map(option), offer === null ? null : yesNoOption(offer));
		case 'choice':
			return choice(field);
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
			return { ...typed, type: 'plain_text_input', multiline, max_length: INPUT_LIMIT };
		}
	}
}

/** What text inputs have in common. Slack does not report what is typed into a secret one. */
function typedInput({ secret }: Field, actionId: ActionId, offer: string | null) {
	return {
		action_id: actionId,
		...(offer === null ? {} : { initial_value: offer }),
		...(secret ? {} : { dispatch_action_config: { trigger_actions_on: ['on_character_entered' as const] } }),
	};
}

function choice(field: Field): InputBlock['element'] {
	const options = [...field.options.map(option), OTHER_CHOICE];
	const at = field.options.indexOf(field.text);
	const chosen = isBlank(field.text) ? null : at === -1 ? options.length - 1 : at;
	return oneOf(field.options.length <= 5 ? 'radio_buttons' : 'static_select', options, chosen);
}

function oneOf(
	type: 'static_select' | 'radio_buttons',
	options: PlainTextOption[],
	chosen: number | null,
): InputBlock['element'] {
	const initial = chosen === null ? undefined : options[chosen];
	return { type, action_id: ACTIONS.field, options, ...(initial === undefined ? {} : { initial_option: initial }) };
}

function option(text: string, position: number): PlainTextOption {
	return { text: plain(text, 75), value: `o${position}` };
}

/** UTF-16 units that leave room for the other words of the label, so that the title keeps its closing mark. */
const OTHER_TITLE = 100;
const OTHER_CHOICE: PlainTextOption = { text: plain('Something else…', 75), value: OTHER_OPTION };

function otherBlock(field: Field, context: FieldContext): InputBlock {
	const offer = field.options.includes(field.text) ? null : offerOf(field, context.limits.offer);
	return {
		type: 'input',
		block_id: idOf(field, context, 'other'),
		label: plain(`Something else, for: ${labelOf(context.question, field.position, OTHER_TITLE)}`, 150),
		element: {
			...typedInput(field, ACTIONS.otherText, offer),
			type: 'plain_text_input',
			multiline: true,
			max_length: INPUT_LIMIT,
		},
		optional: true,
		dispatch_action: !field.secret,
	};
}

/** The quoted title, with the item's place in the question where another title is the same; the place alone without a title. */
function labelOf(question: Question, position: number, limit: number, onCut?: OnCut): string {
	const title = quotedTitle(question.items[position]?.title ?? '', Math.min(1900, limit), onCut);
	const place = question.openItems.indexOf(position) + 1;
	const count = question.openItems.length;
	if (title === '') return count === 1 ? 'Your answer' : `Question ${place} of ${count}`;
	const itemTitle = question.items[position]?.title;
	const isUnique = question.openItems.filter((other) => question.items[other]?.title === itemTitle).length === 1;
	return isUnique ? title : `${title} (question ${place} of ${count})`;
}

function idOf(field: Field, { question }: FieldContext, variant: FieldVariant): string {
	const { messageIndex, fingerprint, shownHash } = question;
	const id = { messageIndex, fingerprint, position: field.position, variant };
	return fieldBlockId(variant === 'guessed' && hasOptions(field) ? { ...id, shownHash } : id);
}

/** Slack takes ten checkboxes in a group; more items are chosen from a list. */
const MOST_BOXES = 10;
/** Of the 75 characters of an option, which begins with the item's place. */
const BOX_TITLE = 60;

/** The block in which people choose the answers to keep secret. */
export function secretBox(question: Question, fields: readonly Field[]): InputBlock {
	const options = fields.map(({ position }): PlainTextOption => {
		const place = question.openItems.indexOf(position) + 1;
		const text =
			fields.length === 1
				? 'Hide it, and remove it after delivery'
				: `${place}. ${quotedTitle(question.items[position]?.title ?? '', BOX_TITLE) || labelOf(question, position, BOX_TITLE)}`;
		return { text: plain(text, 75), value: `${position}` };
	});
	const ticked = options.filter((_, at) => fields[at]?.secret === true);
	const initial = ticked.length === 0 ? {} : { initial_options: ticked };
	const isGuessed = fields.some((field) => field.looksSecret);
	const hints = [isGuessed ? SECRET_TICKED : '', SECRET_MEANING, NEVER_GIVE];
	return {
		type: 'input',
		block_id: secretBlockId(question),
		label: plain(fields.length === 1 ? 'Keep this answer secret' : 'Keep secret', 75),
		optional: true,
		dispatch_action: true,
		element:
			options.length <= MOST_BOXES
				? { type: 'checkboxes', action_id: ACTIONS.secret, options, ...initial }
				: {
						type: 'multi_static_select',
						action_id: ACTIONS.secret,
						placeholder: plain('Choose the secret ones', 75),
						options,
						...initial,
					},
		hint: plain(hints.filter((hint) => hint !== '').join(' '), 500),
	};
}
