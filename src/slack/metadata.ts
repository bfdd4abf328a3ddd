import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { slackCodec } from './ids.ts';

/** Slack's limit for private_metadata, in characters. */
export const METADATA_LIMIT = 3000;

const INDEX = z.int().min(0).max(1_000_000_000);
const TEXT = z.string();
const POSITIONS = z.array(INDEX).default([]);

const SCHEMA = z.object({
	sessionId: TEXT,
	/** The message whose question the form asks; null when no question is open. */
	messageIndex: INDEX.nullable().default(null),
	fingerprint: TEXT.nullable().default(null),
	/** Of what the form shows (`shownHashOf`). */
	shownHash: TEXT.nullable().default(null),
	/** Identifies one showing of a form; drafts and submissions carry it. */
	formId: TEXT,
	/** Of the steps; 0 shows the newest. */
	page: INDEX.default(0),
	plainText: z.boolean().default(false),
	partial: z.boolean().default(false),
	/** When the shown session was read, in milliseconds since the epoch; 0 before the first read. */
	readAt: z.number().min(0).default(0),
	origin: z
		.object({ channelId: TEXT.nullable(), threadTs: TEXT.nullable(), isCopy: z.exactOptional(z.literal(true)) })
		.default({ channelId: null, threadTs: null }),
	/** UTF-8 bytes of the PUT's JSON with empty values. */
	putOverheadBytes: z.number().min(0).default(0),
	/** Positions that have a field. */
	fields: POSITIONS,
	/** Those of `fields` with an initial value, which Slack may leave out of the state. */
	offered: POSITIONS,
	/** How the fields were shown last; null if there were none. */
	shown: z.enum(['guessed', 'plain']).nullable().default(null),
	/** Those of `fields` shown as plain text: all, or those whose text did not fit the guessed input. */
	asText: POSITIONS,
	/** Those of `fields` with options to choose from. */
	withOptions: POSITIONS,
	/** The `fields` whose boxes were ticked when the view was built. */
	secret: POSITIONS,
	/** UTF-16 units to which initial values were cut. */
	offerLimit: INDEX.default(0),
	/** Option texts that Slack would change (emoji, `&`), by position. */
	optionTexts: z.record(z.string().regex(/^\d{1,5}$/), z.array(TEXT)).default({}),
	/** In a history: how many answers are skipped. */
	offset: INDEX.default(0),
});
const METADATA = slackCodec('view 3', SCHEMA);

/** What a view carries from one event to the next. Slack returns it unchanged. */
export type ViewMetadata = Parameters<typeof METADATA.encode>[0];

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
export function newMetadata(
	start: Pick<ViewMetadata, 'sessionId'> & Partial<Pick<ViewMetadata, 'formId' | 'origin' | 'messageIndex'>>,
): ViewMetadata {
	return SCHEMA.parse({ formId: newFormId(), ...start });
}

export function newFormId(): string {
	return randomBytes(9).toString('base64url');
}

/** The string for private_metadata. @throws RangeError over 3,000 characters (only with a session id of that length) */
export function encodeMetadata(metadata: ViewMetadata): string {
	const text = METADATA.encode(metadata);
	if (text.length > METADATA_LIMIT) throw new RangeError(`private_metadata of ${text.length} characters`);
	return text;
}

/** How many characters `encodeMetadata` returns without a form's fields. */
export function lengthWithoutFields(metadata: ViewMetadata): number {
	return METADATA.encode({ ...metadata, ...NO_FIELDS }).length;
}

/** Null for anything that is not complete metadata of this version. */
export const decodeMetadata = METADATA.decode;
