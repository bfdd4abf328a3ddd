import { neutralise } from '../../../src/domain/shown-text.ts';
import { type Piece, piecesText } from '../../../src/slack/rich-text.ts';

/** Marks that may be missing: of bold words, code and links. For links, a space and parentheses stand instead. */
const MARKS = /[*`[\]]/;
/** A line that begins or ends code, with its language. */
const FENCE = /^\s*(?:`{3,}|~{3,})[ \t]*[\w+#.-]{0,20}[ \t]*$/;
const NOTE = /\n?… \(([\d,]+) more characters?\)$/;

const visible = (text: string) => text.replace(/\s+/g, '');

/**
 * Whether these pieces show all of an agent's text in order, up to the cut of which a note tells; missing may be only
 * marks, lines of fences, and spaces.
 */
export function showsAll(pieces: readonly Piece[], source: string): boolean {
	const whole = piecesText(pieces);
	const isCut = NOTE.test(whole) && !NOTE.test(source);
	const shown = visible(isCut ? whole.replace(NOTE, '') : whole);
	const lines = neutralise(source).split('\n');
	// Where a fence may be missing, both are tried: it is shown as it is where nothing ends it.
	let ends = new Set([0]);
	for (const line of lines) {
		const next = new Set<number>();
		for (const from of ends) {
			if (isCut && from === shown.length) return true;
			for (const end of endsOf(visible(line), shown, from)) next.add(end);
			if (isCut && isBeginning(visible(line), shown, from)) return true;
			if (FENCE.test(line)) next.add(from);
		}
		ends = next;
	}
	return ends.has(shown.length);
}

/** Where a line ends in what is shown, from there on. */
function endsOf(line: string, shown: string, from: number): number[] {
	const end = matched(line, shown, from);
	return end === null ? [] : [end];
}

function matched(line: string, shown: string, from: number): number | null {
	let at = from;
	for (const character of line) {
		if (shown.startsWith(character, at)) at += character.length;
		else if (!MARKS.test(character)) return null;
	}
	return at;
}

/** Whether what is left of what is shown is the beginning of this line. */
function isBeginning(line: string, shown: string, from: number): boolean {
	let at = from;
	for (const character of line) {
		if (at === shown.length) return true;
		if (shown.startsWith(character, at)) at += character.length;
		else if (!MARKS.test(character)) return false;
	}
	return at === shown.length;
}
