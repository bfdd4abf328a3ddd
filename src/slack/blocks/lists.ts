import type { KnownBlock, ModalView } from '@slack/types';
import type { Answer } from '../../answers/answer.ts';
import type { WatchPage } from '../../watches/ports.ts';
import { ACTIONS, CALLBACKS, encodeTarget } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { quotedNameMrkdwn } from '../text.ts';
import { historyWords, timelineWords } from '../words/answers.ts';
import { type Names, personMrkdwn } from '../words/people.ts';
import { joined, questionCountWords, sessionIdMrkdwn, statusWords } from '../words/sessions.ts';
import { momentMrkdwn } from '../words/times.ts';
import { watchCountWords } from '../words/watching.ts';
import { button, buttons, context, divider, type MessageContent, message, modal, section } from './parts.ts';
import { ownText } from './receipt.ts';

/** Watches on a page of the list: each takes two of a message's 50 blocks. */
export const LIST_PAGE = 15;

type ListedWatch = Pick<WatchPage['watches'][number], 'session' | 'view' | 'lastChangeAt' | 'mode'>;

/** What a channel watches: state, open questions, last change. `discovery`: what to say about `watch all`. */
export function watchList(
	{ watches, total }: { readonly watches: readonly ListedWatch[]; readonly total: number },
	offset: number,
	discovery: readonly string[] = [],
): MessageContent {
	const discovers = discovery.length > 0;
	const headline = watchCountWords(total, discovers);
	const about = section(discovery.join('\n'));
	if (total === 0) return message(headline, [...section(headline), ...about]);
	return message(headline, [
		...section(`*${headline}*`),
		...about,
		...watches.slice(0, LIST_PAGE).flatMap(watchEntry),
		...buttons(
			offset > 0 ? button(ACTIONS.listNewer, 'Back', { value: String(Math.max(0, offset - LIST_PAGE)) }) : null,
			offset + watches.length < total ? button(ACTIONS.listOlder, 'More', { value: String(offset + LIST_PAGE) }) : null,
		),
	]);
}

function watchEntry({ session, view, lastChangeAt, mode }: ListedWatch): KnownBlock[] {
	const id = sessionIdMrkdwn(session.sessionId);
	const name = quotedNameMrkdwn(view?.name ?? '', 120);
	const value = encodeTarget({ sessionId: session.sessionId, messageIndex: null });
	const openCount = view?.question?.openCount ?? 0;
	const open = openCount > 0 ? button(ACTIONS.answer, 'Answer', { value }) : button(ACTIONS.open, 'Open', { value });
	const status = statusWords(view?.status ?? '');
	return [
		...section(name === '' ? `Session *${id}*` : `*Session ${name}* (${id})`, { accessory: open }),
		...context(
			joined(
				view === null ? 'not read yet' : `${status.emoji} ${status.mrkdwn} · step ${view.step} of ${view.maxSteps}`,
				openCount === 0 ? '' : `✋ ${questionCountWords(openCount)} open`,
				mode === 'questionsOnly' ? 'questions only' : mode === 'raisedHand' ? 'by `watch all`' : '',
				`last change ${momentMrkdwn(lastChangeAt)}`,
			),
		),
	];
}

/** Answers on a page of the history: each takes up to 14 blocks of the 100. */
export const HISTORY_PAGE = 6;

export interface HistoryModel {
	readonly metadata: ViewMetadata;
	/** Newest first, at most `HISTORY_PAGE`, from `metadata.offset` on. */
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
		...context(timelineWords(answer)),
	]);
	return modal({
		callbackId: CALLBACKS.history,
		title: 'History',
		metadata,
		blocks: [
			...section(historyWords(metadata.sessionId, total)),
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
