import type { SlackState } from '../fake-slack/index.ts';

/** What the page server tells the page, as JSON. Types only, shared by both sides. */

type Json = Record<string, unknown>;

export interface WirePerson {
	id: string;
	name: string;
	realName: string;
	/** member, guest (one channel or several), external or bot. */
	kind: 'member' | 'guest' | 'external' | 'bot';
}

export interface WireChannel {
	id: string;
	name: string;
	isPrivate: boolean;
	/** The talk with the app. */
	isIm: boolean;
	isArchived: boolean;
	isExtShared: boolean;
	isMember: boolean;
	members: string[];
	/** The newest message this person has seen there; '0' before the first. */
	readTs: string;
}

export type WireInputs = SlackState['messages'][number]['inputs'][string];

export interface WireMessage {
	ts: string;
	channel: string;
	user: string;
	/** Slack itself speaks. */
	isSlackbot: boolean;
	isApp: boolean;
	text: string;
	blocks: Json[];
	threadTs: string | null;
	broadcast: boolean;
	edited: boolean;
	ephemeral: boolean;
	/** What this person has put into the message's inputs. */
	inputs: WireInputs | null;
}

export interface WireModal {
	id: string;
	hash: string;
	/** How often the app has replaced it. */
	updates: number;
	/** As the app sent it. */
	payload: Json;
	inputs: WireInputs;
	/** By block_id. */
	fieldErrors: Record<string, string>;
	trouble: string | null;
}

export type BotStatus = 'external' | 'starting' | 'running' | 'stopped' | 'ended';

export interface WireBot {
	status: BotStatus;
	pid: number | null;
	/** Why it ended by itself; null otherwise. */
	ended: string | null;
	/** Its newest lines that are errors or no log records. */
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
	/** The link that people copy out of the dashboard. */
	link: string;
	/** What is open: the titles of the items; empty when nothing is asked. */
	asks: string[];
}

export interface WireTrouble {
	id: string;
	group: 'service' | 'slack';
	label: string;
	about: string;
	/** A switch stays on, `once` waits for its one chance, `act` happens at once. */
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
	/** Until the answer, or until the ack. */
	tookMs: number | null;
	outcome: string;
	state: 'pending' | 'ok' | 'failed';
	/** What strict validation objected to. */
	problems: string[];
}

export interface WireCommand {
	command: string;
	description: string;
	usageHint: string;
}

/** What hardly changes. */
export interface WireWorkspace {
	team: { domain: string; name: string };
	app: { name: string; botUser: string; realName: string };
	me: WirePerson;
	window: string;
	people: WirePerson[];
	userGroups: { id: string; handle: string }[];
	commands: WireCommand[];
	messageShortcuts: { name: string; callbackId: string }[];
	scenarios: WireScenario[];
	/** Images from here are shown through the sandbox; others cannot be had. */
	serviceOrigin: string;
}

/** The parts of a frame that are sent whole whenever they changed. */
export interface WireParts {
	workspace: WireWorkspace;
	channels: WireChannel[];
	/** The stack, the top one last. */
	modals: WireModal[];
	bot: WireBot;
	agents: WireAgent[];
	troubles: WireTrouble[];
}

/** One message of the stream: what changed since the one before. */
export interface WireFrame extends Partial<WireParts> {
	/** Changed or new ones. */
	messages?: WireMessage[];
	/** Deleted ones, as `channel/ts`. */
	gone?: string[];
	/** Changed or new ones, oldest first. */
	calls?: WireCall[];
}

/** The body and the answer of a call. */
export interface WireCallDetail {
	request: unknown;
	answer: unknown;
}

/** What the dashboard of the session service shows. */
export interface WireDashboardSession {
	id: string;
	name: string;
	status: string;
	messages: { role: string; content: string }[];
	open: { messageIndex: number; items: { title: string; description: string }[] } | null;
}
