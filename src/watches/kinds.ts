import { z } from 'zod';
import type { DeepReadonly } from '../deep-readonly.ts';
import { channelSettings, REMINDER_STAGES } from './channel-settings.ts';
import { questionView } from './session-snapshot.ts';
import { NO_LIST_REASONS, WATCH_ENDS } from './watch.ts';

export interface Kind {
	/** What is stored with a post. Texts are cut and untrusted; secret values are never in it. */
	readonly schema: z.ZodObject;
	/** It has no post of its own, but updates posts that show a question. */
	readonly updates?: true;
	/** Without a thread, `reply` is dropped and `replyOrPost` goes into the channel. Left out: never for a watch. */
	readonly thread?: 'root' | 'reply' | 'replyOrPost';
	/** It may mention people: posted again, it would notify them again. */
	readonly notifies?: true;
	/** It shows a question and its buttons, and is kept current until the question is settled. */
	readonly showsQuestion?: true;
	/** A channel hears it even if it watches nothing. */
	readonly isForAll?: true;
}

const positions = z.array(z.int());
const reason = z.enum(WATCH_ENDS);
/** A question as it is announced: when the read began that found it, clock milliseconds. */
const asked = { question: questionView, readAt: z.number() };

const reminderEntry = z.object({
	watchId: z.string(),
	sessionId: z.string(),
	fingerprint: z.string(),
	postTs: z.string(),
	/** When it was posted, clock milliseconds. */
	postedAt: z.number(),
	/** Slack user id of who was answering when the reminder was due, and did not answer. */
	heldBy: z.string().nullable(),
	stage: z.enum(REMINDER_STAGES),
	/** When it was due, clock milliseconds. */
	dueAt: z.number(),
	/** Whether none comes after it. */
	isLast: z.boolean(),
	/** How many reminders came before. */
	number: z.int(),
	/** When the reminder before was announced; null for the first. */
	lastReminderAt: z.number().nullable(),
});

const ASKING = { notifies: true, showsQuestion: true } as const;
const REMINDER = { schema: z.object({ entries: z.tuple([reminderEntry]) }), thread: 'replyOrPost', ...ASKING } as const;

/** All kinds of posts. The type of a content follows from its schema. */
export const KINDS = {
	/** The first post of a watch. A new card replaces a deleted one, not before `notBefore` (clock milliseconds). */
	card: { schema: z.object({ notBefore: z.exactOptional(z.number()) }), thread: 'root' },
	/** `changed`: another one in the same message. `switching`: the one post of a session that often changes it. */
	question: {
		schema: z.object({ ...asked, changed: z.boolean(), switching: z.exactOptional(z.boolean()) }),
		thread: 'replyOrPost',
		...ASKING,
	},
	/** A question got values. `items`: their positions. */
	answered: {
		schema: z.object({
			messageIndex: z.int(),
			question: questionView.nullable(),
			items: positions,
			stillOpen: positions,
		}),
		thread: 'reply',
	},
	/** A question is no longer open and no answer is known. */
	questionClosed: { schema: z.object({ messageIndex: z.int() }), thread: 'reply' },
	/**
	 * The posts of this question and its reminders lose their buttons and say how it was settled. `changed`: the agent asks
	 * something else in the same message. `own`: the question has rested and has a post of its own. Only of a direct message:
	 * `handedOn`: somebody else has the question now; `givenBack`: its person gave it back.
	 */
	settle: {
		schema: z.object({
			messageIndex: z.int(),
			how: z.enum(['answered', 'closed', 'changed', 'unwatched', 'gaveWay', 'own', 'handedOn', 'givenBack']),
		}),
		updates: true,
	},
	/** The posts of open questions show choices and who has the question, and their buttons get its new index. */
	redraw: { schema: z.object({}), updates: true },
	status: { schema: z.object({ from: z.string(), to: z.string() }), thread: 'reply' },
	end: {
		schema: z.object({ status: z.string(), result: z.string().nullable(), step: z.int() }),
		thread: 'replyOrPost',
	},
	watchEnded: { schema: z.object({ reason, days: z.number().nullable() }), thread: 'replyOrPost' },
	/** One for each channel. */
	serviceDown: { schema: z.object({ since: z.number() }) },
	serviceBack: { schema: z.object({ since: z.number(), downMs: z.number() }) },
	/** Somebody (`by`: Slack user id) has typed `watch all`. */
	discoveryBegun: { schema: z.object({ by: z.string() }) },
	/** Somebody has typed `unwatch all` after it. */
	discoveryEnded: { schema: z.object({ by: z.string() }), isForAll: true },
	/** Questions are left out because of a limit; once a day. */
	discoveryFull: { schema: z.object({ limit: z.enum(['channel', 'all']), most: z.number() }) },
	/** Questions are left out because sessions cannot be listed; once a day. */
	discoveryPaused: { schema: z.object({ why: z.enum(NO_LIST_REASONS) }) },
	reminder: REMINDER,
	/** Later: with mentions, and shown in the channel too. */
	escalation: REMINDER,
	digest: { schema: z.object({ entries: z.array(reminderEntry) }), notifies: true },
	/** Somebody (`by`: Slack user id) changed the channel's settings. */
	settingsChanged: {
		schema: z.object({ by: z.string(), before: channelSettings, after: channelSettings }),
		isForAll: true,
	},
	/** A direct message: somebody (`from`: Slack user id) handed a question of this watch over to its person. */
	handedOver: {
		schema: z.object({ ...asked, watchId: z.string(), sessionId: z.string(), from: z.string() }),
		...ASKING,
	},
	/**
	 * A direct message: the question that its person handed over is open for all again. `by`: Slack user id.
	 * `undelivered`: Slack refused the direct message to `by`, so Handraise gave the question back.
	 */
	givenBack: {
		schema: z.object({
			...asked,
			watchId: z.string(),
			sessionId: z.string(),
			by: z.string(),
			undelivered: z.exactOptional(z.literal(true)),
		}),
		...ASKING,
	},
	/** A direct message. `all`: all sessions of the account were watched; left out: only these. */
	creatorTold: {
		schema: z.object({
			reason,
			channelId: z.string(),
			sessionIds: z.array(z.string()),
			all: z.exactOptional(z.boolean()),
		}),
	},
} as const satisfies Record<string, Kind>;

export type PostKind = keyof typeof KINDS;
/** What is stored with a post of one of these kinds. */
export type ContentOf<K extends PostKind> = {
	[One in K]: (typeof KINDS)[One]['schema'] extends z.ZodObject<infer Shape>
		? DeepReadonly<z.infer<z.ZodObject<Shape & { readonly kind: z.ZodLiteral<One> }>>>
		: never;
}[K];
export type AnnouncementContent = ContentOf<PostKind>;
export type SettledHow = ContentOf<'settle'>['how'];
/** A question that nobody has answered yet. */
export type ReminderEntry = DeepReadonly<z.infer<typeof reminderEntry>>;
/** Why questions do not come into a channel with `watch all`: sessions are not listed, or a limit leaves some out that wait. */
export type LeftOut = ContentOf<'discoveryPaused' | 'discoveryFull'>;

const [first, ...others] = Object.entries(KINDS).map(([kind, { schema }]) =>
	z.object({ kind: z.literal(kind), ...schema.shape }),
);
/** The content of any kind. */
export const content = z.discriminatedUnion('kind', [
	first as never,
	...others,
]) as z.ZodType as z.ZodType<AnnouncementContent>;

export function kindOf({ kind }: Pick<AnnouncementContent, 'kind'>): Kind {
	return KINDS[kind];
}

/** The kinds for which this holds, as they are stored. */
export function kindsWith(holds: (kind: Kind) => boolean): readonly string[] {
	return Object.entries(KINDS).flatMap(([name, kind]) => (holds(kind) ? [name] : []));
}
