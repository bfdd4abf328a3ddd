import { z } from 'zod';
import type { HandOver } from '../inbox/hand-over.ts';
import type { Digest } from '../questions/changes.ts';
import { type Announcement, type AnnouncementTarget, switchingTargetOf } from '../watches/announcements.ts';
import { type AnnouncementContent, content } from '../watches/kinds.ts';
import { digest, type SessionSnapshot, sessionSnapshot } from '../watches/session-snapshot.ts';
import type { CardUrgency, SessionKey, Watch, WatchEnd, WatchMode } from '../watches/watch.ts';
import { type StepRate, UNKNOWN_STEP_RATE, type WatchedSession } from '../watches/watched-session.ts';
import { type Cipher, parseOrNull, sealedColumn } from './encryption.ts';
import { channelOf, type Row, sessionOf } from './tables.ts';

export type WatchRow = Row<'watches'>;
export type WatchedSessionRow = Row<'watched_sessions'>;
export type AnnouncementRow = Row<'announcements'>;

const stepRate: z.ZodType<StepRate> = z.object({ gapMs: z.number().positive(), lastStepAt: z.number().nullable() });
const viewColumn = sealedColumn<SessionSnapshot>('watched_sessions', 'view', sessionSnapshot);
const contentColumn = sealedColumn<AnnouncementContent>('announcements', 'content', content);
/** The JSON of each column. */
export const WATCH_JSON = {
	watches: { digest },
	watched_sessions: { rhythm: stepRate, digest, view: sessionSnapshot },
	announcements: { content },
};

export const URGENCIES = ['now', 'progress'] as const satisfies readonly CardUrgency[];

export function readWatch(row: WatchRow): Watch {
	const { card_urgency, card_since: since, card_wants: wants } = row;
	const urgency = card_urgency === null ? undefined : URGENCIES[card_urgency];
	const wanted = urgency === undefined || since === null ? null : { urgency, since, wants };
	return {
		id: row.id,
		...channelOf(row),
		session: sessionOf(row),
		mode: row.mode as WatchMode,
		questionsInChannel: row.questions_in_channel === 1,
		discreet: row.discreet === 1,
		buttons: row.buttons === 1,
		createdBy: row.created_by,
		createdAt: row.created_at,
		card: { ts: row.card_ts, shownKey: row.card_key, wanted },
		digest: readDigest(row.digest),
		revision: row.revision,
		lastChangeAt: row.last_change_at,
		ended: row.ended_at === null ? null : { reason: row.ended_reason as WatchEnd, at: row.ended_at },
	};
}

/** Null for a damaged one: the next read stores it again, and `unlessSaid` prevents a second announcement. */
export function readDigest(text: string | null): Digest | null {
	return text === null ? null : parseOrNull(digest, text);
}

export function readWatchedSession(row: WatchedSessionRow): WatchedSession {
	return {
		session: sessionOf(row),
		stepRate: parseOrNull(stepRate, row.rhythm) ?? UNKNOWN_STEP_RATE,
		digest: readDigest(row.digest),
		nextRead: { at: row.next_read_at ?? row.read_by, by: row.read_by },
		lastReadAt: row.last_read_at,
		lastChangeAt: row.last_change_at,
		earlyReadAskedAt: row.touched_at,
		failures: row.failures,
		overSince: row.over_since,
		earlyReadCount: row.hurry,
	};
}

/** Null when there is none yet, it was written with another key, or it is damaged. */
export function readView(row: Pick<WatchedSessionRow, 'service' | 'session_id' | 'view'>, cipher: Cipher) {
	return viewColumn.open(row.view, JSON.stringify([row.service, row.session_id]), cipher);
}

export function sealView({ service, sessionId }: SessionKey, snapshot: SessionSnapshot, cipher: Cipher): string {
	return viewColumn.seal(snapshot, JSON.stringify([service, sessionId]), cipher);
}

export function targetKey(target: AnnouncementTarget): string {
	if (target.kind === 'channel') return `channel:${target.teamId}:${target.channelId}`;
	const owner = target.kind === 'watch' ? `watch:${target.watchId}` : `person:${target.teamId}:${target.userId}`;
	return target.topic === undefined ? owner : `${owner}:${target.topic}`;
}

function readTarget({ target, watch_id: watchId, ...row }: AnnouncementRow): AnnouncementTarget {
	const channel = { teamId: row.team_id, channelId: row.place_id };
	if (watchId !== null) {
		const watch = { kind: 'watch', watchId, ...channel } as const;
		return target === targetKey(watch) ? watch : switchingTargetOf(watch);
	}
	const [kind, , , topic] = target.split(':');
	if (kind !== 'person') return { kind: 'channel', ...channel };
	return { kind, teamId: row.team_id, userId: row.place_id, ...(topic !== undefined && { topic }) };
}

/** Null when its content was written with another key, or is damaged. */
export function readAnnouncement(row: AnnouncementRow, cipher: Cipher): Announcement | null {
	const readable = contentColumn.open(row.content, row.id, cipher);
	if (readable === null) return null;
	return {
		id: row.id,
		target: readTarget(row),
		key: row.unique_key,
		content: readable,
		attempts: row.attempts,
		sendingSince: row.sending_since,
		postedTs: row.posted_ts,
		shownKey: row.shown_key,
		lastError: row.last_error,
	};
}

export function sealContent(id: string, value: AnnouncementContent, cipher: Cipher): string {
	return contentColumn.seal(value, id, cipher);
}

export function readHandOver(row: Row<'hand_overs'>): HandOver {
	return {
		id: row.id,
		teamId: row.team_id,
		session: sessionOf(row),
		fingerprint: row.fingerprint,
		watchId: row.watch_id,
		channelId: row.channel_id,
		from: row.from_user_id,
		to: row.to_user_id,
		count: row.count,
		handedOverAt: row.handed_over_at,
		givenBackAt: row.given_back_at,
	};
}
