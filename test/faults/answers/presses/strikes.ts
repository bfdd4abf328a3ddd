import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../../support/random.ts';
import type { Harness, Signal } from '../../harness.ts';
import { createHits, type Outage, type Victims } from '../../hits.ts';
import type { StoredAnswer } from '../../stores.ts';
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

export interface PressStrikes {
	readonly counts: {
		readonly kills: number;
		readonly outages: number;
		readonly freezes: number;
		readonly cuts: number;
		/** Posts that Slack was being asked to update when the program was killed. */
		readonly redraws: number;
	};
	/** Kills, cuts off or stops something at the chosen moment. Resolves when the program runs normally again. */
	strike(target: PressTarget, choices: readonly Choice[]): Promise<void>;
}

interface Options {
	readonly harness: Harness;
	readonly random: Random;
	readonly undoMs: number;
	/** Stops the database instead of the program at every twelfth strike. */
	readonly outage?: Outage | undefined;
	/** Freezes one of several replicas for this long instead, at every 20th strike. */
	readonly freezeMs?: number | undefined;
	/** The newest moment at which Slack was asked to update the post of this session's question. */
	readonly redrawnAt: ReadonlyMap<string, number>;
}

/** Updates of posts wait for Slack's rate, so that one of this moment may belong to an earlier press. */
const EVERY_SESSION = { has: () => true };
/** By then everything written to a socket before the kill has arrived. */
const IN_FLIGHT_MS = 60;
/** An update of a post that began so recently is still under way, or not noted in the store. */
const REDRAW_MS = 40;
/** The program sends an answer within this time after its undo time ended. */
const SENDING_MS = 120;

export function createPressStrikes(options: Options): PressStrikes {
	const { harness, random, undoMs, outage, freezeMs, redrawnAt } = options;
	const hits = createHits(harness, random);
	const counts = { cuts: 0, redraws: 0 };
	let number = 0;

	const momentOf = (target: PressTarget, choices: readonly Choice[]) => (hit: () => void) => at(target, choices, hit);

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

	async function kill(target: PressTarget, choices: readonly Choice[]): Promise<void> {
		let seen: ReturnType<typeof progressOf>[] = [];
		const victims = await hits.kill(momentOf(target, choices), 0.4, () => {
			seen = choices.map((choice) => progressOf(choice));
			counts.redraws += [...redrawnAt.values()].filter((updatedAt) => Date.now() - updatedAt < REDRAW_MS).length;
		});
		await pause(IN_FLIGHT_MS);
		const stored = await harness.store.stored();
		for (const progress of seen) {
			const phase = phaseOf(progress, stored, victims);
			if (phase !== null) progress.choice.hits.push(phase);
		}
		if (random.chance(0.3)) await pause(random.whole(0, 500));
		await harness.startAll();
	}

	/** Call it at the moment of the kill. */
	function progressOf(choice: Choice) {
		const { sessionId, messageIndex } = choice.question;
		const attempt = choice.attempts.at(-1);
		const put = harness.service.log.puts(sessionId, messageIndex).at(-1);
		const now = Date.now();
		return {
			choice,
			attempt,
			acked: attempt !== undefined && attempt.ackedAt !== null,
			isTold: choice.told.length > 0,
			inWindow: attempt !== undefined && now < attempt.sentAt + undoMs,
			put: put === undefined ? null : put.answeredAt === null && !put.reset ? 'open' : 'ended',
		};
	}

	function phaseOf(
		{ choice, attempt, acked, isTold, inWindow, put }: ReturnType<typeof progressOf>,
		stored: readonly StoredAnswer[],
		victims: Victims,
	): PressPhase | null {
		if (attempt === undefined) return null;
		const { sessionId, messageIndex } = choice.question;
		const row = stored.find(
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
		get counts() {
			return { ...hits.counts, ...counts };
		},
		async strike(target, choices) {
			number++;
			const note = (trouble: string) => {
				for (const choice of choices) choice.troubles.push(trouble);
			};
			if (outage !== undefined && (outage.everyTurn === true || number % 12 === 9)) {
				await hits.database(momentOf(target, choices), outage, 2_000);
				note('the database was stopped and started');
				return;
			}
			if (freezeMs !== undefined && number % 20 === 7) {
				await hits.freeze(momentOf(target, choices), freezeMs);
				note('a replica stood still');
				return;
			}
			if (number % 6 === 5) {
				counts.cuts++;
				// Acknowledgements and replies on their way are lost.
				await momentOf(target, choices)(() => harness.slack.sockets.drop('all'));
				note('the connection to Slack was cut');
				return;
			}
			await kill(target, choices);
			// Crashes come in series too: this one meets the work after the first restart.
			if (random.chance(0.25)) await kill('any time', choices);
		},
	};
}
