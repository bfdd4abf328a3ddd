import { str } from '../json.ts';
import { withEmoji } from './emoji.ts';
import { Mrkdwn } from './mrkdwn.tsx';

/** A text object: mrkdwn, or plain text with its shortcodes. */
export function TextObject({ of }: { of: unknown }) {
	const text = str(of, 'text');
	return str(of, 'type') === 'mrkdwn' ? <Mrkdwn text={text} /> : <span className="text">{withEmoji(text)}</span>;
}

/** The same as a plain string, for labels of controls. */
export function words(of: unknown): string {
	return withEmoji(str(of, 'text'));
}
