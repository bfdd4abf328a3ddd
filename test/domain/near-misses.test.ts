import { expect, it } from 'vitest';
import { nearMissAt } from '../../src/domain/near-misses.ts';

const nearMiss = (title: string, description = '', context = '') =>
	nearMissAt({ items: [{ title, description }], context }, 0) ?? '';

it.each<[says: string, title: string, description?: string, context?: string]>([
	['a mark counts only at the very end', 'Which day (date)?'],
	['a mark counts only at the very end', 'Which day?', '(date)'],
	['a mark counts only at the very end', 'Key (secret )'],
	['a mark counts only at the very end', 'Key [secret]'],
	['a mark counts only at the very end', 'Nights (number, optional)'],
	['a mark counts only at the very end', 'Which desk (optional)?', 'Options: A1 | B2'],
	['the only marks are (secret), (number)', 'Arrival (time) (optional)'],
	['the only marks are', 'Month? (number, 1-12)'],
	['a draft begins behind', 'May I send it?', 'Draft reply:\nHello Ada'],
	['JSON counts only as all', 'Which one?', 'Take one of {"options": ["A", "B"]}'],
	['brackets at the end hold', 'Continue? (Yes / No / Maybe later)'],
	['brackets at the end hold', 'Size (S/M/L)'],
	['brackets at the end hold', 'Which colour? (red/blue)'],
	['options have a form of their own', 'Plan', 'Options A, B or C'],
	['options have a form of their own', 'Plan', 'options = a | b'],
	['options have a form of their own', 'Plan', 'Option: A | B'],
	['options have a form of their own', 'Plan', 'Optionen – A | B'],
	['options have a form of their own', 'Which size?', 'S | M | L'],
	['options count only in an item', 'Plan', '', 'I found two. Options: A | B'],
])('says %j of %j, %j', (says, ...texts) => {
	expect(nearMiss(...texts)).toContain(says);
});

it.each<[title: string, description?: string, context?: string]>([
	['Which day? (date)'],
	['Which desk?', 'Options: A1 | B2'],
	['Which desk?', 'Options: A1, B2 or C3'],
	['Proceed? (yes/no)'],
	['Speed (km/h)'],
	['What is the speed (km/h)?'],
	['Address (street/city)'],
	['Stay (number of nights)'],
	['Name (first)'],
	['Which one?', '- Car: BMW\n- Options: leather, sunroof'],
	['Plan', '> Options = A | B'],
	['Plan', '```\nps | grep x (date)\n```'],
	['Prices', '| A | B |\n|---|---|\n| 1 | 2 |'],
	['The options are open, say what.'],
	['May I send it?', 'Draft: Hello (optional)'],
	['Answer', '', 'Which one?\nOptions: A | B'],
])('says nothing of %j, %j', (...texts) => {
	expect(nearMiss(...texts)).toBe('');
});

it('says nothing of a text that is too long to be read', () => {
	expect(nearMiss('Plan', `Options = ${'x | '.repeat(3_000)}`)).toBe('');
});
