import { createHash } from 'node:crypto';
import type { HumanInputItem } from './session.ts';

/** 128 bits: no accidental collisions, and short enough for a view's private_metadata. */
const HEX_DIGITS = 32;

/**
 * A stable hash of texts in their order, as 32 hexadecimal digits. Only equal lists have equal hashes: the length goes
 * before each text, and UTF-16 is hashed because UTF-8 merges all lone surrogates. Not for values that may be secret: the
 * hash of a four-digit code can be guessed.
 */
export function hashOfTexts(texts: readonly string[]): string {
	const hash = createHash('sha256');
	for (const text of texts) hash.update(`${text.length}:`).update(text, 'utf16le');
	return hash.digest('hex').slice(0, HEX_DIGITS);
}

/** Identifies a question: a hash of its items' titles and descriptions in order. */
export function fingerprintOf(items: readonly Pick<HumanInputItem, 'title' | 'description'>[]): string {
	return hashOfTexts(items.flatMap(({ title, description }) => [title, description]));
}

/**
 * Whether a stored text is the one that was sent. A service may trim a text and rewrite its line ends; it is still the
 * same. Linear in the length of both.
 */
export function sameText(stored: string, sent: string): boolean {
	return stored === sent || comparable(stored) === comparable(sent);
}

/**
 * Normalizing sorts the marks on one letter in quadratic time, so a run of more than 30 is broken up as in the
 * Stream-Safe Text Format (Unicode Standard Annex 15). No language has so many.
 */
const LONG_MARK_RUN = /(\p{M}{30})(?=\p{M})/gu;

function comparable(text: string): string {
	return text.replaceAll('\r\n', '\n').trim().replace(LONG_MARK_RUN, '$1\u034f').normalize();
}
