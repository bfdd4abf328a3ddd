import type { Signal } from '../../harness.ts';
import { createStrikes, type StrikeOptions, type Victims } from '../../hits.ts';
import { strikeAfter } from '../moments.ts';
import type { Choice } from './choice.ts';

/** What a kill aims at. What it hits is determined afterwards, for each press. */
export const PRESS_TARGETS = [
	'before the write',
	'before the acknowledgement',
	'before the acknowledgement',
	'before the reply',
	'in the undo window',
	'before the PUT',
	'before the PUT',
	'during the PUT',
	'after the PUT',
	'while the post is redrawn',
	'any time',
] as const;
export type PressTarget = (typeof PRESS_TARGETS)[number];

/** Where a press was when the process that handled it was killed. */
export const PRESS_PHASES = [
	'before the write',
	'before the acknowledgement',
	'before the reply',
	'in the undo window',
	'before the PUT',
	'during the PUT',
	'after the PUT',
] as const;
export type PressPhase = (typeof PRESS_PHASES)[number];

interface Options
	extends Pick<StrikeOptions<PressTarget, Choice, unknown>, 'harness' | 'random' | 'outage' | 'freezeMs'> {
	readonly undoMs: number;
	/** The newest moment at which Slack was asked to update the post of this session's question. */
	readonly redrawnAt: ReadonlyMap<string, number>;
}

/** How far an answer had come. */
interface Progress {
	readonly attempt: Choice['attempts'][number] | undefined;
	readonly acked: boolean;
	readonly isTold: boolean;
	readonly inWindow: boolean;
	readonly put: 'open' | 'ended' | null;
}

/** Updates of posts wait for Slack's rate, so that one of this moment may belong to an earlier press. */
const EVERY_SESSION = { has: () => true };
/** An update of a post that began so recently is still under way, or not noted in the store. */
const REDRAW_MS = 40;
/** The program sends an answer within this time after its undo time ended. */
const SENDING_MS = 120;

export function createPressStrikes({ undoMs, redrawnAt, ...options }: Options) {
	const { harness, random } = options;
	/** Posts that Slack was being asked to update when the program was killed. */
	let redraws = 0;
	const strikes = createStrikes<PressTarget, Choice, ReadonlyMap<Choice, Progress>>({
		...options,
		cuts: true,
		at,
		look(choices) {
			redraws += [...redrawnAt.values()].filter((updatedAt) => Date.now() - updatedAt < REDRAW_MS).length;
			return new Map(choices.map((choice) => [choice, progressOf(choice)]));
		},
		phaseOf,
	});

	/** Calls `hit` in a moment of this kind. */
	async function at(target: PressTarget, choices: readonly Choice[], hit: () => void): Promise<void> {
		const sessions = new Set(choices.map(({ question }) => question.sessionId));
		const some = random.whole(1, Math.max(1, Math.ceil(sessions.size / 3)));
		const on = (signal: Signal, count: number, minMs: number, maxMs: number) => {
			const when = { signal, count, afterMs: random.between(minMs, maxMs) };
			return strikeAfter(harness, signal === 'redraw' ? EVERY_SESSION : sessions, when, hit);
		};
		switch (target) {
			case 'before the write':
				return on('pressed', some, 0, 6);
			case 'before the acknowledgement':
				return random.chance(0.2) ? on('pressed', some, 2, 12) : on('commit', 1, 0, 4);
			case 'before the reply':
				return on('acked', some, 0, 6);
			case 'in the undo window':
				return on('acked', some, 10, undoMs);
			case 'before the PUT':
				return on('pressed', some, undoMs, undoMs + SENDING_MS);
			case 'during the PUT':
				return on(random.chance(0.5) ? 'put' : 'saved', some, 0, 0);
			case 'after the PUT':
				return on('saved', some, 5, 1_500);
			case 'while the post is redrawn':
				return on('redraw', 1, 0, 20);
			case 'any time':
				return on('pressed', 1, 0, undoMs + 1_500);
		}
	}

	function progressOf(choice: Choice): Progress {
		const { sessionId, messageIndex } = choice.question;
		const attempt = choice.attempts.at(-1);
		const put = harness.service.log.puts(sessionId, messageIndex).at(-1);
		const now = Date.now();
		return {
			attempt,
			acked: attempt !== undefined && attempt.ackedAt !== null,
			isTold: choice.told.length > 0,
			inWindow: attempt !== undefined && now < attempt.sentAt + undoMs,
			put: put === undefined ? null : put.answeredAt === null && !put.reset ? 'open' : 'ended',
		};
	}

	function phaseOf(choice: Choice, seen: ReadonlyMap<Choice, Progress>, victims: Victims): PressPhase | null {
		const progress = seen.get(choice);
		if (progress?.attempt === undefined) return null;
		const { acked, isTold, inWindow, put } = progress;
		const { sessionId, messageIndex } = choice.question;
		const row = victims.stored.find(
			(one) =>
				one.viewId === '' &&
				one.sessionId === sessionId &&
				Number(one.messageIndex) === messageIndex &&
				one.userId === choice.userId,
		);
		// Without an acknowledgement a surviving replica may have it. Then the kill met nothing.
		if (!acked) {
			return !victims.all ? null : row === undefined ? 'before the write' : 'before the acknowledgement';
		}
		const held = victims.pids.some((pid) => row?.leaseToken?.includes(`-${pid}/`) === true);
		if (!victims.all && !held) return null;
		if (!isTold && inWindow) return 'before the reply';
		if (inWindow) return 'in the undo window';
		if (put === null) return 'before the PUT';
		return put === 'open' ? 'during the PUT' : 'after the PUT';
	}

	return {
		next: strikes.next,
		get counts() {
			return { ...strikes.counts, redraws };
		},
	};
}
