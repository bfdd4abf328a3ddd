import { z } from 'zod';
import type { DeepReadonly } from '../core/values.ts';
import { channelSettings, REMINDER_STAGES } from '../database/channel-settings.ts';
import { NO_LIST_REASONS, WATCH_ENDS } from '../database/watch.ts';

export interface Kind {
	/** What is stored with a post. Texts are cut and untrusted; secret values are never in it. */
	readonly schema: z.ZodObject;
	/** In the thread of its question or card (a question if `--thread-only`). Without one: in the channel, or dropped (`only`). */
	readonly thread?: 'first' | 'only';
	/** It is kept current until its question is settled, or its watch has ended. */
	readonly isCurrent?: true;
	/** A channel hears it even if it watches nothing. */
	readonly isForAll?: true;
}

const reminderEntry = z.object({
	watchId: z.string(),
	sessionId: z.string(),
	questionId: z.string(),
	/** Of the question's post, or of the card; `NOWHERE`: of neither. */
	postTs: z.string(),
	postedAt: z.number(),
	/** Slack user id of who was answering when the reminder was due, and did not answer. */
	heldBy: z.string().nullable(),
	stage: z.enum(REMINDER_STAGES),
	dueAt: z.number(),
	/** Whether none comes after it. */
	isLast: z.boolean(),
	/** When the reminder before was announced; null for the first. */
	lastReminderAt: z.number().nullable(),
});

const handed = { watchId: z.string(), handOverId: z.string() };
const ASKING = { thread: 'first', isCurrent: true } as const;
const REMINDER = { schema: z.object({ entries: z.tuple([reminderEntry]) }), isCurrent: true } as const;

export const KINDS = {
	/** The first post of a watch. A new card replaces a deleted one, not before `notBefore` (clock milliseconds). */
	card: { schema: z.object({ notBefore: z.exactOptional(z.number()) }), isCurrent: true },
	/** `changed`: another one in the same message. */
	question: { schema: z.object({ changed: z.boolean() }), ...ASKING },
	/** The one post of a session that changes its question often. It shows the newest. */
	switching: { schema: z.object({}), ...ASKING },
	status: { schema: z.object({ from: z.string(), to: z.string() }), thread: 'only' },
	/** The watch has ended, but not with its session: that is on the card. */
	watchEnded: { schema: z.object({}), thread: 'first' },
	/** One for each channel. `code`: of the failure. */
	serviceDown: { schema: z.object({ since: z.number(), code: z.string() }) },
	serviceBack: { schema: z.object({ since: z.number(), downMs: z.number() }) },
	/** Somebody (`by`: Slack user id) has typed `watch all`. */
	discoveryBegun: { schema: z.object({ by: z.string() }) },
	/** Somebody has typed `unwatch all` after it. */
	discoveryEnded: { schema: z.object({ by: z.string() }), isForAll: true },
	/** Questions are left out because of a limit; once a day. */
	discoveryFull: { schema: z.object({ limit: z.enum(['channel', 'all']), most: z.number() }) },
	/** Questions are left out because sessions cannot be listed; once a day. `isOver`: they come again. */
	discoveryPaused: { schema: z.object({ why: z.enum(NO_LIST_REASONS), isOver: z.exactOptional(z.literal(true)) }) },
	reminder: { ...REMINDER, thread: 'first' },
	/** Later: with mentions, in the channel. */
	escalation: REMINDER,
	/** Of several questions. */
	digest: { schema: z.object({ entries: z.array(reminderEntry) }), isCurrent: true },
	settingsChanged: {
		schema: z.object({ by: z.string(), before: channelSettings, after: channelSettings }),
		isForAll: true,
	},
	/** A direct message: somebody (`from`: Slack user id) handed a question of this watch over to its person. */
	handedOver: { schema: z.object({ ...handed, from: z.string() }), isCurrent: true },
	/** A direct message: what its person handed over is open for all again. `undelivered`: Slack refused the message to `by`. */
	givenBack: {
		schema: z.object({ ...handed, by: z.string(), undelivered: z.exactOptional(z.literal(true)) }),
		isCurrent: true,
	},
	/** Slack takes no changes of a card (`questionId` null) or a question's post that is over: what became of it, in its thread. */
	outcome: { schema: z.object({ questionId: z.string().nullable() }), thread: 'only', isCurrent: true },
	/** A direct message: Slack refuses what is posted to a channel about this session (null: `watch all`). `code`: Slack's. */
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
/** The `postTs` of a question that Slack shows nowhere. */
export const NOWHERE = '';
/** A question that nobody has answered yet. Times are clock milliseconds. */
export type ReminderEntry = DeepReadonly<z.infer<typeof reminderEntry>>;
/** Why questions do not come into a channel with `watch all`: sessions are not listed, or a limit leaves some out that wait. */
export type LeftOut = ContentOf<'discoveryPaused' | 'discoveryFull'>;

const [first, ...others] = Object.entries(KINDS).map(([kind, { schema }]) =>
	z.object({ kind: z.literal(kind), ...schema.shape }),
);
export const content = z.discriminatedUnion('kind', [first as never, ...others]) as z.ZodType as z.ZodType<PostContent>;

export function kindOf({ kind }: Pick<PostContent, 'kind'>): Kind {
	return KINDS[kind];
}

/** What a watch shows in its channel for as long as it goes on. */
export const WATCH_KINDS: readonly PostKind[] = ['card', 'question', 'switching'];

/** The kinds that show a question and are kept current until it is settled. */
export const QUESTION_KINDS = Object.entries<Kind>(KINDS).flatMap(([name, { isCurrent }]) =>
	isCurrent === true && name !== 'card' ? [name] : [],
);
