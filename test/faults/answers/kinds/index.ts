import type { FaultKind } from '../turn.ts';
import { changedUnknown } from './changed-unknown.ts';
import { clockJump } from './clock-jump.ts';
import { clocks } from './clocks.ts';
import { giveUp } from './give-up.ts';
import { lateRead } from './late-read.ts';
import { commitReply, insertReply } from './lost-replies.ts';
import { slackAtStart } from './slack-at-start.ts';
import { stop } from './stop.ts';

/** Faults other than a kill, by the name that `--target` takes. */
export const FAULT_KINDS = {
	'commit-reply': commitReply,
	'insert-reply': insertReply,
	'slack-at-start': slackAtStart,
	'late-read': lateRead,
	'give-up': giveUp,
	'changed-unknown': changedUnknown,
	clocks,
	'clock-jump': clockJump,
	stop,
} as const satisfies Record<string, FaultKind>;

export type FaultName = keyof typeof FAULT_KINDS;

export function isFault(name: string): name is FaultName {
	return Object.hasOwn(FAULT_KINDS, name);
}
