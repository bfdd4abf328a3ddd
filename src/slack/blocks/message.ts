import type { KnownBlock } from '@slack/types';

/**
 * Slack makes nothing of what stands bare in `text`: no name rings, no channel and no address becomes a link. All of it is
 * said on every call, since the defaults differ: `chat.update` takes `client` for `parse`, as if a person had typed the
 * text, and that of `chat.postMessage` makes links of addresses.
 */
const AS_WRITTEN = { parse: 'none', link_names: false } as const;

/** A message for chat.* or a response_url: blocks, and the text that notifications and screen readers use. */
export interface MessageContent {
	/** Escaped already. */
	readonly text: string;
	readonly blocks: KnownBlock[];
	/** Links of others are never unfolded: a preview would speak for them. */
	readonly unfurl_links: false;
	readonly unfurl_media: false;
	readonly parse: 'none';
	readonly link_names: false;
}

export function message(text: string, blocks: readonly KnownBlock[]): MessageContent {
	return { text, blocks: [...blocks], unfurl_links: false, unfurl_media: false, ...AS_WRITTEN };
}

/** What replaces the content of a message with `chat.update`. */
export function replacement({ text, blocks }: Pick<MessageContent, 'text' | 'blocks'>) {
	return { text, blocks, ...AS_WRITTEN };
}
