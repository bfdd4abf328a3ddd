import { z } from 'zod';
import { channelSettings, type PostStyle, REMINDER_STAGES } from '../domain/channel-settings.ts';
import type { SessionSnapshot } from '../domain/session-snapshot.ts';
import { HOUR_MS } from '../kernel/clock.ts';
import { type DeepReadonly, hashOf, parseOrNull, pick } from '../kernel/values.ts';
import { isOfBlocks, type MessageContent } from '../slack/blocks.ts';
import type { Row } from '../store/database.ts';
import type { Asked, StoredQuestion } from '../store/question-store.ts';
import {
	type ChannelKey,
	noListReason,
	type PostUrgency,
	WATCH_ENDS,
	type Watch,
	type WatchEnd,
} from '../store/watch.ts';

export interface Kind {
	/** What is stored with a post. Texts are cut and untrusted; secret values are never in it. */
	readonly schema: z.ZodObject;
	/**
	 * It stands in the thread of its card or question; without such a thread in the channel (`first`) or nowhere
	 * (`only`). Kinds of `NEWS_KINDS` enter a thread only if `isInThread`. Left out: it stands in the channel.
	 */
	readonly thread?: 'first' | 'only';
	/** It is drawn again after changes, until its last look. Left out: it is posted once. */
	readonly isCurrent?: true;
	/** It shows a question, and is kept current until that is settled. */
	readonly showsQuestion?: true;
	/** It is posted in a channel that watches nothing, too. */
	readonly isForAll?: true;
	/** How often it is posted again while Slack refuses it; left out: as all calls are, for about 30 s. */
	readonly repeats?: number;
}

const reminderEntry = z.object({
	watchId: z.string(),
	sessionId: z.string(),
	questionId: z.string(),
	/** Of the question's post, or else of the card; `NOWHERE`: Slack shows neither. */
	postTs: z.string(),
	postedAt: z.number(),
	/** Slack user id of a person whose claim delayed the reminder, and who has not answered. */
	heldBy: z.string().nullable(),
	stage: z.enum(REMINDER_STAGES),
	dueAt: z.number(),
	/** No reminder of the question comes after this one. */
	isLast: z.boolean(),
});

const handed = { watchId: z.string(), handOverId: z.string() };
const ASKING = { isCurrent: true, showsQuestion: true } as const;

export const KINDS = {
	/**
	 * A watch's own post. `isFirst`: it is held as `cardHeldUntil` says, and `notBefore` is when it is posted at the
	 * latest while no question is open. Otherwise it replaces a deleted card, and `notBefore` is the soonest time.
	 * Milliseconds since the epoch.
	 */
	card: {
		schema: z.object({ notBefore: z.exactOptional(z.number()), isFirst: z.exactOptional(z.literal(true)) }),
		isCurrent: true,
	},
	/** `changed`: the message showed another question before. */
	question: { schema: z.object({ changed: z.boolean() }), thread: 'first', ...ASKING },
	status: { schema: z.object({ from: z.string(), to: z.string() }), thread: 'only' },
	/** The session is over with this status. The card leads to it. */
	sessionEnded: { schema: z.object({ status: z.string() }), thread: 'first' },
	/** The watch has ended, but not with its session. */
	watchEnded: { schema: z.object({}), thread: 'first' },
	/** One for each channel. `code`: of the failed reads. */
	serviceDown: { schema: z.object({ since: z.number(), code: z.string() }) },
	serviceBack: { schema: z.object({ since: z.number(), downMs: z.number() }) },
	/** Somebody (`by`: Slack user id) has typed `watch all`. */
	discoveryBegun: { schema: z.object({ by: z.string() }) },
	/** Somebody has typed `unwatch all` after it. */
	discoveryEnded: { schema: z.object({ by: z.string() }), isForAll: true },
	/** Questions are left out because of a limit; once a day. */
	discoveryFull: { schema: z.object({ limit: z.enum(['channel', 'all']), most: z.number() }) },
	/** Questions are left out because sessions cannot be listed; once a day. `isOver`: they come again. */
	discoveryPaused: { schema: z.object({ why: noListReason, isOver: z.exactOptional(z.literal(true)) }) },
	/**
	 * One message for all questions of a channel whose reminders are due, or in the thread of a card for those of its
	 * watch. While it is held, `entries` are due and wait, since `waitingSince` for reads.
	 */
	reminder: {
		schema: z.object({ entries: z.array(reminderEntry), waitingSince: z.exactOptional(z.number()) }),
		thread: 'first',
		...ASKING,
	},
	settingsChanged: {
		schema: z.object({ by: z.string(), before: channelSettings, after: channelSettings }),
		isForAll: true,
	},
	/** Nobody whom the channel's list names is there any more, so nobody may answer. */
	nobodyLeft: { schema: z.object({}), isForAll: true },
	/** A direct message to whoever saved a channel's settings: nobody whom its escalations mention is there any more. */
	nobodyMentioned: { schema: z.object({ channelId: z.string() }) },
	/** A direct message: somebody (`from`: Slack user id) handed a question over to its person. */
	handedOver: { schema: z.object({ ...handed, from: z.string() }), ...ASKING },
	/** A direct message: what its person handed over is open again. `undelivered`: Slack refused the message to `by`. */
	givenBack: {
		schema: z.object({ ...handed, by: z.string(), undelivered: z.exactOptional(z.literal(true)) }),
		...ASKING,
	},
	/** A direct message to the author of an answer: what became of it. It is the only word to them: tried for a day. */
	receipt: { schema: z.object({ answerId: z.string() }), isCurrent: true, repeats: 290 },
	/**
	 * In place of the last look of a card (`questionId` null) or a question's post, when Slack refuses to change that.
	 */
	outcome: { schema: z.object({ questionId: z.string().nullable() }), thread: 'only', ...ASKING },
	/** A direct message: Slack refuses posts to a channel about this session (null: `watch all`). `code`: Slack's. */
	postRefused: { schema: z.object({ channelId: z.string(), sessionId: z.string().nullable(), code: z.string() }) },
	/** A direct message: nothing more is posted to a channel. `sessionIds`: empty when it watched all of the account. */
	creatorTold: {
		schema: z.object({ reason: z.enum(WATCH_ENDS), channelId: z.string(), sessionIds: z.array(z.string()) }),
	},
} as const satisfies Record<string, Kind>;

export type PostKind = keyof typeof KINDS;
export type ContentOf<K extends PostKind> = {
	[One in K]: (typeof KINDS)[One]['schema'] extends z.ZodObject<infer Shape>
		? DeepReadonly<z.infer<z.ZodObject<Shape & { readonly kind: z.ZodLiteral<One> }>>>
		: never;
}[K];
export type PostContent = ContentOf<PostKind>;
/** The `postTs` of a question for which Slack shows neither post nor card. */
export const NOWHERE = '';
/** A question in a reminder. Times are milliseconds since the epoch. */
export type ReminderEntry = DeepReadonly<z.infer<typeof reminderEntry>>;
/** Why `watch all` leaves questions out of a channel: sessions are not listed, or a limit leaves out some that wait. */
export type LeftOut = ContentOf<'discoveryPaused' | 'discoveryFull'>;

const [first, ...others] = Object.entries(KINDS).map(([kind, { schema }]) =>
	z.object({ kind: z.literal(kind), ...schema.shape }),
);
export const content = z.discriminatedUnion('kind', [first as never, ...others]) as z.ZodType as z.ZodType<PostContent>;

/** The questions of a reminder; other posts have none. */
export const remindedIn = (content: PostContent) => (content.kind === 'reminder' ? content.entries : []);

/** Whether it is a direct message about a hand-over. */
export const isOfHandOver = (content: PostContent): content is ContentOf<'handedOver' | 'givenBack'> =>
	content.kind === 'handedOver' || content.kind === 'givenBack';

export const kindOf = ({ kind }: Pick<PostContent, 'kind'>): Kind => KINDS[kind];

/** What a watch shows in its channel for as long as it goes on. */
export const WATCH_KINDS: readonly PostKind[] = ['card', 'question'];

/** Kinds that stand in the channel unless `isInThread`. A card links to a post of one of the first two. */
export const NEWS_KINDS: readonly PostKind[] = ['question', 'sessionEnded', 'reminder'];

/** The key of a question's post begins with this; the store adds the id of the question. */
export const QUESTION_KEY = 'question:';

export const QUESTION_KINDS = Object.entries<Kind>(KINDS).flatMap(([name, { showsQuestion }]) =>
	showsQuestion === true ? [name] : [],
);

export type PostRow = Row<'posts'>;

/** `waitsAs` of a post that waits for its time. */
export const HELD = 'held';
/** `waitsAs` of a held card, or of a reminder that is due and waits for a read: each change has it looked at. */
export const AWAITED = 'awaited';
/** The code of an attempt that waits for the shared rate: it neither sent anything nor failed. */
export const PACED = 'paced';

/** An update of unknown outcome may still reach Slack for this long, and replace a later one: that is repeated then. */
export const UNSURE_MS = 60_000;

/** Where to post. First posts of one target are sent in order. */
export type PostTarget =
	| (ChannelKey & { readonly kind: 'watch'; readonly watchId: string })
	| { readonly kind: 'channel'; readonly teamId: string; readonly channelId: string }
	/** `topic`: posts about one topic do not wait for posts to the same person about others. */
	| { readonly kind: 'person'; readonly teamId: string; readonly userId: string; readonly topic?: string };

export interface NewPost {
	readonly target: PostTarget;
	/** Unique within its target, so that nothing is queued twice. */
	readonly key: string;
	readonly content: PostContent;
}

/** A message that has to stay true: planned, or shown until its last look. */
export interface Post
	extends Pick<NewPost, 'target' | 'key' | 'content'>,
		Readonly<Pick<Row<'posts'>, 'id' | 'attempts'>> {
	readonly urgency: PostUrgency;
	/** How many changes have asked for a new drawing. */
	readonly wanted: number;
	/**
	 * When Slack was called, until the outcome is known. While this is set, the history is searched for a first post
	 * before that is sent again.
	 */
	readonly sendingSince: number | null;
	/** Null before it is posted. */
	readonly ts: string | null;
	/** Hash of what it shows; null when that is not known. */
	readonly shownKey: string | null;
	/** Slack has refused its blocks, so it is sent as plain text. */
	readonly isPlain: boolean;
}

/** Whether Slack refused the blocks of a post, which can be sent as plain text instead. */
export const isToBePlain = ({ isPlain }: Pick<Post, 'isPlain'>, code: string) => !isPlain && isOfBlocks(code);

/** A post that is due, with what it is about, as stored now. */
export interface DuePost {
	readonly post: Post;
	/** The watch it belongs to, which may have ended. */
	readonly watch: Watch | null;
	/** What the settings of that watch's channel say of the look of posts. */
	readonly style: PostStyle;
	readonly snapshot: SessionSnapshot | null;
	/** When the session was last read, changed or not. */
	readonly checkedAt: number | null;
	/** The code of the failure if this session alone cannot be read, else null. */
	readonly unreadCode: string | null;
	/** The question it is about; for a card the newest one. */
	readonly question: StoredQuestion | null;
	/** The message, in the watch's channel, in whose thread it belongs. */
	readonly threadTs: string | null;
	/** After an attempt of unknown outcome: the thread it had if a setting has changed the place of questions since. */
	readonly formerThreadTs: string | null;
	/** For a card: somebody deleted the post of the newest question, or Slack refused it. */
	readonly isQuestionLost: boolean;
	/** For a card: a question of its watch is settled. */
	readonly isAnySettled: boolean;
	/** For a card: the post it links to, of the session's end or of the newest question. `ts` null: not posted yet. */
	readonly lead: { readonly ts: string | null } | null;
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
	 * It is there and looks like `key` (null: not known). `isLast`: it is not kept current. `sentAt`: when the first
	 * attempt began; left out: now. `isUnsure`: an earlier update may still change it.
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
	  }
	/** Its time has not come: it is looked at again at `until`. `mayBeThere`: an earlier attempt may have posted it. */
	| (Extract<Hold, { readonly kind: 'held' }> & { readonly mayBeThere: boolean })
	/** `mayBeThere`: the call may have succeeded; otherwise it certainly did not. */
	| { readonly kind: 'retry'; readonly at: number; readonly code: string; readonly mayBeThere: boolean }
	| Extract<SendOutcome, { readonly kind: 'refused' | 'deleted' | 'gone' }>
	/** No place to post it, or nothing to say. */
	| { readonly kind: 'dropped' }
	/** Another attempt has the lease. This one notes nothing. */
	| { readonly kind: 'lost' };

/** Whether a first post is held back. `content`: with what it waits for, or what it is to show. */
export type Hold =
	| { readonly kind: 'held'; readonly until: number; readonly content: PostContent }
	| { readonly kind: 'shown'; readonly content: PostContent }
	/** Nothing is left to say. */
	| { readonly kind: 'over' };

export interface Look {
	readonly message: MessageContent;
	/** Two looks with the same key look the same. */
	readonly key: string;
	/** It does not change any more. */
	readonly isLast: boolean;
	/** When to draw it again although nothing has changed, in milliseconds since the epoch; left out or null: never. */
	readonly againAt?: number | null;
}

/** The question of a post: as the newest read shows it while it is open, else as it was last seen open, or null. */
export function askedOf({ question: stored, snapshot }: Pick<DuePost, 'question' | 'snapshot'>): Asked | null {
	if (stored === null) return null;
	const { asked, settledHow, fingerprint, messageIndex } = stored;
	const newest = snapshot?.question ?? null;
	if (settledHow === null && newest?.fingerprint === fingerprint && newest.openCount > 0) {
		return { question: newest, readAt: asked?.readAt ?? stored.askedAt };
	}
	return asked && { ...asked, question: { ...asked.question, messageIndex } };
}

/** Null: nothing is left to say. `later`: what it shows is not known now. `refused`: it must not be said. */
export type Drawn = Look | Extract<SendOutcome, { readonly kind: 'later' | 'refused' }> | null;

/** `isLast` left out: a message that is posted once. */
export function lookOf(message: MessageContent, { isLast = true, ...rest }: Partial<Look> = {}): Look {
	// Not `text`: it says for how long a question has waited, so every look would be new.
	return { message, key: hashOf(JSON.stringify(message.blocks)), isLast, ...rest };
}

/** Draws what posts of each kind show now, from what is stored. It may ask Slack for names and links. */
export type Drawing<Kinds extends PostKind = PostKind> = {
	readonly [K in Kinds]: (content: ContentOf<K>, due: DuePost) => Promise<Drawn>;
};

export function targetOf(watch: Pick<Watch, 'id' | 'teamId' | 'channelId'>) {
	return { kind: 'watch', watchId: watch.id, teamId: watch.teamId, channelId: watch.channelId } as const;
}

/** At most one new card of a watch in this time. */
export const CARD_AGAIN_MS = HOUR_MS;

/** The card that replaces the deleted card `lostTs`. `before`: the `notBefore` of the newest replacement, or null. */
export function cardAgain(watch: Watch, lostTs: string, before: number | null, now: number): NewPost {
	const notBefore = before === null ? now : Math.max(now, Math.min(before, now) + CARD_AGAIN_MS);
	return { target: targetOf(watch), key: `card:${lostTs}`, content: { kind: 'card', notBefore } };
}

export const URGENCIES = ['now', 'progress'] as const satisfies readonly PostUrgency[];
/** The urgency of a shown post that waits for a time of its own: any mark is more urgent. */
export const NOT_MARKED = URGENCIES.length;

export function streamOf(target: PostTarget): string {
	if (target.kind === 'watch') return `watch:${target.watchId}`;
	if (target.kind === 'channel') return `channel:${target.teamId}:${target.channelId}`;
	const person = `person:${target.teamId}:${target.userId}`;
	return target.topic === undefined ? person : `${person}:${target.topic}`;
}

export function targetOfRow({ stream, watchId, teamId, placeId }: PostRow): PostTarget {
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
		target: targetOfRow(row),
		key: row.uniqueKey,
		content: readable,
		urgency: URGENCIES[row.urgency] ?? 'now',
		isPlain: row.isPlain === 1,
	};
}
