import { createHash } from 'node:crypto';
import type { HumanInputItem } from './session.ts';

/** 128 bits: far from any accidental collision, and short enough for a view's private_metadata. */
const HEX_DIGITS = 32;

/**
 * A stable hash of texts in their order, as 32 hexadecimal digits. Only equal lists have equal hashes: each text is
 * preceded by its length, and hashed as UTF-16 because UTF-8 would merge all lone surrogates. Not for values that may
 * be secret: a four-digit code is found by trying all of them.
 */
export function hashOfTexts(texts: Iterable<string>): string {
	const hash = createHash('sha256');
	for (const text of texts) hash.update(`${text.length}:`).update(text, 'utf16le');
	return hash.digest('hex').slice(0, HEX_DIGITS);
}

/** Identifies a question: a hash of its items' titles and descriptions in order. */
export function fingerprintOf(items: readonly Pick<HumanInputItem, 'title' | 'description'>[]): string {
	return hashOfTexts(textsOf(items));
}

function* textsOf(items: readonly Pick<HumanInputItem, 'title' | 'description'>[]): Generator<string> {
	for (const item of items) {
		yield item.title;
		yield item.description;
	}
}

/**
 * Whether a stored text is the one that was sent. Services trim texts and rewrite line ends; neither makes a text
 * somebody else's. Linear in the length of both.
 */
export function sameText(stored: string, sent: string): boolean {
	return stored === sent || comparable(stored) === comparable(sent);
}

/**
 * Sorting the marks on one letter takes the square of their number, so a run of more than 30 is broken up as the
 * Stream-Safe Text Format does (Unicode Standard Annex 15); no language has as many.
 */
const LONG_MARK_RUN = /(\p{M}{30})(?=\p{M})/gu;

function comparable(text: string): string {
	return text.replaceAll('\r\n', '\n').trim().replace(LONG_MARK_RUN, '$1\u034f').normalize();
}
