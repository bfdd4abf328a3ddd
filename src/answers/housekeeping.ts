import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { AnswerStore, ClaimStore, DraftStore } from './ports.ts';

const EVERY_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;
/** Nobody comes back to a form they left a month ago. No draft is kept longer than answers are. */
const DRAFT_DAYS = 30;

interface Dependencies {
	readonly answers: AnswerStore;
	readonly drafts: DraftStore;
	readonly claims: ClaimStore;
	/** Removes what watching has kept long enough. */
	readonly forgetWatches: () => Promise<void>;
	readonly retentionDays: number;
	/** Secrets of answers that wait for their authors are kept for so long after they were given up. */
	readonly waitingSecretDays: number;
	readonly clock: Clock;
	readonly log: Log;
}

/** Every hour: removes values and secrets after their time, drafts nobody came back to, and claims that have lapsed. */
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

	async function tidy(): Promise<void> {
		const now = clock.now();
		const removed = {
			waitingSecrets: await answers.wipeWaitingSecrets(now - waitingSecretDays * DAY_MS, now),
			answers: await answers.removeValues(now - retentionDays * DAY_MS, now),
			drafts: await drafts.removeOlderThan(now - Math.min(DRAFT_DAYS, retentionDays) * DAY_MS),
			claims: await claims.removeLapsed(now),
		};
		await forgetWatches();
		if (removed.waitingSecrets + removed.answers + removed.drafts > 0)
			log.info(removed, 'removed what was kept long enough');
	}

	async function run(): Promise<void> {
		while (!stopping.signal.aborted) {
			await tidy().catch((error: unknown) => log.warn({ err: error }, 'could not tidy up; trying again in an hour'));
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
