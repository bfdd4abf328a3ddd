import { expect, it } from 'vitest';
import { heldWords } from '../../../src/slack/words/reminders.ts';

it('names who was answering without a mention, because only the settings of a channel mention people', () => {
	const names = { displayName: () => 'Ann' };
	expect(heldWords('U0ANN', names)).toBe('“Ann” was answering, and has not sent an answer yet.');
	expect(heldWords(null, names)).toBe('');
});
