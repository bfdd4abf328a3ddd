import { decisionsAtEnd, jsonList, keyedList, type Line, linesOf, markedTitle } from './contract.ts';
import { isBlank } from './shown-text.ts';

/* Removes from a question's texts what its buttons or its list of options show already. */

/** Whether the labels are these options in this order. "y" counts as "Yes". */
const areLabels = (options: readonly string[], labels: readonly string[]) =>
	options.length === labels.length &&
	options.every((option, at) => {
		const [own, label] = [option.toLowerCase(), labels[at]?.toLowerCase()];
		return own === label || /^(?:y yes|n no)$/.test(`${own} ${label}`);
	});

/** A title without its marks, and without options in brackets at its end that `labels` show. */
export function titleText(title: string, labels: readonly string[] = []): string {
	const { name } = markedTitle(title);
	const ending = labels.length > 0 && /[)）][\s?？.!:]*$/.test(name) ? decisionsAtEnd(name) : null;
	if (ending === null || !areLabels(ending.options, labels) || isBlank(ending.others)) return name;
	return `${ending.others}${/[?？]$/.exec(name)?.[0] ?? ''}`;
}

/** Only these marks add nothing to an option. Numbers, letters, boxes and emoji may be referred to. */
const BARE_MARK = /^[-–—*+•]$/;
const isBare = ({ entry, isPlain }: Line) => isPlain && (entry === null || BARE_MARK.test(entry.mark));

/**
 * A description without the options that `labels` show in the same order. The list after "Options:" at its end goes. A
 * description that is only options goes entirely. Any other text stays whole, because it may say something about them.
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
