import { optionOr } from './texts.ts';

/** The options of an item. `separator`: stands between several chosen ones in an answer; absent: one can be chosen. */
export interface Choices {
	readonly options: readonly string[];
	readonly separator?: string;
}

/** If an option contains a comma, chosen options are separated by lines, and a note takes the last line. */
export function choicesFrom(options: readonly string[], isSeveral: boolean): Choices {
	return { options, ...(isSeveral && { separator: options.some((option) => option.includes(',')) ? '\n' : ', ' }) };
}

/** The separator between an option and a note. */
const markAfter = (option: string, { separator }: Choices) =>
	separator === '\n' ? separator : /[.!?…。！？]$/.test(option) ? ' ' : '. ';

/**
 * The text that is sent for chosen options and a note: "LH 1173. Seat 12A, please". Options stand in the item's order,
 * then the note. Either may be empty. A note that equals the option is dropped.
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

/** The inverse of `withNote`. A text that begins with no option is entirely a note. */
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

/** `optionOr` for one option or several: the options that a text names, as `withNote` writes them; else the text. */
export function optionsOr(text: string, choices: Choices): string {
	const { options, separator } = choices;
	const parts = separator === undefined ? [text] : text.split(separator, options.length + 1);
	const chosen = parts.map((part) => (options.includes(part) ? part : optionOr(part, options)));
	const isChoice = parts.length <= options.length && chosen.every((part) => options.includes(part));
	return isChoice ? withNote(chosen, '', choices) : text;
}
