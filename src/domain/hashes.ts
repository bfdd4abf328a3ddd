import { createHash } from 'node:crypto';
import { mapWorkInSteps } from '../kernel/slices.ts';
import { PART, unsigned } from './signed-links.ts';
import { withBrokenRuns } from './texts.ts';

/* Hashes of whole texts. They are made once, when a session is read, in steps, because a text may be long. */

/** 128 bits: without accidental collisions, and short enough for a view's private_metadata. */
const HEX_DIGITS = 32;

/**
 * A hash of a list of texts. Each text is hashed with its length, so no two lists are concatenated to the same input.
 * UTF-16 is hashed, because UTF-8 merges lone surrogates. Never for secrets: a four-digit code can be guessed by it.
 */
export function* hashOfTexts(texts: Iterable<string>): Generator<void, string> {
	const hash = createHash('sha256');
	for (const text of texts) {
		hash.update(`${text.length}:`);
		yield;
		for (let from = 0; from < text.length; from += PART) {
			hash.update(text.slice(from, from + PART), 'utf16le');
			yield;
		}
	}
	return hash.digest('hex').slice(0, HEX_DIGITS);
}

type Texts = Readonly<Record<'title' | 'description', string>>;

/** Identifies a question: a hash of its items' titles and descriptions, in order. */
export function fingerprintOf(items: readonly Texts[]): Generator<void, string> {
	return hashOfTexts(items.flatMap(({ title, description }) => [title, description]));
}

/**
 * A hash of all texts that an asking message shows. White space, Unicode composition and signatures of links do not
 * count, because they change by themselves.
 */
export function* shownHashOf(content: string, items: readonly Texts[]): Generator<void, string> {
	const texts = [content, ...items.flatMap(({ title, description }) => [title, description])];
	return yield* hashOfTexts(yield* mapWorkInSteps(texts, lasting));
}

/**
 * A character that NFC never joins with the one before it: no mark, Hangul vowel or final, vowel sign of Kirat Rai, or
 * low surrogate.
 */
const APART = /[^\p{M}\u1160-\u11ff\udc00-\udfff\u{16d63}-\u{16d6a}]/u;

/** A text without signatures of links, in NFC, with one space for each run of white space. */
function* lasting(whole: string): Generator<void, string> {
	const text = yield* unsigned(whole);
	const parts: string[] = [];
	for (let from = 0; from < text.length; ) {
		const to = apartBefore(text, from, Math.min(text.length, from + PART));
		// A function as the replacement: for a string, V8 builds a rope, which takes ten times the memory and time.
		parts.push(
			withBrokenRuns(text.slice(from, to))
				.normalize('NFC')
				.replace(/\s{2,}|[^\S ]/g, () => ' '),
		);
		from = to;
		yield;
	}
	const joined = parts.map((part, at) => (parts[at - 1]?.endsWith(' ') && part.startsWith(' ') ? part.slice(1) : part));
	return joined.join('').trim();
}

/** The last index up to `to` where the text can be divided; `to` itself when there is none. */
function apartBefore(text: string, from: number, to: number): number {
	if (to === text.length) return to;
	for (let at = to; at > from; at--) {
		if (APART.test(String.fromCodePoint(text.codePointAt(at) ?? 0))) return at;
	}
	return to;
}
