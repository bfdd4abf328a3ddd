import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { AnswerStore } from '../store/answer-store.ts';
import type { ClaimStore, DraftStore } from '../store/answering-store.ts';

const EVERY_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;
/** A draft is kept for so many days, but never longer than answers. */
const DRAFT_DAYS = 30;

interface Dependencies {
	readonly answers: AnswerStore;
	readonly drafts: DraftStore;
	readonly claims: ClaimStore;
	/** Removes old posts and ended watches. */
	readonly forgetWatches: () => Promise<void>;
	readonly retentionDays: number;
	/** How long secret values of waiting answers are kept. */
	readonly waitingSecretDays: number;
	readonly clock: Clock;
	readonly log: Log;
}

/** Removes, every hour, values and secrets after their retention time, old drafts and lapsed claims. */
export function createHousekeeping({
	answers,
	drafts,
	claims,
	forgetWatches,
	retentionDays,
	waitingSecretDays,
	clock,
	log,
}: Dependencies) {
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
