import type { NewAnnouncement } from '../../../src/watches/announcements.ts';
import type { Watch } from '../../../src/watches/watch.ts';
import { type SessionUpdate, UNKNOWN_STEP_RATE, type WatchUpdate } from '../../../src/watches/watched-session.ts';
import { addWatch, type newWatch, SERVICE, sessionView, storedWatch } from '../../watches/support.ts';
import type { Subject } from '../contract.ts';
import { attemptAt, LEASE, T0 } from '../support.ts';

export const C1 = { teamId: 'T1', channelId: 'C1' };
export const KEY = { service: SERVICE, sessionId: 's1' };

/** The result of a read; by default nothing has changed. */
export function read(overrides: Partial<SessionUpdate> = {}): SessionUpdate {
	return {
		stepRate: UNKNOWN_STEP_RATE,
		nextRead: { at: T0 + 10_000, by: T0 + 12_000 },
		lastReadAt: T0,
		lastChangeAt: T0,
		failures: 0,
		overSince: null,
		earlyReadCount: 1,
		...overrides,
	};
}

/** A post with this key. */
export function said(watch: Watch, key: string): NewAnnouncement {
	const { id, teamId, channelId } = watch;
	const target = { kind: 'watch', watchId: id, teamId, channelId } as const;
	return { target, key, content: { kind: 'status', from: 'active', to: key } };
}

/** The update of a watch after a read. */
export function news(watch: Watch, overrides: Partial<WatchUpdate> = {}): WatchUpdate {
	const { id: watchId, revision } = watch;
	const digest = sessionView('s1').digest;
	return { watchId, revision, digest, changed: true, announcements: [], card: null, end: null, ...overrides };
}

/** Typical uses of a watch store. */
export function watchActs(subject: Subject) {
	const store = () => subject.store.watches;
	const replica = () => subject.replica.watches;

	/** The stored watch, ended or not. */
	const stored = (id: string) => storedWatch(subject.store.db, id);

	const added = (overrides: Parameters<typeof newWatch>[0] = {}): Promise<Watch> => addWatch(store(), overrides);

	/** Takes the session and records a read of it. */
	async function recorded(updates: readonly WatchUpdate[], update = read()) {
		await store().takeDue(SERVICE, LEASE, 10, { now: T0, only: null });
		return store().record({ session: KEY, token: LEASE.token }, { update, watches: updates, now: T0 });
	}

	/** Takes and posts everything that is next in its target's order; returns kinds and keys. */
	async function posted(now = T0): Promise<string[]> {
		const due = await store().takeAnnouncements(LEASE, 50, now);
		for (const { announcement } of due) {
			await store().beginAttempt(announcement.id, LEASE.token, attemptAt(now));
			const result = { kind: 'posted', ts: `ts-${announcement.key}`, cardKey: 'looks' } as const;
			await store().endAttempt(announcement.id, LEASE.token, result, now);
		}
		return due.map(({ announcement }) => announcement.key);
	}

	return { store, replica, stored, added, recorded, posted };
}
