import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import type { Store, StoreOptions } from '../../src/stores.ts';
import { describeAccept } from './contract/accept.ts';
import { describeAnswerers } from './contract/answerers.ts';
import { describeAskings } from './contract/askings.ts';
import { describeAudit } from './contract/audit.ts';
import { describeChannelSettings } from './contract/channel-settings.ts';
import { describeCommits } from './contract/commits.ts';
import { describeDiscoveries } from './contract/discoveries.ts';
import { describeDrafts } from './contract/drafts.ts';
import { describeForms } from './contract/forms.ts';
import { describeHandOvers } from './contract/hand-overs.ts';
import { describeInboxReads, describeSnoozes } from './contract/inbox-reads.ts';
import { describeLeases, describeUpdates } from './contract/leases.ts';
import { describeListedWaiting, describeWaitingList } from './contract/listed-waiting.ts';
import { describeMarks } from './contract/marks.ts';
import { describeDirectory } from './contract/people.ts';
import { describePeople } from './contract/person.ts';
import { describePosts } from './contract/posts.ts';
import { describePresses } from './contract/presses.ts';
import { describeMarked, describeQueries } from './contract/queries.ts';
import { describeQuestions } from './contract/questions.ts';
import { describeManyRaces, describeRaces } from './contract/races.ts';
import { describeReceipts, describeTold } from './contract/receipts.ts';
import { describeReminders } from './contract/reminders.ts';
import { describeRetry } from './contract/retry.ts';
import { describeSharedStates } from './contract/shared-states.ts';
import { describeTimes } from './contract/times.ts';
import { describeViews } from './contract/views.ts';
import { describeWatchesInTrouble, describeWatchPosts } from './contract/watch-posts.ts';
import { describeWatchReads } from './contract/watch-reads.ts';
import { describeWatches } from './contract/watches.ts';
import { describeServedWorkspace, type ServedWorkspace } from './contract/workspaces.ts';
import { empty, spreading } from './support.ts';

/** How often a race is run. Without the lock on a question, 75 times were enough to fail, and 30 were not. */
const RACES = { short: 10, long: 75 };

/** A store on an empty database and a second replica. On SQLite, which has one process, both are the same store. */
export interface Replicas {
	readonly store: Store;
	readonly replica: Store;
	close(): Promise<void>;
}

/** The stores of a part of the contract, set before each of its tests. */
export interface Subject {
	readonly store: Store;
	readonly replica: Store;
}

/** Tests every sentence of the docstrings of all stores, for one kind of database. */
export function describeStores(
	name: string,
	open: (options?: Pick<StoreOptions, 'workspace'>) => Promise<Replicas>,
	races = RACES.short,
): void {
	describe(`on ${name}`, () => {
		const subject = replicasFrom(open);
		const about = (subjects: string, parts: readonly ((subject: Subject) => void)[]) =>
			describe(subjects, () => {
				for (const part of parts) part(subject);
			});
		about('answers', [
			describeAccept,
			describeLeases,
			describeUpdates,
			describeRetry,
			describeQueries,
			describePresses,
			describeTimes,
			describeMarked,
			(subject) => describeRaces(subject, races),
			(subject) => describeManyRaces(subject, races),
		]);
		about('drafts', [describeDrafts]);
		about('views', [describeViews, describeForms, describeTold]);
		about('watches', [
			describeWatches,
			describeWatchReads,
			describeQuestions,
			describeAskings,
			describePosts,
			describeWatchPosts,
			describeWaitingList,
			describeDiscoveries,
			describeListedWaiting,
			describeWatchesInTrouble,
		]);
		about('inboxes', [describeInboxReads, describeSnoozes, describeHandOvers]);
		about('receipts', [describeReceipts]);
		about('reminders', [describeReminders]);
		about('channel settings', [describeChannelSettings, describeAnswerers]);
		about('people', [describePeople, describeDirectory]);
		about('shared states', [describeSharedStates]);
		about('commits', [describeCommits, describeMarks]);
		about('the audit', [describeAudit]);
	});
	describe(`workspaces on ${name}`, () => {
		const served: ServedWorkspace = { teamId: null };
		const subject = replicasFrom(() => open({ workspace: () => served.teamId }));
		describeServedWorkspace(subject, served);
	});
}

/** Its races between two replicas, more often. */
export function describeLongRaces(name: string, open: () => Promise<Replicas>): void {
	describe(`answers on ${name}`, () => describeManyRaces(replicasFrom(open), RACES.long));
}

/** Opens the stores before the tests of a file or a `describe`, and empties them before each. */
export function replicasFrom(open: () => Promise<Replicas>): Subject {
	let opened: Replicas | undefined;
	const get = () => {
		if (opened === undefined) throw new Error('not open yet');
		return opened;
	};
	beforeAll(async () => {
		const both = await open();
		opened = { ...both, store: spreading(both.store), replica: spreading(both.replica) };
	});
	beforeEach(() => empty(get().store));
	afterAll(() => opened?.close());
	return {
		get store() {
			return get().store;
		},
		get replica() {
			return get().replica;
		},
	};
}
