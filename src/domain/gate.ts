import { mapInSteps, mapWorkInSteps } from '../kernel/slices.ts';
import { parseAddress } from '../kernel/values.ts';
import { fingerprintOf, hashOfTexts, shownHashOf } from './hashes.ts';
import { type ItemOf, type Message, resultOf, type SentItem, type Session } from './session.ts';
import { toShownText } from './texts.ts';

/** A session as read from the service, with whole texts. Only `gated` may use it. */
export interface ReadSession extends Omit<Session, 'messages' | 'resultHash' | 'filesHash'> {
	readonly messages: readonly ReadMessage[];
}

/** A message as read. The `open` actions have the whole address. */
export interface ReadMessage extends Pick<Message, 'role' | 'actions'> {
	readonly content: string;
	readonly humanInput: readonly ReadItem[];
}

export type ReadItem = ItemOf<string> & Pick<SentItem, 'raw'>;

/** The most code points of an item's title, description and value, and of any other text. */
const MOST_OF_ITEM = 8_000;
const MOST_OF_TEXT = 20_000;
/** The items of a message that rules read. A form in Slack holds as many. */
const MOST_READ_ITEMS = 90;
/** UTF-16 units of these items together. An answer to a longer question would be larger than the service's limit. */
const MOST_EXAMINED = 100_000;

/**
 * Makes a `Session` of one that was read. Every session enters the program here. It bounds what people and rules see,
 * keeps what the PUT sends back, and makes the hashes.
 */
export function* gated(read: ReadSession): Generator<void, Session> {
	const result = resultOf(read);
	return {
		...read,
		status: textOf(read.status),
		name: textOf(read.name),
		sessionDetails: textOf(read.sessionDetails),
		messages: yield* mapWorkInSteps(read.messages, gatedMessage),
		files: yield* mapInSteps(read.files, (file) => ({ ...file, filename: textOf(file.filename) })),
		resultHash: result === null ? null : yield* hashOfTexts([result]),
		filesHash: yield* hashOfTexts(read.files.map(({ filename }) => filename)),
	};
}

const textOf = (text: string) => toShownText(text, MOST_OF_TEXT).text;

function* gatedMessage({ role, content, actions, humanInput }: ReadMessage): Generator<void, Message> {
	const { text, isCut } = toShownText(content, MOST_OF_TEXT);
	const hasItems = humanInput.length > 0;
	let room = MOST_EXAMINED;
	let left = MOST_READ_ITEMS;
	return {
		role: textOf(role),
		content: text,
		isCut,
		actions: yield* mapInSteps(actions, (one) => ({ ...one, text: (one.kind === 'open' ? hostOf : textOf)(one.text) })),
		humanInput: yield* mapInSteps(humanInput, ({ title, description, value, raw = {} }) => {
			// People see a number as the agent wrote it. The fingerprint uses the parsed one, as in 1.0.0.
			const named = toShownText(title && (raw.title ?? title), MOST_OF_ITEM);
			const described = toShownText(description && (raw.description ?? description), MOST_OF_ITEM);
			room -= title.length + description.length;
			left--;
			const isRead = left >= 0 && room >= 0 && !named.isCut && !described.isCut;
			return {
				title: named.text,
				description: described.text,
				value: toShownText(value, MOST_OF_ITEM).text,
				isCut: !isRead,
			};
		}),
		sent: humanInput as readonly unknown[] as readonly SentItem[],
		fingerprint: hasItems ? yield* fingerprintOf(humanInput) : '',
		shownHash: hasItems ? yield* shownHashOf(content, humanInput) : '',
	};
}

/** The host and port of an address. User names, paths and queries may contain secrets. */
function hostOf(whole: string): string {
	const address = whole.trim();
	// An address may have no scheme: "example.org:8080/path". "javascript:…" and "file:…" have no host to show.
	const url = parseAddress(/^[\w.-]+\.[\w-]+(:\d+)?([/?#]|$)/.test(address) ? `https://${address}` : address);
	return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url.host : '';
}
