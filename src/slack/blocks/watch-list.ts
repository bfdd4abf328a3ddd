import type { KnownBlock } from '@slack/types';
import type { WatchPage } from '../../watches/ports.ts';
import { ACTIONS, encodeTarget } from '../ids.ts';
import { quotedNameMrkdwn } from '../text.ts';
import { momentMrkdwn, sessionIdMrkdwn, statusWords } from '../words.ts';
import { type MessageContent, message } from './message.ts';
import { button, buttons, context, section } from './parts.ts';

/** Watches on a page of the list: each takes two of a message's 50 blocks. */
export const LIST_PAGE = 15;

/** What a channel watches: state, last change, open questions; only for whoever asked. */
export function watchList({ watches, total }: WatchPage, offset: number): MessageContent {
	if (total === 0) {
		const text = 'This channel watches no session. `/session watch` with an id starts.';
		return message(text, section(text));
	}
	const headline = total === 1 ? 'This channel watches one session.' : `This channel watches ${total} sessions.`;
	return message(headline, [
		...section(`*${headline}*`),
		...watches.slice(0, LIST_PAGE).flatMap((watch): KnownBlock[] => entry(watch)),
		...buttons(
			offset > 0 ? button(ACTIONS.listNewer, 'Back', { value: String(Math.max(0, offset - LIST_PAGE)) }) : null,
			offset + watches.length < total ? button(ACTIONS.listOlder, 'More', { value: String(offset + LIST_PAGE) }) : null,
		),
	]);
}

function entry({ session, view, lastChangeAt, mode }: WatchPage['watches'][number]): KnownBlock[] {
	const id = sessionIdMrkdwn(session.sessionId);
	const name = quotedNameMrkdwn(view?.name ?? '', 120);
	const value = encodeTarget({ sessionId: session.sessionId, messageIndex: null });
	const open = view?.question?.openCount ?? 0;
	const status = statusWords(view?.status ?? '');
	const facts = [
		view === null ? 'not read yet' : `${status.emoji} ${status.mrkdwn} · step ${view.step} of ${view.maxSteps}`,
		open === 0 ? '' : `✋ ${open} ${open === 1 ? 'item' : 'items'} open`,
		mode === 'questionsOnly' ? 'questions only' : '',
		`last change ${momentMrkdwn(lastChangeAt)}`,
	];
	return [
		...section(name === '' ? `Session *${id}*` : `*Session ${name}* (${id})`, {
			accessory: button(open > 0 ? ACTIONS.answer : ACTIONS.open, open > 0 ? 'Answer' : 'Open', { value }),
		}),
		...context(facts.filter((fact) => fact !== '').join(' · ')),
	];
}
