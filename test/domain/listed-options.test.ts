import { describe, expect, it } from 'vitest';
import { titleText, withoutListed } from '../../src/domain/listed-options.ts';

describe('a text beside its options', () => {
	it.each([
		['By Friday.\n\n**Options**:\n\n- LH 1173\n- **TP 570**', ['LH 1173', 'TP 570'], 'By Friday.'],
		['LH 1173\nTP 570', ['LH 1173', 'TP 570'], ''],
		['- LH 1173\n* TP 570', ['LH 1173', 'TP 570'], ''],
		['One of: LH 1173, TP 570', ['LH 1173', 'TP 570'], ''],
		['By Friday.\n\nOne of: LH 1173, TP 570', ['LH 1173', 'TP 570'], 'By Friday.'],
		['{"options": ["LH 1173", "TP 570"]}', ['LH 1173', 'TP 570'], ''],
		['(y/n)', ['Yes', 'No'], ''],
		['Yes or no?', ['Yes', 'No'], ''],
		['- LH 1173 for 129 €\n- TP 570', ['LH 1173', 'TP 570'], null],
		['- LH 1173', ['LH 1173', 'TP 570'], null],
		['- LH 1173', [], null],
	])('leaves out the list of its contract: %j', (text, labels, expected) => {
		expect(withoutListed(text, labels)).toBe(expected ?? text);
	});

	it.each([
		['words below its list', 'Options: A | B\n\nB is new.', ['A', 'B']],
		['what its entries tell', '- Yes\n  deletes everything\n- No\n  keeps it', ['Yes', 'No']],
		['facts that are called as options are', 'Approved by:\n- Ada\n- Bob', ['Ada', 'Bob']],
		['entries in parts', 'Unsaved work:\n- Laptop\n\nSafe to wipe:\n- Desktop', ['Laptop', 'Desktop']],
		['another list', 'Options: 1 | 2', ['10 GB', '20 GB']],
		['another order', 'Options: B | A', ['A', 'B']],
		['numbers', 'I recommend 2.\nOptions:\n1. Monthly\n2. Yearly', ['Monthly', 'Yearly']],
		['letters', 'The plan is B.\nOptions:\nA) Small\nB) Large', ['Small', 'Large']],
		['boxes', 'Ticked ones are on.\nOptions:\n- [x] Logging\n- [ ] Metrics', ['Logging', 'Metrics']],
		['emoji', 'Options:\n🔴 Reject\n🟢 Approve', ['Reject', 'Approve']],
		['one decision', 'Approve', ['Approve', 'Reject']],
		['code', '```\nA\nB\n```', ['A', 'B']],
	])('keeps %s', (_what, text, labels) => {
		expect(withoutListed(text, labels)).toBe(text);
	});
});

describe('a title', () => {
	it.each([
		['Rename _id_ to id?', [], 'Rename _id_ to id?'],
		['Delete `src/**/*.ts`?', [], 'Delete `src/**/*.ts`?'],
		['Proceed? (yes/no)', ['Yes', 'No'], 'Proceed?'],
		['Proceed (yes/no)?', ['Yes', 'No'], 'Proceed?'],
		['Proceed? (yes/no)', [], 'Proceed? (yes/no)'],
		['Proceed? (yes/no)', ['Stay', 'Go'], 'Proceed? (yes/no)'],
	])('has no options that stand beside it, and is else as it is: %j with %j', (title, labels, expected) => {
		expect(titleText(title, labels)).toBe(expected);
	});
});
