import { z } from 'zod';
import type { HandOver } from '../inbox/hand-over.ts';
import type { Digest } from '../questions/changes.ts';
import {
	type Announcement,
	type AnnouncementState,
	type AnnouncementTarget,
	switchingTargetOf,
} from '../watches/announcements.ts';
import { type AnnouncementContent, content } from '../watches/kinds.ts';
import { digest, type SessionSnapshot, sessionSnapshot } from '../watches/session-snapshot.ts';
import type { CardUrgency, SessionKey, Watch, WatchEnd, WatchMode } from '../watches/watch.ts';
import {
	hasOpenQuestion,
	type SessionOutline,
	type StepRate,
	UNKNOWN_STEP_RATE,
	type WatchedSession,
} from '../watches/watched-session.ts';
import type { Cipher } from './encryption.ts';
import { channelOf, type Row, sessionOf } from './tables.ts';

export type WatchRow = Row<'watches'>;
export type WatchedSessionRow = Row<'watched_sessions'>;
export type AnnouncementRow = Row<'announcements'>;

const stepRate: z.ZodType<StepRate> = z.object({
	gapMs: z.number().positive(),
	lastStepAt: z.number().nullable(),
});
/** The JSON of each column. */
export const WATCH_JSON = {
	watches: { digest },
	watched_sessions: { rhythm: stepRate, digest, view: sessionSnapshot },
	announcements: { content },
};

export const URGENCIES = ['now', 'progress'] as const satisfies readonly CardUrgency[];

export function readWatch(row: WatchRow): Watch {
	const urgency = row.card_urgency === null ? undefined : URGENCIES[row.card_urgency];
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
		card: {
			ts: row.card_ts,
			shownKey: row.card_key,
			shownAt: row.card_shown_at,
			wanted:
				urgency === undefined || row.card_since === null
					? null
					: { urgency, since: row.card_since, wants: row.card_wants },
		},
		digest: readDigest(row.digest),
		revision: row.revision,
		lastChangeAt: row.last_change_at,
		ended: row.ended_at === null ? null : { reason: row.ended_reason as WatchEnd, at: row.ended_at },
	};
}

/**
 * Null for damaged JSON, so that its row blocks no others. The next read stores step rate and digest again, and
 * `unlessSaid` prevents a second announcement.
 */
function parseOrNull<T>(schema: z.ZodType<T>, json: string): T | null {
	try {
		return schema.safeParse(JSON.parse(json)).data ?? null;
	} catch {
		return null;
	}
}

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
		lastError: row.last_error,
		overSince: row.over_since,
		questionSince: row.question_since,
		earlyReadCount: row.hurry,
	};
}

export function outlineOf(session: WatchedSession): SessionOutline {
	return {
		...session,
		status: session.digest?.status ?? null,
		questionOpen: hasOpenQuestion(session.digest),
	};
}

/** Null when there is none yet, it was written with another key, or it is damaged. */
export function readView(
	row: Pick<WatchedSessionRow, 'service' | 'session_id' | 'view'>,
	cipher: Cipher,
): SessionSnapshot | null {
	const plain = row.view === null ? null : cipher.decrypt(row.view, viewPlace(sessionOf(row)));
	return plain === null ? null : parseOrNull(sessionSnapshot, plain);
}

export function sealView(session: SessionKey, snapshot: SessionSnapshot, cipher: Cipher): string {
	return cipher.encrypt(JSON.stringify(snapshot), viewPlace(session));
}

function viewPlace({ service, sessionId }: SessionKey) {
	return { table: 'watched_sessions', id: JSON.stringify([service, sessionId]), column: 'view' };
}

export function targetKey(target: AnnouncementTarget): string {
	switch (target.kind) {
		case 'watch':
			return `watch:${target.watchId}${target.topic === undefined ? '' : `:${target.topic}`}`;
		case 'channel':
			return `channel:${target.teamId}:${target.channelId}`;
		case 'person':
			return `person:${target.teamId}:${target.userId}${target.topic === undefined ? '' : `:${target.topic}`}`;
	}
}

function readTarget(row: AnnouncementRow): AnnouncementTarget {
	if (row.watch_id !== null) {
		const watch = { kind: 'watch', watchId: row.watch_id, teamId: row.team_id, channelId: row.place_id } as const;
		return row.target === targetKey(watch) ? watch : switchingTargetOf(watch);
	}
	if (row.target.startsWith('person:')) {
		const [, , , topic] = row.target.split(':');
		const person = { kind: 'person', teamId: row.team_id, userId: row.place_id } as const;
		return topic === undefined ? person : { ...person, topic };
	}
	return { kind: 'channel', teamId: row.team_id, channelId: row.place_id };
}

/** Null when its content was written with another key, or is damaged. */
export function readAnnouncement(row: AnnouncementRow, cipher: Cipher): Announcement | null {
	const plain = cipher.decrypt(row.content, { table: 'announcements', id: row.id, column: 'content' });
	const readable = plain === null ? null : parseOrNull(content, plain);
	if (readable === null) return null;
	return {
		id: row.id,
		target: readTarget(row),
		key: row.unique_key,
		content: readable,
		state: row.state as AnnouncementState,
		createdAt: row.created_at,
		attempts: row.attempts,
		nextAttemptAt: row.next_attempt_at,
		sendingSince: row.sending_since,
		postedTs: row.posted_ts,
		shownKey: row.shown_key,
		lastError: row.last_error,
	};
}

export function sealContent(id: string, value: AnnouncementContent, cipher: Cipher): string {
	return cipher.encrypt(JSON.stringify(value), { table: 'announcements', id, column: 'content' });
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
