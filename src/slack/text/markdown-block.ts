import { linkText } from './mrkdwn.ts';

/** White space is bounded like the rest: three parts of the pattern could share a long run of it in any way. */
const LINK = /!?\[([^[\]\n]{0,500})\]\(\s{0,9}<?([^\s()<>]{0,2000})>?(?:\s{1,9}["'][^"'\n]{0,300}["'])?\s{0,9}\)/g;
const ENTITY = /&(?:(lt|LT)|(gt|GT)|#0*60|#0*62|#[xX]0*3[cCeE])(?:;|(?![A-Za-z0-9]))/g;
const AUTOLINK = /<(https?:\/\/[^\s<>|]{1,2000})>/g;

/**
 * Markdown that a `markdown` block of a message may carry. That block does resolve `<!here>` and `<@U…>`, so `<` and `>`
 * become entities (`&` stays: the block shows `&amp;` as it is). Links, images and reference links could show a foreign
 * address under a bank's name: they become "label (url)", and whatever else could be read as one is broken by a space,
 * in code too, since where code begins is the parser's opinion.
 */
export function toMarkdownBlockText(source: string): string {
	const flat = source
		.replace(ENTITY, decodeAngle)
		.replace(AUTOLINK, '$1')
		.replace(LINK, (_whole, label: string, url: string) => linkText(label, url))
		.replaceAll('](', '] (')
		.replaceAll('][', '] [')
		.replaceAll(']:', '] :')
		.replaceAll('<', '&lt;')
		.replace(/>/g, '&gt;')
		.replace(/^( {0,3})&gt;/gm, '$1>');
	return closeFence(flat);
}

function decodeAngle(entity: string): string {
	return /lt|LT|60|3[cC]/.test(entity) ? '<' : '>';
}

/** A text that was cut within fenced code would swallow what stands after it. */
function closeFence(text: string): string {
	let fence: string | null = null;
	for (const [, mark = ''] of text.matchAll(/^ {0,3}(`{3,}|~{3,})/gm)) {
		if (fence === null) fence = mark;
		else if (mark.startsWith(fence)) fence = null;
	}
	return fence === null ? text : `${text}\n${fence}`;
}
