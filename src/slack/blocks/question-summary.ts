import type { KnownBlock } from '@slack/types';
import type { Question } from '../../questions/open-question.ts';
import { labelOf } from '../form.ts';
import { escapeMrkdwn, isBlank, markdownBlockText, oneLineMrkdwn } from '../text.ts';
import { section } from './parts.ts';

const mostItems = 10;
/** All markdown blocks of a message hold 12,000 characters, and so do all its texts together. */
const contextText = 4000;
/** A section holds 3,000. */
const itemsText = 2800;

/**
 * What is asked, for messages: the agent's words, then what it wants to know, without inputs and without any link that
 * the session labelled. Two blocks of 7,000 characters at most.
 */
export function questionSummaryBlocks(question: Question): KnownBlock[] {
	const said = markdownBlockText(question.context, contextText);
	return [...(isBlank(said) ? [] : [{ type: 'markdown' as const, text: said }]), ...section(itemLines(question))];
}

/** The same in one line for the `text` of a message. */
export function questionSummaryText(question: Question): string {
	const [first = 0] = question.openItems;
	const title = oneLineMrkdwn(question.items[first]?.title ?? '', 150);
	const asked = title === '' ? oneLineMrkdwn(question.context, 150) : title;
	return asked === '' ? 'An agent asks for an answer' : `An agent asks: ${asked}`;
}

function itemLines(question: Question): string {
	const { openItems } = question;
	const lines: string[] = [];
	let length = 0;
	for (const position of openItems.slice(0, mostItems)) {
		const line = itemLine(question, position);
		length += line.length + 1;
		if (length > itemsText) break;
		lines.push(line);
	}
	const rest = openItems.length - lines.length;
	if (rest > 0) lines.push(lines.length === 0 ? `${rest} questions` : `and ${rest} more`);
	return lines.join('\n');
}

function itemLine(question: Question, position: number): string {
	const label = `• *${escapeMrkdwn(labelOf(question, position, 120))}*`;
	const description = oneLineMrkdwn(question.items[position]?.description ?? '', 150);
	return isBlank(description) ? label : `${label} ${description}`;
}
