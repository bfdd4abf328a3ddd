import { boundaryBefore, GRAPHEMES, LONGEST_CLUSTER, NOTE_LENGTH, noteOf, type OnCut, withoutNote } from '../../cut.ts';
import { neutralise } from './clean.ts';

/** Below this length there is no room for a note of what was cut. */
const SHORT_LIMIT = 100;

/**
 * Cuts `source` so that the converted part and a note of how much is missing take at most `limit` UTF-16 units. It cuts
 * the source, not the converted text, so it splits no entity, mark-up or character. Reads at most a few times `limit` of
 * the source, however long it is. A note at the end of the source (`cutWithNote`) counts for what it stands for.
 */
export function fitText(whole: string, limit: number, convert: (text: string) => string, onCut?: OnCut): string {
	const { text: source, missing } = withoutNote(whole);
	if (missing > 0) onCut?.(true);
	const windowEnd = source.length <= limit * 4 ? source.length : boundaryBefore(source, limit * 4);
	const text = neutralise(source.slice(0, windowEnd)).trimEnd();
	const beyond = source.length - windowEnd + missing;
	if (windowEnd === source.length && text.length <= limit) {
		const converted = convert(missing > 0 ? neutralise(whole) : text);
		if (converted.length <= limit) return converted;
	}
	onCut?.();
	const short = limit < SHORT_LIMIT;
	const room = short ? limit - 1 : limit - NOTE_LENGTH;
	let length = Math.min(text.length, room);
	for (let round = 0; ; round += 1) {
		length = boundaryBefore(text, length);
		const shown = convert(text.slice(0, length).trimEnd());
		if (shown.length <= room || length === 0) {
			if (short) return `${shown}…`.slice(0, limit);
			return `${shown}${noteOf(text.length - length + beyond)}`;
		}
		// Proportional steps need a few rounds; halving is for texts made to need more.
		const next = Math.floor((length * room) / shown.length);
		length = Math.min(length - 1, round < 8 ? next : length >> 1);
	}
}

/**
 * At most `characters` as people count them, and `limit` UTF-16 units of the converted text; what is cut ends with "…".
 * Each character is converted by itself, so neither it nor its entity is split. Reads at most four times `limit`.
 */
export function fitCharacters(
	source: string,
	{ characters, limit }: { readonly characters: number; readonly limit: number },
	convert: (character: string) => string,
): string {
	const window = source.slice(0, boundaryBefore(source, limit * 4));
	const shown: string[] = [];
	let length = 0;
	for (const { segment } of GRAPHEMES.segment(window)) {
		for (const character of segment.length > LONGEST_CLUSTER ? segment : [segment]) {
			const converted = convert(character);
			shown.push(converted);
			length += converted.length;
			if (shown.length > characters || length > limit) return `${withoutLast(shown, characters, limit).trimEnd()}…`;
		}
	}
	return window.length < source.length ? `${withoutLast(shown, characters, limit).trimEnd()}…` : shown.join('');
}

/** The first of these characters that leave room for one more. */
function withoutLast(shown: readonly string[], characters: number, limit: number): string {
	let kept = '';
	for (const character of shown.slice(0, characters - 1)) {
		if (kept.length + character.length >= limit) break;
		kept += character;
	}
	return kept;
}
