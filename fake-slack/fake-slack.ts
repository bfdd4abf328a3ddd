import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { type Changes, createChanges } from './changes.ts';
import { type Clock, realClock } from './clock.ts';
import { type AppHere, type Core, channelOf, personOf } from './core.ts';
import { type Ack, createDeliverer, type Delivery } from './delivery.ts';
import { type Actor, createActor } from './driver/actor.ts';
import { createFaults, type Faults } from './faults.ts';
import { createHttpTransport, verifyRequestUrl } from './http-delivery.ts';
import { install, limitEvents, revokeTokens, tellOfRemoval, uninstall } from './installation.ts';
import type { Json } from './json.ts';
import { readManifest } from './manifest.ts';
import { dismissMessage, postMessage } from './messages.ts';
import type { Viewer } from './payloads.ts';
import { type Act, perform } from './people/acts.ts';
import { changePerson, type PersonChange } from './people/changes.ts';
import {
	archiveChannel,
	deleteChannel,
	invite,
	inviteOrganisation,
	leaveChannel,
	shareChannel,
} from './people/channels.ts';
import { seedState, stateBeside, type Workspace } from './seed.ts';
import { SENT_EVENTS, type Settings, settingsOf } from './settings.ts';
import { createSockets, type Sockets } from './sockets.ts';
import type { SlackState } from './state.ts';
import { createTraffic, type Traffic, type Violation } from './traffic.ts';
import { createTrigger } from './triggers.ts';
import { createWebApi } from './web-api/index.ts';
import { MAIN_WINDOW, removeViews } from './windows.ts';

export interface FakeSlackOptions {
	clock?: Clock;
	/** 0, the default, takes a free one. */
	port?: number;
	/** The host in its addresses, where a proxy leads the app from there to this machine; 127.0.0.1 by default. */
	hostname?: string;
	signingSecret?: string;
	botToken?: string;
	appToken?: string;
	/**
	 * The app: its manifest, or the path of one. What it does not declare is refused or not delivered. Without a manifest
	 * the app has the usual scopes and events, and every command and shortcut.
	 */
	manifest?: unknown;
	/**
	 * Installs the app beside this one, in the same workspace: people, channels and messages are those of `beside`, and
	 * each app has its own tokens, addresses, settings and traffic. Needs other commands. Only the first can be restored.
	 */
	beside?: FakeSlack;
	/** The people and channels at the start; `sampleWorkspace()` by default. */
	workspace?: Workspace;
	settings?: Partial<Settings>;
	/** The whole initial state instead, as `snapshot` returned it. */
	state?: SlackState;
	/** How long the driver waits for a condition, in ms of real time; 10,000 by default. */
	waitMs?: number;
	/** Entries that the traffic log keeps, with their bodies; 5,000 by default. */
	trafficLimit?: number;
}

/** A fake slack.com with one workspace and one installed app. */
export interface FakeSlack {
	/** `http://127.0.0.1:port`, or with the `hostname` of the options. */
	readonly origin: string;
	/** The value for `clientOptions.slackApiUrl`, with the slash at the end. */
	readonly apiUrl: string;
	/** May be changed: from then on Slack accepts only these. */
	readonly tokens: { bot: string; app: string; signingSecret: string };
	readonly settings: Settings;
	readonly faults: Faults;
	readonly traffic: Traffic;
	readonly sockets: Sockets;
	readonly changes: Changes;
	/** The current state, for a page that shows the same workspace. Only the functions here may change it. */
	readonly state: SlackState;
	/** A person in front of Slack, by name or id; `window` separates two windows of one person. */
	as(person: string, window?: string): Actor;
	/**
	 * Does what a person does on a page. Resolves when the app has acknowledged or Slack has given up. Rejects with words
	 * for the person when it cannot be done.
	 */
	perform(viewer: Viewer, act: Act): Promise<Json>;
	/** Shows a message from Slack itself to this person alone. */
	whisper(viewer: Viewer, to: { channel: string; threadTs?: string | undefined }, text: string): void;
	/** Removes a message that only this person sees from their screen. Throws when there is none. */
	dismiss(viewer: Viewer, message: { channel: string; ts: string }): void;
	/** A trigger as if the person had just done something; `view` names the view it came from. */
	trigger(person: string, from?: { window?: string; view?: string }): string;
	/** Sends the app a delivery built by a test. Never rejects. */
	deliver(delivery: Delivery): Promise<Ack>;
	/** Forgets views and empty windows without an event to the app, so that a long run does not grow without limit. */
	forgetViews(ids: readonly string[]): void;
	/** What the app sent that Slack refuses as malformed, and what it uses that this fake does not have, in words. */
	violations(): readonly Violation[];
	/** Switches to signed HTTP (a URL) or to Socket Mode (null), with which it begins. */
	setRequestUrl(url: string | null): void;
	/** Slack's url_verification of the request URL. */
	verifyRequestUrl(): Promise<boolean>;
	/** Resolves when that many sockets are connected. */
	connected(count?: number): Promise<void>;
	/** The whole state, as plain data. */
	snapshot(): SlackState;
	restore(state: SlackState): void;
	/** Administration. Each resolves when the app has its events. */
	invite(channel: string, person: string, inviter?: string): Promise<void>;
	remove(channel: string, person: string): Promise<void>;
	archive(channel: string, archived?: boolean): Promise<void>;
	deleteChannel(channel: string): Promise<void>;
	/** Invites another organisation, which has not answered; false withdraws the invitation. */
	inviteOrganisation(channel: string, pending?: boolean): Promise<void>;
	/** Shares a channel with a workspace of another organisation or of the own one, and ends that. */
	share(channel: string, teamId: string): Promise<void>;
	unshare(channel: string, teamId: string): Promise<void>;
	/** A person changes, or is deactivated, or becomes a guest. */
	changePerson(person: string, change: PersonChange): Promise<void>;
	/** The bot's token is refused from now on, and the app is told. */
	revokeTokens(): Promise<void>;
	/** The app is told, its tokens are refused, and its connections end. */
	uninstall(): Promise<void>;
	/** Sends the two events of `uninstall` without its effects, as Slack may do it after a new installation. */
	tellOfRemoval(): Promise<void>;
	/** Installs the app again, with the former token or another. */
	install(botToken?: string): void;
	/** Tells the app that the workspace causes too many events. Over HTTP only. */
	limitEvents(): Promise<void>;
	close(): Promise<void>;
}

const appsOf = new WeakMap<FakeSlack, AppHere>();

/** Slack would run the one of the app that was installed last; no test should rely on that. */
function requireOtherCommands(settings: Settings, others: readonly AppHere[]): void {
	const taken = others.flatMap((one) => one.core.settings.commands ?? []).map(({ command }) => command);
	const twice = settings.commands?.find(({ command }) => taken.includes(command));
	if (twice) throw new Error(`Another app of the workspace has ${twice.command} already.`);
}

/** Starts a fake slack.com on the loopback interface. Rejects with EADDRINUSE when its port is taken. */
export async function createFakeSlack(options: FakeSlackOptions = {}): Promise<FakeSlack> {
	const first = options.beside && appsOf.get(options.beside);
	const others = first ? [first, ...first.core.others] : [];
	const number = others.length === 0 ? '' : `-${others.length + 1}`;
	const clock = options.clock ?? first?.core.clock ?? realClock;
	const changes = first?.core.changes ?? createChanges(options.waitMs ?? 10_000);
	const manifest = options.manifest === undefined ? null : readManifest(options.manifest);
	const settings = { ...settingsOf(manifest), ...options.settings };
	requireOtherCommands(settings, others);
	const core: Core = {
		state: first
			? stateBeside(first.core, manifest ?? undefined, others.length + 1)
			: structuredClone(options.state ?? seedState(options.workspace, manifest ?? undefined)),
		others,
		clock,
		settings,
		changes,
		traffic: createTraffic({ clock, changes, limit: options.trafficLimit ?? 5000 }),
		faults: createFaults(clock),
		tokens: {
			bot: options.botToken ?? `xoxb-fake${number}`,
			app: options.appToken ?? `xapp-fake${number}`,
			signingSecret: options.signingSecret ?? `fake-signing-secret${number}`,
		},
		refusals: { bot: null, app: null },
		origin: '',
	};
	for (const event of core.settings.events.filter((one) => !SENT_EVENTS.some((sent) => sent === one))) {
		const messages = [`this fake Slack never sends ${event}, to which the app is subscribed`];
		core.traffic.violate({ where: 'event_subscriptions', messages, payload: event });
	}
	const sockets = createSockets(core);
	let requestUrl: string | null = null;
	const http = createHttpTransport(core, () => requestUrl ?? '');
	const deliverer = createDeliverer(core, () =>
		requestUrl === null ? { send: sockets.send, kind: 'socket' } : { send: http, kind: 'http' },
	);
	const self: AppHere = { core, deliverer };
	for (const other of others) other.core.others.push(self);
	const web = createWebApi(core, sockets, deliverer);
	const server = serve({
		// Other servers of the process have their own idea of a response.
		overrideGlobalObjects: false,
		fetch: web.fetch,
		port: options.port ?? 0,
		hostname: '127.0.0.1',
	}) as Server;
	server.on('upgrade', (request, socket, head) => sockets.upgrade(request, socket, head));
	if (!server.listening) await once(server, 'listening');
	core.origin = `http://${options.hostname ?? '127.0.0.1'}:${(server.address() as AddressInfo).port}`;

	const slack: FakeSlack = {
		origin: core.origin,
		apiUrl: `${core.origin}/api/`,
		tokens: core.tokens,
		settings: core.settings,
		faults: core.faults,
		traffic: core.traffic,
		sockets,
		changes,
		get state() {
			return core.state;
		},
		as: (person, window = MAIN_WINDOW) => createActor(core, deliverer, { user: personOf(core, person).id, window }),
		perform: (viewer, act) => perform(core, deliverer, viewer, act),
		whisper(viewer, { channel, threadTs }, text) {
			postMessage(core, {
				channel: channelOf(core, channel),
				user: core.state.app.botUser,
				payload: { text },
				ephemeralFor: viewer.user,
				subtype: 'slackbot',
				...(threadTs === undefined ? {} : { threadTs }),
			});
		},
		dismiss: (viewer, { channel, ts }) => dismissMessage(core, viewer.user, channel, ts),
		trigger: (person, { window = MAIN_WINDOW, view } = {}) =>
			createTrigger(core, { user: personOf(core, person).id, window, view: view ?? null }),
		deliver: deliverer.deliver,
		forgetViews(ids) {
			removeViews(core, ids);
			core.state.windows = core.state.windows.filter((window) => window.stack.length > 0);
		},
		violations: () => core.traffic.violations(),
		setRequestUrl(url) {
			requestUrl = url;
		},
		verifyRequestUrl: () => verifyRequestUrl(core, requestUrl ?? ''),
		async connected(count = 1) {
			await changes.until(
				() => sockets.count() >= count,
				() => `${sockets.count()} sockets are connected, not ${count}.`,
			);
		},
		snapshot: () => structuredClone(core.state),
		restore(state) {
			core.state = structuredClone(state);
			changes.emit({ kind: 'state', id: 'restored' });
		},
		invite: (channel, person, inviter) => {
			const joining = { user: personOf(core, person).id, ...(inviter === undefined ? {} : { inviter }) };
			return invite(core, deliverer, channelOf(core, channel), joining);
		},
		remove: (channel, person) => leaveChannel(core, deliverer, channelOf(core, channel), personOf(core, person).id),
		archive: (channel, archived = true) => archiveChannel(core, deliverer, channelOf(core, channel), archived),
		deleteChannel: (channel) => deleteChannel(core, deliverer, channelOf(core, channel)),
		inviteOrganisation: (channel, pending = true) =>
			inviteOrganisation(core, deliverer, channelOf(core, channel), pending),
		share: (channel, teamId) => shareChannel(core, deliverer, channelOf(core, channel), { teamId, shared: true }),
		unshare: (channel, teamId) => shareChannel(core, deliverer, channelOf(core, channel), { teamId, shared: false }),
		changePerson: (person, change) => changePerson(core, deliverer, personOf(core, person), change),
		revokeTokens: () => revokeTokens(core, deliverer),
		uninstall: () => uninstall(core, deliverer, sockets),
		tellOfRemoval: () => tellOfRemoval(core, deliverer),
		install: (botToken) => install(core, botToken),
		async limitEvents() {
			if (requestUrl === null) throw new Error('As far as is known, Slack tells this to request URLs only.');
			await limitEvents(core, deliverer);
		},
		async close() {
			deliverer.close();
			core.faults.clear();
			sockets.close();
			server.closeAllConnections();
			await new Promise<void>((resolve) => server.close(() => resolve()));
		},
	};
	appsOf.set(slack, self);
	return slack;
}
