import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import type { Store, StoreOptions } from '../../src/stores.ts';
import { describeAccept } from './contract/accept.ts';
import { describeChannelSettings } from './contract/channel-settings.ts';
import { describeClaims } from './contract/claims.ts';
import { describeDiscoveries } from './contract/discoveries.ts';
import { describeDrafts } from './contract/drafts.ts';
import { describeHandOvers } from './contract/hand-overs.ts';
import { describeInboxReads } from './contract/inbox-reads.ts';
import { describeInboxes } from './contract/inboxes.ts';
import { describeLadders } from './contract/ladders.ts';
import { describeLeases } from './contract/leases.ts';
import { describeListedWaiting } from './contract/listed-waiting.ts';
import { describePeople } from './contract/person.ts';
import { describePosts } from './contract/posts.ts';
import { describePresses } from './contract/presses.ts';
import { describeQueries } from './contract/queries.ts';
import { describeQuestions } from './contract/questions.ts';
import { describeManyRaces, describeRaces } from './contract/races.ts';
import { describeRetry } from './contract/retry.ts';
import { describeSnoozes } from './contract/snoozes.ts';
import { describeTimes } from './contract/times.ts';
import { describeUpdates } from './contract/updates.ts';
import { describeWaitingList } from './contract/waiting-list.ts';
import { describeWatchPosts } from './contract/watch-posts.ts';
import { describeWatchReads } from './contract/watch-reads.ts';
import { describeWatches } from './contract/watches.ts';
import { describeWatchesInTrouble } from './contract/watches-in-trouble.ts';
import { describeWindows } from './contract/windows.ts';
import { describeServedWorkspace, type ServedWorkspace } from './contract/workspaces.ts';
import { empty } from './support.ts';

/** How often a race is run. Without the lock on a question, ten times were enough to fail, each time that was tried. */
const RACES = { short: 30, long: 400 };

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

/** Tests every sentence of `AnswerStore`'s docstrings, for one kind of database. */
export function describeAnswerStore(name: string, open: () => Promise<Replicas>, races = RACES.short): void {
	describe(`answers on ${name}`, () => {
		const subject = useReplicas(open);
		describeAccept(subject);
		describeLeases(subject);
		describeUpdates(subject);
		describeRetry(subject);
		describeQueries(subject);
		describePresses(subject);
		describeTimes(subject);
		describeRaces(subject, races);
		describeManyRaces(subject, races);
	});
}

/** The same races as in `describeAnswerStore`, more often. */
export function describeLongRaces(name: string, open: () => Promise<Replicas>): void {
	describe(`answers on ${name}`, () => describeManyRaces(useReplicas(open), RACES.long));
}

/** Tests every sentence of the docstrings of the stores of drafts and windows. */
export function describeDraftStore(name: string, open: () => Promise<Replicas>): void {
	describe(`drafts on ${name}`, () => {
		const subject = useReplicas(open);
		describeDrafts(subject);
		describeWindows(subject);
	});
}

/** Tests every sentence of `ClaimStore`'s docstrings. */
export function describeClaimStore(name: string, open: () => Promise<Replicas>): void {
	describe(`claims on ${name}`, () => describeClaims(useReplicas(open)));
}

/** Tests every sentence of `WatchStore`'s docstrings, and the rates and the budget that replicas share. */
export function describeWatchStore(name: string, open: () => Promise<Replicas>): void {
	describe(`watches on ${name}`, () => {
		const subject = useReplicas(open);
		describeWatches(subject);
		describeWatchReads(subject);
		describeQuestions(subject);
		describePosts(subject);
		describeWatchPosts(subject);
		describeWaitingList(subject);
		describeDiscoveries(subject);
		describeListedWaiting(subject);
		describeWatchesInTrouble(subject);
	});
}

/** Tests every sentence of the docstrings of the inbox store and `HandOverStore`. */
export function describeInboxStore(name: string, open: () => Promise<Replicas>): void {
	describe(`inboxes on ${name}`, () => {
		const subject = useReplicas(open);
		describeInboxes(subject);
		describeInboxReads(subject);
		describeSnoozes(subject);
		describeHandOvers(subject);
	});
}

/** Tests every sentence of `LadderStore`'s docstrings. */
export function describeLadderStore(name: string, open: () => Promise<Replicas>): void {
	describe(`reminders on ${name}`, () => describeLadders(useReplicas(open)));
}

/** Tests every sentence of `ChannelSettingsStore`'s docstrings. */
export function describeChannelSettingsStore(name: string, open: () => Promise<Replicas>): void {
	describe(`channel settings on ${name}`, () => describeChannelSettings(useReplicas(open)));
}

/** Tests every sentence of the docstrings of `createPersonStore`. */
export function describePersonStore(name: string, open: () => Promise<Replicas>): void {
	describe(`people on ${name}`, () => describePeople(useReplicas(open)));
}

/** Tests what `StoreOptions.workspace` promises. */
export function describeWorkspaces(
	name: string,
	open: (options: Pick<StoreOptions, 'workspace'>) => Promise<Replicas>,
): void {
	describe(`workspaces on ${name}`, () => {
		const served: ServedWorkspace = { teamId: null };
		const subject = useReplicas(() => open({ workspace: () => served.teamId }));
		describeServedWorkspace(subject, served);
	});
}

function useReplicas(open: () => Promise<Replicas>): Subject {
	let opened: Replicas | undefined;
	const get = () => {
		if (opened === undefined) throw new Error('not open yet');
		return opened;
	};
	beforeAll(async () => {
		opened = await open();
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
