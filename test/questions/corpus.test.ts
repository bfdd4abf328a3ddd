import { expect, it } from 'vitest';
import { readCorpus, scoreOf } from './corpus/score.ts';

const score = scoreOf(readCorpus(new URL('corpus/questions.jsonl', import.meta.url)));
const percentOf = ({ count, of }: { count: number; of: number }) => (100 * count) / of;

it('shows only buttons that may be pressed, and most of those that all want, in any language', () => {
	expect(score.wrongPress).toBe(0);
	expect(percentOf(score.press)).toBeGreaterThanOrEqual(85);
	expect(percentOf(score.pressElsewhere)).toBeGreaterThanOrEqual(75);
});

it('gives most choices a field with their options, and other items none', () => {
	expect(score.wrongChoices).toBeLessThanOrEqual(2);
	expect(percentOf(score.choices)).toBeGreaterThanOrEqual(88);
});
