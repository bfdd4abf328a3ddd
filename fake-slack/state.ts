import type { Json } from './json.ts';

/** A person or a bot. */
export interface Person {
	id: string;
	/** What others type after the @, also the name for the driver. */
	name: string;
	realName: string;
	/** How mentions show them; `name` by default. */
	displayName?: string;
	/**
	 * The workspace the person belongs to: another organisation's for people in a channel shared with it; in an
	 * organisation with several workspaces the one that their interactions name, wherever they act.
	 */
	teamId: string;
	/** The workspaces of the own organisation they belong to, when there are more than `teamId`. */
	teams?: string[];
	isRestricted: boolean;
	isUltraRestricted: boolean;
	isBot: boolean;
	deleted: boolean;
	/** A name of the time zone database; Europe/London by default. Null: Slack does not tell it. */
	tz?: string | null;
	/** What stands beside the name; empty by default. */
	statusText?: string;
	/** When something of this last changed, in ms; absent: never. */
	updatedAt?: number;
}

export interface UserGroup {
	id: string;
	handle: string;
	/** The name beside the handle; the handle by default. */
	name?: string;
	users: string[];
	disabled?: boolean;
}

export interface Team {
	id: string;
	domain: string;
	name: string;
}

/** An organisation on Enterprise Grid with several workspaces. */
export interface Enterprise {
	id: string;
	domain: string;
	name: string;
	/** Its workspaces other than the app's. */
	otherTeams: Team[];
}

export interface Channel {
	id: string;
	/** Without the #; empty for a direct message. */
	name: string;
	isPrivate: boolean;
	/** A direct message of two: of a person and the app, or of two people. */
	isIm: boolean;
	/** A direct message of several people. */
	isMpim?: boolean;
	isArchived: boolean;
	/** Shared with another organisation. */
	isExtShared: boolean;
	/** Another organisation is invited and has not answered. */
	isPendingExtShared?: boolean;
	/** Shared with other workspaces of the own organisation. */
	isOrgShared?: boolean;
	/** The other workspaces and organisations that it is shared with. */
	connectedTeams?: string[];
	members: string[];
}

/** An element's value in the form of Slack's `state.values`: `{ type, value }`, `{ type, selected_option }` … */
export type InputValue = Json & { type: string };
/** By block_id, then action_id. */
export type InputValues = Record<string, Record<string, InputValue>>;

/** What a person sees of a surface with inputs. */
export interface InputState {
	values: InputValues;
	/** `block_id/action_id` of inputs that were changed since the surface appeared. */
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
	/** What somebody attached to it: files, voice messages. */
	files?: Json[];
	threadTs?: string;
	/** The id that a person's client generated for it. */
	clientMsgId?: string;
	/** A reply that is also shown in the channel. */
	broadcast: boolean;
	metadata?: Json;
	editedTs?: string;
	/** Only this person sees it. */
	ephemeralFor?: string;
	/** Its former versions, oldest first. */
	history: MessageVersion[];
	/** By person: what is typed into the message's inputs. */
	inputs: Record<string, InputState>;
	/** Ids of people it notified, by an edit too; absent when there are none. */
	rung?: string[];
}

export interface View {
	id: string;
	/** As the app sent it, with every block_id and action_id. */
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
	/** The line that Slack shows at the top when the app did not answer properly. */
	trouble: string | null;
}

export interface Trigger {
	id: string;
	user: string;
	window: string;
	at: number;
	used: boolean;
	/** The view it came from, if any. */
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

export interface InstalledApp {
	id: string;
	botUser: string;
	botId: string;
	name: string;
}

/** The whole state of the fake, as plain data. */
export interface SlackState {
	/** The workspace the app is used in. */
	team: Team;
	/** Absent for a workspace outside of an organisation. */
	enterprise?: Enterprise;
	app: InstalledApp;
	people: Person[];
	userGroups: UserGroup[];
	channels: Channel[];
	messages: Message[];
	views: Record<string, View>;
	/** The Home tab of each person who has one: view ids by user. */
	homes: Record<string, string>;
	windows: Window[];
	triggers: Record<string, Trigger>;
	responseUrls: Record<string, ResponseUrl>;
	/** Counters of the generated ids, so that ids stay unique after a restore. */
	counter: number;
	lastTs: string;
}
