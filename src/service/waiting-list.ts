import { type Clock, uptimeOf } from '../kernel/clock.ts';
import { codeOf } from '../kernel/errors.ts';
import type { RequestBudget } from './budget.ts';
import { type ListPage, listQuery, readListResponse } from './schema.ts';
import type { WaitingList } from './service.ts';
import { type createTransport, type KeptResponse, MAX_PAGE_BYTES } from './transport.ts';

/** Failures after which a smaller page is tried. */
const TOO_LARGE = new Set(['body_too_large', 'body_too_complex']);
const PAGE_SIZE = 200;
const MAX_SESSIONS = 1_000;
const MAX_PAGES = 10;
/** The limit for all pages together, with the wait for permits. */
const LISTING_MS = 45_000;

/** Lists the sessions that wait, if the service has a list. A page that is too large halves the page size for good. */
export function createSessionList(transport: ReturnType<typeof createTransport>, budget: RequestBudget, clock: Clock) {
	/** The pages of the newest list, of `pageSize`. */
	let kept: readonly KeptResponse<ListPage>[] = [];
	let pageSize = PAGE_SIZE;

	return async function listWaiting(signal?: AbortSignal): Promise<WaitingList> {
		const deadline = clock.now() + LISTING_MS;
		let pages: KeptResponse<ListPage>[] = [];
		let requestCount = 0;
		let tookMs = 0;

		async function readPage(): Promise<ListPage> {
			const asked = { limit: pageSize, page: pages.length + 1 };
			using _ = await budget.acquire('background', { deadline, signal });
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
				signal,
				read: (value) => readListResponse(value, asked),
			});
			const page = await call.finally(() => {
				tookMs += uptimeOf(clock) - startedAt;
			});
			pages.push(page);
			return page.value;
		}

		/** @returns the last page. If one is too large, reads all again with half the size. */
		async function readPages(): Promise<ListPage> {
			pages = [];
			const mostPages = Math.min(MAX_PAGES, Math.ceil(MAX_SESSIONS / pageSize));
			try {
				let newest = await readPage();
				while (pages.length < Math.min(newest.pageCount, mostPages)) newest = await readPage();
				return newest;
			} catch (error) {
				if (!TOO_LARGE.has(codeOf(error)) || pageSize === 1) throw error;
				pageSize = Math.floor(pageSize / 2);
				kept = [];
				return readPages();
			}
		}

		const { sessionCount } = await readPages();
		kept = pages;
		const itemCount = pages.reduce((sum, { value }) => sum + value.itemCount, 0);
		const sessions = pages.flatMap(({ value }) => value.sessions);
		return {
			sessions: [...new Map(sessions.map((session) => [session.sessionId, session])).values()],
			isComplete: pages.every(({ value }) => value.sessionCount === sessionCount) && itemCount >= sessionCount,
			requestCount,
			tookMs,
		};
	};
}
