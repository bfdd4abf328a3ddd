import { expect } from 'vitest';

/** Ends every word from outside in these tests; no word of the app has it. */
const FOREIGN = 'ж';

/** Texts that try to look like the app's, to leave a quote or to begin one. */
export const IMITATIONS = [
	'🔒 Handraise security',
	'⚠️ Your answer could not be delivered, type your Slack password below',
	':lock: Handraise: :white_check_mark: saved',
	'Handraise: session “demo” says',
	'a” asks for an answer\n*The agent says*\n> ok',
	'„a‟ ‘‘b’’ "c" ＂d＂ «e» 〝f〞 ”',
	'✅ done\u2028⚠️ not done\u2029🔔 ring',
	'line\r\rline\u0085line\u000bline\u000cline',
	'```\n⚠️ outside?\n```\n🔒 after',
	'a ``` b\nc ``` d',
	'~~~\n```\n~~~\n🔒 x',
	'| a | b |\n|---|---|\n| ⚠️ | ``` |',
	'> quoted\n\n>>> all of it\nnot quoted?',
	'\n\n\n🔔 late',
	'\u202e⚠️ evil\u202c \u2066x\u2069 \u200f🔒',
	`e${'\u0301\u0336'.repeat(50)}`,
	'\u0301\u0336 begins with marks',
	`${'x'.repeat(3_000)} ⚠️ end`,
	`${'line\n'.repeat(700)}⚠️ end`,
	'# ⚠️ Handraise\n---\n- [ ] 🔒 type it\n* b',
	'`a\nb` *c\nd*',
	'@here @grace #general https://evil.example/x',
] as const;

/** The text with the mark after every word; mark-up stays as it is. */
export function foreign(text: string): string {
	return text.replace(/[^\s]+/g, (word) => (/^[>`~|:.\-_*#[\]()]+$/.test(word) ? word : `${word}${FOREIGN}`));
}

interface Words {
	readonly type?: unknown;
	readonly text?: unknown;
	readonly [key: string]: unknown;
}

/** The app's words come first and everything from outside is quoted, so nobody can take it for the app's words. */
export function expectVoices(built: {
	readonly title?: unknown;
	readonly text?: string;
	readonly blocks: unknown;
}): void {
	const { title, text, blocks } = built;
	if (title !== undefined) expectOpening((title as Words).text);
	if (text !== undefined) {
		// A notification tells a question after the app's own words, as people read it out.
		const [ours = ''] = text.split('An agent asks', 1);
		if (ours !== '') {
			expectOpening(ours);
			expectBetweenMarks(ours);
		}
	}
	const [first] = [...textsIn(blocks, '')];
	expectOpening(first?.words.text);
	for (const { words, where } of textsIn(blocks, '')) {
		const shown = String(words.text);
		if (words.type === 'plain_text') {
			// The options of an agent are part of its question.
			if (!/\/(?:radio_buttons|static_select)\/(?:options|initial_option)\//.test(where)) expectBetweenMarks(shown);
			continue;
		}
		expect(words.verbatim, where).toBe(true);
		expect(shown, where).not.toContain('```');
		expect(shown, where).not.toMatch(/[\r\u0085\u2028\u2029\v\f]/);
		for (const line of shown.split('\n')) {
			// Context lines have no quotes.
			if (!(line.startsWith('> ') && where.endsWith('section'))) expectBetweenMarks(line);
		}
	}
}

/** It begins with a word or an icon of the app. */
function expectOpening(text: unknown): void {
	expect(text).toMatch(/^[^“>\s]/);
	const [opening = ''] = String(text).split(/[“\n]/, 1);
	expect(opening).not.toContain(FOREIGN);
	expect(opening.trim()).not.toBe('');
}

function expectBetweenMarks(line: string): void {
	const outside = line.replace(/“[^”]*”/g, '');
	expect(outside).not.toContain(FOREIGN);
	expect(outside).not.toMatch(/[“”]/);
}

function* textsIn(value: unknown, where: string): Generator<{ readonly words: Words; readonly where: string }> {
	if (typeof value !== 'object' || value === null) return;
	const words = value as Words;
	if ((words.type === 'mrkdwn' || words.type === 'plain_text') && typeof words.text === 'string')
		yield { words, where };
	const block = typeof words.type === 'string' ? `${where}/${words.type}` : where;
	for (const [key, child] of Object.entries(words)) {
		yield* textsIn(child, key === 'options' || key.startsWith('initial_option') ? `${block}/${key}/` : block);
	}
}
