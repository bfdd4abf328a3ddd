import type { KnownBlock } from '@slack/types';

/** A message for chat.* or a response_url: blocks, and the text that notifications and screen readers use. */
export interface MessageContent {
	/** Escaped already. */
	readonly text: string;
	readonly blocks: KnownBlock[];
	/** Links of others are never unfolded: a preview would speak for them. */
	readonly unfurl_links: false;
	readonly unfurl_media: false;
}

export function message(text: string, blocks: readonly KnownBlock[]): MessageContent {
	return { text, blocks: [...blocks], unfurl_links: false, unfurl_media: false };
}

/**
 * What replaces the content of a message. Unlike `chat.postMessage`, `chat.update` treats text as if a person had typed
 * it, which makes bare names live, unless `parse` is given.
 */
export function replacement({ text, blocks }: Pick<MessageContent, 'text' | 'blocks'>) {
	return { text, blocks, parse: 'none' } as const;
}
