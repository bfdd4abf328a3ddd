import { expect, it } from 'vitest';
import { heldWords, rungWords } from '../../../src/slack/words/reminders.ts';
import type { Rung } from '../../../src/watches/channel-settings.ts';

it('names who was answering without a mention, because only the settings of a channel mention people', () => {
	const names = { displayName: () => 'Ann' };
	expect(heldWords('U0ANN', names)).toBe('“Ann” was answering, and has not sent an answer yet.');
	expect(heldWords(null, names)).toBe('');
});

it('says how long nobody has answered, and when it is the last time', () => {
	const words = (rung: Rung, isLast: boolean, waitedMs: number | null) => rungWords({ rung, isLast }, waitedMs);
	expect(words('reminder', false, 300_000)).toBe('⏰ Nobody has answered for 5 min.');
	expect(words('reminder', false, null)).toBe('⏰ Nobody has answered yet.');
	expect(words('escalation', true, 300_000)).toBe(
		'📣 Still no answer after 5 min. The agent waits. This is the last reminder.',
	);
	expect(words('escalation', false, null)).toBe('📣 Still no answer. The agent waits.');
});
