import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../fake-slack/index.ts';

/** The machine's time, moved ahead. Waiting takes as long as on the machine's clock. */
export interface MovedClock extends Clock {
	/** How far it is ahead of the machine's clock, in milliseconds. */
	readonly offsetMs: number;
	/** Moves it ahead by that many milliseconds more. */
	advance(ms: number): void | Promise<void>;
}

/** A clock that is ahead of the machine's by `offsetMs` at the start. */
export function createMovedClock(offsetMs: number): MovedClock {
	let ahead = offsetMs;
	return {
		sleepsInRealTime: true,
		now: () => Date.now() + ahead,
		sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
		get offsetMs() {
			return ahead;
		},
		advance(ms) {
			ahead += ms;
		},
	};
}
