/**
 * A session as Handraise sees it: the fields that Handraise uses, with everything absent or null made explicit.
 * `session-service/schema.ts` produces it from the service's JSON.
 */
export interface Session {
	readonly sessionId: string;
	/** `active`, `humanInput`, `inactive`, `paused`, `stopped`, `completed`, `failed`, or an unknown status. */
	readonly status: string;
	readonly name: string;
	readonly messages: readonly Message[];
	readonly files: readonly SessionFile[];
	/** As the service sent it; may not be ISO 8601. */
	readonly startTime: string | null;
	readonly endTime: string | null;
	/** Pre-signed: whoever has it has access for seven days. Never posted in a channel. */
	readonly lastScreenshotUrl: string | null;
	readonly lastScreenshotTimestamp: string | null;
	/** The values are often passwords and are never shown. */
	readonly sessionVariables: readonly SessionVariable[];
	readonly sessionDetails: string;
	readonly maxSteps: number;
}

export interface Message {
	/** `assistant`, `user` or an unknown role. */
	readonly role: string;
	readonly content: string;
	readonly actions: readonly AgentAction[];
	/** Identified by position: titles can repeat and can be empty. */
	readonly humanInput: readonly HumanInputItem[];
}

export interface HumanInputItem {
	readonly title: string;
	readonly description: string;
	/** Empty until somebody answers. */
	readonly value: string;
	readonly raw?: RawTexts;
}

/**
 * The JSON texts of an item's fields that are not strings. They are sent back unchanged and never shown, stored or
 * hashed. They stay texts because the values can be nested deeper than JSON.stringify can follow.
 */
export interface RawTexts {
	readonly title?: string;
	readonly description?: string;
	readonly value?: string;
}

/** One thing the agent did, reduced to what may be shown. */
export type AgentAction =
	| { readonly kind: 'click' }
	/** Only the host is kept, because paths and queries carry tokens. Empty when the address cannot be parsed. */
	| { readonly kind: 'open'; readonly host: string }
	/** `text` is the session's result, in Markdown. */
	| { readonly kind: 'done'; readonly text: string }
	| { readonly kind: 'saveFile'; readonly filename: string; readonly deleted: boolean }
	/** Any other action; only its name is kept. */
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

/** An item as the PUT sends it. The service replaces the whole array, so all items are sent, in order. */
export interface AnsweredItem {
	readonly title: string;
	readonly description: string;
	readonly value: string;
	/** Sent instead of the texts above. */
	readonly raw?: RawTexts;
}

/** The statuses that the service is known to use. Any other string is possible. */
type KnownStatus = 'active' | 'humanInput' | 'inactive' | 'paused' | 'stopped' | 'completed' | 'failed';

/** What a caller needs words for: the known statuses, and one kind for all others. */
export type StatusKind = KnownStatus | 'unknown';

const KNOWN_STATUSES: ReadonlySet<string> = new Set<KnownStatus>([
	'active',
	'humanInput',
	'inactive',
	'paused',
	'stopped',
	'completed',
	'failed',
]);

/** A session as the service's list shows it. */
export interface ListedSession {
	readonly sessionId: string;
	readonly name: string;
	readonly status: string;
	/** When it was last saved through the service, by the service's clock; null: unknown. Agents may not change it. */
	readonly updatedAt: number | null;
}

/** Compares exactly, as the service does: `Active` is unknown. */
export function statusKind(status: string): StatusKind {
	return KNOWN_STATUSES.has(status) ? (status as KnownStatus) : 'unknown';
}

/** The service still saves answers to such a session, but no agent reads them. */
export function isOver(status: string): boolean {
	return status === 'completed' || status === 'failed' || status === 'stopped';
}

/** The agent waits for a person. */
export function isWaiting(status: string): boolean {
	return status === 'humanInput';
}

/**
 * Words that have a path of their own in the service (`GET /v1/sessions/query` lists sessions). They are never sent as
 * an id, because the effect is not known.
 */
const RESERVED_IDS: ReadonlySet<string> = new Set(['file', 'files', 'list', 'new', 'query']);

/** Whether the service would take this id for a path of its own, ignoring letter case and percent-encoding. */
export function isReservedId(id: string): boolean {
	return RESERVED_IDS.has(decoded(id).trim().toLowerCase());
}

function decoded(id: string): string {
	try {
		return decodeURIComponent(id);
	} catch {
		return id;
	}
}
