import { z } from 'zod';
import type { Digest } from '../questions/changes.ts';
import type { AgentAction } from '../questions/session.ts';
import {
	type Announcement,
	type AnnouncementContent,
	type AnnouncementState,
	type AnnouncementTarget,
	type ReminderEntry,
	switchingTargetOf,
} from '../watches/announcements.ts';
import { NO_LIST_REASONS } from '../watches/discovered.ts';
import type { QuestionView, SessionSnapshot } from '../watches/session-snapshot.ts';
import {
	type CardUrgency,
	type SessionKey,
	WATCH_ENDS,
	type Watch,
	type WatchEnd,
	type WatchMode,
} from '../watches/watch.ts';
import {
	type SessionOutline,
	type StepRate,
	UNKNOWN_STEP_RATE,
	type WatchedSession,
} from '../watches/watched-session.ts';
import { channelSettings } from './channel-settings-rows.ts';
import type { Cipher } from './encryption.ts';
import { channelOf, type Row, sessionOf } from './tables.ts';

export type WatchRow = Row<'watches'>;
export type WatchedSessionRow = Row<'watched_sessions'>;
export type AnnouncementRow = Row<'announcements'>;

const positions = z.array(z.int());
const digest: z.ZodType<Digest> = z.object({
	status: z.string(),
	assistantCount: z.int(),
	question: z
		.object({
			messageIndex: z.int(),
			fingerprint: z.string(),
			shownHash: z.string(),
			sameBefore: z.int().nullable(),
			answered: positions,
			open: positions,
		})
		.nullable(),
	over: z.boolean(),
	result: z.string().nullable(),
	files: z.string(),
	screenshotTimestamp: z.string().nullable(),
});
const stepRate: z.ZodType<StepRate> = z.object({
	gapMs: z.number().positive(),
	lastStepAt: z.number().nullable(),
});
const action: z.ZodType<AgentAction> = z.discriminatedUnion('kind', [
	z.object({ kind: z.literal('click') }),
	z.object({ kind: z.literal('open'), host: z.string() }),
	z.object({ kind: z.literal('done'), text: z.string() }),
	z.object({ kind: z.literal('saveFile'), filename: z.string(), deleted: z.boolean() }),
	z.object({ kind: z.literal('other'), name: z.string() }),
]);
const question: z.ZodType<QuestionView> = z.object({
	messageIndex: z.int(),
	fingerprint: z.string(),
	shownHash: z.string(),
	goneOn: z.boolean(),
	context: z.string(),
	items: z.array(
		z.object({
			title: z.string(),
			description: z.string(),
			open: z.boolean(),
			value: z.string().nullable(),
			secret: z.boolean(),
			withheld: z.boolean(),
		}),
	),
	itemCount: z.int(),
	openCount: z.int(),
	quick: z.object({ position: z.int(), options: z.array(z.string()) }).nullable(),
});
const view: z.ZodType<SessionSnapshot> = z.object({
	sessionId: z.string(),
	name: z.string(),
	task: z.string().nullable(),
	status: z.string(),
	step: z.int(),
	maxSteps: z.int(),
	steps: z.array(z.object({ step: z.int(), text: z.string(), actions: z.array(action) })),
	question: question.nullable(),
	result: z.string().nullable(),
	fileCount: z.int(),
	hasScreenshot: z.boolean(),
	digest,
	seenAt: z.number(),
});
const reason = z.enum(WATCH_ENDS);
const reminderEntry: z.ZodType<ReminderEntry> = z.object({
	watchId: z.string(),
	sessionId: z.string(),
	fingerprint: z.string(),
	postTs: z.string(),
	postedAt: z.number(),
	heldBy: z.string().nullable(),
	stage: z.enum(['reminder', 'escalation']),
	dueAt: z.number(),
	isLast: z.boolean(),
	lastReminderAt: z.number().nullable(),
	number: z.int(),
});
const noListReason = z.enum(NO_LIST_REASONS);
const content: z.ZodType<AnnouncementContent> = z.discriminatedUnion('kind', [
	z.object({ kind: z.literal('card'), notBefore: z.exactOptional(z.number()) }),
	z.object({
		kind: z.literal('question'),
		question,
		changed: z.boolean(),
		switching: z.exactOptional(z.boolean()),
		readAt: z.number(),
	}),
	z.object({
		kind: z.literal('answered'),
		messageIndex: z.int(),
		question: question.nullable(),
		items: positions,
		stillOpen: positions,
	}),
	z.object({ kind: z.literal('questionClosed'), messageIndex: z.int() }),
	z.object({
		kind: z.literal('settle'),
		messageIndex: z.int(),
		how: z.enum(['answered', 'closed', 'changed', 'unwatched', 'gaveWay', 'own', 'handedOn', 'givenBack']),
	}),
	z.object({ kind: z.literal('redraw') }),
	z.object({ kind: z.literal('status'), from: z.string(), to: z.string() }),
	z.object({ kind: z.literal('end'), status: z.string(), result: z.string().nullable(), step: z.int() }),
	z.object({ kind: z.literal('watchEnded'), reason, days: z.number().nullable() }),
	z.object({ kind: z.literal('serviceDown'), since: z.number() }),
	z.object({ kind: z.literal('serviceBack'), since: z.number(), downMs: z.number() }),
	z.object({ kind: z.enum(['discoveryBegun', 'discoveryEnded']), by: z.string() }),
	z.object({ kind: z.literal('discoveryFull'), limit: z.enum(['channel', 'all']), most: z.number() }),
	z.object({ kind: z.literal('discoveryPaused'), why: noListReason }),
	z.object({ kind: z.enum(['reminder', 'escalation']), entries: z.tuple([reminderEntry]) }),
	z.object({ kind: z.literal('digest'), entries: z.array(reminderEntry) }),
	z.object({ kind: z.literal('settingsChanged'), by: z.string(), before: channelSettings, after: channelSettings }),
	z.object({
		kind: z.literal('handedOver'),
		watchId: z.string(),
		sessionId: z.string(),
		from: z.string(),
		question,
		readAt: z.number(),
	}),
	z.object({
		kind: z.literal('givenBack'),
		watchId: z.string(),
		sessionId: z.string(),
		by: z.string(),
		undelivered: z.exactOptional(z.literal(true)),
		question,
		readAt: z.number(),
	}),
	z.object({
		kind: z.literal('creatorTold'),
		reason,
		channelId: z.string(),
		sessionIds: z.array(z.string()),
		all: z.exactOptional(z.boolean()),
	}),
]);
/** The JSON of each column. */
export const WATCH_JSON = {
	watches: { digest },
	watched_sessions: { rhythm: stepRate, digest, view },
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
		questionOpen: (session.digest?.question?.open.length ?? 0) > 0,
	};
}

/** Null when there is none yet, it was written with another key, or it is damaged. */
export function readView(
	row: Pick<WatchedSessionRow, 'service' | 'session_id' | 'view'>,
	cipher: Cipher,
): SessionSnapshot | null {
	const plain = row.view === null ? null : cipher.decrypt(row.view, viewPlace(sessionOf(row)));
	return plain === null ? null : parseOrNull(view, plain);
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
