import { COMMAND } from '../../../src/kernel/command-name.ts';
import { ESCALATION, REMINDER, WAIT, WAITS } from '../../support/sentences.ts';
import type { Post } from './history.ts';
import { permalinkOf } from './slack.ts';

/** Below the list, where there are more questions than it shows. */
const UNLISTED = new RegExp(`and (\\d+) more: ${COMMAND}`);

export type MessageKind = 'reminder' | 'escalation' | 'several' | 'other';

export function kindOf({ text }: Post): MessageKind {
	if (REMINDER.test(text)) return 'reminder';
	if (ESCALATION.test(text)) return 'escalation';
	// Of one question when the others were answered meanwhile.
	return text.includes(WAIT) || text.includes(WAITS) ? 'several' : 'other';
}

/** Nobody sees them, and their hashes may look like ids of questions. */
const BLOCK_IDS = /"block_id":"(?:\\.|[^"\\])*"/g;

/** The ids of the questions that a message shows. */
export function questionIdsIn({ content }: Post): string[] {
	return [...new Set(content.replaceAll(BLOCK_IDS, '').match(/\bq\d+\b/g) ?? [])];
}

/** For how many questions a message rings that it does not show. */
export function unlistedCount({ content }: Post): number {
	return Number(UNLISTED.exec(content)?.[1] ?? 0);
}

/** Whether a message of reminders leads to this post: one by a link, each row of several by what is pressed in it. */
export function leadsTo(reminder: Post, { channelId, ts }: Post): boolean {
	const origin = JSON.stringify(`{"channelId":"${channelId}","threadTs":"${ts}"}`).slice(1, -1);
	return reminder.content.includes(kindOf(reminder) === 'several' ? origin : permalinkOf(channelId, ts));
}

/** Where Slack reads mrkdwn. */
const MENTION = /<(?:@|!subteam\^|!(?!date\^))(\w+)/g;
const mentionsInMrkdwn = (text: unknown) => Array.from(String(text).matchAll(MENTION), ([, id = '']) => id);

/** In mrkdwn, and as an element of rich text. Plain text and the texts of rich text show everything as it is written. */
function mentionsInBlocks(part: unknown): string[] {
	if (typeof part !== 'object' || part === null) return [];
	const { type, text, user_id, usergroup_id, range } = part as Record<string, unknown>;
	return [
		...[user_id, usergroup_id, range].filter((id) => typeof id === 'string'),
		...(type === 'mrkdwn' ? mentionsInMrkdwn(text) : []),
		...Object.values(part).flatMap(mentionsInBlocks),
	];
}

/** Whom it mentions, in text or blocks: ids of people and groups, `channel`, `here`. */
export function mentionsIn({ content }: Post): string[] {
	const [text, blocks] = JSON.parse(content) as [text: string, blocks?: unknown];
	return [...new Set([...mentionsInMrkdwn(text), ...mentionsInBlocks(blocks)])].toSorted();
}

/** The posts of questions: the first that shows each, by channel and question id. */
export function questionPosts(posts: readonly Post[]): ReadonlyMap<string, Post> {
	const first = new Map<string, Post>();
	for (const post of posts) {
		if (kindOf(post) !== 'other') continue;
		for (const id of questionIdsIn(post)) {
			const key = `${post.channelId} ${id}`;
			if (!first.has(key)) first.set(key, post);
		}
	}
	return first;
}
