import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { looksSecret } from '../../src/domain/asks-for-secret.ts';
import type { ReadItem } from '../../src/domain/gate.ts';
import { lookDifferent, looksOfLabels, quickAnswerOf } from '../../src/domain/quick-answer.ts';
import { plain } from '../../src/slack/blocks.ts';
import { BUTTON_LABELS } from '../../src/slack/ids.ts';
import { hostileText } from '../slack/support/hostile-text.ts';
import { anyCharacter } from '../support/any-text.ts';
import { runs } from '../support/runs.ts';
import { NO_BUTTONS } from './no-buttons.ts';

const isOrdinary = () => false;

function items(...texts: readonly (readonly [title: string, description: string])[]): ReadItem[] {
	return texts.map(([title, description]) => ({ title, description, value: '' }));
}

/** What nobody takes for each other. */
const DIFFERENT = [
	['1', '2', '3', '4', '5'],
	['10', '11', '20'],
	['I', 'II', 'III', 'IV'],
	['A', 'B', 'C', 'D', 'E'],
	['8:00', '9:00'],
	['Small', 'Medium', 'Large'],
	['C', 'C++', 'C#'],
	['schön', 'schon'],
	['Да', 'Нет'],
	['Ναι', 'Όχι'],
	['نعم', 'لا'],
	['כן', 'לא'],
	['はい', 'いいえ'],
	['プラン A', '送信する'],
	['一', '二', '三'],
	['१', '२'],
	['👍', '👎'],
] as const;

/** The options of a question with this one item. */
function quick(title: string, description = '', context = ''): readonly string[] | null {
	return quickAnswerOf({ items: items([title, description]), openItems: [0], context }, isOrdinary)?.options ?? null;
}

describe('one press answers', () => {
	it.each<[title: string, description: string, expected: readonly string[]]>([
		['Which flight should I book?', 'One of: LH 1173, TP 570', ['LH 1173', 'TP 570']],
		['Which account?', 'Options: Personal (…1234) | Business (…9876)', ['Personal (…1234)', 'Business (…9876)']],
		['Which flight?', '- 8:00, 120 €\n- 11:30, 90 €', ['8:00, 120 €', '11:30, 90 €']],
		['How should I proceed?', '1. Retry the upload\n2. Skip it', ['Retry the upload', 'Skip it']],
		['Approve the plan?', '– Approve\n– Request changes\n– Reject', ['Approve', 'Request changes', 'Reject']],
		['Send it?', '- Yes, send it\n- Not yet', ['Yes, send it', 'Not yet']],
		['Which one?', `- ${'x'.repeat(30)}\n- B`, ['x'.repeat(30), 'B']],
		['Send payment?', '- Amount: $5,000\n- Recipient: ACME Corp\n- Date: today', ['Yes', 'No']],
		['Should I proceed?', 'Total: 30 euros.', ['Yes', 'No']],
		['Should I proceed?', '- Total: 30 euros', ['Yes', 'No']],
		['Merge it?', 'Reply with yes or no.', ['Yes', 'No']],
		...DIFFERENT.map((options): [string, string, readonly string[]] => [
			'Which one?',
			options.map((option) => `- ${option}`).join('\n'),
			options,
		]),
	])('%j with %j', (title, description, expected) => {
		expect(quick(title, description)).toEqual(expected);
	});

	it('a lone question in the text above an item that says nothing', () => {
		expect(quick('Answer', '', 'The report is ready. Should I send it?')).toEqual(['Yes', 'No']);
		expect(quick('Antwort', '', 'Welchen Flug soll ich buchen?\n- LH 1173\n- TP 570')).toEqual(['LH 1173', 'TP 570']);
	});
});

/** By the contract, and by a decision below any question: that is what the agent offers. */
const MAY_BE_PRESSED: ReadonlySet<string> = new Set(['Should I go on? (send/skip)', 'Do you want to keep the data?']);

describe('one press does not answer', () => {
	it.each<[title: string, description?: string, context?: string]>(
		NO_BUTTONS.filter(([title]) => !MAY_BE_PRESSED.has(title)).map((one) => [...one]),
	)('%j with %j below %j', (title, description = '', context = '') => {
		expect(quick(title, description, context)).toBeNull();
	});

	it('a question with no open item, with several items, open or not, and with an item that does not exist', () => {
		const two = items(['Plan', 'One of: A, B'], ['Seat', 'One of: C, D']);
		expect(quickAnswerOf({ items: two, context: '', openItems: [] }, isOrdinary)).toBeNull();
		expect(quickAnswerOf({ items: two, context: '', openItems: [0, 1] }, isOrdinary)).toBeNull();
		expect(quickAnswerOf({ items: two, context: '', openItems: [1] }, isOrdinary)).toBeNull();
		expect(quickAnswerOf({ items: two.slice(1), context: '', openItems: [1] }, isOrdinary)).toBeNull();
	});

	it('an item that is known to be secret although it does not look so', () => {
		const question = { items: items(['Plan', 'One of: A, B']), openItems: [0], context: '' };
		expect(quickAnswerOf(question, (position) => position === 0)).toBeNull();
		expect(quickAnswerOf(question, (position) => position === 1)).not.toBeNull();
	});
});

describe('the options of one press', () => {
	const option = fc.oneof(
		{ weight: 6, arbitrary: fc.stringMatching(/^[A-Z][a-z]{1,9}q$/) },
		{ weight: 1, arbitrary: hostileText.map((text) => text.slice(0, 40)) },
		{ weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 8 }) },
	);
	const listing = fc
		.tuple(
			fc.array(option, { minLength: 1, maxLength: 7 }),
			fc.constantFrom('One of: ', 'Options: ', 'Which one?\n- ', 'Which one?\n* ', 'Reply with ', ''),
			fc.constantFrom(', ', ' / ', '; ', '|', ' or '),
		)
		.map(([options, cue, separator]) => cue + options.join(cue.includes('\n') ? cue.slice(-3) : separator));
	const text = fc.oneof({ weight: 3, arbitrary: listing }, { weight: 1, arbitrary: hostileText });

	it('are buttons that show what is sent, for any item', () => {
		let found = 0;
		fc.assert(
			fc.property(text, text, fc.boolean(), (title, description, secret) => {
				const [item] = items([title, description]) as [ReadItem];
				const answer = quickAnswerOf({ items: [item], openItems: [0], context: '' }, () => secret);
				if (answer === null) return;
				found += 1;
				const { position, options } = answer;
				expect(position).toBe(0);
				expect(secret || looksSecret(item)).toBe(false);
				expect(options.length).toBeGreaterThanOrEqual(2);
				expect(options.length).toBeLessThanOrEqual(5);
				const isYesNo = options.join() === 'Yes,No';
				for (const label of options) {
					expect(label.length).toBeLessThanOrEqual(30);
					expect(label.trim()).toBe(label);
					expect(plain(label, 30).text).toBe(label);
					if (!isYesNo) expect(`${title}\n${description}`).toContain(label);
				}
				expect(new Set(options.map((label) => label.normalize('NFKC').toLowerCase())).size).toBe(options.length);
			}),
			{ numRuns: runs(3_000) },
		);
		expect(found).toBeGreaterThan(runs(20));
	});
});

const OWN = looksOfLabels(BUTTON_LABELS);

it.each([
	...'Undo| undo! |Un do|Undo ↩️|Undо|Ⓤndo|Ｕｎｄｏ|Und0|Answer...|Give\tback|Hand-over|hancl over'.split('|'),
	...'Snooze for 1 h|0pen|٠pen|Files (12)|Next 10|Undo (10 s)|Undo10s|Undo – 10 sec.|0pen [new]'.split('|'),
	'Hand over (to @ada)',
])('takes %j for a label of our own', (option) => {
	expect(lookDifferent([option], OWN)).toBe(false);
});

it.each([
	...'Close ticket|Open a new account|Send it again|Send 10 mails|Answer me|Back up (all of it)|Yes'.split('|'),
	...'Approve|Reopen|Undone|100|…|👍'.split('|'),
])('does not take %j for one', (option) => {
	expect(lookDifferent([option], OWN)).toBe(true);
});
