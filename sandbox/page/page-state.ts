import { NOBODY, type WireCall, type WireFrame, type WireMessage, type WireParts } from '../wire.ts';

const CALLS_KEPT = 500;

/** The state of this window, as the sandbox sent it. */
export interface PageData extends WireParts {
	/** Oldest first. */
	messages: readonly WireMessage[];
	calls: readonly WireCall[];
}

export interface PageState {
	data: PageData | null;
	isConnected: boolean;
	/** Nobody in this workspace has the name in the address. */
	isNobody: boolean;
}

const byTs = (a: WireMessage, b: WireMessage) => (a.ts < b.ts ? -1 : a.ts > b.ts ? 1 : 0);
const keyOf = (message: WireMessage) => `${message.channel}/${message.ts}`;

function mergeMessages(before: readonly WireMessage[], frame: WireFrame): readonly WireMessage[] {
	if (frame.messages === undefined && frame.gone === undefined) return before;
	const gone = new Set([...(frame.gone ?? []), ...(frame.messages ?? []).map(keyOf)]);
	return [...before.filter((one) => !gone.has(keyOf(one))), ...(frame.messages ?? [])].sort(byTs);
}

function mergeCalls(before: readonly WireCall[], calls: WireCall[] | undefined): readonly WireCall[] {
	if (calls === undefined) return before;
	const changed = new Map(calls.map((call) => [call.key, call]));
	const kept = before.map((call) => {
		const newer = changed.get(call.key);
		changed.delete(call.key);
		return newer ?? call;
	});
	return [...kept, ...changed.values()].slice(-CALLS_KEPT);
}

function merge(before: PageData | null, frame: WireFrame): PageData | null {
	const { messages: _messages, gone: _gone, calls, ...parts } = frame;
	const next = { ...before, ...parts };
	if (next.workspace === undefined) return before;
	return {
		...(next as WireParts),
		messages: mergeMessages(before?.messages ?? [], frame),
		calls: mergeCalls(before?.calls ?? [], calls),
	};
}

/** The stream of changes for one person's window. It reconnects by itself after a restart of the sandbox. */
export function createPageStore(person: string, window: string) {
	let state: PageState = { data: null, isConnected: false, isNobody: false };
	const listeners = new Set<() => void>();
	function set(next: PageState): void {
		state = next;
		for (const listener of listeners) listener();
	}
	function connect(): void {
		const query = new URLSearchParams({ as: person, window });
		const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/sandbox/stream?${query}`);
		let isFirst = true;
		socket.addEventListener('message', (event: MessageEvent<string>) => {
			const frame = JSON.parse(event.data) as WireFrame;
			set({ ...state, data: merge(isFirst ? null : state.data, frame), isConnected: true });
			isFirst = false;
		});
		socket.addEventListener('close', ({ code }) => {
			const isNobody = code === NOBODY;
			set({ ...state, isConnected: false, isNobody });
			if (!isNobody) setTimeout(connect, 700);
		});
	}
	connect();
	return {
		subscribe: (listener: () => void): (() => void) => {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
		get: () => state,
	};
}
