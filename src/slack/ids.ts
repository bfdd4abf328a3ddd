import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { DeepReadonly } from '../deep-readonly.ts';
import { SNOOZE_LENGTHS } from '../inbox/inbox.ts';

/*
 * Every id that Slack returns. They never change, because messages posted months ago carry them. Ids hold positions and
 * keys, never content.
 */

export const ACTIONS = {
	refresh: 'session.refresh',
	/** Older and newer steps; `value`: the page to show. */
	older: 'session.older',
	newer: 'session.newer',
	watch: 'session.watch',
	unwatch: 'session.unwatch',
	/** Link buttons: Slack opens the link, and their events are only acknowledged. */
	dashboard: 'session.dashboard',
	openFile: 'session.open_file',
	openScreenshot: 'session.open_screenshot',
	/** In a form: makes every field optional, and back. */
	partial: 'form.partial',
	complete: 'form.complete',
	/** In a form: shows every field as plain text, and back. */
	plainText: 'form.plain_text',
	guessed: 'form.guessed',
	/** An input; `dispatch_action` reports typing in it. */
	field: 'form.field',
	/** The text for "Something else…". */
	otherText: 'form.other_text',
	/** The box that marks items as secret; the options' values are positions. */
	secret: 'form.secret',
	/** On a card or message: opens the session's form; `value`: a `SessionTarget`. */
	answer: 'question.answer',
	/** Send an option in one press; `value`: a `Choice`. Slack wants different ids in one row. */
	choose1: 'question.choose_1',
	choose2: 'question.choose_2',
	choose3: 'question.choose_3',
	choose4: 'question.choose_4',
	choose5: 'question.choose_5',
	/** On a question; `value`: a `QuestionMark`. The first opens a window with the input `handOverTo`. */
	handOver: 'question.hand_over',
	handOverTo: 'question.hand_over_to',
	giveBack: 'question.give_back',
	/** To the person who chose, until the answer is sent; `value`: the answer's id. */
	undo: 'answer.undo',
	/** On the reply to a mention: opens the form with that message; `value`: the draft's form id and a `SessionTarget`. */
	useText: 'question.use_text',
	/** In the modal that asks which item a chosen message is for; the option's value is its position. */
	chooseItem: 'question.choose_item',
	/** On a card or message: opens the session; `value`: a `SessionTarget`. */
	open: 'session.open',
	/** On a receipt; `value`: the answer's id. */
	tryAgain: 'answer.try_again',
	giveUp: 'answer.give_up',
	/** The service saved the answer and reported a failure: sends it again, to start the agent. */
	sendAgain: 'answer.send_again',
	postToThread: 'answer.post_to_thread',
	/** Opens the current question with the answer's text in it; `value`: the answer's id and a `SessionTarget`. */
	answerNew: 'answer.answer_new',
	/** On an error: repeat what failed; the view's metadata says what. */
	reload: 'error.reload',
	listOlder: 'list.older',
	listNewer: 'list.newer',
	historyOlder: 'history.older',
	historyNewer: 'history.newer',
	/** In an inbox; `value`: the page to show. `newer`: the page with the newer questions. */
	inboxOlder: 'inbox.older',
	inboxNewer: 'inbox.newer',
	inboxRefresh: 'inbox.refresh',
	/** An input of a channel's settings; those that may be emptied report each change. */
	settingsField: 'settings.field',
	/** A menu on a question in an inbox; the options' values: a `SnoozeChoice`. */
	snooze: 'inbox.snooze',
	showSnoozed: 'inbox.show_snoozed',
	/** On a card: shown only to the person who presses it. */
	showScreenshot: 'card.screenshot',
	showFiles: 'card.files',
} as const;
export type ActionId = (typeof ACTIONS)[keyof typeof ACTIONS];

export const CHOOSE_IDS = [
	ACTIONS.choose1,
	ACTIONS.choose2,
	ACTIONS.choose3,
	ACTIONS.choose4,
	ACTIONS.choose5,
] as const;

export const CALLBACKS = {
	loading: 'handraise.loading',
	/** The form of a question. */
	session: 'handraise.session',
	receipt: 'handraise.receipt',
	error: 'handraise.error',
	history: 'handraise.history',
	chooseItem: 'handraise.choose_item',
	home: 'handraise.home',
	/** The inbox in a window. */
	inbox: 'handraise.inbox',
	/** The settings of a channel: while they are looked up, as a form, and after saving. */
	settings: 'handraise.settings',
	/** Asks whom to hand a question over to, and says what came of it. */
	handOver: 'handraise.hand_over',
	/** The message shortcut of the manifest. */
	useAsAnswer: 'use_as_answer',
} as const;
export type CallbackId = (typeof CALLBACKS)[keyof typeof CALLBACKS];

/** `guessed`: the suggested input; `plain`: long text; `other`: the text for "Something else…". */
export type FieldVariant = 'guessed' | 'plain' | 'other';

interface FieldId {
	readonly messageIndex: number;
	readonly fingerprint: string;
	readonly position: number;
	readonly variant: FieldVariant;
	/** Of a field with options to choose from: of the text that the question shows (`shownHashOf`). */
	readonly shownHash?: string | null;
}

/**
 * Slack keeps what was typed while the block_id stays the same. So it holds nothing that changes with paging, a refresh
 * or optional fields. What was chosen must not stay under another text, so `shownHash` is a part of it.
 */
export function fieldBlockId({ messageIndex, fingerprint, position, variant, shownHash = null }: FieldId): string {
	const id = `q.${messageIndex}.${fingerprint.slice(0, 8)}.${position}.${variant}`;
	return shownHash === null ? id : `${id}.${shownHash.slice(0, 8)}`;
}

/** The block_id of the box for secrets: each question has its own. */
export function secretBlockId({ messageIndex, fingerprint }: Pick<FieldId, 'messageIndex' | 'fingerprint'>): string {
	return `s.${messageIndex}.${fingerprint.slice(0, 8)}`;
}

/** The block_id of a block that is not a field, unique in its view. */
export function blockId(name: string, index?: number): string {
	return index === undefined ? `b.${name}` : `b.${name}.${index}`;
}

/** A form with a newer revision than it began with shows its own values instead of what Slack keeps. */
export function settingsBlockId(field: string, revision: number): string {
	return `c.${field}.${revision}`;
}

/**
 * How a record travels through Slack: as a JSON array of `kind` and its fields in the order of the schema, because Slack
 * limits the length. Where the fields change, `kind` has to: a record of another kind is not read.
 */
export function slackCodec<Schema extends z.ZodObject>(kind: string, schema: Schema) {
	type Fields = DeepReadonly<z.output<Schema>>;
	const names = Object.keys(schema.shape);
	return {
		encode(fields: Fields): string {
			const record: Readonly<Record<string, unknown>> = fields;
			return JSON.stringify([kind, ...names.map((name) => record[name])]);
		},
		/** Null for anything else. */
		decode(text: string | undefined): Fields | null {
			try {
				const [found, ...values]: unknown[] = JSON.parse(text ?? '');
				const record = Object.fromEntries(names.map((name, index) => [name, values[index]]));
				if (found !== kind || values.length !== names.length) return null;
				return (schema.safeParse(record).data as Fields | undefined) ?? null;
			} catch {
				return null;
			}
		},
	};
}

const text = z.string();

const ROW_ORIGIN = z.object({ channelId: text.nullable(), threadTs: text.nullable() });
/** Where a row of buttons belongs that is pressed elsewhere: what its buttons open has this origin. */
export type RowOrigin = Readonly<z.infer<typeof ROW_ORIGIN>>;
const ROW = slackCodec('row', z.object({ origin: ROW_ORIGIN, hash: text }));

/** Slack keeps the focus while it stays the same. `key`: identifies the row in its view; may hold anything. */
export function inboxRowId(origin: RowOrigin, key: string): string {
	return ROW.encode({ origin, hash: hashOf(key) });
}

/** Null for every other block_id. */
export function decodeInboxRow(rowId: string): RowOrigin | null {
	return ROW.decode(rowId)?.origin ?? null;
}

/** The command refuses ids of sessions that are too long for a button. */
const TARGET = z.object({
	sessionId: text,
	/** Null: the open question. */
	messageIndex: z.int().min(0).nullable(),
});
export type SessionTarget = Readonly<z.infer<typeof TARGET>>;
export const { encode: encodeTarget, decode: decodeTarget } = slackCodec('target', TARGET);

/** Carries the text of an answer or a draft (by its id) to a question. */
export const { encode: encodeCarriage, decode: decodeCarriage } = slackCodec(
	'carriage',
	z.object({ id: text, ...TARGET.shape }),
);

const QUESTION_MARK = z.object({ sessionId: text, fingerprint: text });
/** Which question a button is about, wherever it stands in its session. */
export type QuestionMark = Readonly<z.infer<typeof QUESTION_MARK>>;
export const { encode: encodeQuestionMark, decode: decodeQuestionMark } = slackCodec('question', QUESTION_MARK);

export function questionHash(question: QuestionMark): string {
	return hashOf(encodeQuestionMark(question));
}

export const { encode: encodeSnooze, decode: decodeSnooze } = slackCodec(
	'snooze',
	// Its `questionHash`: the value of an option has no room for the id of a session.
	z.object({ length: z.enum(SNOOZE_LENGTHS), hash: text }),
);

const CHOICE = z.object({
	sessionId: text,
	messageIndex: z.int(),
	fingerprint: text,
	/** Of what the button's message shows. */
	shownHash: text,
	position: z.int().min(0),
	/** The item's title, maybe cut. */
	title: text,
	/** Exactly the button's label. */
	option: text,
	/** When the session was read that the button's message shows, clock milliseconds. */
	readAt: z.number(),
	/** The channel in which the person sees the question; the access policy checks it. */
	channelId: text,
});
/** What the button with an option sends, and for which question. */
export type Choice = Readonly<z.infer<typeof CHOICE>>;
export const { encode: encodeChoice, decode: decodeChoice } = slackCodec('choice', CHOICE);

function hashOf(key: string): string {
	return createHash('sha256').update(key).digest('base64url').slice(0, 22);
}
