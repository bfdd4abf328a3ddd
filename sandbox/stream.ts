import type { WebSocket } from 'ws';
import type { FakeSessionService } from '../fake-session-service/fake-session-service.ts';
import { type FakeSlack, type Manifest, sees, type Viewer } from '../fake-slack/index.ts';
import { agentsOnPage } from './agents.ts';
import { recentCalls } from './calls.ts';
import type { MovedClock } from './moved-clock.ts';
import { channelsOf, homeOf, messageOnPage, modalsOf, type ReadMarks, workspaceOf } from './person-view.ts';
import type { Troubles } from './troubles.ts';
import type { WireBot, WireCall, WireFrame, WireMessage, WireParts } from './wire.ts';

/** Changes within this time go out together. */
const COALESCE_MS = 50;
/** The session service sends no events, so it is read this often while a page is open. */
const LOOK_MS = 200;

interface StreamSources {
	slack: FakeSlack;
	service: FakeSessionService;
	manifest: Manifest;
	marks: ReadMarks;
	troubles: Troubles;
	clock: MovedClock;
	dashboardUrl: string;
	bot: () => WireBot;
}

/** The part that is the same for every page, with its JSON, made once for all of them. */
interface Shared {
	parts: [keyof WireParts, unknown, string][];
	calls: [WireCall, string][];
}

function shareable(sources: StreamSources): Shared {
	const { slack, service, troubles } = sources;
	const parts: Pick<WireParts, 'bot' | 'clock' | 'agents' | 'troubles'> = {
		bot: sources.bot(),
		clock: { offsetMs: sources.clock.offsetMs },
		agents: agentsOnPage(service, sources.dashboardUrl),
		troubles: troubles.list(),
	};
	return {
		parts: Object.entries(parts).map(([key, value]) => [key as keyof WireParts, value, JSON.stringify(value)]),
		calls: recentCalls(slack, service).map((call) => [call, JSON.stringify(call)]),
	};
}

type NextFrame = (shared: Shared) => WireFrame;

/** What one page has got, so that only changes are sent. */
function createFrames(sources: StreamSources, viewer: Viewer): NextFrame {
	const { slack, service } = sources;
	const sent = new Map<string, string>();
	let callsSent = new Map<string, string>();
	let messagesSent = new Map<string, string>();

	function own(): Pick<WireParts, 'workspace' | 'channels' | 'modals' | 'home'> {
		const scenarios = service.sessions.scenarios.map(({ id, summary }) => ({ id, summary }));
		return {
			workspace: workspaceOf(slack.state, viewer, {
				manifest: sources.manifest,
				hasHomeTab: slack.settings.homeTab,
				scenarios,
				serviceOrigin: service.url,
			}),
			channels: channelsOf(slack.state, viewer, sources.marks),
			modals: modalsOf(slack.state, viewer),
			home: homeOf(slack.state, viewer),
		};
	}
	/** The changed items of a list, and the list of the current ones. */
	function news<T>(all: readonly [string, T, string][], known: Map<string, string>): [T[], Map<string, string>] {
		const fresh = all.filter(([key, , json]) => known.get(key) !== json).map(([, one]) => one);
		return [fresh, new Map(all.map(([key, , json]) => [key, json]))];
	}

	return (shared) => {
		const parts = [
			...Object.entries(own()).map(([key, value]) => [key, value, JSON.stringify(value)] as const),
			...shared.parts,
		].filter(([key, , json]) => sent.get(key) !== json);
		for (const [key, , json] of parts) sent.set(key, json);
		const frame: WireFrame = Object.fromEntries(parts.map(([key, value]) => [key, value]));

		const seen = slack.state.messages
			.filter((message) => sees(slack, viewer, message))
			.map((message) => messageOnPage(viewer, message))
			.map((one): [string, WireMessage, string] => [`${one.channel}/${one.ts}`, one, JSON.stringify(one)]);
		const before = messagesSent;
		const [messages, nowSent] = news(seen, before);
		messagesSent = nowSent;
		const gone = [...before.keys()].filter((key) => !nowSent.has(key));
		if (messages.length > 0) frame.messages = messages;
		if (gone.length > 0) frame.gone = gone;

		const [calls, callsNow] = news(
			shared.calls.map(([call, json]): [string, WireCall, string] => [call.key, call, json]),
			callsSent,
		);
		callsSent = callsNow;
		if (calls.length > 0) frame.calls = calls;
		return frame;
	};
}

export type Stream = ReturnType<typeof createStream>;

/** Sends all open pages what their person sees, and what changed. */
export function createStream(sources: StreamSources) {
	const pages = new Map<WebSocket, NextFrame>();
	let timer: NodeJS.Timeout | null = null;
	let looking: NodeJS.Timeout | null = null;

	function tell(socket: WebSocket, next: NextFrame, shared: Shared): void {
		const frame = next(shared);
		if (Object.keys(frame).length > 0) socket.send(JSON.stringify(frame));
	}
	function flush(): void {
		timer = null;
		const shared = shareable(sources);
		for (const [socket, next] of pages) tell(socket, next, shared);
	}
	function changed(): void {
		if (pages.size > 0) timer ??= setTimeout(flush, COALESCE_MS);
	}
	const stop = sources.slack.changes.listen(changed);

	return {
		/** Sends a page everything, and then every change until it closes. */
		add(socket: WebSocket, viewer: Viewer) {
			const next = createFrames(sources, viewer);
			pages.set(socket, next);
			looking ??= setInterval(flush, LOOK_MS);
			socket.on('error', () => socket.terminate());
			socket.on('close', () => {
				pages.delete(socket);
				if (pages.size > 0 || looking === null) return;
				clearInterval(looking);
				looking = null;
			});
			tell(socket, next, shareable(sources));
		},
		/** For a change that no part reports by itself. */
		changed,
		close() {
			stop();
			if (timer !== null) clearTimeout(timer);
			if (looking !== null) clearInterval(looking);
			for (const socket of pages.keys()) socket.terminate();
		},
	};
}
