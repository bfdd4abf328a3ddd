import type { Core } from '../core.ts';
import type { AnswerStore } from '../features/answer/answer-store.ts';
import type { ClaimStore, DraftStore } from '../features/answer/answering-store.ts';

const EVERY_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;
/** A draft is kept for so many days, but never longer than answers. */
const DRAFT_DAYS = 30;

/** Removes, every hour, values and secrets after their retention time, old drafts and lapsed claims. */
export function createHousekeeping(
	{
		store: { answers, drafts, claims },
		config: { retentionDays, waitingSecretDays },
		clock,
		log,
	}: Core<{ answers: AnswerStore; claims: ClaimStore; drafts: DraftStore }>,
	/** Removes old posts and ended watches. */
	forgetWatches: () => Promise<void>,
) {
	const stopping = new AbortController();
	let loop: Promise<void> | null = null;

	async function removeExpired(): Promise<void> {
		const now = clock.now();
		const removed = {
			waitingSecrets: await answers.wipeWaitingSecrets(now - waitingSecretDays * DAY_MS, now),
			answers: await answers.removeValues(now - retentionDays * DAY_MS, now),
			drafts: await drafts.removeOlderThan(now - Math.min(DRAFT_DAYS, retentionDays) * DAY_MS),
			claims: await claims.removeLapsed(now),
		};
		await forgetWatches();
		if (removed.waitingSecrets + removed.answers + removed.drafts > 0)
			log.info(removed, 'removed data after its retention time');
	}

	async function run(): Promise<void> {
		while (!stopping.signal.aborted) {
			await removeExpired().catch((error: unknown) =>
				log.warn({ err: error }, 'could not remove expired data; trying again in an hour'),
			);
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
