import type { Core } from '../core.ts';
import { escaped } from '../escaping.ts';
import type { Json } from '../json.ts';
import { emojiOf, TYPED_EMOJI } from './emoji.ts';

export interface Written {
	/** The text as Slack stores it: escaped, with mentions, channels and links in angle brackets. */
	text: string;
	/** The same as rich text, as the client sends it. */
	blocks: Json[];
}

/** What the client converts: @names, #channels, addresses and emoji. */
const SPECIAL = new RegExp(`@([\\w.-]+)|#([\\w-]+)|https?://[^\\s<>|]+|${TYPED_EMOJI.source}`, 'gu');

function special(core: Core, found: string): { text: string; element: Json } | undefined {
	if (found.startsWith('http')) return { text: `<${escaped(found)}>`, element: { type: 'link', url: found } };
	if (!/^[@#]/.test(found)) return emojiOf(found);
	const name = found.slice(1);
	if (found.startsWith('#')) {
		const channel = core.state.channels.find((one) => one.name === name);
		return channel && { text: `<#${channel.id}|>`, element: { type: 'channel', channel_id: channel.id } };
	}
	if (name === 'here' || name === 'channel' || name === 'everyone') {
		return { text: `<!${name}>`, element: { type: 'broadcast', range: name } };
	}
	// The client offers people in any letter case.
	const person = core.state.people.find((one) => one.name === name.toLowerCase());
	return person && { text: `<@${person.id}>`, element: { type: 'user', user_id: person.id } };
}

/**
 * The message that a person types: its text, and the `rich_text` block that the client sends with it (docs.slack.dev,
 * message event and rich text block), without styles.
 */
export function write(core: Core, typed: string): Written {
	const elements: Json[] = [];
	let text = '';
	let at = 0;
	const plain = (until: number) => {
		const part = typed.slice(at, until);
		if (part !== '') elements.push({ type: 'text', text: part });
		text += escaped(part);
	};
	for (const match of typed.matchAll(SPECIAL)) {
		const found = special(core, match[0]);
		if (!found) continue;
		plain(match.index);
		elements.push(found.element);
		text += found.text;
		at = match.index + match[0].length;
	}
	plain(typed.length);
	return { text, blocks: [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }] };
}
