import { createHash } from 'node:crypto';
import type { HumanInputItem, Message } from './session.ts';

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

/**
 * A hash of all that an asking message shows: its content, and titles and descriptions in order. White space is folded,
 * letters are composed (NFC) and the signatures of links are left out: these change without a change of what is asked.
 */
export function shownHashOf({ content, humanInput }: Pick<Message, 'content' | 'humanInput'>): string {
	const texts = [content, ...humanInput.flatMap(({ title, description }) => [title, description])];
	return hashOfTexts(texts.map((text) => withoutSignedLinks(text).normalize('NFC').replace(/\s+/g, ' ').trim()));
}

/** Whether two hashes are of different texts. Null is unknown, as in buttons of versions that had none. */
export function isReworded(before: string | null, after: string | null): boolean {
	return before !== null && after !== null && before !== after;
}

/** A URL, up to the next character of prose, Markdown or Slack's markup. */
const URL_IN_TEXT = /https?:\/\/[^\s<>"'`|\\^{}[\]()]+/gi;

/** Parameters that sign a URL in S3 and compatible services, Google, CloudFront and Azure. */
const SIGNATURE =
	/[?&;](?:X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential)|Signature|Key-Pair-Id|sig)=/i;

/** In a signed URL: what only the signing adds, and tokens and keys. Other parameters can hold words that people must see. */
const OF_SIGNING =
	/^(?:X-[^=]*|AWSAccessKeyId|GoogleAccessId|Signature|Expires|Policy|Key-Pair-Id|Hash-Algorithm|sig|s[eiprstv]|spr|sip|srt|sk(?:oid|tid|[estv])|(?:[a-z]+[_-]?)?token|api[_-]?key|secret|password)=/i;

/**
 * Removes the signature of pre-signed links, which give access for days. Agents quote the addresses that they open.
 * `https://bucket.example/report.pdf?page=2&X-Amz-…` becomes `https://bucket.example/report.pdf?page=2&…`.
 */
export function withoutSignedLinks(text: string): string {
	if (!text.includes('?')) return text;
	return text.replace(URL_IN_TEXT, (url) => (SIGNATURE.test(url) ? withoutSignature(url) : url));
}

function withoutSignature(url: string): string {
	const parameters = url.replace(/(?<=[?&;#])[^?&;#]+/g, (part) => (OF_SIGNING.test(part) ? '…' : part));
	return parameters.replace(/…(?:(?:&amp;|[&;])…)+/g, '…');
}
