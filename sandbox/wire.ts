import type { SlackState } from '../fake-slack/index.ts';

/** What the page server sends the page, as JSON, and the code with which it closes a stream. Shared by both sides. */

type Json = Record<string, unknown>;

/** Of a WebSocket's end: nobody has the name in the page's address. From 4000 on they are an application's own. */
export const NOBODY = 4404;

export interface WirePerson {
	id: string;
	name: string;
	realName: string;
	/** After the @ of a mention. */
	displayName: string;
	/** member, guest (one channel or several), external or bot. */
	kind: 'member' | 'guest' | 'external' | 'bot';
	/** Whether fields of people offer them to this person. */
	isListed: boolean;
}

export interface WireChannel {
	id: string;
	name: string;
	isPrivate: boolean;
	/** The direct message with the app. */
	isIm: boolean;
	isArchived: boolean;
	isExtShared: boolean;
	isMember: boolean;
	members: string[];
	/** The newest message that this person has seen there; '0' before the first. */
	readTs: string;
}

export type WireInputs = SlackState['messages'][number]['inputs'][string];

export interface WireMessage {
	ts: string;
	channel: string;
	user: string;
	/** A message from Slack itself. */
	isSlackbot: boolean;
	isApp: boolean;
	text: string;
	blocks: Json[];
	threadTs: string | null;
	broadcast: boolean;
	edited: boolean;
	ephemeral: boolean;
	/** Whether it notified this person. */
	rings: boolean;
	/** What this person has entered into the message's inputs. */
	inputs: WireInputs | null;
}

export interface WireModal {
	id: string;
	hash: string;
	/** How often the app has replaced it. */
	updates: number;
	payload: Json;
	inputs: WireInputs;
	/** By block_id. */
	fieldErrors: Record<string, string>;
	trouble: string | null;
}

export interface WireHome {
	id: string;
	payload: Json;
	inputs: WireInputs;
}

export type BotStatus = 'external' | 'starting' | 'running' | 'stopped' | 'ended';

export interface WireBot {
	status: BotStatus;
	pid: number | null;
	/** Why it ended by itself; null otherwise. */
	ended: string | null;
	/** Its newest lines that are errors or not log records. */
	problems: string[];
}

export interface WireScenario {
	id: string;
	summary: string;
}

export interface WireAgent {
	id: string;
	name: string;
	status: string;
	scenario: string | null;
	steps: number;
	/** The link that people copy from the dashboard. */
	link: string;
	/** The titles of the open items; empty without a question. */
	asks: string[];
}

export interface WireTrouble {
	id: string;
	group: 'service' | 'slack';
	label: string;
	about: string;
	/** A switch stays on, a `once` waits for its occasion, an `act` happens at once. */
	kind: 'switch' | 'once' | 'act';
	active: boolean;
}

export interface WireCall {
	key: string;
	at: number;
	way: 'app → Slack' | 'Slack → app' | 'app → service';
	name: string;
	/** What it is about, in a few words. */
	about: string;
	/** Until the response or the ack. */
	tookMs: number | null;
	outcome: string;
	state: 'pending' | 'ok' | 'failed';
	/** What the strict validation objected to. */
	problems: string[];
}

/** The part that hardly changes. */
export interface WireWorkspace {
	team: { domain: string; name: string };
	app: { name: string; botUser: string; realName: string; hasHomeTab: boolean };
	me: WirePerson;
	window: string;
	people: WirePerson[];
	userGroups: { id: string; handle: string }[];
	commands: { command: string; description: string; usageHint: string }[];
	messageShortcuts: { name: string; callbackId: string }[];
	scenarios: WireScenario[];
	/** Images from here are shown through the sandbox; others are not available. */
	serviceOrigin: string;
}

/** The parts of a frame that are sent whole whenever they change. */
export interface WireParts {
	workspace: WireWorkspace;
	channels: WireChannel[];
	modals: WireModal[];
	/** Null before the app publishes one. */
	home: WireHome | null;
	bot: WireBot;
	/** How far the sandbox's clock is ahead of the machine's, which is the page's too. */
	clock: { offsetMs: number };
	agents: WireAgent[];
	troubles: WireTrouble[];
}

/** One message of the stream: the changes since the one before. */
export interface WireFrame extends Partial<WireParts> {
	/** Changed or new ones. */
	messages?: WireMessage[];
	gone?: string[];
	/** Changed or new ones, oldest first. */
	calls?: WireCall[];
}

/** A message, window or Home tab of the Gallery. */
export interface WireExample {
	name: string;
	kind: 'message' | 'modal' | 'home';
	payload: Json;
	inputs: WireInputs;
}

export interface WireGallery {
	/** The time of the examples, in milliseconds since the epoch. */
	now: number;
	/** Display names of people and names of channels, by id. */
	people: Record<string, string>;
	channels: Record<string, string>;
	/** `name`: for addresses. */
	groups: { name: string; title: string; examples: WireExample[] }[];
}

/** What the program makes of a question that somebody tries. */
export interface WireTried {
	examples: WireExample[];
	/** Lines that say why. */
	words: string;
}

export interface WireCallDetail {
	request: unknown;
	answer: unknown;
}

export interface WireDashboardSession {
	id: string;
	name: string;
	status: string;
	messages: { role: string; content: string }[];
	open: { messageIndex: number; items: { title: string; description: string }[] } | null;
}
