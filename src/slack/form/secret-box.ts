import type { InputBlock, PlainTextOption } from '@slack/types';
import type { Question } from '../../questions/open-question.ts';
import { ACTIONS, secretBlockId } from '../ids.ts';
import { plain } from '../text.ts';
import { labelOf } from './field-blocks.ts';
import type { Field } from './plan.ts';

/** A group of checkboxes holds ten; more items are chosen from a list. */
const MOST_BOXES = 10;
/** Of the 75 characters of an option: its place, and that among items of the same title, stand beside it. */
const TITLE = 60;

const STANDING_LINE = 'Never give an agent a password that you would not give to the people who run it.';
const MEANING =
	'Handraise shows a secret answer to nobody, and removes it once it has arrived. The agent may still repeat it.';
const TICKED = 'What looks like a password or a code is ticked; without the tick it is treated like any other answer.';

/** The box that decides what is kept secret: one block, whatever the number of fields. */
export function secretBox(question: Question, fields: readonly Field[]): InputBlock {
	const options = fields.map(({ position }): PlainTextOption => {
		const place = question.openItems.indexOf(position) + 1;
		const text =
			fields.length === 1
				? 'Hide it, and remove it once it has arrived'
				: `${place}. ${labelOf(question, position, TITLE)}`;
		return { text: plain(text, 75), value: `${position}` };
	});
	const ticked = options.filter((_, at) => fields[at]?.secret === true);
	const initial = ticked.length === 0 ? {} : { initial_options: ticked };
	const isGuessed = fields.some((field) => field.looksSecret);
	const hints = [isGuessed ? TICKED : '', MEANING, STANDING_LINE];
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
