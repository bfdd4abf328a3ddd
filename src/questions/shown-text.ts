import { hashOfTexts } from './fingerprint.ts';
import type { Message } from './session.ts';
import { withoutSignedLinks } from './signed-links.ts';

/**
 * A hash of all that an asking message shows: its content, and titles and descriptions in order. White space is folded,
 * letters are composed (NFC) and the signatures of links are left out: these change without a change of what is asked.
 */
export function shownHashOf({ content, humanInput }: Pick<Message, 'content' | 'humanInput'>): string {
	const texts = [content, ...humanInput.flatMap(({ title, description }) => [title, description])];
	return hashOfTexts(texts.map((text) => withoutSignedLinks(text).normalize('NFC').replace(/\s+/g, ' ').trim()));
}

/** Whether two hashes are of different texts. Null is unknown: the former version stored none. */
export function isReworded(before: string | null, after: string | null): boolean {
	return before !== null && after !== null && before !== after;
}
