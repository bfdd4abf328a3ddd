import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Origin } from '../answers/answer.ts';
import { slackCodec } from './ids.ts';

/** Slack's limit for private_metadata, in characters. */
export const METADATA_LIMIT = 3000;

const INDEX = z.int().min(0).max(1_000_000_000);
const TEXT = z.string();
const POSITIONS = z.array(INDEX);

const METADATA = slackCodec(
	'view 3',
	z.object({
		sessionId: TEXT,
		/** The message whose question the form asks; null when no question is open. */
		messageIndex: INDEX.nullable(),
		fingerprint: TEXT.nullable(),
		/** Of what the form shows (`shownHashOf`). */
		shownHash: TEXT.nullable(),
		/** Identifies one showing of a form; drafts and submissions carry it. */
		formId: TEXT,
		/** Page of the steps; 0 shows the newest. */
		page: INDEX,
		plainText: z.boolean(),
		partial: z.boolean(),
		/** When the shown session was read, in milliseconds since the epoch; 0 before the first read. */
		readAt: z.number().min(0),
		origin: z.object({
			channelId: TEXT.nullable(),
			threadTs: TEXT.nullable(),
			isCopy: z.exactOptional(z.literal(true)),
		}),
		/** UTF-8 bytes of the PUT's JSON with empty values. */
		putOverheadBytes: z.number().min(0),
		/** Positions that have a field. */
		fields: POSITIONS,
		/** Those of `fields` with an initial value, which Slack may leave out of the state. */
		offered: POSITIONS,
		/** How the fields were shown last; null if there were none. */
		shown: z.enum(['guessed', 'plain']).nullable(),
		/** Those of `fields` shown as plain text: all, or those whose text did not fit the guessed input. */
		asText: POSITIONS,
		/** Those of `fields` with options to choose from. */
		withOptions: POSITIONS,
		/** The `fields` whose boxes were ticked when the view was built. */
		secret: POSITIONS,
		/** UTF-16 units to which initial values were cut. */
		offerLimit: INDEX,
		/** Option texts that Slack would change (emoji, `&`), by position. */
		optionTexts: z.record(z.string().regex(/^\d{1,5}$/), z.array(TEXT)),
		/** In a history: how many answers are skipped. */
		offset: INDEX,
	}),
);

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
export function newMetadata(start: {
	sessionId: string;
	/** Left out: a new one. */
	formId?: string;
	origin?: Origin;
	messageIndex?: number | null;
}): ViewMetadata {
	return {
		sessionId: start.sessionId,
		messageIndex: start.messageIndex ?? null,
		fingerprint: null,
		shownHash: null,
		formId: start.formId ?? newFormId(),
		page: 0,
		plainText: false,
		partial: false,
		readAt: 0,
		origin: start.origin ?? { channelId: null, threadTs: null },
		putOverheadBytes: 0,
		offerLimit: 0,
		...NO_FIELDS,
		offset: 0,
	};
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

/** How many characters the string for private_metadata has without a form's fields. */
export function lengthWithoutFields(metadata: ViewMetadata): number {
	return METADATA.encode({ ...metadata, ...NO_FIELDS }).length;
}

/** Null for anything that is not complete metadata of this version. */
export const decodeMetadata = METADATA.decode;
