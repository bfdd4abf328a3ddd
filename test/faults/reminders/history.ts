import type { ChannelSettings } from '../../../src/store/watch.ts';
import type { Interval } from './local-time.ts';

/** A message that Slack got. */
export interface Post {
	/** When the program called Slack. */
	readonly at: number;
	readonly channelId: string;
	readonly ts: string;
	readonly text: string;
	/** Text and blocks as JSON, without the values and labels of buttons, which nobody sees. */
	readonly content: string;
	readonly threadTs: string | null;
}

/** A question of an agent. */
export interface Asked {
	/** Stands in the question's text. */
	readonly id: string;
	readonly sessionId: string;
	/** The question that stood in the same message before: whoever answers that one holds this one too. */
	readonly changedFrom?: string;
	readonly askedAt: number;
	/** When it took no more answers, known or not; null until then. */
	settledAt: number | null;
}

/** A successful read of a session. */
export interface Read {
	readonly sessionId: string;
	readonly beganAt: number;
	/** The session's state of this time was returned. */
	readonly stateAt: number;
	readonly storedAt: number;
	/** False when the process was killed while it was stored: it may be stored or not. */
	isSure: boolean;
}

/** Of a question. `isSure`: false when the process was killed while it was stored. */
export interface Held {
	readonly questionId: string;
	readonly from: number;
	to: number;
	readonly isSure: boolean;
}

/** A time without a running process. */
export interface Stop extends Interval {
	readonly how: 'stopped' | 'killed';
}

/** What happened in a run, without anything that the program noted for itself. */
export function createHistory() {
	return {
		posts: [] as Post[],
		questions: [] as Asked[],
		/** The channels that watch a session. */
		channelsOf: new Map<string, readonly string[]>(),
		reads: [] as Read[],
		/** Somebody was answering. */
		claims: [] as Held[],
		/** An answer was stored. `to`: it was taken back, or has failed. */
		answers: [] as Held[],
		/** The settings of a channel from a time on. */
		settings: [] as { channelId: string; at: number; settings: ChannelSettings }[],
		/** The service was away. */
		outages: [] as Interval[],
		stops: [] as Stop[],
		/** When nothing happened any more. */
		endedAt: 0,
	};
}

export type History = ReturnType<typeof createHistory>;
