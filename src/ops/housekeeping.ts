import type { Core } from '../core.ts';
import { TABLES } from '../database/tables.ts';
import type { AnswerStore } from '../features/answer/answer-store.ts';
import type { ClaimStore, DraftStore, WindowStore } from '../features/answer/answering-store.ts';
import type { WatchStore } from '../features/watch/watch-store.ts';
import { createPersonRequests } from './person-requests.ts';

const EVERY_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;

/** Removes what is kept no longer, every hour: values, secrets, authors, drafts and so on; and a person, when asked to. */
export function createHousekeeping(
	core: Core<{
		answers: AnswerStore;
		claims: ClaimStore;
		drafts: DraftStore;
		watches: WatchStore;
		windows: WindowStore;
	}> &
		Parameters<typeof createPersonRequests>[0],
	{ isDiscovering, forgetInboxes }: { isDiscovering(): boolean; forgetInboxes(): Promise<void> },
) {
	const { config, serviceUrl, clock, log } = core;
	const { answers, drafts, claims, watches, windows } = core.store;
	const personRequests = createPersonRequests(core);
	const stopping = new AbortController();
	let loop: Promise<void> | null = null;

	async function removeExpired(): Promise<void> {
		const now = clock.now();
		const historyDays = config.HISTORY_RETENTION_DAYS;
		const before = (days: number) => now - Math.min(days, config.RETENTION_DAYS) * DAY_MS;
		const removed = {
			waitingSecrets: await answers.wipeWaitingSecrets(now - config.WAITING_SECRET_DAYS * DAY_MS, now),
			answers: await answers.removeValues(before(config.RETENTION_DAYS), now),
			drafts: await drafts.removeOlderThan(before(TABLES.drafts.kept)),
			claims: await claims.removeLapsed(now),
			authors: historyDays === null ? 0 : await answers.forgetAuthors(now - historyDays * DAY_MS),
		};
		await watches.removeEnded(before(TABLES.watches.kept));
		await watches.forgetListed(before(config.RETENTION_DAYS), isDiscovering() ? serviceUrl : null);
		await windows.removeOld(now);
		await forgetInboxes();
		if (removed.waitingSecrets + removed.answers + removed.drafts + removed.authors > 0)
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
			personRequests.start();
		},
		async stop(): Promise<void> {
			stopping.abort();
			await Promise.all([loop, personRequests.stop()]);
		},
	};
}
