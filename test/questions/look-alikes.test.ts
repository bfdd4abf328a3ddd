import { expect, it } from 'vitest';
import { lookDifferent, looksOfLabels } from '../../src/questions/look-alikes.ts';
import { BUTTON_LABELS } from '../../src/slack/blocks/parts.ts';

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
	'Snooze',
	'0pen',
	'٠pen',
	'Refresh',
	'Send again',
	'Files (1)',
	'Files (12)',
	'Next 10',
	'previous',
	'Cancel',
	'Answer me',
	'Answer now',
	'Undo (10 s)',
	'Hand over to @ada',
	'Send',
	'Ⓤndo it',
])('takes %j for a label of our own', (option) => {
	expect(lookDifferent([option], OWN)).toBe(false);
});

it.each(['Yes', 'No', 'Later', 'Approve', 'Reject', 'Reopen', 'Opening', 'Undone', '1', '100', '…', '👍', 'Ja'])(
	'does not take %j for one',
	(option) => {
		expect(lookDifferent([option], OWN)).toBe(true);
	},
);
