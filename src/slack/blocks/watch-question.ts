import type { KnownBlock } from '@slack/types';
import type { Answer } from '../../answers/answer.ts';
import { isWaiting } from '../../questions/status.ts';
import type { ItemView, QuestionView, SessionView } from '../../watches/session-view.ts';
import { quoted, quotedLine, quotedMarkdown, quotedNameMrkdwn } from '../text.ts';
import { momentMrkdwn, type Names, personMrkdwn, waitingWords } from '../words.ts';
import { context, section } from './parts.ts';

const items = 5;

/** What the agent said and asks under a line of ours, for cards and posts; `room` characters at most of what it said. */
export function questionBlocks(headline: string, question: QuestionView, room: number): KnownBlock[] {
	const asked = question.items.filter((item) => item.open).slice(0, items);
	const rest = question.openCount - asked.length;
	return [
		...section(`*${headline}*\n${quotedMarkdown(question.context, room)}`.trim()),
		...asked.flatMap((item, index) => section(itemText(item, index))),
		...context(rest > 0 ? `and ${rest} more ${rest === 1 ? 'question' : 'questions'}` : ''),
	];
}

function itemText({ title, description }: ItemView, index: number): string {
	const name = quotedNameMrkdwn(title, 250) || `Question ${index + 1}`;
	const more = quotedLine(description, 500);
	return more === '' ? `❓ *${name}*` : `❓ *${name}*\n${more}`;
}

/** Why nobody can answer an agent here that waits for a person; empty when it does not wait, or its question says it. */
export function waitingLine({ status, question }: SessionView, names: Names): string {
	if (!isWaiting(status) || question?.goneOn === false || (question?.openCount ?? 0) > 0) return '';
	return waitingWords(question, null, names);
}

/** Whether `answer` is what stands in the question: one that waits for its author, or was never sent, is not. */
export function isThere(answer: Answer | null): answer is Answer {
	return answer !== null && answer.state !== 'waiting' && answer.state !== 'accepted';
}

/** "Answered by @ada today at 10:12", with what became of it. */
export function answeredLine(answer: Answer, names: Names): string {
	return `Answered by ${personMrkdwn(answer.person.userId, names)} ${momentMrkdwn(answer.acceptedAt)}`;
}

/** The values of these items as a channel may see them. */
export function answerBlocks(question: QuestionView, positions: readonly number[]): KnownBlock[] {
	const shown = positions.slice(0, items).flatMap((position) => {
		const item = question.items[position];
		if (item === undefined) return [];
		const name = quotedNameMrkdwn(item.title, 200) || `Question ${position + 1}`;
		const value = item.secret
			? '(hidden)'
			: item.withheld
				? '(not shown in channels)'
				: item.value === null
					? '(left empty)'
					: quoted(item.value, 500);
		return section(`*${name}*\n${value}`);
	});
	const rest = positions.length - Math.min(positions.length, items);
	return [...shown, ...context(rest > 0 ? `and ${rest} more` : '')];
}
