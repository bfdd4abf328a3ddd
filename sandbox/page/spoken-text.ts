import type { WireMessage } from '../wire.ts';
import { withEmoji } from './blocks/emoji.ts';

/** A message as plain words, without markup: for screen readers and for the first line of a thread. */
export function spokenText(message: WireMessage): string {
	return withEmoji(
		message.text
			.replace(/<!date\^[^|>]*\|([^>]*)>/g, '$1')
			.replace(/<[^|>]*\|([^>]*)>/g, '$1')
			.replace(/<([^>]*)>/g, '$1')
			.replace(/[*_~`]/g, '')
			.replaceAll('&lt;', '<')
			.replaceAll('&gt;', '>')
			.replaceAll('&amp;', '&'),
	).trim();
}
