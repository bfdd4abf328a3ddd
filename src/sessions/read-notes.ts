import { isDeepStrictEqual } from 'node:util';
import type { Core } from '../core.ts';
import type { NoteRead } from '../delivery/confirm.ts';
import { questionViewAt } from '../domain/session-snapshot.ts';
import { codeOf } from '../kernel/errors.ts';
import type { SessionStore } from '../store/watched-sessions.ts';
import { changesQuestion } from './poller.ts';
import { createReading, type ReadAnswers } from './reading.ts';
import type { RecordingStore } from './recording-store.ts';
import type { WatchStore } from './watch-store.ts';

/** How often a read is judged anew because something else was stored meanwhile. */
const TRIES = 3;

/**
 * Stores what reads show that the poller did not begin: for a form, a command, a delivery or its confirmation. What
 * people see then follows from the rows. Of a session that nobody watches, only the questions of our answers are
 * stored. Writes only what changed.
 */
export function createReadNotes(
	core: Core<{ sessions: SessionStore; watches: WatchStore; reads: RecordingStore }>,
	ourAnswers: (reading: Parameters<NoteRead>[0], isWatched: boolean) => Promise<ReadAnswers>,
): NoteRead {
	const { serviceUrl, clock, log, store } = core;
	const reading = createReading(core, () => null);

	async function note(found: Parameters<NoteRead>[0]): Promise<boolean> {
		const { session } = found;
		const key = { service: serviceUrl, sessionId: session.sessionId };
		const taken = await store.sessions.watched(key);
		const ours = await ourAnswers(found, taken !== null);
		const { occurrences, outcomes, known } = ours;
		if (occurrences.isOld === true) return true;
		if (taken === null) {
			if (occurrences.changes.length + outcomes.length === 0) return true;
			const itemsAt = (index: number) => questionViewAt(session, index, ours)?.items;
			const unwatched = { changes: occurrences.changes, outcomes, known, itemsAt };
			return store.reads.recordUnwatched(key, unwatched, { readAt: found.readAt, now: clock.now() });
		}
		if ((taken.lastReadAt ?? 0) > found.readAt) return true;
		const watches = await store.watches.ofSession(key);
		// The first read of a watch is one of the poller.
		if (taken.lastReadAt === null || watches.some(({ revision }) => revision <= 0)) return true;
		const measured = { ...found, tookMs: 0, byteCount: 0 };
		const { update, watches: told } = reading.succeeded(taken, measured, watches, ours);
		const isNews = changesQuestion(taken, update);
		const isSame =
			update.snapshot === undefined || isDeepStrictEqual({ ...taken.snapshot, seenAt: found.readAt }, update.snapshot);
		if (isSame && occurrences.changes.length + outcomes.length === 0) return true;
		const { lastReadAt } = taken;
		const outcome = { update: { ...update, reads: taken.reads }, watches: told, now: clock.now(), isNews };
		return store.reads.record({ session: key, token: null, lastReadAt }, outcome);
	}

	return async (found) => {
		try {
			for (let tries = 0; tries < TRIES; tries++) if (await note(found)) return;
		} catch (error) {
			log.warn('read_not_noted', { sessionId: found.session.sessionId, code: codeOf(error) });
		}
	};
}
