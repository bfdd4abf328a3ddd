import { randomBytes } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { ORIGIN, type Origin } from '../domain/answer.ts';
import { masked } from '../domain/masking.ts';
import { cutText } from '../domain/texts.ts';
import { type DeepReadonly, hashOf, parseAddress, parseOrNull } from '../kernel/values.ts';

// The ids that Slack returns: positions and keys, never content. They never change, as old messages carry them.

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
	/** On the question before all watches of a channel end; the first one's `value`: an `AskedEnd`. */
	unwatchAll: 'list.unwatch_all',
	keepWatches: 'list.keep',
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
	/** In a form: shows the box that marks items as secret, ticked where there is one item. */
	keepSecret: 'form.keep_secret',
	/** An input; `dispatch_action` reports typing in it. */
	field: 'form.field',
	/** The line for an own answer, or a note to the option. */
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
	/** On a question; `value`: a `QuestionMark`. The first opens a window with the inputs of the next two. */
	handOver: 'question.hand_over',
	handOverTo: 'question.hand_over_to',
	handOverNote: 'question.hand_over_note',
	giveBack: 'question.give_back',
	/** To the person who chose, until the answer is sent; `value`: the answer's id. */
	undo: 'answer.undo',
	/** On the offer of a message as an answer: opens its form; `value`: the draft's form id and a `SessionTarget`. */
	useText: 'question.use_text',
	/** On that offer: sends it, or does not; `value`: an `OfferedReply`, or the draft's form id. */
	sendReply: 'reply.send',
	keepReply: 'reply.keep',
	/** In the modal that asks which item a message is for; the option's value is its position. */
	chooseItem: 'question.choose_item',
	/** Where a question is settled: opens what the agent asked last, if a field is empty; `value`: a `QuestionMark`. */
	answerAgain: 'question.answer_again',
	/** On a card or message: opens the session; `value`: a `SessionTarget`. */
	open: 'session.open',
	/** Where a question is settled, and in the history: opens it as it was answered; `value`: the answer's id. */
	showQuestion: 'answer.show_question',
	/** In a session's window: opens the history; `value`: a `SessionTarget`. */
	showAnswers: 'question.answers',
	/** On a receipt; `value`: the answer's id. */
	tryAgain: 'answer.try_again',
	giveUp: 'answer.give_up',
	/** *Send again* on receipts of 1.1.0: as `answerAgain`, with the answer's text; `value`: the answer's id. */
	sendAgain: 'answer.send_again',
	/** *Post my text …* on receipts of 1.1.0: shows the receipt anew; `value`: the answer's id. */
	postToThread: 'answer.post_to_thread',
	/** In the window of a receipt: opens the next question that waits for its author. */
	nextQuestion: 'answer.next',
	/** Opens the current question with the answer's text; `value`: the answer's id and a `SessionTarget`. */
	answerNew: 'answer.answer_new',
	/** On an error: repeat what failed; the view's metadata says what. */
	reload: 'error.reload',
	/** On the help. */
	moreHelp: 'help.more',
	/** On the reply to a watch: has an escalation mention whoever presses. */
	mentionMe: 'settings.mention_me',
	/** Other pages of that list; `value`: a `ListedPage`. */
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
	/** In the menu of a question in an inbox; `value`: for how long, and the question's hash. */
	snooze: 'inbox.snooze',
	showSnoozed: 'inbox.show_snoozed',
	/** On an answer that is over, in its author's inbox; `value`: the answer's id. */
	dismiss: 'inbox.dismiss',
	/** On a draft whose question is over; `value`: its form id. */
	copyDraft: 'draft.copy',
	discardDraft: 'draft.discard',
	/** *Screenshot* in menus of 1.1.0: opens the session, which has it. */
	showScreenshot: 'card.screenshot',
	/** On a card: shown only to the person who presses it. */
	showFiles: 'card.files',
	/** The menu `⋯` of a message or view; its options' values: a `MenuChoice`. */
	more: 'menu.more',
} as const;
export type ActionId = (typeof ACTIONS)[keyof typeof ACTIONS];

/** What our buttons say: an agent's option must not look like it. "Discard" and "Send" are short for longer ones. */
// biome-ignore format: a list of words
export const BUTTON_LABELS = [
	'Answer', 'Answer again', 'Answer again…', 'Answer all', 'Answer anyway', 'Answer…', 'Answer the new question',
	'Back', 'Cancel', 'Close', 'Continue', 'Copy text', 'Discard', 'Discard answer', 'Dismiss', 'End all', 'Files',
	'Give back', 'Hand over', 'Hide', 'History', 'Hide this answer and delete it after delivery',
	'Hide these answers and delete them after delivery', 'More', 'Mention me if nobody answers', 'Newer answers',
	'Newer steps', 'Next', 'Next question', 'Older answers', 'Older steps', 'Open', 'Open in the dashboard',
	'Open the question', 'Open session', 'Open the screenshot', 'Other answer…',
	'Previous', 'Refresh', 'Save', 'Save anyway',
	'Send', 'Send answer', 'Show', 'Show all', 'Show more',
	'Show now', 'Show question', 'Skip some questions', 'Snooze for me', 'Snooze for 1 h',
	'Snooze until tomorrow 9:00', 'Stop watching', 'Suggested fields', 'Try again', 'Type freely', 'Undo',
	'Use as answer', 'Watch', 'Watch again', 'Watch in this channel',
] as const;
/** "No" stands only beside *Send* and *End all*, never beside options. */
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

/** `guessed`: the suggested input; `plain`: long text; `other`: the line for an own answer or a note. */
export type FieldVariant = 'guessed' | 'plain' | 'other';

/** Begins values of options that are not the agent's text. A field whose agent offers such a text has no options. */
export const OWN_OPTION = 'handraise.';
/** The value of an option for own text. */
export const NO_OPTION = `${OWN_OPTION}none`;
/** UTF-16 units of an option's value in Slack. */
export const OPTION_VALUE_LIMIT = 150;
/** The value of an agent's option in a field: its text, or its place where Slack takes no such text. */
export const optionValue = (option: string, place: number) =>
	option.length > OPTION_VALUE_LIMIT ? `${OWN_OPTION}${place}` : option;

/**
 * The block_id of a field in the view of this metadata. Slack keeps what was typed while it stays the same, so it holds
 * nothing that changes with paging, a refresh or optional fields. A choice from options, and a note to it, must not
 * stay under another text, so the hash of what the question shows is a part of it then.
 */
export function fieldBlockId(shown: ViewMetadata, position: number, variant: FieldVariant): string {
	const id = `q.${askedId(shown)}.${position}.${variant}`;
	const hash = variant !== 'plain' && shown.withOptions.includes(position) ? shown.shownHash : null;
	return hash === null ? id : `${id}.${hash.slice(0, 8)}`;
}

/** The block_id of the box for secrets: each question has its own. */
export const secretBlockId = (shown: ViewMetadata) => `s.${askedId(shown)}`;

function askedId({ messageIndex, fingerprint }: ViewMetadata): string {
	return `${messageIndex ?? 0}.${(fingerprint ?? '').slice(0, 8)}`;
}

/** A form with a newer revision shows its own values instead of what Slack keeps. */
export const settingsBlockId = (field: string, revision: number) => `c.${field}.${revision}`;

/** How a record travels through Slack: a JSON array of `kind` and its fields, because Slack limits the length. */
export function slackCodec<Schema extends z.ZodObject>(kind: string, schema: Schema) {
	type Fields = DeepReadonly<z.output<Schema>>;
	// In the order of the schema. Where the fields change, `kind` has to: a record of another kind is not read. A new
	// last field with a default needs none: the records of a former version end before it.
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

/** What its buttons open has this origin. Slack keeps the focus while the id stays. `key`: the row in its view. */
export function inboxRowId({ channelId, threadTs }: Origin, key: string): string {
	return ROW.encode({ origin: { channelId, threadTs }, hash: hashOf(key) });
}

/** Null for every other block_id. */
export const decodeInboxRow = (rowId: string) => ROW.decode(rowId)?.origin ?? null;

/** The command refuses ids of sessions that are too long for a button. */
const TARGET = z.object({
	sessionId: text,
	/** Null: the open question. */
	messageIndex: z.int().min(0).nullable(),
	/** Not read: *Other answer…* of 1.1.0 has it, in posts that stay. */
	ownText: z.boolean().optional(),
});
export type SessionTarget = Readonly<z.infer<typeof TARGET>>;
export const { encode: encodeTarget, decode: decodeTarget } = slackCodec('target', TARGET);

/** Carries the text of an answer or a draft (by its id) to a question. */
const CARRIAGE = z.object({ id: text, ...TARGET.shape });
export const { encode: encodeCarriage, decode: decodeCarriage } = slackCodec('carriage', CARRIAGE);

const MENU_CHOICE = z.object({ actionId: text, value: text });
export const { encode: encodeMenuChoice, decode: decodeMenuChoice } = slackCodec('menu', MENU_CHOICE);

/** See `arrivalSeen` of an answer. 1.0.0 wrote none: nothing of what it made is sent. */
const ARRIVAL = z.int().nullable();

/** `id`: of the draft with the text. `readAt`: when the read began that found the question, clock milliseconds. */
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
/** A message in a thread that can be sent as the answer, and to which question. */
export type OfferedReply = Readonly<z.infer<typeof OFFERED_REPLY>>;
export const { encode: encodeReply, decode: decodeReply } = slackCodec('reply', OFFERED_REPLY);

const QUESTION_MARK = z.object({ sessionId: text, fingerprint: text });
/** Which question a button is about, wherever it stands in its session. */
export type QuestionMark = Readonly<z.infer<typeof QUESTION_MARK>>;
export const { encode: encodeQuestionMark, decode: decodeQuestionMark } = slackCodec('question', QUESTION_MARK);

export const questionHash = (question: QuestionMark) => hashOf(encodeQuestionMark(question));

/** For how long people can snooze. `tomorrow`: until 9:00 of the next day in their time zone. */
export const SNOOZE_LENGTHS = ['1h', 'tomorrow'] as const;
export type SnoozeLength = (typeof SNOOZE_LENGTHS)[number];

/** `hash`: `questionHash`, because an entry of a menu has no room for the id of a session. */
const SNOOZE = z.object({ length: z.enum(SNOOZE_LENGTHS), hash: text });
export const { encode: encodeSnooze, decode: decodeSnooze } = slackCodec('snooze', SNOOZE);

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
	/** Where the person sees the question; the access policy checks it. */
	channelId: text,
	arrival: ARRIVAL,
});
/** What the button with an option sends, and for which question. */
export type PressedOption = Readonly<z.infer<typeof CHOICE>>;
export const { encode: encodeChoice, decode: decodeChoice } = slackCodec('choice', CHOICE);

const INDEX = z.int().min(0).max(1_000_000_000);
const POSITIONS = z.array(INDEX).default([]);

/** `channelId`: whose list it is, which Slack perhaps took as a direct message alone. `offset`: of the page. */
const LISTED_PAGE = z.object({ channelId: text, offset: INDEX });
export type ListedPage = Readonly<z.infer<typeof LISTED_PAGE>>;
export const { encode: encodeListedPage, decode: decodeListedPage } = slackCodec('listed page', LISTED_PAGE);

/** A session on such a page. */
const LISTED_WATCH = z.object({ ...LISTED_PAGE.shape, sessionId: text });
export const { encode: encodeListedWatch, decode: decodeListedWatch } = slackCodec('listed watch', LISTED_WATCH);

/** All of this channel is to end: what people watched at that time (clock milliseconds), and perhaps `watch all`. */
const ASKED_END = z.object({ channelId: text, askedAt: z.number(), discovers: z.boolean() });
export type AskedEnd = Readonly<z.infer<typeof ASKED_END>>;
export const { encode: encodeAskedEnd, decode: decodeAskedEnd } = slackCodec('end all', ASKED_END);

const METADATA_SCHEMA = z.object({
	sessionId: text,
	/** The message whose question the form asks; null when no question is open. */
	messageIndex: INDEX.nullable().default(null),
	fingerprint: text.nullable().default(null),
	/** Of what the form shows (`shownHashOf`). */
	shownHash: text.nullable().default(null),
	/** Identifies one showing of a form; drafts and submissions carry it. */
	formId: text,
	/** Of the steps; 0 shows the newest. */
	page: INDEX.default(0),
	plainText: z.boolean().default(false),
	partial: z.boolean().default(false),
	/** When the session was read, milliseconds since the epoch; 0 before the first read. */
	readAt: z.number().min(0).default(0),
	origin: ORIGIN.default({ channelId: null, threadTs: null }),
	/** UTF-8 bytes of the PUT's JSON with empty values. */
	putOverheadBytes: z.number().min(0).default(0),
	fields: POSITIONS,
	/** With an initial value, which Slack may leave out of the state. */
	offered: POSITIONS,
	/** How the fields were shown last; null if there were none. */
	shown: z.enum(['guessed', 'plain']).nullable().default(null),
	/** Shown as plain text: all, or those whose text did not fit the guessed input. */
	asText: POSITIONS,
	withOptions: POSITIONS,
	/** Those whose boxes were ticked when the view was built. */
	secret: POSITIONS,
	boxed: z.boolean().default(false),
	/** UTF-16 units to which initial values were cut. */
	offerLimit: INDEX.default(0),
	/** In a history: how many answers are skipped. */
	offset: INDEX.default(0),
	/** Undefined: of 1.0.0. */
	arrival: ARRIVAL.optional(),
	/** Masked and cut. Empty before the first read. */
	sessionName: text.transform((name) => cutText(masked(name).text, 60)).default(''),
	/** Not read: windows of 1.1.0 have it at this place. */
	ownText: z.boolean().default(false),
	/** It shows what others see masked; with an option, and with a title, that they see so. */
	showsHidden: z.boolean().default(false),
	covered: POSITIONS,
	veiled: POSITIONS,
	/** Those that the agent says may stay empty. */
	optional: POSITIONS,
	/** Opened by *Answer again…*: each empty field is shown, whatever is known of earlier answers. */
	again: z.boolean().default(false),
});
/** For private_metadata, in which Slack takes 3,000 characters. */
export const { encode: encodeMetadata, decode: decodeMetadata } = slackCodec('view 5', METADATA_SCHEMA);

/** What a view carries from one event to the next. Slack returns it unchanged. */
export type ViewMetadata = Parameters<typeof encodeMetadata>[0];

export const newMetadata = (start: Pick<ViewMetadata, 'sessionId'> & Partial<ViewMetadata>): ViewMetadata =>
	METADATA_SCHEMA.parse({ formId: newFormId(), arrival: null, ...start });

export const newFormId = () => randomBytes(9).toString('base64url');

/** Slack's limit for the address of a button. */
const MAX_URL_LENGTH = 3_000;

/** The special-purpose registries of IANA: not public. */
const PRIVATE_IPV4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`.split(
	/\s/,
);
/** Everything outside 2000::/3, and within it what is reserved or holds IPv4 addresses. */
const PRIVATE_IPV6 = ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** Two lists, because in one list Node would find every IPv4 address in `::/3`. */
const PRIVATE = { ipv4: listOf('ipv4', PRIVATE_IPV4), ipv6: listOf('ipv6', PRIVATE_IPV6) };

function listOf(version: 'ipv4' | 'ipv6', networks: readonly string[]): BlockList {
	const list = new BlockList();
	for (const network of networks) {
		const [address = '', prefix] = network.split('/');
		list.addSubnet(address, Number(prefix), version);
	}
	return list;
}

/** Names that no public server has: reserved, or used inside networks. */
const PRIVATE_ENDS =
	'local(?:host|domain)?|internal|intranet|private|corp|home|lan|(?:home|in-addr|ip6)\\.arpa|test|onion|svc|docker';
const PRIVATE_NAME = new RegExp(`^[^.]*$|(?:^|\\.)(?:${PRIVATE_ENDS})$`);

/** Decides whether people get an address as a link. `host` is shown with it; null for the service and the dashboard. */
export function createLinks({ serviceUrl, dashboardUrl }: { serviceUrl: string; dashboardUrl: string | null }) {
	const service = URL.parse(serviceUrl);
	const ownHosts = new Set([service?.host, URL.parse(dashboardUrl ?? '')?.host]);

	return (address: string | null) => {
		if (address === null) return { kind: 'none' } as const;
		// The link is normalised as browsers do, so the shown host is the one that they open.
		const url = parseAddress(address);
		if (url === null || url.href.length > MAX_URL_LENGTH || /[\s<>"|\\]/.test(address))
			return refused('not a usable link');
		if (url.username !== '' || url.password !== '') return refused('user name in the link');
		// Not by `origin`: a blob: address has the origin of the page that made it.
		if (url.protocol === service?.protocol && url.host === service.host)
			return { kind: 'link', url: url.href, host: null } as const;
		if (url.protocol !== 'https:') return refused('not https');
		// Names are not looked up, so a public name that leads into a private network passes.
		if (isPrivate(url.hostname)) return refused('private network');
		return { kind: 'link', url: url.href, host: ownHosts.has(url.host) ? null : url.host } as const;
	};
}

export type Links = ReturnType<typeof createLinks>;

const refused = <Why extends string>(why: Why) => ({ kind: 'refused', why }) as const;

/** `hostname` as URL returns it: lower case, IPv4 as four decimal numbers, IPv6 in brackets, dots at the end kept. */
function isPrivate(hostname: string): boolean {
	const name = hostname.replace(/^\[|\]$/g, '').replace(/(?<!\.)\.+$/, '');
	const version = ({ 4: 'ipv4', 6: 'ipv6' } as const)[isIP(name)];
	return version === undefined ? PRIVATE_NAME.test(name) : PRIVATE[version].check(name, version);
}

export const isDirectMessage = (channelId: string) => channelId.startsWith('D');
