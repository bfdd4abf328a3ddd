import { type Clock, uptimeOf } from '../core/clock.ts';
import { codeOf } from '../core/errors.ts';
import type { RequestBudget } from './budget.ts';
import { type ListPage, listQuery, MAX_PAGE_BYTES, readListResponse } from './schema.ts';
import type { Kept, Transport } from './transport.ts';

/** A smaller page may be read. */
const TOO_LARGE = new Set(['body_too_large', 'body_too_complex']);
const MAX_PAGE_SIZE = 200;
const MAX_SESSIONS = 1_000;
const MAX_PAGES = 10;
/** Pages are made larger again when each has at most a quarter of that; they are expected to have half of it then. */
const SMALL_PAGE_BYTES = MAX_PAGE_BYTES / 4;
/** For all pages together, with the wait for permits. */
const LISTING_MS = 45_000;

type KeptPage = Kept<ListPage>;

/**
 * Lists the sessions that wait, over an operation that not every service has. Each session comes with links to all its
 * files: when a page is too large, the list is read in smaller ones, and so are later lists until they fit larger ones.
 */
export function createSessionList(transport: Transport, budget: RequestBudget, clock: Clock) {
	/** The pages of the newest list, of `pageSize`. */
	let kept: readonly KeptPage[] = [];
	let pageSize = MAX_PAGE_SIZE;

	function setPageSize(sessionCount: number): void {
		pageSize = sessionCount;
		kept = [];
	}

	function growPages(pages: readonly KeptPage[]): void {
		const largest = Math.max(...pages.map(({ byteCount }) => byteCount));
		if (pageSize === MAX_PAGE_SIZE || largest > SMALL_PAGE_BYTES) return;
		setPageSize(Math.min(MAX_PAGE_SIZE, Math.floor((pageSize * 2 * SMALL_PAGE_BYTES) / Math.max(1, largest))));
	}

	/** @throws SessionServiceError; when it is not retryable, this service has no list that can be used */
	return async function listWaiting(signal?: AbortSignal) {
		const deadline = clock.now() + LISTING_MS;
		let pages: KeptPage[] = [];
		let requestCount = 0;
		let tookMs = 0;

		async function readPage(): Promise<ListPage> {
			const asked = { limit: pageSize, page: pages.length + 1 };
			const sequence = await budget.acquire('background', { deadline, signal, ahead: true });
			requestCount++;
			const startedAt = uptimeOf(clock);
			const call = transport.send({
				operation: 'list',
				sessionId: null,
				priority: 'background',
				path: `${transport.listPath}?${listQuery(asked)}`,
				kept: kept[pages.length],
				maxBodyBytes: MAX_PAGE_BYTES,
				timeoutMs: Math.max(1, deadline - clock.now()),
				sequence,
				signal,
				read: (value) => readListResponse(value, asked),
			});
			const page = await call.finally(() => {
				tookMs += uptimeOf(clock) - startedAt;
			});
			pages.push(page);
			return page.value;
		}

		/** @returns the last page. When one is too large, all are read again, half as large. */
		async function readPages(): Promise<ListPage> {
			pages = [];
			const mostPages = Math.min(MAX_PAGES, Math.ceil(MAX_SESSIONS / pageSize));
			try {
				let newest = await readPage();
				while (pages.length < Math.min(newest.pageCount, mostPages)) newest = await readPage();
				return newest;
			} catch (error) {
				if (!TOO_LARGE.has(codeOf(error)) || pageSize === 1) throw error;
				setPageSize(Math.floor(pageSize / 2));
				return readPages();
			}
		}

		const { sessionCount } = await readPages();
		kept = pages;
		growPages(pages);
		const itemCount = pages.reduce((sum, { value }) => sum + value.itemCount, 0);
		const sessions = pages.flatMap(({ value }) => value.sessions);
		return {
			sessions: [...new Map(sessions.map((session) => [session.sessionId, session])).values()],
			// False when not all pages are read, or they changed: a session may have moved to a page that was read before.
			isComplete: pages.every(({ value }) => value.sessionCount === sessionCount) && itemCount >= sessionCount,
			requestCount,
			/** Of the calls, without the wait for permits. */
			tookMs,
		};
	};
}
