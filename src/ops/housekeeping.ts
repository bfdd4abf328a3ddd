import type { Core } from '../core.ts';
import type { AnswerStore } from '../features/answer/answer-store.ts';
import type { ClaimStore, DraftStore, WindowStore } from '../features/answer/answering-store.ts';
import type { WatchStore } from '../features/watch/watch-store.ts';

const EVERY_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;
/** A draft is kept for this many days, but never longer than answers. */
const DRAFT_DAYS = 30;
/** Watches that have ended are kept for this many days, but never longer than answers. */
const WATCH_DAYS = 7;

/** Removes, every hour, what is kept no longer: values, secrets, drafts, claims, ended watches, posts, windows and inboxes. */
export function createHousekeeping(
	core: Core<{
		answers: AnswerStore;
		claims: ClaimStore;
		drafts: DraftStore;
		watches: WatchStore;
		windows: WindowStore;
	}>,
	{ isDiscovering, forgetInboxes }: { isDiscovering(): boolean; forgetInboxes(): Promise<void> },
) {
	const { config, serviceUrl, clock, log } = core;
	const { answers, drafts, claims, watches, windows } = core.store;
	const stopping = new AbortController();
	let loop: Promise<void> | null = null;

	async function removeExpired(): Promise<void> {
		const now = clock.now();
		const before = (days: number) => now - Math.min(days, config.RETENTION_DAYS) * DAY_MS;
		const removed = {
			waitingSecrets: await answers.wipeWaitingSecrets(now - config.WAITING_SECRET_DAYS * DAY_MS, now),
			answers: await answers.removeValues(before(config.RETENTION_DAYS), now),
			drafts: await drafts.removeOlderThan(before(DRAFT_DAYS)),
			claims: await claims.removeLapsed(now),
		};
		await watches.removeEnded(before(WATCH_DAYS));
		await watches.forgetListed(before(config.RETENTION_DAYS), isDiscovering() ? serviceUrl : null);
		await windows.removeOld(now);
		await forgetInboxes();
		if (removed.waitingSecrets + removed.answers + removed.drafts > 0)
			log.info(removed, 'removed data after its retention time');
	}

	async function run(): Promise<void> {
		while (!stopping.signal.aborted) {
			await removeExpired().catch((error: unknown) => log.warn('retention_failed', { err: error }));
			await clock.sleep(EVERY_MS, stopping.signal).catch(() => {});
		}
	}

	return {
		start(): void {
			loop ??= run();
		},
		async stop(): Promise<void> {
			stopping.abort();
			await loop;
		},
	};
}
