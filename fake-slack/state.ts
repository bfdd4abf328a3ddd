import type { Json } from './json.ts';

/** Somebody in front of Slack, or a bot. */
export interface Person {
	id: string;
	/** What others type after the @, and the name the driver knows. */
	name: string;
	realName: string;
	/**
	 * The workspace the person belongs to: one of another organisation for people in a channel shared with it, and in an
	 * organisation with several workspaces the one that stands in their interactions, wherever they act.
	 */
	teamId: string;
	/** The workspaces of the own organisation they are a member of, when there are more than `teamId`. */
	teams?: string[];
	isRestricted: boolean;
	isUltraRestricted: boolean;
	isBot: boolean;
	deleted: boolean;
}

export interface UserGroup {
	id: string;
	handle: string;
	/** What stands beside the handle; the handle when left out. */
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
	/** Its workspaces beside the one the app is used in. */
	otherTeams: Team[];
	/** Whether the app is installed for the organisation as a whole, not for one workspace. */
	isOrgInstall: boolean;
}

export interface Channel {
	id: string;
	/** Without the #; empty for a direct message. */
	name: string;
	isPrivate: boolean;
	/** A conversation of two: of a person and the app, or of two people without it. */
	isIm: boolean;
	/** A direct message of several people. */
	isMpim?: boolean;
	isArchived: boolean;
	/** Shared with another organisation. */
	isExtShared: boolean;
	/** An invitation to another organisation is not answered yet. */
	isPendingExtShared?: boolean;
	/** Shared with other workspaces of the own organisation. */
	isOrgShared?: boolean;
	/** The other workspaces and organisations it is shared with. */
	connectedTeams?: string[];
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
	/** What the client of a person made up for it. */
	clientMsgId?: string;
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
	/** Ids of those whom it rang, an edit of it too; left out when nobody was. */
	rung?: string[];
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

export interface InstalledApp {
	id: string;
	botUser: string;
	botId: string;
	name: string;
}

/** Everything the fake remembers, as plain data. */
export interface SlackState {
	/** The workspace the app is used in. */
	team: Team;
	/** Left out for a workspace of its own. */
	enterprise?: Enterprise;
	app: InstalledApp;
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
