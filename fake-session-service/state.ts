import { createHash } from 'node:crypto';
import type { Clock } from '../src/kernel/clock.ts';
import { renewalFields, secretSessionFields, withSecretMessageFields } from './canaries.ts';
import { type AnswerJson, type ItemJson, isAnswered, type MessageJson, type SessionJson } from './json.ts';
import { LINK_LIFETIME_MS, signLink } from './links.ts';

/** A file's content, fetched through its signed link. */
export interface Blob {
	readonly type: string;
	readonly content: string | Buffer;
}

export interface SessionRecord {
	readonly id: string;
	readonly json: SessionJson;
	readonly blobs: Map<string, Blob>;
	/** The scenario that plays it; null for a test's own session. */
	readonly scenario: string | null;
	/** It belongs to another account: a read with this key gets 404, a PUT is saved. */
	readonly foreign: boolean;
	/** Where it was started: `api`, or `client` for the service's web page. */
	readonly source: string;
	/** Its statuses and when they began, oldest first; the latest ones. */
	readonly statuses: { readonly at: number; readonly status: string | null }[];
	/** When it was created or last saved through the service; agents do not change it. */
	updatedAt: number;
	/** The step the last screenshot shows; null leaves `lastScreenshotUrl` as the JSON has it. */
	screenshotStep: number | null;
	linksIssuedAt: number;
	/** Renews the links at the next read. */
	renewDue: boolean;
	revision: number;
	/** Counts what was saved through the service. */
	version: number;
	/** Aborted when the session is replaced or removed, or the service stops: it ends the script. */
	readonly abort: AbortController;
}

export interface SaveResult {
	readonly effective: boolean;
	readonly previous: ItemJson[] | null;
}

export interface StateSettings {
	readonly clock: Clock;
	/** The service's address, for the links. */
	readonly baseUrl: () => string;
	/** How long after a saved answer a waiting session becomes active; null for never. */
	readonly resumeAfterMs: number | null | ((sessionId: string) => number);
	/** Ids are found without regard to letter case, as a UUID column finds them. May be changed at any time. */
	readonly ids: { ignoreCase: boolean };
}

/** The statuses in which an answer is still stored but nobody reads it. */
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'stopped']);

/** Enough for lists that are minutes late. */
const KEPT_STATUSES = 50;

/** Links are renewed a day before they expire. */
const RENEW_AFTER_MS = LINK_LIFETIME_MS - 24 * 60 * 60 * 1000;

/** The sessions of one service: what is stored, who hears of changes, and the JSON of a read. */
export function createState({ clock, baseUrl, resumeAfterMs, ids }: StateSettings) {
	const records = new Map<string, SessionRecord>();
	const listeners = new Set<(id: string) => void>();
	const bodies = new Map<string, { key: string; body: string; etag: string }>();

	function touch(record: SessionRecord): void {
		record.revision++;
		const status = record.json.status ?? null;
		if (record.statuses.at(-1)?.status !== status) record.statuses.push({ at: clock.now(), status });
		if (record.statuses.length > KEPT_STATUSES) record.statuses.shift();
		for (const listener of listeners) listener(record.id);
	}

	/** Resolves when `predicate` holds for the session, at once or after a change. Rejects on abort. */
	function until(id: string, predicate: (json: SessionJson) => boolean, signal?: AbortSignal): Promise<void> {
		return new Promise((resolve, reject) => {
			const settle = (finish: () => void) => {
				listeners.delete(check);
				signal?.removeEventListener('abort', aborted);
				finish();
			};
			const aborted = () => settle(() => reject(signal?.reason));
			const check = (changed: string) => {
				const record = records.get(id);
				if (changed === id && record !== undefined && predicate(record.json)) settle(resolve);
			};
			if (signal?.aborted) {
				reject(signal.reason);
				return;
			}
			listeners.add(check);
			signal?.addEventListener('abort', aborted, { once: true });
			check(id);
		});
	}

	function add(
		id: string,
		json: SessionJson,
		options: {
			scenario?: string;
			foreign?: boolean;
			source?: string;
			blobs?: Readonly<Record<string, Blob>>;
		} = {},
	): SessionRecord {
		remove(id);
		const record: SessionRecord = {
			id,
			json: structuredClone(json),
			blobs: new Map(Object.entries(options.blobs ?? {})),
			scenario: options.scenario ?? null,
			foreign: options.foreign ?? false,
			source: options.source ?? 'api',
			statuses: [],
			updatedAt: clock.now(),
			screenshotStep: null,
			linksIssuedAt: clock.now(),
			renewDue: false,
			revision: 0,
			version: 0,
			abort: new AbortController(),
		};
		records.set(id, record);
		touch(record);
		return record;
	}

	function remove(id: string): void {
		records.get(id)?.abort.abort(new Error('the session was replaced or removed'));
		records.delete(id);
		bodies.delete(id);
	}

	/** The session that a request with this id is about. */
	function find(id: string): SessionRecord | undefined {
		const isSame = (record: SessionRecord) => record.id.toLowerCase() === id.toLowerCase();
		return records.get(id) ?? (ids.ignoreCase ? [...records.values()].find(isSame) : undefined);
	}

	function requireRecord(id: string): SessionRecord {
		const record = records.get(id);
		if (record === undefined) throw new Error(`there is no session ${id}`);
		return record;
	}

	function setStatus(id: string, status: string): void {
		const record = requireRecord(id);
		record.json.status = status;
		if (ENDED.has(status)) record.json.endTime ??= new Date(clock.now()).toISOString();
		touch(record);
	}

	function push(id: string, message: MessageJson): number {
		const record = requireRecord(id);
		record.json.messages ??= [];
		record.json.messages.push(structuredClone(message));
		touch(record);
		return record.json.messages.length - 1;
	}

	/** Waits, then lets a waiting session continue, unless something else happened to it meanwhile. */
	async function resume(record: SessionRecord, from: string): Promise<void> {
		const afterMs = typeof resumeAfterMs === 'function' ? resumeAfterMs(record.id) : resumeAfterMs;
		if (afterMs === null) return;
		try {
			if (afterMs > 0) await clock.sleep(afterMs, record.abort.signal);
		} catch {
			return;
		}
		if (record.abort.signal.aborted || record.json.status !== from) return;
		record.json.status = 'active';
		// A scenario writes what its agent does next.
		if (record.scenario === null) push(record.id, { role: 'assistant', content: 'I go on with that.' });
		touch(record);
	}

	/**
	 * Replaces the whole `human_input` array of a message, whatever it holds. When anything was answered, a session that
	 * waits for a person (or is inactive) becomes active a little later, unless its machine is stopped.
	 */
	function save(record: SessionRecord, messageIndex: number, items: readonly AnswerJson[]): SaveResult {
		const message = record.json.messages?.[messageIndex];
		if (message === undefined) throw new RangeError(`session ${record.id} has no message ${messageIndex}`);
		const previous = message.human_input ?? null;
		const stored = items.map((item) => ({ ...item }));
		message.human_input = stored;
		record.updatedAt = clock.now();
		record.version++;
		touch(record);
		const status = record.json.status;
		const mayResume = (status === 'humanInput' || status === 'inactive') && !isMachineStopped(record.json);
		if (mayResume && stored.some(isAnswered)) void resume(record, status);
		return { effective: fingerprint(previous) !== fingerprint(stored), previous };
	}

	/** The response to a read: `{session}` with links, and with the undocumented fields. Cached by revision. */
	function render(record: SessionRecord): { body: string; etag: string } {
		const renewed = record.renewDue || clock.now() - record.linksIssuedAt >= RENEW_AFTER_MS;
		if (renewed) {
			// At least one more: even on a clock that stands still, a renewed link differs from the old one.
			record.linksIssuedAt = Math.max(clock.now(), record.linksIssuedAt + 1);
			record.renewDue = false;
			// As the real service does, although the files are the old ones.
			for (const file of record.json.files ?? []) file.timestamp = new Date(record.linksIssuedAt).toISOString();
		}
		const key = `${baseUrl()} ${record.revision} ${record.linksIssuedAt}`;
		const cached = bodies.get(record.id);
		if (!renewed && cached?.key === key) return cached;

		const { podStatus, ...json } = record.json;
		const sign = (name: string) =>
			signLink(baseUrl(), `/files/${encodeURIComponent(record.id)}/${encodeURIComponent(name)}`, record.linksIssuedAt);
		const session: Record<string, unknown> = {
			sessionId: record.id,
			...json,
			...(Array.isArray(json.messages)
				? { messages: json.messages.map((message) => withSecretMessageFields(minimized(message))) }
				: {}),
			...(Array.isArray(json.files)
				? {
						files: json.files.map((file) =>
							file?.filename && record.blobs.has(file.filename) ? { ...file, signedUrl: sign(file.filename) } : file,
						),
					}
				: {}),
			...(record.screenshotStep === null ? {} : { lastScreenshotUrl: sign(`screenshot-${record.screenshotStep}.png`) }),
			...secretSessionFields(),
			...(renewed ? { ...renewalFields(), ...(podStatus === undefined ? {} : { podStatus }) } : {}),
		};
		const body = JSON.stringify({ session });
		const rendered = { key, body, etag: weakEtag(body) };
		// The longer response of a renewal is given once: the next read gives the plain one again, with another tag.
		if (!renewed) bodies.set(record.id, rendered);
		return rendered;
	}

	return { records, find, add, remove, requireRecord, setStatus, push, save, render, touch, until };
}

export type State = ReturnType<typeof createState>;

function fingerprint(items: readonly ItemJson[] | null): string {
	return JSON.stringify(items?.map((one) => [one.title, one.description, one.value]) ?? null);
}

/** Express's weak tag: the body's length in hexadecimal and the first 27 characters of its SHA-1. */
export function weakEtag(body: string): string {
	const hash = createHash('sha1').update(body).digest('base64').slice(0, 27);
	return `W/"${Buffer.byteLength(body).toString(16)}-${hash}"`;
}

/** The status at `time`; before the first one that is known, the current one. */
export function statusAt({ json, statuses }: SessionRecord, time: number): string | null {
	return (statuses.findLast(({ at }) => at <= time) ?? json).status ?? null;
}

/**
 * Whether the agent's machine is stopped: `podStatus` of the stored session, whatever its status is. The service saves an
 * answer then and reports that it could not start the machine.
 */
export function isMachineStopped({ podStatus }: SessionJson): boolean {
	return podStatus === 'stopped';
}

/** As the database keeps it: without keys whose value is an empty object. `{"go_back":{}}` becomes `{}`. */
function minimized<T>(value: T): T {
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) return value.map(minimized) as T;
	const kept = Object.entries(value).map(([key, inner]) => [key, minimized(inner)] as const);
	const isEmpty = (inner: unknown) =>
		typeof inner === 'object' && inner !== null && !Array.isArray(inner) && Object.keys(inner).length === 0;
	return Object.fromEntries(kept.filter(([, inner]) => !isEmpty(inner))) as T;
}

/** Whether the service's web page takes no more answers from this session. */
export function isEnded(json: SessionJson): boolean {
	return typeof json.status === 'string' && ENDED.has(json.status);
}
