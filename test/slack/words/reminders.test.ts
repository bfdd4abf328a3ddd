import { expect, it } from 'vitest';
import { heldWords, rungWords } from '../../../src/slack/words/reminders.ts';

it('names who was answering without a mention, because only the settings of a channel mention people', () => {
	const names = { displayName: () => 'Ann' };
	expect(heldWords('U0ANN', names)).toBe('“Ann” was answering, and has not sent an answer yet.');
	expect(heldWords(null, names)).toBe('');
});

it.each<[Parameters<typeof rungWords>[0], waitedMs: number | null, words: string]>([
	[{ rung: 'reminder', isLast: false }, 300_000, '⏰ Nobody has answered for 5 min.'],
	[{ rung: 'reminder', isLast: false }, null, '⏰ Nobody has answered yet.'],
	[{ rung: 'escalation', isLast: false }, 300_000, '📣 Still no answer after 5 min. The agent waits.'],
	[{ rung: 'escalation', isLast: true }, null, '📣 Still no answer. The agent waits. This is the last reminder.'],
])('%o after %s ms says "%s"', (rung, waitedMs, words) => expect(rungWords(rung, waitedMs)).toBe(words));
