import type { Core } from '../core.ts';
import type { AnswerStore } from '../delivery/answer-store.ts';
import type { DraftStore } from '../delivery/draft-store.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../kernel/clock.ts';
import type { InboxStore } from '../screens/inbox-store.ts';
import type { DiscoveryStore } from '../sessions/discovery-store.ts';
import { removeEndedWatches } from '../sessions/watch-store.ts';
import type { AuditStore } from '../store/audit.ts';
import { type StoreDatabase, TABLES, type TableName } from '../store/database.ts';
import { removeUnusedPeople } from '../store/people-store.ts';
import { forgetQuestions } from '../store/question-store.ts';
import { WAITING_SECRET_DAYS } from '../store/schema/answers.ts';
import { removeOldStates } from '../store/shared-states.ts';
import { removeOver } from '../surfaces/plan-store.ts';
import type { ViewStore } from '../surfaces/view-store.ts';
import { createPersonRequests } from './person-requests.ts';

/** The removals of rows that were over before a time, by their table and in their order. */
export const REMOVALS = [
	['shared_states', removeOldStates],
	['people', removeUnusedPeople],
	['questions', forgetQuestions],
	['posts', removeOver],
	['watches', removeEndedWatches],
] as const satisfies readonly (readonly [TableName, (db: StoreDatabase, before: number) => Promise<unknown>])[];

/** Removes what is no longer kept, every hour: values, secrets, authors, drafts and so on; a person, when asked to. */
export function createHousekeeping(
	core: Core<{
		answers: AnswerStore;
		audit: AuditStore;
		drafts: DraftStore;
		discoveries: DiscoveryStore;
		inboxes: InboxStore;
		views: ViewStore;
	}> &
		Parameters<typeof createPersonRequests>[0],
	{ isDiscovering }: { isDiscovering(): boolean },
) {
	const { config, serviceUrl, clock, log, store } = core;
	const personRequests = createPersonRequests(core);
	const stopping = new AbortController();
	let loop: Promise<void> | null = null;

	/** The steps by what they remove. Those of which the log has a count resolve to it. */
	function steps(now: number): Readonly<Record<string, () => Promise<unknown>>> {
		const historyDays = config.HISTORY_RETENTION_DAYS;
		const before = (days: number) => now - Math.min(days, config.RETENTION_DAYS) * DAY_MS;
		const ended = REMOVALS.map(
			([table, removeOf]) => [table, () => removeOf(store.db, before(TABLES[table].kept))] as const,
		);
		const auditDays = Math.min(config.AUDIT_RETENTION_DAYS, historyDays ?? 3650);
		return {
			waitingSecrets: () => store.answers.wipeWaitingSecrets(now - WAITING_SECRET_DAYS * DAY_MS, now),
			answers: () => store.answers.removeValues(before(config.RETENTION_DAYS), now),
			drafts: () => store.drafts.removeOlderThan(before(TABLES.drafts.kept)),
			authors: async () => (historyDays === null ? 0 : store.answers.forgetAuthors(now - historyDays * DAY_MS)),
			...Object.fromEntries(ended),
			rules: () => store.discoveries.removeOldRules(before(config.RETENTION_DAYS)),
			listed: () => store.discoveries.forgetListed(before(config.RETENTION_DAYS), isDiscovering() ? serviceUrl : null),
			views: () => store.views.removeOld(now),
			snoozes: () => store.inboxes.removeEndedSnoozes(now),
			audit: () => store.audit.removeOlderThan(now - auditDays * DAY_MS),
		};
	}

	/** A step that fails, perhaps on a damaged row, does not stop the others. */
	async function removeExpired(): Promise<void> {
		const removed: Record<string, unknown> = {};
		for (const [what, step] of Object.entries(steps(clock.now()))) {
			if (stopping.signal.aborted) return;
			removed[what] = await step().catch((error: unknown) => log.warn('retention_failed', { what, err: error }));
		}
		const { waitingSecrets = 0, answers = 0, drafts = 0, authors = 0 } = removed;
		if ([waitingSecrets, answers, drafts, authors].some((count) => Number(count) > 0))
			log.info({ waitingSecrets, answers, drafts, authors }, 'removed data after its retention time');
	}

	async function every(ms: number, work: () => Promise<void>): Promise<void> {
		while (!stopping.signal.aborted) {
			await work();
			await clock.sleep(ms, stopping.signal).catch(() => {});
		}
	}

	async function run(): Promise<void> {
		await Promise.all([
			every(HOUR_MS, removeExpired),
			// Refusals stay counted in memory until the database works.
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
