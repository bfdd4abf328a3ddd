import type { WireMessage } from '../wire.ts';
import { withEmoji } from './blocks/emoji.ts';
import type { Names } from './blocks/names.ts';

/** A message as plain words, without markup, for screen readers. */
export function spokenText(message: WireMessage, names: Names): string {
	return withEmoji(
		message.text
			.replace(/<!date\^[^|>]*\|([^>]*)>/g, '$1')
			.replace(/<[^|>]*\|([^>]*)>/g, '$1')
			.replace(/<@(\w+)>/g, (_, id: string) => `@${names.person(id) ?? id}`)
			.replace(/<#(\w+)>/g, (_, id: string) => `#${names.channel(id) ?? id}`)
			.replace(/<([^>]*)>/g, '$1')
			.replace(/[*_~`]/g, '')
			.replaceAll('&lt;', '<')
			.replaceAll('&gt;', '>')
			.replaceAll('&amp;', '&'),
	).trim();
}
