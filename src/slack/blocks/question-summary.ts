import type { KnownBlock } from '@slack/types';
import type { Question } from '../../questions/open-question.ts';
import { labelOf } from '../form.ts';
import { escapeMrkdwn, isBlank, markdownAsMrkdwn, markdownBlockText, oneLineMrkdwn } from '../text.ts';
import { section } from './parts.ts';

const mostItems = 10;
/** All markdown blocks of a message hold 12,000 characters, and so do all its texts together. */
const contextText = 4000;

/**
 * What is asked, for messages: the agent's words, then what it wants to know, without inputs and without any link that
 * the session labelled. Two blocks of about 7,500 characters at most.
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
	const { openItems, items } = question;
	const lines = openItems.slice(0, mostItems).map((position) => {
		const description = markdownAsMrkdwn(items[position]?.description.trim() ?? '', 150).replaceAll('\n', ' ');
		const label = `*${escapeMrkdwn(labelOf(question, position, 120))}*`;
		return isBlank(description) ? `• ${label}` : `• ${label} ${description.replaceAll('```', '')}`;
	});
	if (openItems.length > mostItems) lines.push(`and ${openItems.length - mostItems} more`);
	return lines.join('\n');
}
