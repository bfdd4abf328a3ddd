import type { Edit } from '../edits/edit.ts';
import { type FaultName, isFault } from './kinds/index.ts';
import type { Aim } from './run.ts';

/** Replicas on one database compare the times of their own machines. */
const OWN_TIMES: readonly Edit[] = [
	{ file: 'store/store-clock.ts', in: 'measure', call: 'databaseTime', becomes: 'Date.now()' },
	{ file: 'delivery/answer-store.ts', in: 'beginPut', call: 'isNow', becomes: 'sql<boolean>`true`' },
];

/** A step of the clock is found within the time that a turn has. */
export const QUICK_LOOKS: readonly Edit[] = [
	{ file: 'store/store-clock.ts', constant: 'LOOK_EVERY_MS', becomes: '1_000' },
];

/**
 * Ways to break the promise, to show that the run notices:
 * - `ack-first`: a submission is acknowledged before it is written.
 * - `blind-repeat`: after an unknown outcome the answer is sent again without waiting and comparing.
 * - `audit-lost`: what became of an answer is not recorded.
 * - `audit-early`: an answer is recorded as delivered when it is accepted.
 *
 * The others have the name of a fault and remove what the program does against it. Where two parts of the program cover
 * each other, both are removed.
 */
export const SABOTAGES = {
	'ack-first': [
		{
			file: 'delivery/accept.ts',
			in: 'submit',
			call: 'acceptDespiteLostReply',
			becomes: `((answer) => {
				setTimeout(() => void $callee(answer), 100);
				return { kind: 'accepted', answer: { ...answer, state: 'accepted', lastError: null } };
			})($1)`,
		},
	],
	'audit-lost': [{ file: 'delivery/recorded.ts', in: 'recordFate', call: 'record', becomes: 'undefined' }],
	'audit-early': [
		{
			file: 'delivery/recorded.ts',
			in: 'recordAct',
			call: 'record',
			becomes: "[$call, recordFate(tx, answer, 'delivered', 'delivered')]",
		},
	],
	'blind-repeat': [
		{ file: 'delivery/deliver.ts', in: 'lookFor', call: 'landsForMs', becomes: '0' },
		{ file: 'delivery/deliver.ts', in: 'lookFor', call: 'settleSent', becomes: 'null' },
		{
			file: 'delivery/deliver.ts',
			in: 'readAndSend',
			if: 'comparison',
			becomes: "comparison.kind !== 'clear' && answer.putStartedAt === null",
		},
	],
	// A failed attempt overwrites the row's newer state.
	'commit-reply': [
		{ file: 'delivery/deliver.ts', in: 'fail', call: 'get', becomes: 'attempt.answer' },
		{ file: 'delivery/answer-store.ts', in: 'update', property: 'state', becomes: null },
	],
	// Nothing is delivered before Slack has said which bot this is.
	'slack-at-start': [
		{ file: 'app.ts', in: 'createHandraise.start', call: 'startWorking', becomes: 'undefined' },
		{
			file: 'app.ts',
			in: 'createHandraise.start',
			call: 'identify',
			becomes: '$call.then(async (identity) => { await startWorking(); return identity; })',
		},
	],
	// A form counts as read at the end of its read, and nobody looks for a colleague who was first.
	'late-read': [
		{
			file: 'service/client.ts',
			in: 'readOnce',
			returns: '((reading) => ({ ...reading, readAt: reading.endedAt }))($result)',
		},
		{ file: 'delivery/earlier-answers.ts', in: 'whoWasFirst', call: 'isToSame', becomes: 'false' },
	],
	// An answer that may have arrived stops blocking when its time is over.
	'give-up': [
		{
			file: 'delivery/deliver.ts',
			in: 'fail',
			if: 'giveUpAt',
			becomes: 'clock.now() >= attempt.answer.giveUpAt',
		},
	],
	// An earlier PUT is forgotten when the question changes or the session ends.
	'changed-unknown': [
		{ file: 'delivery/deliver.ts', in: 'endedBy', property: 'putStartedAt', becomes: 'null' },
		{ file: 'delivery/deliver.ts', in: 'settleSent', property: 'putStartedAt', becomes: 'null', every: true },
		{ file: 'delivery/deliver.ts', in: 'settleSent', call: 'hasMovedSince', becomes: 'false' },
	],
	clocks: [
		...OWN_TIMES,
		{ file: 'kernel/clock.ts', constant: 'CLOCK_ALLOWANCE_MS', becomes: '0' },
		// A replica trusts times since its own start only, and the one with the wrong clock has just started.
		{ file: 'kernel/clock.ts', in: 'elapsedSince', returns: 'Math.max(0, clock.now() - at)' },
	],
	// When the reply to an INSERT is lost, nobody checks whether the answer was stored.
	'insert-reply': [{ file: 'delivery/accept.ts', in: 'acceptDespiteLostReply', if: 'commitUnknown', becomes: 'true' }],
	// A stop waits for no PUT.
	stop: [{ file: 'delivery/worker.ts', constant: 'STOP_WITHIN_MS', becomes: '0' }],
	// Times from before the machine's clock was set are trusted, on PostgreSQL too.
	'clock-jump': [
		...OWN_TIMES,
		{ file: 'kernel/clock.ts', in: 'elapsedSince', returns: 'clock.now() - at' },
		{ file: 'store/store-clock.ts', in: 'look', call: 'repairTimes', becomes: 'undefined' },
	],
} as const satisfies Record<FaultName | 'ack-first' | 'blind-repeat' | 'audit-lost' | 'audit-early', readonly Edit[]>;

/**
 * Ways to break one-press answers, by the run that has to notice:
 * - `press-ack-first`: a press is acknowledged before it is written.
 * - `press-early`: the time for *Undo* is ignored.
 * - `press-silent`: nobody is told that somebody else was first.
 * - `press-over`: a press does not look for answers that block it.
 * - `undo-late`: an answer is taken back although its PUT has begun.
 * - `undo-alone`: who lost to an answer that is taken back is forgotten.
 */
export const PRESS_SABOTAGES = {
	'press-ack-first': [
		{
			file: 'slack/listen.ts',
			in: 'storingAction',
			call: 'store',
			becomes: '(async () => { await ack(); await clock.sleep(30); return $call; })()',
		},
	],
	'press-early': [
		{ file: 'domain/answer.ts', in: 'firstDueAt', returns: 'acceptedAt' },
		{ file: 'delivery/worker.ts', in: 'advance', call: 'max', becomes: 'answer.notBefore ?? 0' },
	],
	'press-silent': [{ file: 'people/answering/press.ts', in: 'tellResult', call: 'toPerson', becomes: 'true' }],
	'press-over': [
		{
			file: 'delivery/accept-store.ts',
			in: 'acceptAnswer',
			call: 'firstConflict',
			becomes: "answer.viewId === '' ? undefined : $call",
		},
	],
	'undo-late': [
		{
			file: 'delivery/answer-store.ts',
			in: 'withdraw',
			if: 'onlyUnsent',
			becomes: "!['accepted', 'delivering'].includes(answer.state) && (onlyUnsent || !isFailed(answer.state))",
		},
	],
	'undo-alone': [
		{ file: 'delivery/accept-store.ts', in: 'withdrawAnswer', call: 'returnTextsOfLosers', becomes: 'undefined' },
	],
} as const satisfies Record<string, readonly Edit[]>;

type PressSabotage = keyof typeof PRESS_SABOTAGES;
export type Sabotage = keyof typeof SABOTAGES | PressSabotage;

/** The run that has to notice each. */
export const PRESS_RUNS = {
	'press-ack-first': 'presses',
	'press-early': 'presses',
	'press-silent': 'press-duels',
	'press-over': 'press-duels',
	'undo-late': 'undos',
	'undo-alone': 'undos',
} as const satisfies Record<PressSabotage, 'presses' | 'press-duels' | 'undos'>;

export function isPressSabotage(sabotage: Sabotage): sabotage is PressSabotage {
	return Object.hasOwn(PRESS_SABOTAGES, sabotage);
}

const AIMS = {
	'ack-first': 'before ack',
	'blind-repeat': 'during the PUT',
	'audit-lost': 'any time',
	'audit-early': 'any time',
} as const satisfies Record<Exclude<keyof typeof SABOTAGES, FaultName>, Aim>;

/** What shows a sabotage in a short run: the fault it is named after, or kills at the right moment. */
export function aimAgainst(sabotage: keyof typeof SABOTAGES): Aim {
	return isFault(sabotage) ? sabotage : AIMS[sabotage];
}
