import { eachIn } from '../core/slices.ts';
import { parseAddress } from '../core/values.ts';
import { type ItemOf, type Message, resultOf, type SentItem, type Session } from './session.ts';
import { fingerprintOf, hashOfTexts, shown, shownHashOf } from './texts.ts';

/** A session as it was read, with whole texts. Only the gate takes it. */
export interface ReadSession extends Omit<Session, 'messages' | 'resultHash' | 'filesHash'> {
	readonly messages: readonly ReadMessage[];
}

/** `actions`: `open` with the whole address. */
export interface ReadMessage extends Pick<Message, 'role' | 'actions'> {
	readonly content: string;
	readonly humanInput: readonly ReadItem[];
}

export type ReadItem = ItemOf<string> & Pick<SentItem, 'raw'>;

/** Code points of an item's title, description and value, and of any other text. */
const MOST_OF_ITEM = 8_000;
const MOST_OF_TEXT = 20_000;
/** Items of a message that the rules read. A form in Slack holds as many. */
const MOST_ITEMS = 90;
/** UTF-16 units of all these items. The service takes no answer to a longer question: its PUT would be too large. */
const MOST_EXAMINED = 100_000;

/**
 * The only way of a session into the program. It bounds all that people and rules see, keeps what the PUT sends back, and makes
 * the hashes. It yields after each few milliseconds of work.
 */
export function* gated(read: ReadSession): Generator<void, Session> {
	const result = resultOf(read);
	return {
		...read,
		status: textOf(read.status),
		name: textOf(read.name),
		sessionDetails: textOf(read.sessionDetails),
		messages: yield* eachIn(read.messages, gatedMessage),
		files: yield* each(read.files, (file) => ({ ...file, filename: textOf(file.filename) })),
		sessionVariables: yield* each(read.sessionVariables, textOf),
		resultHash: result === null ? null : yield* hashOfTexts([result]),
		filesHash: yield* hashOfTexts(read.files.map(({ filename }) => filename)),
	};
}

function* each<From, To>(values: readonly From[], change: (value: From) => To): Generator<void, To[]> {
	const changed: To[] = [];
	for (const value of values) {
		changed.push(change(value));
		yield;
	}
	return changed;
}

const textOf = (text: string) => shown(text, MOST_OF_TEXT).text;

function* gatedMessage({ role, content, actions, humanInput }: ReadMessage): Generator<void, Message> {
	const { text, isCut } = shown(content, MOST_OF_TEXT);
	const hasItems = humanInput.length > 0;
	let room = MOST_EXAMINED;
	let left = MOST_ITEMS;
	return {
		role: textOf(role),
		content: text,
		isCut,
		actions: yield* each(actions, (one) => ({ ...one, text: (one.kind === 'open' ? hostOf : textOf)(one.text) })),
		humanInput: yield* each(humanInput, ({ title, description, value, raw = {} }) => {
			// A number as the agent wrote it. Version 1.0.0 made the fingerprint of the parsed one, so it stays.
			const named = shown(title && (raw.title ?? title), MOST_OF_ITEM);
			const described = shown(description && (raw.description ?? description), MOST_OF_ITEM);
			room -= title.length + description.length;
			left--;
			const isRead = left >= 0 && room >= 0 && !named.isCut && !described.isCut;
			return { title: named.text, description: described.text, value: shown(value, MOST_OF_ITEM).text, isCut: !isRead };
		}),
		sent: humanInput as readonly unknown[] as readonly SentItem[],
		fingerprint: hasItems ? yield* fingerprintOf(humanInput) : '',
		shownHash: hasItems ? yield* shownHashOf(content, humanInput) : '',
	};
}

/** Only the host and port are kept: user names, paths and queries contain secrets. */
function hostOf(whole: string): string {
	const address = whole.trim();
	// People and agents write "example.org:8080/path" for an address; "javascript:…" and "file:…" are none.
	const url = parseAddress(/^[\w.-]+\.[\w-]+(:\d+)?([/?#]|$)/.test(address) ? `https://${address}` : address);
	return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url.host : '';
}
