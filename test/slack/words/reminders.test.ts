import { expect, it } from 'vitest';
import { heldWords, reminderWords } from '../../../src/slack/words/reminders.ts';

it('names who was answering without a mention, because only the settings of a channel mention people', () => {
	const names = { displayName: () => 'Ann' };
	expect(heldWords('U0ANN', names)).toBe('“Ann” was answering, and has not sent an answer yet.');
	expect(heldWords(null, names)).toBe('');
});

it.each<[Parameters<typeof reminderWords>[0], waitedMs: number | null, words: string]>([
	[{ stage: 'reminder', isLast: false }, 300_000, '⏰ Nobody has answered for 5 min.'],
	[{ stage: 'reminder', isLast: false }, null, '⏰ Nobody has answered yet.'],
	[{ stage: 'escalation', isLast: false }, 300_000, '📣 Still no answer after 5 min. The agent waits.'],
	[{ stage: 'escalation', isLast: true }, null, '📣 Still no answer. The agent waits. This is the last reminder.'],
])('%o after %s ms says "%s"', (stage, waitedMs, words) => expect(reminderWords(stage, waitedMs)).toBe(words));
