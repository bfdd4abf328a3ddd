import type { z } from 'zod';
import { parseOrNull, pick } from '../core/values.ts';
import { sealedColumn } from '../database/encryption.ts';
import { type Row, sessionOf } from '../database/tables.ts';
import type { CardUrgency, Watch, WatchEnd, WatchMode } from '../database/watch.ts';
import { sessionReads, stepRate, UNKNOWN_STEP_RATE } from '../database/watch.ts';
import { type Digest, digest } from '../questions/changes.ts';
import { type SessionSnapshot, sessionSnapshot } from '../questions/session-snapshot.ts';
import { content } from './kinds.ts';
import type { Post, PostTarget } from './post.ts';

export type WatchRow = Row<'watches'>;
export type WatchedSessionRow = Row<'watched_sessions'>;
export type PostRow = Row<'posts'>;

/** `open` gives null when there is none yet, it was written with another key, or it is damaged. */
export const viewColumn = sealedColumn('watched_sessions.view', sessionSnapshot as z.ZodType<SessionSnapshot>);

export const URGENCIES = ['now', 'progress'] as const satisfies readonly CardUrgency[];
/** Of a post whose look only time changes: every mark draws it earlier. */
export const NOT_MARKED = URGENCIES.length;

export function readWatch(row: WatchRow): Watch {
	return {
		...pick(row, 'id', 'teamId', 'channelId', 'createdBy', 'createdAt', 'revision', 'lastChangeAt'),
		session: sessionOf(row),
		mode: row.mode as WatchMode,
		questionsInChannel: row.questionsInChannel === 1,
		discreet: row.discreet === 1,
		buttons: row.buttons === 1,
		ended: row.endedAt === null ? null : { reason: row.endedReason as WatchEnd, at: row.endedAt },
	};
}

/** Null for a damaged one: the next read stores it again. A question that is open still is the same row. */
export function readDigest(text: string | null): Digest | null {
	return parseOrNull(digest, text);
}

/** A session that at least one channel watches. All its watches share this one row. */
export type WatchedSession = Readonly<ReturnType<typeof readWatchedSession>>;

export function readWatchedSession(row: WatchedSessionRow) {
	return {
		...pick(row, 'lastReadAt', 'lastChangeAt', 'failures', 'overSince'),
		session: sessionOf(row),
		stepRate: parseOrNull(stepRate, row.rhythm) ?? UNKNOWN_STEP_RATE,
		/** Null before the first read. */
		digest: readDigest(row.digest),
		nextRead: { at: row.nextReadAt ?? row.readBy, by: row.readBy },
		earlyReadAskedAt: row.touchedAt,
		earlyReadCount: row.hurry,
		reads: readReads(row),
	};
}

export function readReads({ reads }: Pick<WatchedSessionRow, 'reads'>) {
	return parseOrNull(sessionReads, reads) ?? sessionReads.parse({});
}

export function streamOf(target: PostTarget): string {
	if (target.kind === 'watch') return `watch:${target.watchId}`;
	if (target.kind === 'channel') return `channel:${target.teamId}:${target.channelId}`;
	const person = `person:${target.teamId}:${target.userId}`;
	return target.topic === undefined ? person : `${person}:${target.topic}`;
}

function readTarget({ stream, watchId, teamId, placeId }: PostRow): PostTarget {
	const [kind, , , topic] = stream.split(':');
	if (kind === 'person') return { kind, teamId, userId: placeId, ...(topic !== undefined && { topic }) };
	const channel = { teamId, channelId: placeId };
	return kind === 'watch' ? { kind, watchId: watchId ?? '', ...channel } : { kind: 'channel', ...channel };
}

/** Null when its content is damaged. */
export function readPost(row: PostRow): Post | null {
	const readable = parseOrNull(content, row.content);
	if (readable === null) return null;
	return {
		...pick(row, 'id', 'wanted', 'attempts', 'sendingSince', 'ts', 'shownKey'),
		target: readTarget(row),
		key: row.uniqueKey,
		content: readable,
		urgency: URGENCIES[row.urgency] ?? 'now',
	};
}
