import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { main } from '../src/ask.ts';
import { runHere, startCommand } from './support/commands.ts';

const ask = (args: readonly string[], typed?: string) => runHere(main, args, {}, typed);

it('prints what Handraise makes of a question from a file, and why', async () => {
	const folder = mkdtempSync(join(tmpdir(), 'ask-'));
	const file = join(folder, 'question.json');
	writeFileSync(file, '{"title": "Which flight? (optional)", "description": "Options: LH 1173 | TP 570"}');
	expect(await startCommand('ask', [file], {}).closed).toEqual({
		stdout: [
			'1. Which flight?',
			'   field: one of, optional',
			'     - LH 1173',
			'     - TP 570',
			'   sent: an option as written, perhaps with a note behind it, or other text',
			'   secret: no',
			'   options: a list as docs/asking.md says',
			'Buttons on the post: [ LH 1173 ]  [ TP 570 ]',
			'',
		].join('\n'),
		stderr: '',
		code: 0,
	});
	rmSync(folder, { recursive: true });
});

const tooLong = 'a'.repeat(8_001);
const longAlike = ['A', 'B'].map((end) => `${'a'.repeat(140)}${end}`).join(' | ');

/** A question below a plan of so many lines, its title among them. */
const plan = (lines: number, length = 5) =>
	JSON.stringify({
		content: Array.from({ length: Math.max(1, lines - 1) }, () => 'a'.repeat(length)).join('\n'),
		human_input: [{ title: 'Proceed? (yes/no)' }],
	});

it.each([
	['{"title": "Plan", "description": "Options:\\n- A\\n* B"}', 'no options: the list has two kinds of marks'],
	['{"title": "Plan", "description": "Options:\\n- A\\n* B"}', 'Buttons on the post: none: it has no options'],
	['{"title": "Plan", "description": "Options (several): A | B"}', 'none: more than one may be chosen'],
	['{"title": "Plan", "description": "Options: A | B | C | D | E | F"}', 'none: it has more than 5 options'],
	[`{"title": "Plan", "description": "Options: A | ${'b'.repeat(31)}"}`, 'none: an option has more than 30 characters'],
	['{"title": "Plan", "description": "Options: A1 | Al"}', 'looks like another or like a button of ours'],
	['{"title": "Password", "description": "Options: A | B"}', 'none: it looks secret'],
	['{"title": "Proceed? (y/n)", "description": "If no, explain why."}', 'none: it may ask for more than an option'],
	[`{"title": "${tooLong} (yes/no)"}`, 'too long: more than 8,000 characters in a title or description'],
	[`{"title": "${tooLong} (yes/no)"}`, 'none: it is too long'],
	[`{"content": "${'a '.repeat(10_001)}", "human_input": [{"title": "Proceed? (yes/no)"}]}`, 'none: it is too long'],
	[
		`{"title": "Plan", "description": "Options: ${longAlike}"}`,
		'no options: its draft is none of them, they look alike',
	],
	['{"title": "Your private SSH key (secret)"}', 'field: a text\n'],
	['{"title": "Nights (number)", "description": "Draft: two"}', 'field: a text, begins with a draft\n'],
	[
		'{"title": "How many nights?", "description": null}',
		'field: number\n   sent: a number such as 3 or 3.5, or other text\n',
	],
	['{"title": "How many nights?"}', 'no options: field guessed from the title'],
	['{"title": "Arrival (date)"}', 'sent: a date such as 2026-11-20, or other text\n'],
	['{"title": "Which day (optional)?"}', 'sent: the text that somebody writes\n'],
	['{"title": "Extras", "description": "Options (several): A | B"}', 'sent: options as written, ", " between them'],
	['[{"title": "A (optional)"}, {"title": "B"}]', 'sent: the text that somebody writes, or ""\n'],
	['[{"title": "A"}, {"title": "B"}]', 'none: it asks for several items'],
	[plan(12), '[ Yes ]  [ No ]'],
	[plan(13), 'none: the text above them has more than 600 characters or 12 lines'],
	[plan(1, 600), 'none: the text above them has more than 600 characters or 12 lines'],
	['{"title": "Which day (date)?"}', '   almost: a mark counts only at the very end of the title'],
	['{"content": "Should I go on?", "human_input": [{"title": "Answer"}]}', '[ Yes ]  [ No ]'],
	['\ufeff{"title": "Proceed? (yes/no)"}', '[ Yes ]  [ No ]'],
	['{"title": "A\\u001b[31mB\\u0007C"}', '1. A [31mB C'],
])('says of %s: %s', async (json, words) => {
	const { stdout, code } = await ask([], json);
	expect(stdout).toContain(words);
	expect(code).toBe(0);
});

it.each([
	[[], 'Which flight?', 'This is not the JSON of a question.'],
	[[], '{"human_input": []}', 'This is not the JSON of a question.'],
	[['no-such-file.json'], '', 'no such file'],
	[['a', 'b'], '', 'Usage: npm run ask'],
	[['--all'], '', 'Usage: npm run ask'],
])('says what is wrong with %j and %j', async (args, input, words) => {
	const { stdout, stderr, code } = await ask(args, input);
	expect(stderr).toContain(words);
	expect([stdout, code]).toEqual(['', 1]);
});

it('says nothing more when nobody reads on', async () => {
	const many = JSON.stringify(Array.from({ length: 3_000 }, (_, at) => ({ title: `Question ${at}` })));
	const folder = mkdtempSync(join(tmpdir(), 'ask-'));
	const file = join(folder, 'questions.json');
	writeFileSync(file, many);
	const by = ['sh', '-c', '"$@" | head -n 1', 'sh'];
	const { stdout, stderr } = await startCommand('ask', [file], {}, { by }).closed;
	expect([stdout, stderr]).toEqual(['1. Question 0\n', '']);
	rmSync(folder, { recursive: true });
});

it('names a folder that it cannot read', async () => {
	expect(await ask([tmpdir()])).toMatchObject({ stdout: '', stderr: expect.stringContaining(tmpdir()), code: 1 });
});
