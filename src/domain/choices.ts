import { optionOr } from './texts.ts';

/** What an item offers. `separator`: between several that are chosen, in one text; without it, only one can be. */
export interface Choices {
	readonly options: readonly string[];
	readonly separator?: string;
}

/** Where an option has a comma itself, each chosen one takes a line, and a note the last one. */
export function choicesFrom(options: readonly string[], isSeveral: boolean): Choices {
	return { options, ...(isSeveral && { separator: options.some((option) => option.includes(',')) ? '\n' : ', ' }) };
}

/** What stands between an option and a note. */
const markAfter = (option: string, { separator }: Choices) =>
	separator === '\n' ? separator : /[.!?…。！？]$/.test(option) ? ' ' : '. ';

/**
 * Options, in the item's order, and a note as one text, as it is sent: "LH 1173. Seat 12A, please". Either may be
 * empty. A note that is the option is no note; any other stands behind it, so that what was chosen is always sent.
 */
export function withNote(chosen: readonly string[], note: string, choices: Choices): string {
	const option = choices.options.filter((one) => chosen.includes(one)).join(choices.separator);
	const own = note.trim();
	if (option === '' || own === '') return option || note;
	if (own.toLowerCase() === option.toLowerCase()) return option;
	const text = `${option}${markAfter(option, choices)}${own}`;
	// "A" with the note "Seat 12" is not the option "A. Seat 12".
	return choices.options.includes(text) ? `${option}\n${own}` : text;
}

/** Undoes `withNote`: a text that begins with no option is all note. */
export function splitNote(
	text: string,
	choices: Choices,
): { readonly chosen: readonly string[]; readonly note: string } {
	const { options, separator } = choices;
	for (const option of options.toSorted((a, b) => b.length - a.length)) {
		if (separator !== undefined && text.startsWith(`${option}${separator}`)) {
			const others = { options: options.filter((other) => other !== option), separator };
			const { chosen, note } = splitNote(text.slice(option.length + separator.length), others);
			if (chosen.length > 0) return { chosen: [option, ...chosen], note };
		}
		const start = `${option}${markAfter(option, choices)}`;
		if (text === option || text.startsWith(start)) return { chosen: [option], note: text.slice(start.length) };
	}
	return { chosen: [], note: text };
}

/** The option that a text is (`optionOr`), or several; else the text. */
export function optionsOr(text: string, choices: Choices): string {
	const { options, separator } = choices;
	const parts = separator === undefined ? [text] : text.split(separator, options.length + 1);
	const chosen = parts.map((part) => (options.includes(part) ? part : optionOr(part, options)));
	const isChoice = parts.length <= options.length && chosen.every((part) => options.includes(part));
	return isChoice ? withNote(chosen, '', choices) : text;
}
