import { expect, it } from 'vitest';
import { readCorpus, type Score, scoreOf } from './corpus/score.ts';

/** The least of what the rules find in each file, in percent: more is better, and fewer is a change to look at. */
const FILES = [
	{ file: 'questions.jsonl', press: 85, pressElsewhere: 85, decisions: 95, choices: 75 },
	{ file: 'asked-by-others.jsonl', press: 84, pressElsewhere: 85, decisions: 94, choices: 80 },
] as const;

const percentOf = ({ count, of }: Score['press']) => (100 * count) / of;

it.each(FILES)('shows no wrong button for $file, and most of those that all want, and hides secrets', (least) => {
	const cases = readCorpus(new URL(`corpus/${least.file}`, import.meta.url));
	const score = scoreOf(cases);
	expect(score.wrongPress).toBe(0);
	expect(score.wrongChoices).toBeLessThanOrEqual(cases.length / 100);
	expect(percentOf(score.press)).toBeGreaterThanOrEqual(least.press);
	expect(percentOf(score.pressElsewhere)).toBeGreaterThanOrEqual(least.pressElsewhere);
	// A word that is no decision any more makes fewer of them.
	expect(score.decisions.of).toBeGreaterThanOrEqual(24);
	expect(percentOf(score.decisions)).toBeGreaterThanOrEqual(least.decisions);
	expect(percentOf(score.choices)).toBeGreaterThanOrEqual(least.choices);
	expect(percentOf(score.secretsMissed)).toBeLessThanOrEqual(4);
	expect(percentOf(score.secretsTaken)).toBeLessThanOrEqual(3);
});
