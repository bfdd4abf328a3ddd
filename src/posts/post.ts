import { parseOrNull, pick } from '../core/values.ts';
import type { Asked, StoredQuestion } from '../database/question-store.ts';
import type { Row } from '../database/tables.ts';
import type { CardUrgency, ChannelKey, Endings, Watch, WatchEnd } from '../database/watch.ts';
import type { SessionSnapshot } from '../questions/session-snapshot.ts';
import { hashOf } from '../slack/ids.ts';
import type { MessageContent } from '../slack/parts.ts';
import { type ContentOf, content, type PostContent, type PostKind, type ReminderEntry } from './kinds.ts';

export type PostRow = Row<'posts'>;

/** `lastError` of a post that waits for its `heldUntil`. Its stream's other posts do not wait for it. */
export const HELD = 'held';
/** `lastError` of a post that waits for the shared rate: its attempt sent nothing and failed at nothing. */
export const PACED = 'paced';

/** For this long after an update of which nobody knows whether Slack took it, it may still come: later ones are repeated. */
export const UNSURE_MS = 60_000;

/** Where to post. First posts of one target are sent in order. */
export type PostTarget =
	| (ChannelKey & { readonly kind: 'watch'; readonly watchId: string })
	| { readonly kind: 'channel'; readonly teamId: string; readonly channelId: string }
	/** `topic`: posts about other topics to the same person do not wait for those about this one. */
	| { readonly kind: 'person'; readonly teamId: string; readonly userId: string; readonly topic?: string };

export interface NewPost {
	readonly target: PostTarget;
	/** Unique within its target, so that nothing is queued twice. */
	readonly key: string;
	readonly content: PostContent;
	/** Not posted before this time, clock milliseconds. A question that is settled before it is never posted. */
	readonly heldUntil?: number;
}

/** A message that has to stay true: planned, or shown until its last look. */
export interface Post
	extends Pick<NewPost, 'target' | 'key' | 'content'>,
		Readonly<Pick<Row<'posts'>, 'id' | 'attempts'>> {
	readonly urgency: CardUrgency;
	/** Counts the changes after which it has to be drawn again. */
	readonly wanted: number;
	/** Set before Slack is called, cleared when its outcome is known. While set, a first post is searched before it is sent. */
	readonly sendingSince: number | null;
	/** Null before it is posted. */
	readonly ts: string | null;
	/** Hash of what it shows; null when that is not known. */
	readonly shownKey: string | null;
}

/** A post that is due, with what it is about, as stored now. */
export interface DuePost {
	readonly post: Post;
	/** The watch it belongs to, which may have ended. */
	readonly watch: Watch | null;
	readonly view: SessionSnapshot | null;
	/** When the session was last read, changed or not. */
	readonly checkedAt: number | null;
	/** Why this session alone cannot be read: the code of a failure. Null when it can. */
	readonly unreadCode: string | null;
	/** The question it is about; for a card and for `switching` the newest one. */
	readonly question: StoredQuestion | null;
	/** The thread that it goes into or whose question it is about, in the watch's channel. */
	readonly threadTs: string | null;
	/** After an attempt whose outcome is unknown: its thread if the place of questions was changed since. */
	readonly formerThreadTs: string | null;
	/** Of a card: somebody deleted the post of the newest question, or Slack refused it. */
	readonly isQuestionLost: boolean;
	/** Of `switching`: the newest question has a post of its own. */
	readonly isReplaced: boolean;
}

export type GoneReason = Extract<WatchEnd, 'channelArchived' | 'channelGone' | 'botRemoved'>;

export type SendOutcome =
	/** `lostThread`: its thread is gone, so it stands in the channel. */
	| { readonly kind: 'sent'; readonly ts: string; readonly lostThread?: string }
	/** The channel takes no posts: the watch ends. */
	| { readonly kind: 'gone'; readonly reason: GoneReason }
	/** Nothing was written. `ms`: the wait that Slack asks for, or null. `limited`: Slack's rate limit was hit. */
	| { readonly kind: 'later'; readonly ms: number | null; readonly code: string; readonly limited: boolean }
	/** A time-out or a broken connection: it may have been written. */
	| { readonly kind: 'unknown'; readonly code: string }
	/** Slack or the access policy refuses it, and would refuse it again. */
	| { readonly kind: 'refused'; readonly code: string }
	| { readonly kind: 'deleted' };

export type AttemptResult =
	/**
	 * It is there and looks like `key` (null: not known). `isLast`: it is not kept current. `sentAt`: when the first attempt began;
	 * left out: now. `leftOut`: reminders that it does not show, due again. `isUnsure`: an earlier update may still change it.
	 */
	| {
			readonly kind: 'shown';
			readonly ts: string;
			readonly key: string | null;
			readonly isLast: boolean;
			readonly isUnsure?: boolean;
			readonly againAt?: number | null;
			readonly sentAt?: number;
			readonly lostThread?: string;
			readonly leftOut?: readonly ReminderEntry[];
	  }
	/** `unknown`: the call may have succeeded; otherwise it certainly did not. */
	| { readonly kind: 'retry'; readonly at: number; readonly code: string; readonly unknown: boolean }
	| Extract<SendOutcome, { readonly kind: 'refused' | 'deleted' }>
	/** No place to post it, or nothing to say. Its reminders are due again unless it may have been posted (`unknown`). */
	| { readonly kind: 'dropped'; readonly unknown: boolean };

export interface Look {
	readonly message: MessageContent;
	/** Two looks with the same key look the same. */
	readonly key: string;
	/** It does not change any more. */
	readonly isLast: boolean;
	/** When to draw it again though nothing has changed, clock milliseconds; left out or null: not. */
	readonly againAt?: number | null;
	/** Reminders whose question somebody has answered, which may be taken back. */
	readonly leftOut?: readonly ReminderEntry[];
}

/** The question of a post: while it is open as it was last read, then as it was last seen open. Null when it is not known. */
export function askedOf({ question: stored, view }: Pick<DuePost, 'question' | 'view'>): Asked | null {
	if (stored === null) return null;
	const { asked, settled, fingerprint, messageIndex } = stored;
	const newest = view?.question ?? null;
	if (settled === null && newest?.fingerprint === fingerprint && newest.openCount > 0) {
		return { question: newest, readAt: asked?.readAt ?? stored.askedAt };
	}
	return asked && { ...asked, question: { ...asked.question, messageIndex } };
}

/** Null when there is nothing to say any more; an outcome when that is not known now, or it must not be said. */
export type Drawn = Look | Extract<SendOutcome, { readonly kind: 'later' | 'refused' }> | null;

/** `isLast` left out: a message that is posted once. */
export function lookOf(message: MessageContent, { isLast = true, ...rest }: Partial<Look> = {}): Look {
	// Without `text`, in which the time that it waits would make every look new.
	return { message, key: hashOf(JSON.stringify(message.blocks)), isLast, ...rest };
}

/** What draws the posts of each kind: what they show now, from what is stored. It may ask Slack for names and links. */
export type Drawing<Kinds extends PostKind = PostKind> = {
	readonly [K in Kinds]: (content: ContentOf<K>, due: DuePost) => Promise<Drawn>;
};

export function targetOf(watch: Pick<Watch, 'id' | 'teamId' | 'channelId'>) {
	return { kind: 'watch', watchId: watch.id, teamId: watch.teamId, channelId: watch.channelId } as const;
}

export const CARD_AGAIN_MS = 3_600_000;

/** The card that replaces the deleted card `lostTs`. `before`: the `notBefore` of the newest replacement, or null. */
export function cardAgain(watch: Watch, lostTs: string, before: number | null, now: number): NewPost {
	const notBefore = before === null ? now : Math.max(now, Math.min(before, now) + CARD_AGAIN_MS);
	const held = notBefore > now ? { heldUntil: notBefore } : {};
	return { target: targetOf(watch), key: `card:${lostTs}`, content: { kind: 'card', notBefore }, ...held };
}

export const NO_ENDINGS: Endings = { unansweredCount: 0, unansweredAt: 0, isNewestAnswered: false, isAnswered: false };
export const COUNTED_MS = 10 * 60_000;
/** The least time between two updates of the post of a session that changes its question often, and of its card. */
export const SHOWN_EVERY_MS = 10_000;
/** The endings after one more. `isAnswered`: as a read shows it. */
export function withEnding(endings: Endings, isAnswered: boolean, at: number): Endings {
	if (isAnswered || endings.isAnswered) return { ...endings, isNewestAnswered: true };
	return { ...endings, unansweredCount: endings.unansweredCount + 1, unansweredAt: at, isNewestAnswered: false };
}

export const URGENCIES = ['now', 'progress'] as const satisfies readonly CardUrgency[];
/** Of a post whose look only time changes: every mark draws it earlier. */
export const NOT_MARKED = URGENCIES.length;

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
