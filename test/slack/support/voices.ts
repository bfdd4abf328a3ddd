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
	'a | ⚠️ b\n-|-\n🔒 | ```\n\n- ```\n🔔 late',
	'![🔒 Handraise](https://evil.example/x.png)',
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
	readonly verbatim?: unknown;
	readonly [key: string]: unknown;
}

/** The app's words come first and everything from outside is quoted, so nobody can take it for the app's words. */
export function expectVoices(built: {
	readonly title?: unknown;
	readonly text?: string;
	readonly blocks: unknown;
}): void {
	const { title, text, blocks } = built;
	// Collected: `expect` for each of ten thousand lines takes longer than the checks.
	const problems: string[] = [];
	// A window is called by its session's name, in quotation marks.
	if (title !== undefined) problems.push(...outsideMarks(String((title as Words).text)));
	if (text !== undefined) {
		// A notification tells a question after the app's own words, as people read it out.
		const [ours = ''] = text.split('An agent asks', 1);
		if (ours !== '') problems.push(...badOpening(ours), ...outsideMarks(ours));
	}
	const shown = textsIn(blocks);
	problems.push(...badOpening(shown[0]?.words.text));
	for (const { words, where } of shown)
		problems.push(...badVoices(words, where).map((problem) => `${where}: ${problem}`));
	expect(problems).toEqual([]);
}

const CHOICES = /\/(?:radio_buttons|(?:multi_)?static_select|checkboxes)\/(?:options|initial_options?)\//;

function badVoices({ type, text, verbatim }: Words, where: string): string[] {
	const shown = String(text);
	if (type === 'plain_text') {
		// The options of an agent are part of its question.
		return CHOICES.test(where) ? [] : outsideMarks(shown);
	}
	const problems: string[] = [];
	if (verbatim !== true) problems.push('not verbatim');
	// An agent's table is a block of code of its own, which no cell ends; our notes of what is cut begin with `…`.
	const table = /^```\n(?:[|…][^\n`]*\n)+```(?=$|…)/gm;
	const others = where.endsWith('section') ? shown.replace(table, '') : shown;
	if (others.includes('```')) problems.push(`code over several lines: ${shown}`);
	if (/[\r\u0085\u2028\u2029\v\f]/.test(shown)) problems.push(`another line break than \\n: ${JSON.stringify(shown)}`);
	for (const line of others.split('\n')) {
		// Context lines have no quotes.
		if (!(line.startsWith('> ') && where.endsWith('section'))) problems.push(...outsideMarks(line));
	}
	return problems;
}

/** It has to begin with a word or an icon of the app. */
function badOpening(text: unknown): string[] {
	const [opening = ''] = String(text).split(/[“\n]/, 1);
	const isOurs =
		typeof text === 'string' && /^[^“>\s]/.test(text) && !opening.includes(FOREIGN) && opening.trim() !== '';
	return isOurs ? [] : [`begins with text from outside: ${text}`];
}

function outsideMarks(line: string): string[] {
	const outside = line.replace(/“[^”]*”/g, '');
	return outside.includes(FOREIGN) || /[“”]/.test(outside) ? [`text from outside without marks: ${line}`] : [];
}

interface Shown {
	readonly words: Words;
	readonly where: string;
}

function textsIn(value: unknown, where = '', found: Shown[] = []): Shown[] {
	if (typeof value !== 'object' || value === null) return found;
	const words = value as Words;
	if ((words.type === 'mrkdwn' || words.type === 'plain_text') && typeof words.text === 'string')
		found.push({ words, where });
	// The box for secrets names items, in words of ours.
	const secrets = words.action_id === 'form.secret' ? ' of secrets' : '';
	const block = typeof words.type === 'string' ? `${where}/${words.type}${secrets}` : where;
	for (const [key, child] of Object.entries(words)) {
		textsIn(child, key === 'options' || key.startsWith('initial_option') ? `${block}/${key}/` : block, found);
	}
	return found;
}
