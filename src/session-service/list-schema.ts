import { z } from 'zod';
import { parseTime } from '../questions/progress.ts';
import type { ListedSession } from '../questions/session.ts';
import { isSessionId } from './address.ts';
import { asText } from './json.ts';
import { dateTime } from './schema.ts';

/** The largest body of a page: 10 MB. */
export const MAX_PAGE_BYTES = 10_000_000;

/** A page of a list as it was asked for. */
export interface AskedPage {
	readonly status: string;
	readonly limit: number;
	/** Counts from 1. */
	readonly page: number;
}

export interface ListPage {
	/** Those that can be read. */
	readonly sessions: readonly ListedSession[];
	/** Of this page, with those that cannot. */
	readonly itemCount: number;
	/** Of all pages. */
	readonly sessionCount: number;
	readonly pageCount: number;
}

/** The query of a page, sessions of every source. */
export function listQuery({ status, limit, page }: AskedPage): string {
	return new URLSearchParams({ status, source: '', page: String(page), limit: String(limit) }).toString();
}

const count = z.int().nonnegative().max(1_000_000);

/**
 * Strict where a mistake could come from another operation, lenient about what people are only shown. Everything else in
 * an item (files with signed links, the cost) is dropped.
 */
const listSchema = z.object({
	sessions: z.array(
		z.object({
			sessionId: z.string().min(1),
			status: z.string(),
			name: z.unknown().optional().transform(asText),
			updatedAt: dateTime.transform(parseTime),
		}),
	),
	totalSessions: count,
	totalPages: count,
});

/**
 * Reads the JSON value of a list's response.
 * @returns null when there is any doubt that it is the page that was asked for: another shape, an answer that holds a
 * session, a session with another status, counts that do not fit
 */
export function readListResponse(value: unknown, asked: AskedPage): ListPage | null {
	const parsed = listSchema.safeParse(value);
	if (!parsed.success || Object.hasOwn(value as object, 'session')) return null;
	const { sessions, totalSessions: sessionCount, totalPages: pageCount } = parsed.data;
	const itemCount = sessions.length;
	if (sessions.some(({ status }) => status !== asked.status)) return null;
	const isPlausible =
		itemCount <= asked.limit &&
		itemCount <= sessionCount &&
		pageCount <= sessionCount &&
		(sessionCount === 0) === (pageCount === 0) &&
		// A first page is empty only when there is nothing.
		(asked.page > 1 || (itemCount === 0) === (sessionCount === 0));
	// One odd id is no reason to do without the list.
	const readable = sessions.filter(({ sessionId }) => isSessionId(sessionId));
	return isPlausible ? { sessions: readable, itemCount, sessionCount, pageCount } : null;
}
