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

interface Fields {
	readonly type?: unknown;
	readonly text?: unknown;
	readonly [key: string]: unknown;
}

/**
 * The app's words come first, and nobody can take what others wrote for them: it stands behind the bar, in a frame, in
 * bold, in a field of the form, or in one line of a list, and never in the title, a heading or mrkdwn.
 */
export function expectVoices(built: {
	readonly title?: unknown;
	readonly text?: string;
	readonly blocks: unknown;
}): void {
	const { title, text, blocks } = built;
	// Collected: `expect` for each of ten thousand lines takes longer than the checks.
	const problems: string[] = [];
	if (title !== undefined) problems.push(...foreignIn('the title', title));
	if (text !== undefined) problems.push(...text.split('\n').flatMap((line) => badOpening(line, 'a notification')));
	const first = firstTextIn(blocks);
	problems.push(...badOpening(first ?? '', 'the first block'), ...badVoices(blocks));
	expect(problems).toEqual([]);
}

function foreignIn(where: string, value: unknown): string[] {
	const json = JSON.stringify(value) ?? '';
	return json.includes(FOREIGN) ? [`text from outside in ${where}: ${json}`] : [];
}

/** Begins with a word or an icon of the app. */
function badOpening(text: string, where: string): string[] {
	const [word = ''] = text.trimStart().split(/\s/, 1);
	const isOurs = /^[\p{L}\p{N}\p{Extended_Pictographic}(<…]/u.test(word) && !word.includes(FOREIGN);
	return isOurs ? [] : [`${where} begins with text from outside: ${text}`];
}

function firstTextIn(value: unknown): string | null {
	if (typeof value !== 'object' || value === null) return null;
	const { text } = value as Fields;
	if (typeof text === 'string' && text.trim() !== '') return text;
	for (const child of Object.values(value)) {
		const found = firstTextIn(child);
		if (found !== null) return found;
	}
	return null;
}

function badVoices(value: unknown): string[] {
	if (typeof value !== 'object' || value === null) return [];
	const fields = value as Fields;
	switch (fields.type) {
		case 'header':
			return foreignIn('a heading', value);
		case 'mrkdwn':
			return [...foreignIn('mrkdwn', value), ...(fields.verbatim === true ? [] : ['not verbatim'])];
		case 'rich_text_section':
			return linesOf(fields.elements as readonly Fields[]).flatMap(badLine);
		case 'rich_text_preformatted':
			return fields.border === 1 ? [] : [`code without a frame: ${JSON.stringify(value)}`];
		case 'plain_text':
			return badPlain(String(fields.text), 1);
		case 'section': {
			// An entry of a list, with its button, may begin with what it is about.
			const { text, accessory, ...others } = fields;
			const shown = (text as { text: string } | undefined)?.text ?? '';
			const found = accessory === undefined && text !== undefined ? badOpening(shown, 'a line') : [];
			return [...found, ...badPlain(shown, 2), ...badVoices(accessory), ...badVoices({ ...others, type: 'fields' })];
		}
		case 'button': {
			// An option of the agent is part of its question.
			const isOption = String(fields.action_id).startsWith('question.choose');
			return isOption ? [] : foreignIn('a button', fields.text);
		}
		default:
			return Object.values(value).flatMap(badVoices);
	}
}

/** What others wrote makes no line of its own. */
function badPlain(text: string, most: number): string[] {
	const isBroken =
		text.includes(FOREIGN) && (text.split('\n').length > most || /[\r\u0085\u2028\u2029\v\f]/.test(text));
	return isBroken ? [`text from outside in several lines: ${JSON.stringify(text)}`] : [];
}

function linesOf(parts: readonly Fields[]): Fields[][] {
	const lines: Fields[][] = [[]];
	for (const part of parts) {
		const [first = '', ...others] = ((part.text ?? '') as string).split('\n');
		lines.at(-1)?.push({ ...part, text: first });
		lines.push(...others.map((text) => [{ ...part, text }]));
	}
	return lines;
}

/** A line begins with words of the app, or with what is in bold: a name or a title. */
function badLine(line: readonly Fields[]): string[] {
	const first = line.find(({ type, text }) => type !== 'text' || String(text).trim() !== '');
	const isBold = (first?.style as { readonly bold?: boolean } | undefined)?.bold === true;
	return first?.type === 'text' && !isBold ? badOpening(String(first.text), 'a line') : [];
}
