import { createHash } from 'node:crypto';
import { type HumanInputItem, isOver, isWaiting, type Message, type Session } from './session.ts';

/** What one message asks, and which items are still open. */
export interface Question {
	readonly messageIndex: number;
	readonly items: readonly HumanInputItem[];
	/** The positions that still need a value, ascending. */
	readonly openItems: readonly number[];
	readonly fingerprint: string;
	readonly shownHash: string;
	/** A newer assistant message exists. The question can still be answered. */
	readonly goneOn: boolean;
	/** What the agent wrote in the message that asks. */
	readonly context: string;
}

/** The positions that delivered answers of ours left empty on purpose. They count as answered. */
export type LeftEmpty = (messageIndex: number) => ReadonlySet<number>;

/** Whether any of these items has a value. White space is a value. */
export function isAnswered(items: readonly Pick<HumanInputItem, 'value'>[]): boolean {
	return items.some((item) => item.value !== '');
}

/** The index of the newest message that asks, answered or not; null when none asks. */
export function askingMessageIndex(session: Pick<Session, 'messages'>): number | null {
	const index = session.messages.findLastIndex(asks);
	return index === -1 ? null : index;
}

/**
 * The question that waits for a person now; null when nothing is open or the session is over. Only the newest message
 * that asks counts. While none of its items has a value, all are open. Once one has a value, the empty ones are open only
 * while the status is `humanInput`, except those in `leftEmpty`.
 */
export function openQuestion(session: Session, leftEmpty?: LeftEmpty): Question | null {
	const index = askingMessageIndex(session);
	const question = index === null ? null : questionAt(session, index, leftEmpty);
	return question !== null && question.openItems.length > 0 ? question : null;
}

/**
 * The question of one message, open or not, even when a newer message asks; null when the message does not exist or
 * does not ask. `openItems` is empty once the session is over.
 */
export function questionAt(session: Session, messageIndex: number, leftEmpty?: LeftEmpty): Question | null {
	const message = session.messages[messageIndex];
	if (message === undefined || !asks(message)) return null;
	const items = message.humanInput;
	const isPartly = isAnswered(items);
	const left = isPartly ? leftEmpty?.(messageIndex) : undefined;
	const isClosed = isOver(session.status) || (isPartly && !isWaiting(session.status));
	const open = items.flatMap(({ value }, position) => (value === '' && left?.has(position) !== true ? [position] : []));
	return {
		messageIndex,
		items,
		openItems: isClosed ? [] : open,
		fingerprint: fingerprintOf(items),
		shownHash: shownHashOf(message),
		// When asked for only: comparing two reads looks at every question of a session.
		get goneOn() {
			return session.messages.findLastIndex((other) => other.role === 'assistant') > messageIndex;
		},
		context: message.content,
	};
}

/** Items on a message of any role but `user` are a question, as on the service's own page. */
export function asks(message: Pick<Message, 'role' | 'humanInput'>): boolean {
	return message.role !== 'user' && message.humanInput.length > 0;
}

/** 128 bits: no accidental collisions, and short enough for a view's private_metadata. */
const HEX_DIGITS = 32;

/**
 * Only equal lists have equal hashes: the length goes before each text, and UTF-16 is hashed because UTF-8 merges all
 * lone surrogates. Not for values that may be secret: the hash of a four-digit code can be guessed.
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

/** Whether a stored text is the one that was sent: a service may trim it and rewrite its line ends. */
export function sameText(stored: string, sent: string): boolean {
	return stored === sent || comparable(stored) === comparable(sent);
}

/** Normalizing sorts the marks on one letter in quadratic time, so a run of more than 30 is broken up (UAX #15). */
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

/** Whether two hashes are of different texts. Null is unknown. */
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

/** Removes the signature of pre-signed links, which give access for days: `…/report.pdf?page=2&X-Amz-…`. */
export function withoutSignedLinks(text: string): string {
	if (!text.includes('?')) return text;
	return text.replace(URL_IN_TEXT, (url) => (SIGNATURE.test(url) ? withoutSignature(url) : url));
}

function withoutSignature(url: string): string {
	const parameters = url.replace(/(?<=[?&;#])[^?&;#]+/g, (part) => (OF_SIGNING.test(part) ? '…' : part));
	return parameters.replace(/…(?:(?:&amp;|[&;])…)+/g, '…');
}
