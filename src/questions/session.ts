/**
 * A session of the service as Handraise sees it: only the fields that its interface document and its observed behaviour
 * name, with everything absent or null made explicit. The service's schema (`session-service/schema.ts`) produces it.
 */
export interface Session {
	readonly sessionId: string;
	/** `active`, `humanInput`, `inactive`, `paused`, `stopped`, `completed`, `failed`, or a value nobody has seen yet. */
	readonly status: string;
	readonly name: string;
	readonly messages: readonly Message[];
	readonly files: readonly SessionFile[];
	/** ISO 8601 as the service sent it, or null; may be unparsable. */
	readonly startTime: string | null;
	readonly endTime: string | null;
	/** Pre-signed: gives whoever has it seven days' access. Never stands in a channel. */
	readonly lastScreenshotUrl: string | null;
	readonly lastScreenshotTimestamp: string | null;
	/** Values are often passwords: no place may show them. */
	readonly sessionVariables: readonly SessionVariable[];
	readonly sessionDetails: string;
	readonly maxSteps: number;
}

export interface Message {
	/** `assistant`, `user`, or a role nobody has seen yet. */
	readonly role: string;
	readonly content: string;
	readonly actions: readonly AgentAction[];
	/** The questions of this message; identified by position, titles may repeat and be empty. */
	readonly humanInput: readonly HumanInputItem[];
}

export interface HumanInputItem {
	readonly title: string;
	readonly description: string;
	/** Empty while nobody has answered. */
	readonly value: string;
	readonly raw?: RawTexts;
}

/**
 * The JSON texts of an item's fields that are no strings, as the service has them (absent fields are not among them). Only
 * for sending them back unchanged: never shown, kept or hashed. Texts, because their values may be nested deeper than
 * JSON.stringify can follow.
 */
export interface RawTexts {
	readonly title?: string;
	readonly description?: string;
	readonly value?: string;
}

/** One thing the agent did, reduced at the boundary to what may be shown. */
export type AgentAction =
	| { readonly kind: 'click' }
	/** `host` is all that is kept of the address: paths and queries carry tokens. Empty when it could not be parsed. */
	| { readonly kind: 'open'; readonly host: string }
	/** `text` is the session's result, in Markdown. */
	| { readonly kind: 'done'; readonly text: string }
	| { readonly kind: 'saveFile'; readonly filename: string; readonly deleted: boolean }
	/** Any other key of the service, by its name alone. */
	| { readonly kind: 'other'; readonly name: string };

export interface SessionFile {
	readonly filename: string;
	/** Pre-signed, see `lastScreenshotUrl`. */
	readonly signedUrl: string | null;
	readonly timestamp: string | null;
}

export interface SessionVariable {
	readonly name: string;
	readonly value: string;
}

/** One answer the PUT carries: the service replaces the message's whole array, so all items are sent, in order. */
export interface AnsweredItem {
	readonly title: string;
	readonly description: string;
	readonly value: string;
	/** What is sent in the place of these texts. */
	readonly raw?: RawTexts;
}

/** The statuses that the service is known to use. A session may carry any other string. */
export type KnownStatus = 'active' | 'humanInput' | 'inactive' | 'paused' | 'stopped' | 'completed' | 'failed';

/** Everything a caller has to have words for: the known statuses, and one for those nobody has seen yet. */
export type StatusKind = KnownStatus | 'unknown';

const KNOWN: ReadonlySet<string> = new Set<KnownStatus>([
	'active',
	'humanInput',
	'inactive',
	'paused',
	'stopped',
	'completed',
	'failed',
]);

/** Compares exactly, as the service does: `Active` is a status nobody has seen yet. */
export function statusKind(status: string): StatusKind {
	return KNOWN.has(status) ? (status as KnownStatus) : 'unknown';
}

/** The service still saves answers to such a session, but nobody reads them. */
export function isOver(status: string): boolean {
	return status === 'completed' || status === 'failed' || status === 'stopped';
}

/** The agent says that it waits for a person. */
export function isWaiting(status: string): boolean {
	return status === 'humanInput';
}

/**
 * Words that other paths of the service have in the place of an id (`GET /v1/sessions/query` lists sessions). Requests
 * with them are never sent, since their effect is not known here.
 */
const RESERVED: ReadonlySet<string> = new Set(['file', 'files', 'list', 'new', 'query']);

/** Whether the service would take this for a path of its own. Letter case does not matter there, nor percent-encoding. */
export function isReservedId(id: string): boolean {
	return RESERVED.has(decoded(id).trim().toLowerCase());
}

function decoded(id: string): string {
	try {
		return decodeURIComponent(id);
	} catch {
		return id;
	}
}
