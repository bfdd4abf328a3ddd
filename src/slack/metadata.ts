import { z } from 'zod';
import type { Origin } from '../answers/answer.ts';

/** Slack's limit for private_metadata, in characters. */
export const METADATA_LIMIT = 3000;
/** Views of the former version, which had no box for secrets, can still be read. */
const VERSION = 2;
/** Still read. Its forms had no box for secrets. */
const FORMER_VERSION = 1;

/** What a view carries from one event to the next. Slack returns it unchanged; a forged request may hold anything. */
export interface ViewMetadata {
	readonly sessionId: string;
	/** The message whose question the form asks; null when no question is open. */
	readonly messageIndex: number | null;
	readonly fingerprint: string | null;
	/** Of what the form shows (`shownHashOf`); null in forms of the former version. */
	readonly shownHash: string | null;
	/** Identifies one showing of a form; drafts and submissions carry it. */
	readonly formId: string;
	/** Page of the steps; 0 shows the newest. */
	readonly page: number;
	readonly plainText: boolean;
	readonly partial: boolean;
	/** When the shown session was read, in milliseconds since the epoch; 0 before the first read. */
	readonly readAt: number;
	readonly origin: Origin;
	/** UTF-8 bytes of the PUT's JSON with empty values. */
	readonly putOverheadBytes: number;
	/** Positions that have a field. */
	readonly fields: readonly number[];
	/** Those of `fields` with an initial value, which Slack may leave out of the state. */
	readonly offered: readonly number[];
	/** How the fields were shown last; null if there were none. */
	readonly shown: 'guessed' | 'plain' | null;
	/** Those of `fields` shown as plain text: all, or those whose text did not fit the guessed input. */
	readonly asText: readonly number[];
	/** Those of `fields` with options to choose from; none in forms of former versions. */
	readonly withOptions: readonly number[];
	/** The `fields` whose boxes were ticked when the view was built. */
	readonly secret: readonly number[];
	/** Whether the form has the box for secrets. */
	readonly boxed: boolean;
	/** UTF-16 units to which initial values were cut. */
	readonly offerLimit: number;
	/** Option texts that Slack would change (emoji, `&`), by position. */
	readonly optionTexts: Readonly<Record<number, readonly string[]>>;
	/** The answer that a receipt is about. */
	readonly answerId: string | null;
	/** In a history: how many answers are skipped. */
	readonly offset: number;
}

const INDEX = z.int().min(0).max(1_000_000_000);
const RANGES = z
	.string()
	.max(600)
	.regex(/^(\d{1,5}(-\d{1,5})?(,|$))*$/)
	.transform(expandRanges);

const SCHEMA = z.object({
	v: z.literal([FORMER_VERSION, VERSION]),
	s: z.string().max(500),
	m: INDEX.nullable(),
	f: z.string().max(64).nullable(),
	i: z.string().max(64),
	p: INDEX,
	t: z.boolean(),
	o: z.boolean(),
	r: z.number().min(0),
	c: z.string().max(64).nullable(),
	h: z.string().max(64).nullable(),
	b: z.number().min(0),
	q: RANGES,
	d: RANGES,
	w: z.enum(['guessed', 'plain']).nullable(),
	x: RANGES,
	j: RANGES.default([]),
	k: RANGES,
	l: INDEX,
	e: z.record(z.string().regex(/^\d{1,5}$/), z.array(z.string())),
	a: z.string().max(64).nullable(),
	n: INDEX,
	y: z.boolean().default(false),
	g: z.string().max(64).nullable().default(null),
	u: z.boolean().default(false),
});

/** For a view without a form. */
export const NO_FIELDS = {
	fields: [],
	offered: [],
	shown: null,
	asText: [],
	withOptions: [],
	secret: [],
	boxed: false,
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

/** Null for anything that is not complete metadata of this version or the former one. */
export function decodeMetadata(text: string | undefined): ViewMetadata | null {
	const { data } = SCHEMA.safeParse(parseJson(text));
	if (data === undefined) return null;
	return {
		sessionId: data.s,
		messageIndex: data.m,
		fingerprint: data.f,
		shownHash: data.g,
		formId: data.i,
		page: data.p,
		plainText: data.t,
		partial: data.o,
		readAt: data.r,
		origin: { channelId: data.c, threadTs: data.h, ...(data.u && { isCopy: true }) },
		putOverheadBytes: data.b,
		fields: data.q,
		offered: data.d,
		shown: data.w,
		asText: data.v === FORMER_VERSION ? plainInFormer(data) : data.x,
		withOptions: data.j,
		secret: data.k,
		boxed: data.y,
		offerLimit: data.l,
		optionTexts: data.e,
		answerId: data.a,
		offset: data.n,
	};
}

/** The former version stored no positions when the person chose plain text; its secret fields were never plain text. */
function plainInFormer({ w, q, k, x }: Pick<z.infer<typeof SCHEMA>, 'w' | 'q' | 'k' | 'x'>): number[] {
	return w === 'plain' ? q.filter((position) => !k.includes(position)) : x;
}

function serialise(metadata: ViewMetadata): string {
	return JSON.stringify({
		v: VERSION,
		s: metadata.sessionId,
		m: metadata.messageIndex,
		f: metadata.fingerprint,
		i: metadata.formId,
		p: metadata.page,
		t: metadata.plainText,
		o: metadata.partial,
		r: metadata.readAt,
		c: metadata.origin.channelId,
		h: metadata.origin.threadTs,
		b: metadata.putOverheadBytes,
		q: toRanges(metadata.fields),
		d: toRanges(metadata.offered),
		w: metadata.shown,
		x: toRanges(metadata.asText),
		j: toRanges(metadata.withOptions),
		k: toRanges(metadata.secret),
		l: metadata.offerLimit,
		e: metadata.optionTexts,
		a: metadata.answerId,
		n: metadata.offset,
		y: metadata.boxed,
		g: metadata.shownHash,
		u: metadata.origin.isCopy === true,
	} satisfies Record<keyof z.input<typeof SCHEMA>, unknown>);
}

function parseJson(text: string | undefined): unknown {
	if (text === undefined || text.length > METADATA_LIMIT) return null;
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

/** Ascending positions as `0-4,7`. */
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
