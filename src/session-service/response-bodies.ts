import type { Session } from '../questions/session.ts';
import { PRIORITIES, type RequestPriority } from './budget-state.ts';
import { SessionServiceError } from './errors.ts';
import type { HttpResponse } from './exchange.ts';
import { decodeJson, TooManyPartsError } from './json.ts';
import { type AskedPage, type ListPage, readListResponse } from './list-schema.ts';
import { isPutSuccess, readSessionResponse } from './schema.ts';

/** @throws SessionServiceError `unreadable_answer` or `body_too_complex` */
export function readSessionFrom(response: HttpResponse, sessionId: string): Session {
	const session = response.status === 200 ? readSessionResponse(readJson(response), sessionId) : null;
	if (session !== null) return session;
	throw new SessionServiceError('unreadable_answer', `The response contains no session (${describe(response)})`);
}

/** @throws SessionServiceError `not_a_list` or `body_too_complex` */
export function readListFrom(response: HttpResponse, asked: AskedPage): ListPage {
	const page = response.status === 200 ? readListResponse(readJson(response), asked) : null;
	if (page !== null) return page;
	throw new SessionServiceError(
		'not_a_list',
		`The response is not the list that was asked for (${describe(response)})`,
	);
}

/**
 * Returns if the PUT's response is the service's own success. Any other 2xx (a proxy's page, an empty body) says nothing
 * about what was saved.
 * @throws SessionServiceError `unreadable_answer` or `body_too_complex`
 */
export function readPutResponse(response: HttpResponse): void {
	const outcomeUnknown = true;
	if (isPutSuccess(readJson(response, outcomeUnknown))) return;
	const message = `The response does not confirm the PUT (${describe(response)})`;
	throw new SessionServiceError('unreadable_answer', message, { outcomeUnknown });
}

function readJson(response: HttpResponse, outcomeUnknown = false): unknown {
	// We ask for `identity`. A compressed response is not decompressed, so there is no danger of a decompression bomb.
	const encoding = response.headers.get('content-encoding') ?? 'identity';
	if (encoding !== 'identity') return undefined;
	try {
		return decodeJson(response.body);
	} catch (error) {
		if (!(error instanceof TooManyPartsError)) throw error;
		const message = `The response has too many parts (${describe(response)})`;
		throw new SessionServiceError('body_too_complex', message, { outcomeUnknown });
	}
}

function describe({ status, body }: HttpResponse): string {
	return `status ${status}, ${body.length} bytes`;
}

/**
 * Slots for large bodies. A body of 32 MB needs several times that memory while it is decoded and parsed, so only a few are
 * held at once; the others wait in the buffers of the service and the kernel.
 *
 * @param slots how many bodies at once. Background never takes the last one, so that people and deliveries do not wait
 */
export function createBodySlots(slots: number) {
	const queues: Record<RequestPriority, (() => void)[]> = { delivery: [], person: [], background: [] };
	let taken = 0;
	const kept = (priority: RequestPriority) => (priority === 'background' && slots > 1 ? 1 : 0);

	function pump(): void {
		for (const priority of PRIORITIES) {
			while (taken < slots - kept(priority)) {
				const grant = queues[priority].shift();
				if (grant === undefined) break;
				taken++;
				grant();
			}
		}
	}

	return {
		/** Resolves to the function that gives the slot back; a second call does nothing. */
		acquire(priority: RequestPriority, signal: AbortSignal): Promise<() => void> {
			return new Promise((resolve, reject) => {
				if (signal.aborted) {
					reject(signal.reason);
					return;
				}
				const queue = queues[priority];
				const abort = () => {
					queue.splice(queue.indexOf(grant), 1);
					reject(signal.reason);
				};
				const grant = () => {
					signal.removeEventListener('abort', abort);
					let held = true;
					resolve(() => {
						if (!held) return;
						held = false;
						taken--;
						pump();
					});
				};
				signal.addEventListener('abort', abort, { once: true });
				queue.push(grant);
				pump();
			});
		},
	};
}
