import { decisionsAtEnd, jsonList, keyedList, type Line, linesOf, markedTitle } from './contract.ts';
import { isBlank } from './shown-text.ts';

/* What a question's texts say beside the options that stand as buttons, or in a list. */

/** Whether the labels say these options, in this order. "y" is "Yes". */
const areLabels = (options: readonly string[], labels: readonly string[]) =>
	options.length === labels.length &&
	options.every((option, at) => {
		const [own, label] = [option.toLowerCase(), labels[at]?.toLowerCase()];
		return own === label || /^(?:y yes|n no)$/.test(`${own} ${label}`);
	});

/** A title without its marks, and without the options at its end that stand beside it as labels. */
export function titleText(title: string, labels: readonly string[] = []): string {
	const { name } = markedTitle(title);
	const ending = labels.length > 0 && /[)）][\s?？.!:]*$/.test(name) ? decisionsAtEnd(name) : null;
	if (ending === null || !areLabels(ending.options, labels) || isBlank(ending.others)) return name;
	return `${ending.others}${/[?？]$/.exec(name)?.[0] ?? ''}`;
}

/** Numbers, letters, boxes and emoji before options say more than the buttons do. */
const BARE_MARK = /^[-–—*+•]$/;
const isBare = ({ entry, isPlain }: Line) => isPlain && (entry === null || BARE_MARK.test(entry.mark));

/**
 * The description of an item without the list at its end that its contract names ("Options:"), and nothing of one that
 * only lists them or says "yes or no": the labels below say the same in the same order. Any other text stands whole:
 * words that an option stands in may tell something about it.
 */
export function withoutListed(description: string, labels: readonly string[]): string {
	const lines = linesOf(description.trim());
	const texts = lines.map(({ text, entry }) => entry?.body ?? text);
	if (labels.length === 0) return description;
	const decisions = decisionsAtEnd(description);
	if (decisions?.others === '' && areLabels(decisions.options, labels)) return '';
	if (lines.every(isBare) && areLabels(texts, labels)) return '';
	const listed = jsonList(description, 0) ?? keyedList(lines);
	if (listed === null || 'unclear' in listed || !areLabels(listed.options, labels)) return description;
	if (listed.to < lines.length || !lines.slice(listed.from).every(isBare)) return description;
	return [...lines.slice(0, listed.from).map(({ text }) => text), listed.lead].join('\n').trimEnd();
}
