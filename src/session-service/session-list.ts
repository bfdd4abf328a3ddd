import { type Clock, uptimeOf } from '../clock.ts';
import { codeOf } from '../errors.ts';
import type { ListedSession } from '../questions/session.ts';
import type { RequestBudget } from './budget.ts';
import { type ListPage, listQuery } from './list-schema.ts';
import { readListFrom } from './response-bodies.ts';
import { etagOf } from './session-reader.ts';
import type { Transport } from './transport.ts';

/** The sessions that wait for a person, as the service lists them. */
export interface WaitingList {
	readonly sessions: readonly ListedSession[];
	/** False when there are more than the pages that are read, or they changed meanwhile. */
	readonly isComplete: boolean;
	readonly requestCount: number;
	/** Of the calls, without the wait for permits. */
	readonly tookMs: number;
}

const WAITING = 'humanInput';
const PAGE_SIZE = 200;
const MAX_PAGES = 5;
/** The largest body of a page: 10 MB. */
const MAX_PAGE_BYTES = 10_000_000;
/** For all pages together, with the wait for permits. */
const LISTING_MS = 45_000;

/** What a request for a page cost, whatever became of it. */
export interface ListRequestCost {
	/** Of the response's body; one that is too large is given up and counts as the largest. */
	readonly byteCount: number;
	/** Of the call, without the wait for its permit. */
	readonly tookMs: number;
}

interface KeptPage {
	readonly page: ListPage;
	readonly etag: string | null;
}

/**
 * Lists the sessions that wait, over an operation that the service's document does not show and not every service has.
 * Follows no redirect. A page that has not changed is not sent again (304).
 */
export function createSessionList({
	transport,
	budget,
	clock,
}: {
	transport: Transport;
	budget: RequestBudget;
	clock: Clock;
}) {
	/** The pages of the newest list. */
	let kept: readonly KeptPage[] = [];

	/**
	 * Reads page by page, each with a permit of the background, within `LISTING_MS`. `onRequest` is told of every request.
	 * @throws SessionServiceError: one that is not retryable (`not_a_list`, `session_not_found`, `body_too_large` …) says that
	 * this service has no list that can be used; or the signal's reason
	 */
	return async function listWaiting(
		signal?: AbortSignal,
		onRequest: (cost: ListRequestCost) => void = () => {},
	): Promise<WaitingList> {
		const deadline = clock.now() + LISTING_MS;
		const pages: KeptPage[] = [];
		let tookMs = 0;

		async function readPage(): Promise<ListPage> {
			const asked = { status: WAITING, limit: PAGE_SIZE, page: pages.length + 1 };
			const before = kept[pages.length];
			const sequence = await budget.acquire('background', { deadline, signal, ahead: true });
			const startedAt = uptimeOf(clock);
			let byteCount = 0;
			const call = transport.send<KeptPage>(
				{
					operation: 'list',
					sessionId: null,
					priority: 'background',
					path: `${transport.listPath}?${listQuery(asked)}`,
					headers: before?.etag == null ? {} : { 'if-none-match': before.etag },
					maxBodyBytes: MAX_PAGE_BYTES,
					timeoutMs: Math.max(1, deadline - clock.now()),
					sequence,
					signal,
				},
				(response) => {
					byteCount = response.body.length;
					if (response.status === 304 && before !== undefined) return before;
					return { page: readListFrom(response, asked), etag: etagOf(response) };
				},
			);
			const read = await call
				.catch((error: unknown) => {
					if (codeOf(error) === 'body_too_large') byteCount = MAX_PAGE_BYTES;
					throw error;
				})
				.finally(() => onRequest({ byteCount, tookMs: uptimeOf(clock) - startedAt }));
			tookMs += uptimeOf(clock) - startedAt;
			pages.push(read);
			return read.page;
		}

		let newest = await readPage();
		while (pages.length < Math.min(newest.pageCount, MAX_PAGES)) newest = await readPage();
		kept = pages;
		const itemCount = pages.reduce((sum, { page }) => sum + page.itemCount, 0);
		const sessions = new Map(
			pages.flatMap(({ page }) => page.sessions.map((session) => [session.sessionId, session] as const)),
		);
		return {
			sessions: [...sessions.values()],
			// While sessions come and go, one may have moved from a page to one that was read before.
			isComplete:
				pages.every(({ page }) => page.sessionCount === newest.sessionCount) && itemCount >= newest.sessionCount,
			requestCount: pages.length,
			tookMs,
		};
	};
}
