import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { ORIGIN, type Origin } from '../domain/answer.ts';
import { masked } from '../domain/masking.ts';
import { cutText } from '../domain/texts.ts';
import { type DeepReadonly, hashOf, parseOrNull } from '../kernel/values.ts';

// The ids that Slack returns: positions and keys, never content. They never change, because old messages carry them.

export const ACTIONS = {
	refresh: 'session.refresh',
	/** Older and newer steps; `value`: the page to show. */
	older: 'session.older',
	newer: 'session.newer',
	/** In a session's modal: shows what is masked. */
	showHidden: 'session.show_hidden',
	watch: 'session.watch',
	unwatch: 'session.unwatch',
	/** In the list of what a channel watches; `value`: a `ListedWatch`. */
	stopListed: 'list.unwatch',
	/** On the confirmation before all watches of a channel end; `value` of the first: an `UnwatchAll`. */
	unwatchAll: 'list.unwatch_all',
	keepWatches: 'list.keep',
	/** Link buttons: Slack opens the link, and their events are only acknowledged. */
	dashboard: 'session.dashboard',
	openFile: 'session.open_file',
	openScreenshot: 'session.open_screenshot',
	/** In a form: make every field optional, and required again. */
	partial: 'form.partial',
	complete: 'form.complete',
	/** In a form: show every field as plain text, and as suggested again. */
	plainText: 'form.plain_text',
	guessed: 'form.guessed',
	/** In a form: shows the box that marks items as secret, ticked where there is one item. */
	keepSecret: 'form.keep_secret',
	/** An input of a form; `dispatch_action` reports typing in it. */
	field: 'form.field',
	/** The line for an own answer, or for a note to the chosen option. */
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
	/** On a question; `value`: a `QuestionRef`. The first opens a window with the inputs of the next two. */
	handOver: 'question.hand_over',
	handOverTo: 'question.hand_over_to',
	handOverNote: 'question.hand_over_note',
	giveBack: 'question.give_back',
	/** Takes back a one-press answer until it is sent; `value`: the answer's id. */
	undo: 'answer.undo',
	/** On the offer of a message as an answer: opens its form; `value`: the draft's form id and a `SessionTarget`. */
	useText: 'question.use_text',
	/** On that offer: send it, or do not; `value`: an `OfferedThreadReply`, or the draft's form id. */
	sendReply: 'reply.send',
	keepReply: 'reply.keep',
	/** In the modal that asks which item a message is for; the option's value is its position. */
	chooseItem: 'question.choose_item',
	/** On a settled question: opens what the agent asked last, if a field is empty; `value`: a `QuestionRef`. */
	answerAgain: 'question.answer_again',
	/** On a card or message: opens the session; `value`: a `SessionTarget`. */
	open: 'session.open',
	/** On a settled question, and in the history: opens it as it was answered; `value`: the answer's id. */
	showQuestion: 'answer.show_question',
	/** In a session's window: opens the history; `value`: a `SessionTarget`. */
	openHistory: 'question.answers',
	/** On a receipt; `value`: the answer's id. */
	tryAgain: 'answer.try_again',
	giveUp: 'answer.give_up',
	/** In the window of a receipt: opens the next question that waits for its author. */
	nextQuestion: 'answer.next',
	/** Opens the current question with the answer's text; `value`: the answer's id and a `SessionTarget`. */
	answerNew: 'answer.answer_new',
	/** On an error: repeat what failed; the view's metadata says what. */
	reload: 'error.reload',
	/** On the help. */
	moreHelp: 'help.more',
	/** In the list of what a channel watches: its other pages; `value`: a `ListedPage`. */
	listOlder: 'list.older',
	listNewer: 'list.newer',
	historyOlder: 'history.older',
	historyNewer: 'history.newer',
	/** In an inbox; `value`: the page to show. `newer`: the page with the newer questions. */
	inboxOlder: 'inbox.older',
	inboxNewer: 'inbox.newer',
	inboxRefresh: 'inbox.refresh',
	/** An input of a channel's settings; those that may be empty report each change. */
	settingsField: 'settings.field',
	/** In the menu of a question in an inbox or an open post; `value`: the question's hash. */
	snooze: 'inbox.snooze',
	showSnoozed: 'inbox.show_snoozed',
	/** On an answer that is over, in its author's inbox; `value`: the answer's id. */
	dismiss: 'inbox.dismiss',
	/** On a draft whose question is over; `value`: its form id. */
	copyDraft: 'draft.copy',
	discardDraft: 'draft.discard',
	/** On a card: shown only to the person who presses it. */
	showFiles: 'card.files',
	/** The menu `⋯` of a message or view. The value of an option is from `encodeMenuChoice`. */
	more: 'menu.more',
} as const;
export type ActionId = (typeof ACTIONS)[keyof typeof ACTIONS];

/** The labels of our buttons. If an agent's option looks like one of them, its question gets no option buttons. */
// biome-ignore format: a list of words
export const BUTTON_LABELS = [
	'Answer', 'Answer again', 'Answer again…', 'Answer all', 'Answer anyway', 'Answer…', 'Answer the new question',
	'Back', 'Cancel', 'Close', 'Continue', 'Copy text', 'Discard', 'Discard answer', 'Dismiss', 'End all', 'Files',
	'Give back', 'Hand over', 'Hide', 'History', 'Hide this answer and delete it after delivery',
	'Hide these answers and delete them after delivery', 'More', 'Newer answers',
	'Newer steps', 'Next', 'Next question', 'Older answers', 'Older steps', 'Open', 'Open in the dashboard',
	'Open the question', 'Open session', 'Open the screenshot', 'Other answer…',
	'Previous', 'Refresh', 'Save', 'Save anyway',
	'Send', 'Send answer', 'Show', 'Show all', 'Show more',
	'Show now', 'Show question', 'Skip some questions', 'Snooze for 1 h',
	'Stop watching', 'Suggested fields', 'Try again', 'Type freely', 'Undo',
	'Use as answer', 'Watch', 'Watch again', 'Watch in this channel',
] as const;
/** "No" stands only beside *Send*, *End all* and *Use as answer*, never beside options. */
export type ButtonLabel =
	| (typeof BUTTON_LABELS)[number]
	| 'No'
	| `Files (${number})`
	| `${'Next' | 'Previous'} ${number}`;

export const CHOOSE_IDS = ([1, 2, 3, 4, 5] as const).map((place) => ACTIONS[`choose${place}`]);

export const CALLBACKS = {
	loading: 'handraise.loading',
	session: 'handraise.session',
	receipt: 'handraise.receipt',
	error: 'handraise.error',
	history: 'handraise.history',
	/** A question as it was shown when it was answered. */
	question: 'handraise.question',
	chooseItem: 'handraise.choose_item',
	home: 'handraise.home',
	inbox: 'handraise.inbox',
	draft: 'handraise.draft',
	/** A channel's settings: during the look-up, as a form, and after saving. */
	settings: 'handraise.settings',
	/** Asks whom to hand a question over to, and says what came of it. */
	handOver: 'handraise.hand_over',
	/** The message shortcut of the manifest. */
	useAsAnswer: 'use_as_answer',
} as const;
export type CallbackId = (typeof CALLBACKS)[keyof typeof CALLBACKS];

/** The code of an error about something that an older version made. Nothing is sent. */
export const OLDER = 'older_version';

/** `guessed`: the suggested input; `plain`: long text; `other`: the line for an own answer or a note. */
export type FieldVariant = 'guessed' | 'plain' | 'other';

/** Prefix of option values that are not the agent's text. A field gets no options if the agent offers such a text. */
export const OWN_OPTION = 'handraise.';
/** The value of an option for own text. */
export const NO_OPTION = `${OWN_OPTION}none`;
/** UTF-16 units of an option's value in Slack. */
export const OPTION_VALUE_LIMIT = 150;
/** The value of an agent's option in a field: its text, or its place where Slack takes no such text. */
export const optionValue = (option: string, place: number) =>
	option.length > OPTION_VALUE_LIMIT ? `${OWN_OPTION}${place}` : option;

/**
 * The block_id of a field in the view of this metadata. Slack keeps what was typed while the block_id stays the same,
 * so it does not depend on paging, a refresh or optional fields. With options, it has the hash of what the question
 * shows: a choice must not stay under another text.
 */
export function fieldBlockId(shown: ViewMetadata, position: number, variant: FieldVariant): string {
	const id = `q.${askedId(shown)}.${position}.${variant}`;
	const hash = variant !== 'plain' && shown.withOptions.includes(position) ? shown.shownHash : null;
	return hash === null ? id : `${id}.${hash.slice(0, 8)}`;
}

/** The block_id of the box for secrets, a different one for each question. */
export const secretBlockId = (shown: ViewMetadata) => `s.${askedId(shown)}`;

function askedId({ messageIndex, fingerprint }: ViewMetadata): string {
	return `${messageIndex ?? 0}.${(fingerprint ?? '').slice(0, 8)}`;
}

/**
 * The block_id of a settings field. A new revision changes it, so that Slack shows the form's values, not typed ones.
 */
export const settingsBlockId = (field: string, revision: number) => `c.${field}.${revision}`;

/** How a record travels through Slack: a JSON array of `kind` and its fields, because Slack limits the length. */
export function slackCodec<Schema extends z.ZodObject>(kind: string, schema: Schema) {
	type Fields = DeepReadonly<z.output<Schema>>;
	// Fields are in the order of the schema. Whoever changes them has to change `kind`, so that older records are not
	// read. A new last field with a default needs no new kind, because older records end before it.
	const names = Object.keys(schema.shape);
	return {
		encode(fields: Fields): string {
			const record: Readonly<Record<string, unknown>> = fields;
			const values = names.map((name) => record[name]);
			return JSON.stringify([kind, ...values.slice(0, values.findLastIndex((value) => value !== undefined) + 1)]);
		},
		/** Null for anything else. */
		decode(text: string | undefined): Fields | null {
			const [found, ...values] = parseOrNull(z.array(z.unknown()), text ?? null) ?? [];
			const record = Object.fromEntries(names.map((name, index) => [name, values[index]]));
			if (found !== kind || values.length > names.length) return null;
			return (schema.safeParse(record).data as Fields | undefined) ?? null;
		},
	};
}

const text = z.string();

const ROW = slackCodec('row', z.object({ origin: ORIGIN, hash: text }));

/** The block_id of an inbox row. Its buttons open things with this origin. Slack keeps the focus while `key` stays. */
export function inboxRowId({ channelId, threadTs }: Origin, key: string): string {
	return ROW.encode({ origin: { channelId, threadTs }, hash: hashOf(key) });
}

/** Null for every other block_id. */
export const decodeInboxRow = (rowId: string) => ROW.decode(rowId)?.origin ?? null;

/** What a button opens. It fits into a button's value, because the command refuses longer session ids. */
const TARGET = z.object({
	sessionId: text,
	/** Null: the open question. */
	messageIndex: z.int().min(0).nullable(),
});
export type SessionTarget = Readonly<z.infer<typeof TARGET>>;
export const { encode: encodeTarget, decode: decodeTarget } = slackCodec('target', TARGET);

/** Carries the text of an answer or a draft (by its id) to a question. */
const TEXT_TARGET = z.object({ id: text, ...TARGET.shape });
export const { encode: encodeTextTarget, decode: decodeTextTarget } = slackCodec('carriage', TEXT_TARGET);

const MENU_CHOICE = z.object({ actionId: text, value: text });
export const { encode: encodeMenuChoice, decode: decodeMenuChoice } = slackCodec('menu', MENU_CHOICE);

/** See `arrivalSeen` of an answer. */
const ARRIVAL = z.int().nullable();

/** `id`: of the draft with the text. `readAt`: when the read of the question began, clock milliseconds. */
const OFFERED_REPLY = z.object({
	id: text,
	sessionId: text,
	messageIndex: z.int(),
	readAt: z.number(),
	channelId: text,
	threadTs: text,
	messageTs: text,
	arrival: ARRIVAL,
});
/** A message in a thread that can be sent as the answer, and its question. */
export type OfferedThreadReply = Readonly<z.infer<typeof OFFERED_REPLY>>;
export const { encode: encodeThreadReply, decode: decodeThreadReply } = slackCodec('reply', OFFERED_REPLY);

const QUESTION_REF = z.object({ sessionId: text, fingerprint: text });
/** Which question a button is about, wherever it stands in its session. */
export type QuestionRef = Readonly<z.infer<typeof QUESTION_REF>>;
export const { encode: encodeQuestionRef, decode: decodeQuestionRef } = slackCodec('question', QUESTION_REF);

export const questionHash = (question: QuestionRef) => hashOf(encodeQuestionRef(question));

/**
 * `hash`: `questionHash`, because an entry of a menu has no room for the id of a session. `length`: menus of 2.0.0 have
 * `tomorrow`, too.
 */
const SNOOZE = z.object({ length: z.literal('1h'), hash: text });
export const { encode: encodeSnooze, decode: decodeSnooze } = slackCodec('snooze', SNOOZE);

const CHOICE = z.object({
	sessionId: text,
	messageIndex: z.int(),
	fingerprint: text,
	/** Hash of what the button's message shows. */
	shownHash: text,
	position: z.int().min(0),
	/** The item's title, maybe cut. */
	title: text,
	/** Exactly the button's label. */
	option: text,
	/** When the session was read that the button's message shows, clock milliseconds. */
	readAt: z.number(),
	/** Where the person sees the question; the access policy checks it. */
	channelId: text,
	arrival: ARRIVAL,
});
/** What the button with an option sends, and for which question. */
export type PressedOption = Readonly<z.infer<typeof CHOICE>>;
export const { encode: encodeChoice, decode: decodeChoice } = slackCodec('choice', CHOICE);

const INDEX = z.int().min(0).max(1_000_000_000);
const POSITIONS = z.array(INDEX).default([]);

/**
 * `channelId`: the channel whose list it is. The list itself may stand in a direct message, if Slack took it only
 * there.
 */
const LISTED_PAGE = z.object({ channelId: text, offset: INDEX });
export type ListedPage = Readonly<z.infer<typeof LISTED_PAGE>>;
export const { encode: encodeListedPage, decode: decodeListedPage } = slackCodec('listed page', LISTED_PAGE);

/** A session on a page of the list. */
const LISTED_WATCH = z.object({ ...LISTED_PAGE.shape, sessionId: text });
export const { encode: encodeListedWatch, decode: decodeListedWatch } = slackCodec('listed watch', LISTED_WATCH);

/** Ends what people watched in a channel at `askedAt` (clock milliseconds), and `watch all` with `discovers`. */
const UNWATCH_ALL = z.object({ channelId: text, askedAt: z.number(), discovers: z.boolean() });
export type UnwatchAll = Readonly<z.infer<typeof UNWATCH_ALL>>;
export const { encode: encodeUnwatchAll, decode: decodeUnwatchAll } = slackCodec('end all', UNWATCH_ALL);

const METADATA_SCHEMA = z.object({
	sessionId: text,
	/** The message whose question the form asks; null when no question is open. */
	messageIndex: INDEX.nullable().default(null),
	fingerprint: text.nullable().default(null),
	/** Hash of what the form shows (`shownHashOf`). */
	shownHash: text.nullable().default(null),
	/** Identifies one showing of a form; drafts and submissions carry it. */
	formId: text,
	/** The page of steps; 0 shows the newest. */
	page: INDEX.default(0),
	plainText: z.boolean().default(false),
	partial: z.boolean().default(false),
	/** When the session was read, milliseconds since the epoch; 0 before the first read. */
	readAt: z.number().min(0).default(0),
	origin: ORIGIN.default({ channelId: null, threadTs: null }),
	/** UTF-8 bytes of the PUT's JSON with empty values. */
	putOverheadBytes: z.number().min(0).default(0),
	fields: POSITIONS,
	/** Positions with an initial value, which Slack may leave out of the state. */
	offered: POSITIONS,
	/** How the fields were shown last; null if there were none. */
	shown: z.enum(['guessed', 'plain']).nullable().default(null),
	/** Positions shown as plain text: all, or those whose text did not fit the guessed input. */
	asText: POSITIONS,
	withOptions: POSITIONS,
	/** Positions whose boxes were ticked when the view was built. */
	secret: POSITIONS,
	/** The form shows the box that marks items as secret. */
	boxed: z.boolean().default(false),
	/** UTF-16 units to which initial values were cut. */
	offerLimit: INDEX.default(0),
	/** In a history: how many answers are skipped. */
	offset: INDEX.default(0),
	arrival: ARRIVAL,
	/** The session's name, masked and cut. Empty before the first read. */
	sessionName: text.transform((name) => cutText(masked(name).text, 60)).default(''),
	/** Not read. Windows of 2.0.0 have it at this place. */
	ownText: z.boolean().default(false),
	/** The view shows its person what others see masked. */
	showsHidden: z.boolean().default(false),
	/** Positions with an option that others see masked. */
	covered: POSITIONS,
	/** Positions with a title that others see masked. */
	veiled: POSITIONS,
	/** Positions that may stay empty, as the agent says. */
	optional: POSITIONS,
	/** Opened by *Answer again…*: shows each empty field, even if an earlier answer left it empty. */
	again: z.boolean().default(false),
});
/** The codec of private_metadata, in which Slack takes 3,000 characters. */
export const { encode: encodeMetadata, decode: decodeMetadata } = slackCodec('view 5', METADATA_SCHEMA);

/** What a view carries from one event to the next. Slack returns it unchanged. */
export type ViewMetadata = Parameters<typeof encodeMetadata>[0];

export const newMetadata = (start: Pick<ViewMetadata, 'sessionId'> & Partial<ViewMetadata>): ViewMetadata =>
	METADATA_SCHEMA.parse({ formId: newFormId(), arrival: null, ...start });

export const newFormId = () => randomBytes(9).toString('base64url');

export const isDirectMessage = (channelId: string) => channelId.startsWith('D');
