import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../support/random.ts';
import type { Harness, Signal } from '../harness.ts';

/** What a kill aims at. What it hits is determined afterwards, for each submission under way. */
export const TARGETS = [
	'before commit',
	'before ack',
	// Twice, because the time between commit and acknowledgement is so short that half of the aims miss.
	'before ack',
	'before the read',
	'between read and PUT',
	'during the PUT',
	'before confirmation',
	'any time',
] as const;
export type Target = (typeof TARGETS)[number];

/** The moment comes within this time. */
const LATEST_MS = 4_000;

/**
 * Calls `strike` in a moment of this kind: at the event that marks it, or a random time later. Resolves after the call.
 */
export async function strikeAt(
	harness: Harness,
	sessions: ReadonlySet<string>,
	{ target, random }: { target: Target; random: Random },
	strike: () => void,
): Promise<void> {
	const some = random.whole(1, Math.max(1, Math.ceil(sessions.size / 3)));
	const on = (signal: Signal, count: number, minMs: number, maxMs: number) =>
		strikeAfter(harness, sessions, { signal, count, afterMs: random.between(minMs, maxMs) }, strike);
	switch (target) {
		case 'before commit':
			return on('pressed', some, 0, 6);
		case 'before ack':
			return random.chance(0.2) ? on('acked', 1, 0, 0) : on('commit', 1, 0, 4);
		case 'before the read':
			return on('acked', some, 0, 3);
		case 'between read and PUT':
			return on('read', some, 0, 8);
		case 'during the PUT':
			return on(random.chance(0.5) ? 'put' : 'saved', some, 0, 0);
		case 'before confirmation':
			return on('saved', some, 5, 2_300);
		case 'any time':
			return on('pressed', 1, 0, 3_000);
	}
}

/** Calls `strike` that long after the `count`-th such signal for these sessions. Resolves after the call. */
export async function strikeAfter(
	harness: Harness,
	sessions: Pick<ReadonlySet<string>, 'has'>,
	{ signal, count, afterMs }: { signal: Signal; count: number; afterMs: number },
	strike: () => void,
): Promise<void> {
	const { signals } = harness;
	let left = count;
	let struck = false;
	// Answers of earlier rounds are still under way. Signals for them do not count.
	let begun = false;
	const begin = () => {
		begun = true;
	};
	signals.once('pressed', begin);
	const late = new AbortController();
	await new Promise<void>((resolve) => {
		const hit = () => {
			if (struck) return;
			struck = true;
			signals.off(signal, hear);
			signals.off('pressed', begin);
			late.abort();
			strike();
			resolve();
		};
		const hear = (sessionId?: string) => {
			if (!begun || (sessionId !== undefined && !sessions.has(sessionId)) || --left !== 0) return;
			if (afterMs < 0.2) hit();
			else if (afterMs < 1) setImmediate(hit);
			else setTimeout(hit, afterMs);
		};
		signals.on(signal, hear);
		pause(LATEST_MS, undefined, { signal: late.signal }).then(hit, () => undefined);
	});
}

/** Calls `react` at the next signal of this kind for this session. */
export function onceFor({ signals }: Harness, signal: Signal, sessionId: string, react: () => void): void {
	const hear = (of?: string) => {
		if (of !== sessionId) return;
		signals.off(signal, hear);
		react();
	};
	signals.on(signal, hear);
}
