import { createHash } from 'node:crypto';
import type { HumanInputItem } from './session.ts';

/** 128 bits: far from any accidental collision, and short enough for a view's private_metadata. */
const hexDigits = 32;

/**
 * A stable hash of texts in their order, as 32 hexadecimal digits. Two lists have the same hash only when they are the
 * same: each text is preceded by its length, and hashed as UTF-16 because UTF-8 would merge all lone surrogates.
 * Do not use it to remember a value that may be a secret: a four-digit code is found by trying all of them.
 */
export function hashOfTexts(texts: Iterable<string>): string {
	const hash = createHash('sha256');
	for (const text of texts) hash.update(`${text.length}:`).update(text, 'utf16le');
	return hash.digest('hex').slice(0, hexDigits);
}

/** Whether a question is still the same: a hash over its items' titles and descriptions at their positions. */
export function fingerprintOf(items: readonly Pick<HumanInputItem, 'title' | 'description'>[]): string {
	return hashOfTexts(textsOf(items));
}

function* textsOf(items: readonly Pick<HumanInputItem, 'title' | 'description'>[]): Generator<string> {
	for (const item of items) {
		yield item.title;
		yield item.description;
	}
}
