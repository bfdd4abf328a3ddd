import { z } from 'zod';
import type { Origin } from '../answers/answer.ts';
import type { DeepReadonly } from '../deep-readonly.ts';

/** Slack's limit for private_metadata, in characters. */
export const METADATA_LIMIT = 3000;
/** Views of another version are not read. */
const VERSION = 2;

const INDEX = z.int().min(0).max(1_000_000_000);
const TEXT = z.string();
/** Ascending positions as `0-4,7`. */
const POSITIONS = z.codec(
	z
		.string()
		.max(600)
		.regex(/^(\d{1,5}(-\d{1,5})?(,|$))*$/),
	z.array(z.number()),
	{ decode: expandRanges, encode: toRanges },
);
const ORIGIN = z.codec(
	z.tuple([TEXT.nullable(), TEXT.nullable(), z.boolean()]),
	z.object({ channelId: TEXT.nullable(), threadTs: TEXT.nullable(), isCopy: z.exactOptional(z.literal(true)) }),
	{
		decode: ([channelId, threadTs, isCopy]) => ({ channelId, threadTs, ...(isCopy && { isCopy }) }),
		encode: ({ channelId, threadTs, isCopy = false }): [string | null, string | null, boolean] => [
			channelId,
			threadTs,
			isCopy,
		],
	},
);

/** The parts of a view's metadata, each with its name in the JSON. */
const PARTS = {
	sessionId: ['s', TEXT],
	/** The message whose question the form asks; null when no question is open. */
	messageIndex: ['m', INDEX.nullable()],
	fingerprint: ['f', TEXT.nullable()],
	/** Of what the form shows (`shownHashOf`). */
	shownHash: ['g', TEXT.nullable()],
	/** Identifies one showing of a form; drafts and submissions carry it. */
	formId: ['i', TEXT],
	/** Page of the steps; 0 shows the newest. */
	page: ['p', INDEX],
	plainText: ['t', z.boolean()],
	partial: ['o', z.boolean()],
	/** When the shown session was read, in milliseconds since the epoch; 0 before the first read. */
	readAt: ['r', z.number().min(0)],
	origin: ['c', ORIGIN],
	/** UTF-8 bytes of the PUT's JSON with empty values. */
	putOverheadBytes: ['b', z.number().min(0)],
	/** Positions that have a field. */
	fields: ['q', POSITIONS],
	/** Those of `fields` with an initial value, which Slack may leave out of the state. */
	offered: ['d', POSITIONS],
	/** How the fields were shown last; null if there were none. */
	shown: ['w', z.enum(['guessed', 'plain']).nullable()],
	/** Those of `fields` shown as plain text: all, or those whose text did not fit the guessed input. */
	asText: ['x', POSITIONS],
	/** Those of `fields` with options to choose from. */
	withOptions: ['j', POSITIONS],
	/** The `fields` whose boxes were ticked when the view was built. */
	secret: ['k', POSITIONS],
	/** UTF-16 units to which initial values were cut. */
	offerLimit: ['l', INDEX],
	/** Option texts that Slack would change (emoji, `&`), by position. */
	optionTexts: ['e', z.record(z.string().regex(/^\d{1,5}$/), z.array(TEXT))],
	/** The answer that a receipt is about. */
	answerId: ['a', TEXT.nullable()],
	/** In a history: how many answers are skipped. */
	offset: ['n', INDEX],
} as const satisfies Readonly<Record<string, readonly [key: string, schema: z.ZodType]>>;
const NAMES = Object.entries(PARTS).map(([name, [key]]) => [name, key] as const);
const SCHEMA = z.object({
	v: z.literal(VERSION),
	...Object.fromEntries(Object.values(PARTS)),
}) as unknown as z.ZodObject<Record<string, z.ZodType>>;

/** What a view carries from one event to the next. Slack returns it unchanged; a forged request may hold anything. */
export type ViewMetadata = DeepReadonly<{ [Part in keyof typeof PARTS]: z.output<(typeof PARTS)[Part][1]> }>;

/** For a view without a form. */
export const NO_FIELDS = {
	fields: [],
	offered: [],
	shown: null,
	asText: [],
	withOptions: [],
	secret: [],
	optionTexts: {},
} as const satisfies Partial<ViewMetadata>;

/** The metadata of a view before the first read. */
export function newMetadata(start: {
	sessionId: string;
	formId: string;
	origin?: Origin;
	messageIndex?: number | null;
}): ViewMetadata {
	return {
		sessionId: start.sessionId,
		messageIndex: start.messageIndex ?? null,
		fingerprint: null,
		shownHash: null,
		formId: start.formId,
		page: 0,
		plainText: false,
		partial: false,
		readAt: 0,
		origin: start.origin ?? { channelId: null, threadTs: null },
		putOverheadBytes: 0,
		offerLimit: 0,
		...NO_FIELDS,
		answerId: null,
		offset: 0,
	};
}

/** The string for private_metadata. @throws RangeError over 3,000 characters (only with a session id of that length) */
export function encodeMetadata(metadata: ViewMetadata): string {
	const text = serialise(metadata);
	if (text.length > METADATA_LIMIT) throw new RangeError(`private_metadata of ${text.length} characters`);
	return text;
}

/** The length of the string for private_metadata, in characters. */
export function metadataLength(metadata: ViewMetadata): number {
	return serialise(metadata).length;
}

/** Null for anything that is not complete metadata of this version. */
export function decodeMetadata(text: string | undefined): ViewMetadata | null {
	const { data } = SCHEMA.safeParse(parseJson(text));
	if (data === undefined) return null;
	return Object.fromEntries(NAMES.map(([name, key]) => [name, data[key]])) as unknown as ViewMetadata;
}

function serialise(metadata: ViewMetadata): string {
	const parts = Object.fromEntries(NAMES.map(([name, key]) => [key, metadata[name as keyof ViewMetadata]]));
	return JSON.stringify(SCHEMA.encode({ v: VERSION, ...parts }));
}

function parseJson(text: string | undefined): unknown {
	if (text === undefined || text.length > METADATA_LIMIT) return null;
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

function toRanges(positions: readonly number[]): string {
	const ranges: { first: number; last: number }[] = [];
	for (const position of positions) {
		const range = ranges.at(-1);
		if (range !== undefined && position === range.last + 1) range.last = position;
		else ranges.push({ first: position, last: position });
	}
	return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

/** A form has at most 90 fields; ranges with more are cut at 100. */
function expandRanges(text: string): number[] {
	const positions: number[] = [];
	for (const part of text.split(',')) {
		if (part === '') continue;
		const [first = 0, last = first] = part.split('-').map(Number);
		for (let position = first; position <= last && positions.length < 100; position += 1) positions.push(position);
	}
	return positions;
}
