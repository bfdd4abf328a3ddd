import { z } from 'zod';
import { parseAddress } from '../kernel/values.ts';
import { escapeMrkdwn, unescaped } from './rich-text.ts';

/*
 * What a person wrote, as they see it. Their client sends rich text, and mrkdwn, in which an asterisk may be typed or
 * may mark emphasis. Both are read as escaped text, with mentions and links in angle brackets.
 */

/** A character of a word: mrkdwn has no emphasis within a word. */
const IN_WORD = String.raw`[\p{L}\p{N}_]`;

const FIELDS = z.record(z.string(), z.unknown());
const TEXT = z.string().default('');
const PARTS = z.array(z.unknown()).default([]);
const LIST = z.object({ indent: z.int().min(0).max(9).default(0), offset: z.int().default(0) });

type Write = (text: (name: string) => string, parts: readonly string[], list: z.infer<typeof LIST>) => string;

/** Writers of the elements of rich text, by type. `text`: a field by name; `parts`: the written inner elements. */
const RICH: Readonly<Record<string, Write>> = {
	text: (text) => escapeMrkdwn(text('text')),
	link: (text) => `<${escapeMrkdwn(text('url').replaceAll('|', '%7C'))}|${escapeMrkdwn(text('text'))}>`,
	user: (text) => `<@${text('user_id')}>`,
	channel: (text) => `<#${text('channel_id')}>`,
	usergroup: (text) => `<!subteam^${text('usergroup_id')}>`,
	broadcast: (text) => `<!${text('range')}>`,
	date: (text) => escapeMrkdwn(text('fallback')),
	color: (text) => escapeMrkdwn(text('value')),
	emoji(text) {
		const points = text('unicode')
			.split('-')
			.map((point) => Number.parseInt(point, 16));
		return text('unicode') === '' ? `:${text('name')}:` : String.fromCodePoint(...points);
	},
	rich_text_section: (_, parts) => parts.join(''),
	rich_text_preformatted: (_, parts) => parts.join(''),
	rich_text_quote: (_, parts) => `&gt; ${parts.join('').replaceAll('\n', '\n&gt; ')}`,
	rich_text_list(text, parts, { indent, offset }) {
		const mark = (at: number) => (text('style') === 'ordered' ? `${offset + at + 1}.` : '•');
		return parts.map((part, at) => `${'    '.repeat(indent)}${mark(at)} ${part}`).join('\n');
	},
	rich_text: (_, parts) => parts.map((part) => part.replace(/\n?$/, '\n')).join(''),
};

/** Throws for an unknown element. */
function richText(element: unknown): string {
	const fields = FIELDS.parse(element);
	const text = (name: string) => TEXT.parse(fields[name]);
	const write = Object.hasOwn(RICH, text('type')) ? RICH[text('type')] : undefined;
	if (write === undefined) throw new Error('not known');
	const read = write(text, PARTS.parse(fields.elements).map(richText), LIST.parse(fields));
	// Struck text keeps its marks, because its author means the contrary of it.
	return FIELDS.safeParse(fields.style).data?.strike === true ? `~${read}~` : read;
}

const MESSAGE = z.object({ text: z.string().catch(''), blocks: z.array(z.unknown()).catch([]) });

/** The text, in which mentions are still ids in angle brackets. */
function markedText(message: unknown): string {
	const { text = '', blocks = [] } = MESSAGE.safeParse(message).data ?? {};
	try {
		if (blocks.length === 1) return richText(blocks[0]);
	} catch {
		// For a block of an app or of a new kind, the mrkdwn says nearly the same.
	}
	return withoutEmphasis(text);
}

/** Code (groups 1 and 2), anything in angle brackets, and emphasis: its mark (3) and its text (4). */
const MARKED = new RegExp(
	`\`\`\`\\n?(.+?)\\n?\`\`\`|\`([^\`\\n]+)\`|<[^<>]*>|` +
		String.raw`(?<!${IN_WORD})([*_])(?!\s)((?:(?!\3)[^\n])+)(?<!\s)\3(?!${IN_WORD})`,
	'gsu',
);

function withoutEmphasis(text: string): string {
	return text.replace(MARKED, (whole: string, ...[block, code, , inside]: (string | undefined)[]) => {
		return block ?? code ?? (inside === undefined ? whole : withoutEmphasis(inside));
	});
}

/** The people and channels that a message mentions: `@U0ADA`, `#C0AGENTS`. */
export function mentionsIn(message: unknown): ReadonlySet<string> {
	return new Set(Array.from(markedText(message).matchAll(/<([@#]\w+)/g), ([, mention = '']) => mention));
}

/**
 * A message as its author sees it. `names`: by mention, if known. `leftOut`: the user id whose mentions are removed.
 */
export function seenText(message: unknown, leftOut: string, names: ReadonlyMap<string, string> = new Map()): string {
	const text = withoutMention(markedText(message).replace(INVISIBLE, ''), leftOut);
	const read = text.replace(/<([^<>]*)>/g, (whole, inside: string) => seen(inside, names) ?? whole);
	return unescaped(read)
		.replace(/[\u00a0\u2007\u202f]/g, ' ')
		.trim();
}

/** Invisible characters of pasted text. Joiners stay, because emoji and some scripts need them. */
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]/g;

/** Removes mentions of a person, and the comma of each; a space or a line end stays. */
function withoutMention(text: string, userId: string): string {
	const [first = '', ...others] = text.split(new RegExp(`<@${userId}(?:\\|[^<>]*)?>`));
	const parts = [first, ...others.map((part) => part.replace(/^\s*(?:[,，、]|[:：](?![\w+'-]+:))/, ''))];
	const kept = parts.map((part, at) => {
		const next = parts[at + 1];
		if (next === undefined) return part.trimStart();
		const own = part.trimEnd();
		const spaces = `${part.slice(own.length)}${next.slice(0, next.length - next.trimStart().length)}`;
		const isEnd = at === others.length - 1 && /^[\s.!?…]*$/.test(next);
		const gap = spaces === '' || /^\s*[.!?…;)]+(?:\s|$)/.test(next) ? '' : spaces.includes('\n') ? '\n' : ' ';
		return `${(isEnd ? own.replace(/[,，、]$/, '') : own).trimStart()}${gap}`;
	});
	return kept.join('');
}

/** The text that people see for one pair of angle brackets; null if they see the brackets. */
function seen(inside: string, names: ReadonlyMap<string, string>): string | null {
	const [, target = '', label = ''] = /^([^|]*)(?:\|(.*))?$/s.exec(inside) ?? [];
	if (target.startsWith('!date^')) return label || null;
	const name = label || escapeMrkdwn(names.get(target) ?? /^!(here|channel|everyone)$/.exec(target)?.[1] ?? '');
	if (/^[@#!]/.test(target))
		return name === '' ? null : `${target.startsWith('#') ? '#' : '@'}${name.replace(/^@/, '')}`;
	const [, scheme = '', rest = ''] = /^([a-z][a-z\d+.-]*:)(.+)$/is.exec(target) ?? [];
	if (rest === '') return null;
	const address = scheme === 'mailto:' || scheme === 'tel:' ? rest : target;
	return label === '' || isTheAddress(label, scheme, address) ? label || address : `${label} (${address})`;
}

/** Whether Slack, not a person, made the link, because its label is the address. */
function isTheAddress(label: string, scheme: string, address: string): boolean {
	if (label === address || (scheme === 'tel:' && /^[\d\s()+./-]+$/.test(label))) return true;
	const shown = parseAddress(unescaped(label.startsWith(scheme) ? label : `${scheme}//${label}`));
	return shown !== null && shown.href === parseAddress(unescaped(address))?.href;
}
