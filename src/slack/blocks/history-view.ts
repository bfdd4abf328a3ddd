import type { KnownBlock, ModalView } from '@slack/types';
import type { Answer } from '../../answers/answer.ts';
import { ACTIONS, CALLBACKS } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { type Names, personMrkdwn, sessionName } from '../words.ts';
import { button, buttons, context, divider, modal, section } from './parts.ts';
import { ownText, timeline } from './receipt.ts';

/** Answers on a page of the history: each takes up to 14 blocks of the 100. */
export const HISTORY_PAGE = 6;

export interface HistoryModel {
	readonly metadata: ViewMetadata;
	/** Newest first, at most `HISTORY_PAGE`, after skipping `metadata.offset`. */
	readonly answers: readonly Answer[];
	readonly total: number;
	readonly names: Names;
}

/** Who answered what and when, newest first; secrets stay hidden. */
export function historyView({ metadata, answers, total, names }: HistoryModel): ModalView {
	const { offset } = metadata;
	const shown = answers.slice(0, HISTORY_PAGE);
	const entries = shown.flatMap((answer): KnownBlock[] => [
		divider(),
		...section(personMrkdwn(answer.person.userId, names)),
		...ownText(answer, 3000),
		...timeline(answer),
	]);
	const summary =
		total === 0
			? `Nobody has answered ${sessionName(metadata.sessionId)} through Handraise yet.`
			: `${total === 1 ? 'One answer' : `${total} answers`} to ${sessionName(metadata.sessionId)}, newest first.`;
	return modal({
		callbackId: CALLBACKS.history,
		title: 'History',
		metadata,
		blocks: [
			...section(summary),
			...entries,
			...buttons(
				offset > 0
					? button(ACTIONS.historyNewer, 'Newer answers', { value: String(Math.max(0, offset - HISTORY_PAGE)) })
					: null,
				offset + shown.length < total
					? button(ACTIONS.historyOlder, 'Older answers', { value: String(offset + HISTORY_PAGE) })
					: null,
			),
			...context(shown.length === 0 && total > 0 ? 'No more answers here.' : ''),
		],
	});
}
