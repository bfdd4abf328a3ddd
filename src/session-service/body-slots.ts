import type { RequestPriority } from './budget-state.ts';

/**
 * Leave to hold a large body. A body of 32 MB costs several times that while it is decoded and parsed, so only a few
 * are held at once; the others' bytes wait in the service's and the kernel's buffers.
 */
export interface BodySlots {
	/** Resolves with the function that gives the slot back (calling it twice does no harm). */
	acquire(priority: RequestPriority, signal: AbortSignal): Promise<() => void>;
}

const ORDER: readonly RequestPriority[] = ['delivery', 'person', 'background'];

/** @param slots how many bodies at once; background never takes the last one, so that people and deliveries need not wait */
export function createBodySlots(slots: number): BodySlots {
	const queues: Record<RequestPriority, (() => void)[]> = { delivery: [], person: [], background: [] };
	let taken = 0;
	const kept = (priority: RequestPriority) => (priority === 'background' && slots > 1 ? 1 : 0);

	function pump(): void {
		for (const priority of ORDER) {
			while (taken < slots - kept(priority)) {
				const grant = queues[priority].shift();
				if (grant === undefined) break;
				taken++;
				grant();
			}
		}
	}

	return {
		acquire(priority, signal) {
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
