import { type FaultName, isFault } from './kinds/index.ts';
import type { Aim } from './run.ts';
import type { Replacement } from './source-copy.ts';

/**
 * Ways to break the promise, to show that the run notices:
 * - `ack-first`: a submission is acknowledged before it is written.
 * - `blind-repeat`: after an unknown outcome the answer is sent again without waiting and comparing.
 *
 * The others have the name of a fault and remove what the program does against it. Where two parts of the program cover
 * each other, both are removed.
 */
export const SABOTAGES = {
	'ack-first': [
		{
			file: 'features/answer/submission.ts',
			from: "const result = await inTime(answers.submit(submissionOf(request, form)), 'acceptance_unknown');",
			to: `const submission = submissionOf(request, form);
		const result = { kind: 'accepted', answer: { ...submission, id: view.id, state: 'accepted', lastError: null } };`,
		},
		{
			file: 'features/answer/submission.ts',
			from: 'else await Promise.all([answers.afterAccept(result.answer), drafting.submitted(result.answer)]);',
			to: 'else await answers.afterAccept((await answers.submit(submission)).answer);',
		},
	],
	'blind-repeat': [
		{
			file: 'features/answer/deliver.ts',
			from: "if (maybeSentAt !== null && isEarly && comparison.kind !== 'alreadyOurs') {",
			to: 'if (false) {',
		},
		{
			file: 'features/answer/deliver.ts',
			from: 'const settled = await settle(current, comparison, session, maybeSentAt);',
			to: 'const settled = answer.putStartedAt !== null ? null : await settle(current, comparison, session, null);',
		},
		{
			file: 'features/answer/deliver.ts',
			from: 'const edited = await settle(current, again, session, null);',
			to: 'const edited = null;',
		},
	],
	// A failed attempt overwrites the row's newer state.
	'commit-reply': [
		{
			file: 'features/answer/deliver.ts',
			from: 'const current = await store.get(answer.id);',
			to: 'const current: Answer | null = answer;',
		},
		{
			file: 'features/answer/answer-store.ts',
			from: 'leaseToken: token, state,',
			to: 'leaseToken: token,',
		},
	],
	// Nothing is delivered before Slack has said which bot this is.
	'slack-at-start': [
		{
			file: 'app.ts',
			from: `await startWorking();
			const identity = await identify(clients.background, { clock, log, signal });`,
			to: `const identity = await identify(clients.background, { clock, log, signal });
			await startWorking();`,
		},
	],
	// A form counts as read at the end of its read, and nobody looks for a colleague who was first.
	'late-read': [
		{
			file: 'session-service/client.ts',
			from: 'return { session, since, readAt: began.readAt, endedAt };',
			to: 'return { session, since, readAt: endedAt, endedAt };',
		},
		{
			file: 'features/answer/earlier-answers.ts',
			from: 'const arrived = arrivedTo(answers, { ...asked, fingerprint });',
			to: 'const arrived: Answer[] = [];',
		},
	],
	// An answer that may have arrived stops blocking when its time is over.
	'give-up': [
		{
			file: 'features/answer/deliver.ts',
			from: 'if (now >= answer.giveUpAt && mayHaveLanded === null) {',
			to: 'if (now >= answer.giveUpAt) {',
		},
	],
	// An earlier PUT is forgotten when the question changes or the session ends.
	'changed-unknown': [
		{
			file: 'features/answer/deliver.ts',
			from: 'const ended = { nextAttemptAt: now, putStartedAt: maybeSentAt };',
			to: 'const ended = { nextAttemptAt: now, putStartedAt: null };',
		},
		{
			file: 'features/answer/deliver.ts',
			from: 'const hasMoved = hasMovedSince(answer.before, comparisonInput(answer, session));',
			to: 'const hasMoved = false;',
		},
	],
	// Replicas on one database compare the times of their own machines.
	clocks: [
		{
			file: 'database/store-clock.ts',
			from: "const isShared = db.dialect === 'postgres';",
			to: 'const isShared = false;',
		},
		{ file: 'features/answer/answer-store.ts', from: 'if (checksTime && ', to: 'if (!checksTime && ' },
		{
			file: 'core/clock.ts',
			from: 'export const CLOCK_ALLOWANCE_MS = 5_000;',
			to: 'export const CLOCK_ALLOWANCE_MS = 0;',
		},
		// A replica trusts times since its own start only, and the one with the wrong clock has just started.
		{
			file: 'core/clock.ts',
			from: 'clock.now() - Math.max(at, clock.steadySince?.() ?? Number.NEGATIVE_INFINITY)',
			to: 'clock.now() - at',
		},
	],
	// When the reply to an INSERT is lost, nobody checks whether the answer was stored.
	'insert-reply': [
		{
			file: 'features/answer/accept.ts',
			from: "if (!(error instanceof HandraiseError && 'commitUnknown' in error && error.commitUnknown)) throw error;",
			to: 'throw error;',
		},
	],
	// Times from before the machine's clock was set are trusted, on PostgreSQL too.
	'clock-jump': [
		{
			file: 'database/store-clock.ts',
			from: "const isShared = db.dialect === 'postgres';",
			to: 'const isShared = false;',
		},
		{ file: 'features/answer/answer-store.ts', from: 'if (checksTime && ', to: 'if (!checksTime && ' },
		{
			file: 'core/clock.ts',
			from: 'Math.max(0, clock.now() - Math.max(at, clock.steadySince?.() ?? Number.NEGATIVE_INFINITY))',
			to: 'clock.now() - at',
		},
		{
			file: 'database/store-clock.ts',
			from: 'if (isStep || isUnsettled) await repairTimes',
			to: 'if (isStep && offset < 0) await repairTimes',
		},
	],
} as const satisfies Record<FaultName | 'ack-first' | 'blind-repeat', readonly Replacement[]>;

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
			from: 'const stored = store(request, read, failed);',
			to: `await ack();
				await clock.sleep(30);
				const stored = store(request, read, failed);`,
		},
	],
	'press-early': [
		{
			file: 'questions/answer.ts',
			from: 'return press?.undoUntil ?? acceptedAt;',
			to: 'return press === null ? acceptedAt : acceptedAt + 1;',
		},
		{ file: 'features/answer/worker.ts', from: 'Math.max(answer.press?.undoUntil ?? 0, ', to: 'Math.max(0, ' },
	],
	'press-silent': [
		{
			file: 'features/press/handler.ts',
			from: "if (result.kind === 'taken') {",
			to: "if (result.kind === 'taken') {\n\t\t\tif (!isSamePerson(request.person, result.by.person)) return;",
		},
	],
	'press-over': [
		{
			file: 'features/answer/accept-store.ts',
			from: 'if (by !== undefined) {\n\t\t// The',
			to: "if (by !== undefined && answer.viewId !== '') {\n\t\t// The",
		},
	],
	'undo-late': [
		{
			file: 'features/answer/answer-store.ts',
			from: "const unsent = answer.state === 'accepted' && answer.putStartedAt === null;",
			to: "const unsent = answer.state === 'accepted' || answer.state === 'delivering';",
		},
	],
	'undo-alone': [
		{ file: 'features/answer/accept-store.ts', from: 'await releaseLosers(db, cipher, withdrawn, now);', to: '' },
	],
} as const satisfies Record<string, readonly Replacement[]>;

export type PressRun = 'presses' | 'press-duels' | 'undos';
type PressSabotage = keyof typeof PRESS_SABOTAGES;
export type Sabotage = keyof typeof SABOTAGES | PressSabotage;

const PRESS_RUNS = {
	'press-ack-first': 'presses',
	'press-early': 'presses',
	'press-silent': 'press-duels',
	'press-over': 'press-duels',
	'undo-late': 'undos',
	'undo-alone': 'undos',
} as const satisfies Record<PressSabotage, PressRun>;

export function isPressSabotage(sabotage: Sabotage): sabotage is PressSabotage {
	return Object.hasOwn(PRESS_SABOTAGES, sabotage);
}

/** The run that has to notice this sabotage. */
export function pressRunAgainst(sabotage: PressSabotage): PressRun {
	return PRESS_RUNS[sabotage];
}

const AIMS = {
	'ack-first': 'before ack',
	'blind-repeat': 'during the PUT',
} as const satisfies Record<'ack-first' | 'blind-repeat', Aim>;

/** What shows a sabotage in a short run: the fault it is named after, or kills at the right moment. */
export function aimAgainst(sabotage: keyof typeof SABOTAGES): Aim {
	return isFault(sabotage) ? sabotage : AIMS[sabotage];
}
