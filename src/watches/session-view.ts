import type { Digest } from '../questions/changes.ts';
import type { AgentAction } from '../questions/session.ts';

/** One item of a question as a channel may see it. */
export interface ItemView {
	readonly title: string;
	readonly description: string;
	readonly open: boolean;
	/** What was answered; null while nothing was, and always for what looks like a secret. */
	readonly value: string | null;
	readonly secret: boolean;
}

export interface QuestionView {
	readonly messageIndex: number;
	readonly fingerprint: string;
	/** What the agent wrote in the message that asks. */
	readonly context: string;
	/** The first ones; see `itemCount`. */
	readonly items: readonly ItemView[];
	readonly itemCount: number;
	readonly openCount: number;
}

export interface StepView {
	readonly step: number;
	readonly text: string;
	readonly actions: readonly AgentAction[];
}

/**
 * What channels show of a session: cut to a few kilobytes, without links, variables and secret values, so that any
 * replica can write a card without reading the session again. Texts are the agent's own and untrusted.
 */
export interface SessionView {
	readonly sessionId: string;
	readonly name: string;
	readonly task: string | null;
	readonly status: string;
	readonly step: number;
	readonly maxSteps: number;
	/** Newest first. */
	readonly steps: readonly StepView[];
	readonly question: QuestionView | null;
	readonly result: string | null;
	readonly fileCount: number;
	readonly hasScreenshot: boolean;
	readonly digest: Digest;
	/** Clock milliseconds of the read it was made from. */
	readonly seenAt: number;
}
