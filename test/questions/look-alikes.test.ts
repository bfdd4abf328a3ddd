import { expect, it } from 'vitest';
import { lookDifferent, looksOfLabels } from '../../src/questions/quick-answer.ts';
import { BUTTON_LABELS } from '../../src/slack/ids.ts';

const OWN = looksOfLabels(BUTTON_LABELS);

it.each([
	'Undo',
	'UNDO',
	' undo! ',
	'Un do',
	'Undo ↩️',
	'Undо',
	'∪ndo',
	'Ⓤndo',
	'Ｕｎｄｏ',
	'Und0',
	'Answer',
	'Answer...',
	'Give\tback',
	'Hand-over',
	'hancl over',
	'Discard',
	'discard answer…',
	'Snooze for me',
	'0pen',
	'٠pen',
	'Refresh',
	'Send again',
	'Files (1)',
	'Files (12)',
	'Next 10',
	'previous',
	'Cancel',
	'Undo (10 s)',
	'Undo 10s',
	'Undo10s',
	'Undo – 10 sec.',
	'0pen [new]',
	'Open 👍',
	'Hand over (to @ada)',
	'Send',
	'Send again (2)',
	'Ⓤndo (10 s)',
])('takes %j for a label of our own', (option) => {
	expect(lookDifferent([option], OWN)).toBe(false);
});

it.each([
	'Close ticket',
	'Keep ticket',
	'Open a new account',
	'Use the old one',
	'Send it again',
	'Refresh the page',
	'Send 10 mails',
	'Answer me',
	'Back up (all of it)',
	'Yes',
	'No',
	'Later',
	'Approve',
	'Reject',
	'Reopen',
	'Opening',
	'Undone',
	'1',
	'100',
	'…',
	'👍',
	'Ja',
])('does not take %j for one', (option) => {
	expect(lookDifferent([option], OWN)).toBe(true);
});

it('counts the numbers of a label, and not those behind it', () => {
	const taken = looksOfLabels(['Plan 1']);
	expect(lookDifferent(['Plan 2'], taken)).toBe(true);
	expect(lookDifferent(['Plan 1 (2)'], taken)).toBe(false);
});
