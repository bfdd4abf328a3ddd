import type { Replacement } from './source-copy.ts';

/**
 * Ways to break the promise, to show that the run notices:
 * - `ack-first`: a submission is acknowledged before it is written.
 * - `blind-repeat`: after an unknown outcome the answer is sent again without waiting and comparing.
 */
export const SABOTAGES = {
	'ack-first': [
		{
			file: 'slack/views/submission.ts',
			from: 'const result = await within(answers.submit(submissionOf(request, view, form)), rest);',
			to: "const result = { kind: 'accepted', answer: { id: view.id, state: 'accepted', lastError: null } };",
		},
		{
			file: 'slack/views/submission.ts',
			from: 'await answers.afterAccept(result.answer);',
			to: 'await answers.afterAccept((await answers.submit(submissionOf(request, view, form))).answer);',
		},
	],
	'blind-repeat': [
		{
			file: 'answers/deliver.ts',
			from: "if (unknownUntil !== null && clock.now() < unknownUntil && comparison.kind !== 'alreadyOurs') {",
			to: 'if (false) {',
		},
		{
			file: 'answers/deliver.ts',
			from: 'const settled = settle(current, comparison, unknownUntil !== null, clock.now());',
			to: 'const settled = unknownUntil !== null ? null : settle(current, comparison, false, clock.now());',
		},
	],
} as const satisfies Record<string, readonly Replacement[]>;

export type Sabotage = keyof typeof SABOTAGES;
