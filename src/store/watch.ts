import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { namesAnybody } from '../domain/answerers.ts';
import type { QuestionDigest, SessionKey } from '../domain/session.ts';
import type { Digest } from '../domain/session-snapshot.ts';
import { type DeepReadonly, MINUTE_MS } from '../kernel/basics.ts';
import { quietHours } from '../kernel/quiet-hours.ts';

/**
 * `card`: somebody watches the session. `raisedHand`: `watch all` brought it into the channel; it has no card, its
 * question is posted in the channel, and it ends when none is open.
 */
export type WatchMode = 'card' | 'raisedHand';

/** Ends after which nothing more is posted: Slack or the settings refuse, or another organisation is in the channel. */
const CHANNEL_ENDS = ['channelArchived', 'channelGone', 'botRemoved', 'channelShared', 'channelNotAllowed'] as const;
export type ChannelEnd = (typeof CHANNEL_ENDS)[number];

/** A watch of a session without any change ends after this. */
export const WATCH_MAX_DAYS = 7;

/**
 * Why a watch ended. `noChange`: nothing changed for `WATCH_MAX_DAYS`. Of a raised hand: its question is not open any
 * more (`handLowered`), a newer one got its place (`gaveWay`), or `watch all` has ended (`discoveryEnded`).
 */
// biome-ignore format: a list of words
export const WATCH_ENDS = [
	'sessionOver', 'unwatched', 'noChange', 'sessionGone', 'handLowered', 'gaveWay', 'discoveryEnded', ...CHANNEL_ENDS,
] as const;
export type WatchEnd = (typeof WATCH_ENDS)[number];

/** Whoever reads its card can begin it again there. */
export const CAN_GO_ON: readonly WatchEnd[] = ['unwatched', 'noChange', 'discoveryEnded'];

export const isChannelEnd = (reason: WatchEnd): reason is ChannelEnd => CHANNEL_ENDS.some((end) => end === reason);

export interface ChannelKey {
	readonly teamId: string;
	readonly channelId: string;
}

/** `now`: questions, answers, ends and who is answering. `progress`: everything else, which waits for `now`. */
export type CardUrgency = 'now' | 'progress';

/** A session watched in a channel. All times are milliseconds since the epoch. */
export interface Watch extends ChannelKey {
	readonly id: string;
	readonly mode: WatchMode;
	readonly session: SessionKey;
	/** Slack user id; told when the watch ends for a reason that cannot be posted there. */
	readonly createdBy: string;
	readonly createdAt: number;
	/** Counts what it was told, so that two replicas cannot tell the same; 0 or less before a read told anything. */
	readonly revision: number;
	/** When something that people see last changed; `createdAt` before any change. */
	readonly lastChangeAt: number;
	readonly ended: { readonly reason: WatchEnd; readonly at: number } | null;
	/** Its channel wants pauses and the like in the thread of its card. Only `ofSession` finds it. */
	readonly progress?: boolean;
	/** The question no longer wanted in its channel. Only `ofSession` finds it, before the first read. */
	readonly dismissed?: Pick<QuestionDigest, 'fingerprint' | 'messageIndex'> | null;
}

/** The revision of a raised hand unwatched before its first read, which tells what is not wanted and ends it. */
export const DISMISSED = -1;

/** The most watches that have not ended: of one person, of one channel, of all. Lowering a limit ends no watch. */
export type WatchLimits = Readonly<Record<WatchLimit, number>>;
export type WatchLimit = 'person' | 'channel' | 'all';

/** A session of the account that waits for a person, as the newest list tells. It may be wrong. */
export interface WaitingSession {
	readonly sessionId: string;
	/** The agent's own words: untrusted. */
	readonly name: string;
	/** When a list first told that it waits, clock milliseconds. */
	readonly since: number;
	/** It began to wait after the first list. Nobody knows how long others have waited. */
	readonly isNew: boolean;
	/** A channel no longer follows it, because a newer question needed the place. */
	readonly gaveWay: boolean;
}

/** A channel into which each raised hand of the account is brought. */
export interface Discovery extends ChannelKey {
	readonly service: string;
	/** Slack user id; told when it ends for a reason that cannot be posted there. */
	readonly createdBy: string;
	readonly createdAt: number;
}

/** Why no sessions are listed: `DISCOVER_SESSIONS` is off, or the service has no list. */
export const NO_LIST_REASONS = ['notDiscovering', 'noList'] as const;
export type NoListReason = (typeof NO_LIST_REASONS)[number];
/** 1.1.0 had a third one, whose setting is gone. */
export const noListReason = z.enum(NO_LIST_REASONS).catch('noList');

/**
 * When the next read is due (`at`, clock milliseconds). Those with `by` before `at` are awaited: they go first, in the
 * order of `by`. Of others the one goes first that has waited most times its interval since its last read.
 */
export interface PlannedRead {
	readonly at: number;
	readonly by: number;
}

/** A read that a due reminder waits for goes before those due in this time before it (`by` before `at`). */
export const AWAITED_AHEAD_MS = 5 * MINUTE_MS;

/** A read that shows what was asked a moment ago goes before all of those, however many wait. */
export const NEWS_AHEAD_MS = 2 * AWAITED_AHEAD_MS;

const unread = z.object({ count: z.int(), since: z.number(), isMissing: z.boolean(), code: z.string().nullable() });

/** What reads of a session have shown besides. Stored as JSON with it: each field has a default for rows without it. */
export const sessionReads = z.object({
	/** Failures in a row, 404s or others, of a session that was read before. `code`: the newest's, if it seems alone. */
	unread: unread.nullable().default(null),
	/** What one costs on average: bytes of its body, and milliseconds of the service. Newer ones weigh more. */
	byteCount: z.number().default(0),
	tookMs: z.number().default(0),
});
export type SessionReads = Readonly<z.infer<typeof sessionReads>>;

/** The weight of a read in the average cost. */
const COST_WEIGHT = 1 / 4;

/** What is known after a read. */
export function readsAfter(
	{ byteCount, tookMs }: SessionReads,
	read: Readonly<Record<'byteCount' | 'tookMs', number>>,
): SessionReads {
	const averaged = (before: number, newest: number) => Math.round(before + COST_WEIGHT * (newest - before));
	return { unread: null, byteCount: averaged(byteCount, read.byteCount), tookMs: averaged(tookMs, read.tookMs) };
}

export const hasOpenQuestion = (digest: Digest | null) => (digest?.question?.open.length ?? 0) > 0;

/** There are `count` already: nothing was written. */
export interface LimitReached {
	readonly kind: 'limit';
	readonly limit: WatchLimit;
	readonly count: number;
	readonly most: number;
}

/** Whoever was forgotten stays as somebody who has left: a list that loses its people must not become empty. */
const named = z.object({ userIds: z.array(z.string()), groupIds: z.array(z.string()) });
export type Mention = DeepReadonly<z.infer<typeof named>>;

/** In place of a time, in the settings of 1.1.0: as a setting of the environment said. */
export const FORMER_DEFAULT = 'default';

/** What members of a channel set with `/session settings`. A setting that a stored row lacks has its default. */
export const channelSettings = z.object({
	/** `default`: as `REMIND_AFTER` says. Null: off. */
	remindAfterMs: z.union([z.number(), z.literal('default'), z.null()]).default('default'),
	/** Null: off. Rows of 1.1.0 may say `default`, until a start knows what that was. */
	escalateAfterMs: z.preprocess(
		(after) => (after === FORMER_DEFAULT ? null : after),
		z.number().nullable().default(null),
	),
	mention: named.default({ userIds: [], groupIds: [] }),
	quietHours: quietHours.nullable().default(null),
	answerers: named.default({ userIds: [], groupIds: [] }),
	/** Pauses and the like are posted in the card's thread. */
	progress: z.boolean().default(false),
	/** Questions, reminders and the end stand in the card's thread; see `isInThread`. */
	questionsInThread: z.boolean().default(false),
	/** Notifications and posts tell neither questions nor answers, only that there are some. */
	discreet: z.boolean().default(false),
	/** Posts of questions offer short options as buttons. */
	buttons: z.boolean().default(true),
});
export type ChannelSettings = DeepReadonly<z.infer<typeof channelSettings>>;

export const DEFAULT_CHANNEL_SETTINGS: ChannelSettings = channelSettings.parse({});

/** How a channel wants its posts. */
export type PostStyle = Pick<ChannelSettings, 'progress' | 'questionsInThread' | 'discreet' | 'buttons'>;

/** Where it is not known what a channel wants, a post tells the least. */
export const UNKNOWN_STYLE: PostStyle = { progress: false, questionsInThread: false, discreet: true, buttons: false };

/** Whether the questions of a watch stand in the thread of its card. A raised hand has none. */
export const isInThread = (mode: string | undefined, { questionsInThread }: Pick<PostStyle, 'questionsInThread'>) =>
	questionsInThread && mode === 'card';

/** `reminder`: in the card's thread if `isInThread`. `escalation`: in the channel, with its mentions. */
export const REMINDER_STAGES = ['reminder', 'escalation'] as const;
export type ReminderStage = (typeof REMINDER_STAGES)[number];

/** As set: when to remind and to escalate, in milliseconds from the question's post; null: never. */
export interface ReminderTimes {
	readonly remindAfterMs: number | null;
	readonly escalateAfterMs: number | null;
}

/** `defaultMs`: `REMIND_AFTER`, which holds where a channel has not set it; null: never. */
export function timesIn({ remindAfterMs, escalateAfterMs }: ChannelSettings, defaultMs: number | null): ReminderTimes {
	return { remindAfterMs: remindAfterMs === 'default' ? defaultMs : remindAfterMs, escalateAfterMs };
}

/** When reminders come: an escalation only where it can mention somebody. */
export function reminderTimes(settings: ChannelSettings, defaultMs: number | null): ReminderTimes {
	const times = timesIn(settings, defaultMs);
	return namesAnybody(settings.mention) ? times : { ...times, escalateAfterMs: null };
}

/** The settings that differ; the order of people, groups and days does not count. */
export function changedParts(before: ChannelSettings, after: ChannelSettings): readonly (keyof ChannelSettings)[] {
	const parts = Object.keys(channelSettings.shape) as (keyof ChannelSettings)[];
	return parts.filter((part) => !isDeepStrictEqual(withoutOrder(before[part]), withoutOrder(after[part])));
}

function withoutOrder(setting: unknown): unknown {
	return JSON.parse(JSON.stringify(setting), (_, value) => (Array.isArray(value) ? new Set(value) : value));
}
