import type { Clock } from '../src/kernel/clock.ts';
import { asking } from './builders.ts';
import { type ItemJson, isAnswered, type MessageJson, type SessionJson, textOf } from './json.ts';
import type { Blob, SessionRecord, State } from './state.ts';

/** A session at its beginning, and its agent. */
export interface Scenario {
	/** The session id under which the service offers it, which people type: `demo`. */
	readonly id: string;
	/** One sentence for the sandbox page. */
	readonly summary: string;
	/** The session at its beginning; `startTime` is the start unless given. */
	readonly seed: SessionJson;
	readonly blobs?: Readonly<Record<string, Blob>>;
	/** Plays the agent. Runs until it returns or the session is replaced. */
	readonly play?: (agent: Agent) => Promise<void>;
}

/** What a scenario's script can do. Waits use the service's clock, times the service's `pace`. */
export interface Agent {
	/** Does one step: an assistant message with its actions, then the screenshot. */
	step(content: string, ...actions: Record<string, unknown>[]): void;
	/** Adds any message. Returns its index. */
	say(message: MessageJson): number;
	/** Waits, and for as long as the session is paused. */
	wait(ms: number): Promise<void>;
	/** Asks and waits for a person. Resolves with the answered values when the session is active again. */
	ask(content: string, items: readonly ItemJson[]): Promise<readonly string[]>;
	/** Asks without waiting. Returns the message's index. */
	pose(content: string, items: readonly ItemJson[]): number;
	/** Resolves with the values when the question of that message is answered and the session is active. */
	answered(messageIndex: number): Promise<readonly string[]>;
	/** Ends with a result in Markdown, and files by name and content. */
	complete(result: string, files?: Readonly<Record<string, Blob>>): void;
	status(status: string): void;
	/** Somebody answers in the service's own web page. */
	page(values: readonly string[]): void;
	/** Changes the stored JSON, which only the service itself could do. */
	change(edit: (json: SessionJson) => void): void;
	readonly now: () => number;
}

export interface AgentSettings {
	readonly state: State;
	readonly clock: Clock;
	/** Multiplies the scripts' waits: 1 is a person's pace, 0 continues at once. */
	readonly pace: number;
	readonly answerAsPage: (id: string, values: readonly string[]) => unknown;
	/**
	 * How many messages of the script are already in the record when a kept session continues. The script runs from its
	 * beginning, and these steps are not done again.
	 */
	readonly done?: number;
}

/** The tools of the agent that plays `record`. */
export function createAgent(settings: AgentSettings, record: SessionRecord): Agent {
	const { state, clock, pace, answerAsPage } = settings;
	const { id, abort } = record;
	let toReplay = settings.done ?? 0;

	function steps(): number {
		return record.json.messages?.filter((message) => message.role === 'assistant').length ?? 0;
	}

	function say(message: MessageJson): number {
		abort.signal.throwIfAborted();
		if (toReplay > 0) return (record.json.messages?.length ?? 0) - toReplay--;
		const index = state.push(id, message);
		if (message.role === 'assistant') {
			record.screenshotStep = steps();
			record.json.lastScreenshotTimestamp = new Date(clock.now()).toISOString();
			state.touch(record);
		}
		return index;
	}

	function status(next: string): void {
		abort.signal.throwIfAborted();
		if (toReplay > 0) return;
		state.setStatus(id, next);
	}

	function pose(content: string, items: readonly ItemJson[]): number {
		const wasThere = toReplay > 0;
		const index = say(asking(content, items));
		if (!wasThere) status('humanInput');
		return index;
	}

	async function answered(messageIndex: number): Promise<readonly string[]> {
		const items = () => record.json.messages?.[messageIndex]?.human_input ?? [];
		if (toReplay === 0) {
			await state.until(id, (json) => json.status === 'active' && items().some(isAnswered), abort.signal);
		}
		return items().map(textOf);
	}

	return {
		say,
		status,
		pose,
		answered,
		step(content, ...actions) {
			say({ role: 'assistant', content, agent_data: { action: actions } });
		},
		async wait(ms) {
			abort.signal.throwIfAborted();
			if (ms * pace > 0 && toReplay === 0) await clock.sleep(ms * pace, abort.signal);
			else await Promise.resolve();
			if (record.json.status === 'paused') {
				await state.until(id, (json) => json.status !== 'paused', abort.signal);
			}
		},
		ask: async (content, items) => answered(pose(content, items)),
		complete(result, files = {}) {
			const timestamp = new Date(clock.now()).toISOString();
			for (const [filename, blob] of Object.entries(files)) record.blobs.set(filename, blob);
			if (toReplay > 0) return;
			record.json.files = [
				...(record.json.files ?? []),
				...Object.keys(files).map((filename) => ({ filename, timestamp })),
			];
			say({ role: 'assistant', content: '', agent_data: { action: [{ done: { text: result } }] } });
			status('completed');
		},
		page(values) {
			if (toReplay === 0) answerAsPage(id, values);
		},
		change(edit) {
			abort.signal.throwIfAborted();
			if (toReplay > 0) return;
			edit(record.json);
			state.touch(record);
		},
		now: () => clock.now(),
	};
}

/** Starts a scenario's script. An abort ends it silently; `onError` gets other errors. */
export function play(scenario: Scenario, agent: Agent, record: SessionRecord, onError: (error: unknown) => void): void {
	if (scenario.play === undefined) return;
	scenario.play(agent).catch((error: unknown) => {
		if (!record.abort.signal.aborted) onError(error);
	});
}
