import type { Clock } from '../src/kernel/clock.ts';
import { type AgentSettings, createAgent, play, type Scenario } from './agents.ts';
import { type AnswerJson, isAnswered, type MessageJson, type SessionJson, textOf } from './json.ts';
import type { RequestLog } from './log.ts';
import { type Blob, isEnded, type State } from './state.ts';

export type PageVerdict =
	| { readonly ok: true; readonly messageIndex: number }
	| { readonly ok: false; readonly reason: 'ended' | 'already answered' | 'nothing asked' };

/** A session with its agent's work, as plain data; contents of files in base64. */
export interface SavedSession {
	readonly id: string;
	readonly json: SessionJson;
	readonly scenario: string | null;
	readonly foreign: boolean;
	readonly source: string;
	readonly screenshotStep: number | null;
	readonly blobs: readonly { readonly name: string; readonly type: string; readonly base64: string }[];
}

export interface SessionsSettings {
	readonly state: State;
	readonly clock: Clock;
	readonly log: RequestLog;
	readonly scenarios: readonly Scenario[];
	readonly pace: number;
	readonly onScriptError: (error: unknown) => void;
}

/** The sessions for a test or the sandbox page, without the service's HTTP. */
export function createSessions({ state, clock, log, scenarios, pace, onScriptError }: SessionsSettings) {
	/** The newest message of any role but user with items: the question that the service's own web page shows. */
	function askingIndex(json: SessionJson): number {
		return (
			json.messages?.findLastIndex((message) => message?.role !== 'user' && (message?.human_input?.length ?? 0) > 0) ??
			-1
		);
	}

	/**
	 * Answers as the service's web page does: it accepts nothing once the session has ended or any item has a value, and
	 * sends empty items as "".
	 */
	function answerAsPage(id: string, values: readonly string[], messageIndex?: number): PageVerdict {
		const record = state.requireRecord(id);
		if (isEnded(record.json)) return { ok: false, reason: 'ended' };
		const index = messageIndex ?? askingIndex(record.json);
		const asked = record.json.messages?.[index]?.human_input ?? [];
		if (asked.length === 0) return { ok: false, reason: 'nothing asked' };
		if (asked.some(isAnswered)) return { ok: false, reason: 'already answered' };
		const items: AnswerJson[] = asked.map((one, position) => ({
			title: one.title ?? '',
			description: one.description ?? '',
			value: values[position] ?? '',
		}));
		const entry = log.begin({
			at: clock.now(),
			kind: 'page',
			method: 'PUT',
			path: `/page/${id}`,
			sessionId: id,
			address: 'the web page',
			hasKey: false,
			contentType: null,
			ifNoneMatch: null,
		});
		entry.body = { sessionId: id, messageIndex: index, humanInputResponse: items };
		entry.messageIndex = index;
		entry.sessionStatus = record.json.status ?? null;
		entry.savedAt = clock.now();
		entry.savedWallMs = performance.timeOrigin + performance.now();
		entry.status = 200;
		entry.answeredAt = clock.now();
		Object.assign(entry, state.save(record, index, items));
		return { ok: true, messageIndex: index };
	}

	/**
	 * Starts a scenario from its beginning, under its own id or another.
	 * @throws Error when there is no scenario with that name.
	 */
	function start(name: string, id: string = name): string {
		const scenario = scenarios.find((candidate) => candidate.id === name);
		if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
		return run(id, scenario);
	}

	/** Starts a scenario that is not one of the service's own, for example a test's. */
	function run(id: string, scenario: Scenario): string {
		const record = state.add(id, scenario.seed, {
			scenario: scenario.id,
			...(scenario.blobs === undefined ? {} : { blobs: scenario.blobs }),
		});
		if (record.json.startTime === undefined) record.json.startTime = new Date(clock.now()).toISOString();
		state.touch(record);
		const settings: AgentSettings = { state, clock, pace, answerAsPage };
		play(scenario, createAgent(settings, record), record, onScriptError);
		return id;
	}

	/** Everything, for `restore`. */
	function snapshot(): SavedSession[] {
		return [...state.records.values()].map(({ id, json, scenario, foreign, source, screenshotStep, blobs }) => ({
			id,
			json: structuredClone(json),
			scenario,
			foreign,
			source,
			screenshotStep,
			blobs: [...blobs].map(([name, { type, content }]) => ({
				name,
				type,
				base64: Buffer.from(content).toString('base64'),
			})),
		}));
	}

	/** Restores kept sessions. Their agents continue where they were. */
	function restore(saved: readonly SavedSession[]): void {
		for (const one of saved) {
			const scenario = scenarios.find((candidate) => candidate.id === one.scenario);
			const record = state.add(one.id, one.json, {
				foreign: one.foreign,
				source: one.source,
				blobs: Object.fromEntries(
					one.blobs.map(({ name, type, base64 }) => [name, { type, content: Buffer.from(base64, 'base64') }]),
				),
				...(scenario === undefined ? {} : { scenario: scenario.id }),
			});
			record.screenshotStep = one.screenshotStep;
			const asked = record.json.messages?.[askingIndex(record.json)]?.human_input ?? [];
			// It was answered just before it would have continued.
			if (record.json.status === 'humanInput' && asked.some(isAnswered)) record.json.status = 'active';
			if (scenario === undefined || isEnded(record.json)) continue;
			const done = (record.json.messages?.length ?? 0) - (scenario.seed.messages?.length ?? 0);
			play(scenario, createAgent({ state, clock, pace, answerAsPage, done }, record), record, onScriptError);
		}
	}

	return {
		answerAsPage,
		snapshot,
		restore,
		start,
		run,
		scenarios,
		/**
		 * Adds or replaces a session without an agent. `foreign`: it belongs to another account. `source`: `api` by default,
		 * `client` when it was started in the service's web page.
		 */
		put(
			id: string,
			json: SessionJson,
			options: { foreign?: boolean; source?: string; blobs?: Readonly<Record<string, Blob>> } = {},
		): void {
			state.add(id, json, options);
		},
		remove: (id: string): void => state.remove(id),
		has: (id: string): boolean => state.records.has(id),
		ids: (): readonly string[] => [...state.records.keys()],
		/** The stored JSON, live. @throws Error when there is no such session. */
		get: (id: string): SessionJson => state.requireRecord(id).json,
		/** The current values of a message's items. */
		values: (id: string, messageIndex: number): readonly string[] =>
			(state.requireRecord(id).json.messages?.[messageIndex]?.human_input ?? []).map(textOf),
		/** The index of the question that the service's web page shows; -1 without one. */
		askingIndex: (id: string): number => askingIndex(state.requireRecord(id).json),
		push: (id: string, message: MessageJson): number => state.push(id, message),
		/** Somebody pauses, resumes or stops it in the dashboard. The agent of an ended session does nothing more. */
		setStatus(id: string, status: string): void {
			state.setStatus(id, status);
			const record = state.requireRecord(id);
			if (isEnded(record.json)) record.abort.abort(new Error('the session was ended'));
		},
		/** Changes top-level fields. */
		patch(id: string, fields: SessionJson): void {
			const record = state.requireRecord(id);
			Object.assign(record.json, structuredClone(fields));
			state.touch(record);
		},
		/** The next read renews the signed links: its tag and its extra fields change, and nothing that a person sees. */
		renewLinks(id: string): void {
			state.requireRecord(id).renewDue = true;
		},
		/** Resolves as soon as the stored session satisfies the predicate. */
		until: (id: string, predicate: (json: SessionJson) => boolean, signal?: AbortSignal): Promise<void> =>
			state.until(id, predicate, signal),
	};
}

export type Sessions = ReturnType<typeof createSessions>;
