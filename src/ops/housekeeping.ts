import type { Core } from '../core.ts';
import type { AuditStore } from '../database/audit.ts';
import type { AuditLog } from '../database/audit-log.ts';
import { type StoreDatabase, TABLES } from '../database/database.ts';
import { removeUnusedPeople } from '../database/people-store.ts';
import { forgetQuestions } from '../database/question-store.ts';
import { removeOldStates } from '../database/shared-states.ts';
import type { AnswerStore } from '../features/answer/answer-store.ts';
import type { ClaimStore, DraftStore, WindowStore } from '../features/answer/answering-store.ts';
import type { DiscoveryStore } from '../features/watch/channel-store.ts';
import { removeEndedWatches } from '../features/watch/watch-store.ts';
import { removeOver } from '../posts/plan-store.ts';
import { createPersonRequests } from './person-requests.ts';

const EVERY_MS = 3_600_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

/** Removes shared states, people, questions, posts and watches, over before `before`. Returns how many watches. */
export async function removeEnded(db: StoreDatabase, before: number): Promise<number> {
	await removeOldStates(db, before);
	await removeUnusedPeople(db, before);
	await forgetQuestions(db, before);
	await removeOver(db, before);
	return removeEndedWatches(db, before);
}

/** Removes what is no longer kept, every hour: values, secrets, authors, drafts and so on; a person, when asked to. */
export function createHousekeeping(
	core: Core<{
		answers: AnswerStore;
		audit: AuditStore;
		auditLog: AuditLog;
		claims: ClaimStore;
		drafts: DraftStore;
		discoveries: DiscoveryStore;
		windows: WindowStore;
	}> &
		Parameters<typeof createPersonRequests>[0],
	{ isDiscovering, forgetInboxes }: { isDiscovering(): boolean; forgetInboxes(): Promise<void> },
) {
	const { config, serviceUrl, clock, log, store } = core;
	const personRequests = createPersonRequests(core);
	const stopping = new AbortController();
	let loop: Promise<void> | null = null;

	async function removeExpired(): Promise<void> {
		const now = clock.now();
		const historyDays = config.HISTORY_RETENTION_DAYS;
		const before = (days: number) => now - Math.min(days, config.RETENTION_DAYS) * DAY_MS;
		const removed = {
			waitingSecrets: await store.answers.wipeWaitingSecrets(now - config.WAITING_SECRET_DAYS * DAY_MS, now),
			answers: await store.answers.removeValues(before(config.RETENTION_DAYS), now),
			drafts: await store.drafts.removeOlderThan(before(TABLES.drafts.kept)),
			claims: await store.claims.removeLapsed(now),
			authors: historyDays === null ? 0 : await store.answers.forgetAuthors(now - historyDays * DAY_MS),
		};
		await removeEnded(store.db, before(TABLES.watches.kept));
		await store.discoveries.forgetListed(before(config.RETENTION_DAYS), isDiscovering() ? serviceUrl : null);
		await store.windows.removeOld(now);
		const auditDays = Math.min(config.AUDIT_RETENTION_DAYS, historyDays ?? 3650);
		const printed = config.AUDIT_LOG === null ? null : await store.auditLog.printed();
		await store.audit.removeOlderThan(now - auditDays * DAY_MS, printed);
		await forgetInboxes();
		if (removed.waitingSecrets + removed.answers + removed.drafts + removed.authors > 0)
			log.info(removed, 'removed data after its retention time');
	}

	async function every(ms: number, work: () => Promise<void>): Promise<void> {
		while (!stopping.signal.aborted) {
			await work();
			await clock.sleep(ms, stopping.signal).catch(() => {});
		}
	}

	async function run(): Promise<void> {
		await Promise.all([
			every(EVERY_MS, () => removeExpired().catch((error) => log.warn('retention_failed', { err: error }))),
			// They stay counted until the database works.
			every(MINUTE_MS, () => store.audit.recordRefusals(clock.now()).catch(() => {})),
		]);
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
