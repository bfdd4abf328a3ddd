import { type FaultName, isFault } from './kinds/index.ts';
import type { Aim } from './run.ts';
import type { Replacement } from './source-copy.ts';

/**
 * Ways to break the promise, to show that the run notices:
 * - `ack-first`: a submission is acknowledged before it is written.
 * - `blind-repeat`: after an unknown outcome the answer is sent again without waiting and comparing.
 *
 * One with the name of a fault takes out what the program does against that fault. Where two parts of the program cover
 * each other, both are taken out.
 */
export const SABOTAGES = {
	'ack-first': [
		{
			file: 'slack/handlers/submission.ts',
			from: 'const result = await within(answers.submit(submissionOf(request, view, form)), storeMs);',
			to: `const submission = submissionOf(request, view, form);
		const result = { kind: 'accepted', answer: { ...submission, id: view.id, state: 'accepted', lastError: null } };`,
		},
		{
			file: 'slack/handlers/submission.ts',
			from: 'await answers.afterAccept(result.answer);',
			to: 'await answers.afterAccept((await answers.submit(submission)).answer);',
		},
	],
	'blind-repeat': [
		{
			file: 'answers/deliver.ts',
			from: "if (maybeSentAt !== null && isEarly && comparison.kind !== 'alreadyOurs') {",
			to: 'if (false) {',
		},
		{
			file: 'answers/deliver.ts',
			from: 'const settled = await settle(current, comparison, session, maybeSentAt);',
			to: 'const settled = answer.putStartedAt !== null ? null : await settle(current, comparison, session, null);',
		},
		{
			file: 'answers/deliver.ts',
			from: 'const edited = await settle(current, compare(current, session), session, null);',
			to: 'const edited = null;',
		},
	],
	// A failed attempt writes over what the row has become meanwhile.
	'commit-reply': [
		{
			file: 'answers/deliver.ts',
			from: 'const current = await store.get(answer.id);',
			to: 'const current: Answer | null = answer;',
		},
		{
			file: 'store/answer-queue.ts',
			from: ".where('state', '=', state)",
			to: '',
		},
	],
	// Nothing is delivered before Slack has said who we are.
	'slack-at-start': [
		{
			file: 'app.ts',
			from: `await startWorking();
			const identity = await identify(clients.background, { clock, log, signal });`,
			to: `const identity = await identify(clients.background, { clock, log, signal });
			await startWorking();`,
		},
	],
	// A form is as old as the end of its read, and nobody looks for a colleague who was first.
	'late-read': [
		{
			file: 'session-service/session-reader.ts',
			from: 'const times = { readAt: began.readAt,',
			to: 'const times = { readAt: response.arrivedAt,',
		},
		{
			file: 'answers/earlier-answers.ts',
			from: 'for (const other of await store.delivered(answer.question, answer.fingerprint)) {',
			to: 'for (const other of []) {',
		},
	],
	// An answer that may have arrived stops blocking at the end of its time.
	'give-up': [
		{
			file: 'answers/deliver.ts',
			from: 'if (now >= answer.giveUpAt && mayHaveLanded === null) {',
			to: 'if (now >= answer.giveUpAt) {',
		},
	],
	// An earlier PUT is forgotten when the question is another or the session over.
	'changed-unknown': [
		{
			file: 'answers/deliver.ts',
			from: 'const ended = { nextAttemptAt: now, putStartedAt: maybeSentAt };',
			to: 'const ended = { nextAttemptAt: now, putStartedAt: null };',
		},
		{
			file: 'answers/deliver.ts',
			from: "if (hasMoved && comparison.kind !== 'alreadyOurs') {",
			to: 'if (false) {',
		},
	],
	// Replicas on one database compare times of their own machines, as if these agreed.
	clocks: [
		{
			file: 'store/open.ts',
			from: 'if (ownClock === undefined && databaseUrl != null) {',
			to: 'if (false) {',
		},
		{
			file: 'clock.ts',
			from: 'export const CLOCK_ALLOWANCE_MS = 5_000;',
			to: 'export const CLOCK_ALLOWANCE_MS = 0;',
		},
		// A replica counts from its own start at the earliest, and the one whose clock is wrong has just been started.
		{
			file: 'clock.ts',
			from: 'now - Math.max(at, clock.steadySince?.() ?? Number.NEGATIVE_INFINITY)',
			to: 'now - at',
		},
	],
	// Nobody asks again whether the answer was stored when the reply to its INSERT was lost.
	'insert-reply': [
		{
			file: 'answers/accept.ts',
			from: 'if (!isCommitUnknown(error)) throw error;',
			to: 'throw error;',
		},
	],
	// Times from before the machine's clock was set are believed, on PostgreSQL too.
	'clock-jump': [
		{
			file: 'store/open.ts',
			from: 'if (ownClock === undefined && databaseUrl != null) {',
			to: 'if (false) {',
		},
		{
			file: 'clock.ts',
			from: 'if (at > now + CLOCK_ALLOWANCE_MS) return 0;',
			to: 'return now - at;',
		},
		{
			file: 'store/due.ts',
			from: `(\${at} <= \${now} or \${at} > \${now + longestMs})`,
			to: `(\${at} <= \${now})`,
		},
		{
			file: 'session-service/budget-state.ts',
			from: 'const isAhead = state.backgroundDue > now + LONGEST_RETRY_AFTER_MS;',
			to: 'const isAhead = false;',
		},
	],
} as const satisfies Record<FaultName | 'ack-first' | 'blind-repeat', readonly Replacement[]>;

export type Sabotage = keyof typeof SABOTAGES;

const AIMS = {
	'ack-first': 'before ack',
	'blind-repeat': 'during the PUT',
} as const satisfies Record<Exclude<Sabotage, FaultName>, Aim>;

/** What shows a sabotage, so that a short run is enough: the fault it is named after, or kills at the right moment. */
export function aimAgainst(sabotage: Sabotage): Aim {
	return isFault(sabotage) ? sabotage : AIMS[sabotage];
}
