import type { WebSocket } from 'ws';
import type { SessionService } from '../support/session-service/session-service.ts';
import type { Viewer } from '../support/slack/payloads.ts';
import type { SlackStandIn } from '../support/slack/stand-in.ts';
import { agentsOnPage } from './agents.ts';
import { recentCalls } from './calls.ts';
import type { Manifest } from './manifest.ts';
import { channelsOf, messageOnPage, modalsOf, type ReadMarks, seesMessage, workspaceOf } from './person-view.ts';
import type { Troubles } from './troubles.ts';
import type { WireBot, WireFrame, WireParts } from './wire.ts';

/** Changes within this time go out together. */
const COALESCE_MS = 20;
/** The session service tells of nothing by itself, so it is looked at this often while a page is open. */
const LOOK_MS = 200;

export interface StreamSources {
	slack: SlackStandIn;
	service: SessionService;
	manifest: Manifest;
	marks: ReadMarks;
	troubles: Troubles;
	dashboardUrl: string;
	bot: () => WireBot;
}

/** What one page has been told, so that only changes are sent. */
function createFrames(sources: StreamSources, viewer: Viewer): () => WireFrame {
	const { slack, service, troubles } = sources;
	const { core } = slack;
	const sent = new Map<string, string>();
	let messagesSent = new Map<string, string>();

	function changed(key: string, value: unknown): boolean {
		const json = JSON.stringify(value);
		if (sent.get(key) === json) return false;
		sent.set(key, json);
		return true;
	}

	function parts(): WireParts {
		const scenarios = service.sessions.scenarios.map(({ id, summary }) => ({ id, summary }));
		return {
			workspace: workspaceOf(core, viewer, { manifest: sources.manifest, scenarios, serviceOrigin: service.url }),
			channels: channelsOf(core, viewer, sources.marks),
			modals: modalsOf(core, viewer),
			bot: sources.bot(),
			agents: agentsOnPage(service, sources.dashboardUrl),
			troubles: troubles.list(),
		};
	}

	return () => {
		const frame: WireFrame = Object.fromEntries(Object.entries(parts()).filter(([key, value]) => changed(key, value)));
		const now = new Map<string, string>();
		const messages = core.state.messages
			.filter((message) => seesMessage(core, viewer, message))
			.map((message) => messageOnPage(viewer, message))
			.filter((message) => {
				const key = `${message.channel}/${message.ts}`;
				const json = JSON.stringify(message);
				now.set(key, json);
				return messagesSent.get(key) !== json;
			});
		const gone = [...messagesSent.keys()].filter((key) => !now.has(key));
		messagesSent = now;
		if (messages.length > 0) frame.messages = messages;
		if (gone.length > 0) frame.gone = gone;
		const calls = recentCalls(slack, service).filter((call) => changed(`call ${call.key}`, call));
		if (calls.length > 0) frame.calls = calls;
		return frame;
	};
}

export interface Stream {
	/** Tells a page everything, and every change until it goes. */
	add(socket: WebSocket, viewer: Viewer): void;
	/** Something changed that no part tells of by itself. */
	changed(): void;
	close(): void;
}

/** Tells all open pages what their person would see, and what changed. */
export function createStream(sources: StreamSources): Stream {
	const pages = new Map<WebSocket, () => WireFrame>();
	let timer: NodeJS.Timeout | null = null;
	let looking: NodeJS.Timeout | null = null;

	function tell(socket: WebSocket, next: () => WireFrame): void {
		const frame = next();
		if (Object.keys(frame).length > 0) socket.send(JSON.stringify(frame));
	}
	function flush(): void {
		timer = null;
		for (const [socket, next] of pages) tell(socket, next);
	}
	function changed(): void {
		if (pages.size > 0) timer ??= setTimeout(flush, COALESCE_MS);
	}
	const stop = sources.slack.changes.listen(changed);

	return {
		add(socket, viewer) {
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
			tell(socket, next);
		},
		changed,
		close() {
			stop();
			if (timer !== null) clearTimeout(timer);
			if (looking !== null) clearInterval(looking);
			for (const socket of pages.keys()) socket.terminate();
		},
	};
}
