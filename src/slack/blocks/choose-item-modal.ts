import type { ModalView } from '@slack/types';
import type { Question } from '../../questions/open-question.ts';
import { ACTIONS, CALLBACKS } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { plain, quoted, quotedName } from '../text.ts';
import { viewTitle } from '../words.ts';
import { modal, section } from './parts.ts';

/** Slack's limit for a select. */
const MOST = 100;

/** Asks which item of a question a chosen message is for. `positions` are those that may be filled from text. */
export function chooseItemModal(
	question: Question,
	positions: readonly number[],
	text: string,
	metadata: ViewMetadata,
): ModalView {
	return modal({
		callbackId: CALLBACKS.chooseItem,
		title: viewTitle(metadata.sessionId),
		metadata,
		blocks: [
			...section(`*Your message*\n${quoted(text, 1_500)}`),
			...section('*Which question does it answer?*'),
			{
				type: 'actions',
				elements: [
					{
						type: 'static_select',
						action_id: ACTIONS.chooseItem,
						placeholder: plain('Choose a question', 150),
						options: positions.slice(0, MOST).map((position) => ({
							value: String(position),
							text: plain(`${position + 1}. ${quotedName(question.items[position]?.title ?? '', 60)}`, 75),
						})),
					},
				],
			},
		],
	});
}
