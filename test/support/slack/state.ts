import type { Json } from './json.ts';

/** Somebody in front of Slack, or a bot. */
export interface Person {
	id: string;
	/** What others type after the @, and the name the driver knows. */
	name: string;
	realName: string;
	/** The organisation: another one than the workspace's for people in a shared channel. */
	teamId: string;
	isRestricted: boolean;
	isUltraRestricted: boolean;
	isBot: boolean;
	isStranger: boolean;
	deleted: boolean;
}

interface UserGroup {
	id: string;
	handle: string;
	users: string[];
}

export interface Channel {
	id: string;
	/** Without the #; empty for a direct message. */
	name: string;
	isPrivate: boolean;
	isIm: boolean;
	isArchived: boolean;
	isExtShared: boolean;
	members: string[];
}

/** What an element holds, in the form of Slack's `state.values`: `{ type, value }`, `{ type, selected_option }` … */
export type InputValue = Json & { type: string };
/** By block_id, then action_id. */
export type InputValues = Record<string, Record<string, InputValue>>;

/** What a person sees of a surface with inputs. */
export interface InputState {
	values: InputValues;
	/** `block_id/action_id` of what somebody has changed since it appeared. */
	touched: string[];
}

interface MessageVersion {
	text: string;
	blocks: Json[];
	at: number;
}

export interface Message {
	ts: string;
	channel: string;
	/** The author: a person, or the app's bot user. */
	user: string;
	botId?: string;
	subtype?: string;
	text: string;
	blocks: Json[];
	threadTs?: string;
	/** A reply that is also shown in the channel. */
	broadcast: boolean;
	metadata?: Json;
	editedTs?: string;
	/** Only this person sees it. */
	ephemeralFor?: string;
	/** As it was before each edit, oldest first. */
	history: MessageVersion[];
	/** Typed into the message's inputs, by person. */
	inputs: Record<string, InputState>;
	unfurlLinks?: boolean;
	unfurlMedia?: boolean;
}

export interface View {
	id: string;
	/** As the app sent it, every block_id and action_id filled in. */
	payload: Json;
	/** modal or home */
	type: string;
	hash: string;
	user: string;
	window: string;
	externalId: string;
	rootViewId: string;
	previousViewId: string | null;
	input: InputState;
	/** How often the app has replaced it. */
	updates: number;
	/** Under the fields, by block_id. */
	fieldErrors: Record<string, string>;
	/** The line Slack shows at the top when the app did not answer properly. */
	trouble: string | null;
}

export interface Trigger {
	id: string;
	user: string;
	window: string;
	at: number;
	used: boolean;
	/** The view it came from, when it came from one. */
	view: string | null;
}

export interface ResponseUrl {
	id: string;
	channel: string;
	user: string;
	at: number;
	uses: number;
	/** The message the interaction came from. */
	ts?: string;
}

/** A person's window: the stack of modals shown in it, the top one last. */
export interface Window {
	user: string;
	id: string;
	stack: string[];
}

/** Everything the stand-in remembers, as plain data. */
export interface SlackState {
	team: { id: string; domain: string; name: string };
	app: { id: string; botUser: string; botId: string; name: string };
	people: Person[];
	userGroups: UserGroup[];
	channels: Channel[];
	messages: Message[];
	views: Record<string, View>;
	/** The home tab of each person who has one: view ids by user. */
	homes: Record<string, string>;
	windows: Window[];
	triggers: Record<string, Trigger>;
	responseUrls: Record<string, ResponseUrl>;
	/** Numbers of the ids handed out, so that they stay unique over a restore. */
	counter: number;
	lastTs: string;
}
