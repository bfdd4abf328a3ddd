import { ESCALATION, REMINDER, WAIT, WAITS } from '../../support/sentences.ts';
import type { Post } from './history.ts';

/** Below the list, where there are more questions than it shows. */
const UNLISTED = /and (\d+) more: `\/session`/;

export type MessageKind = 'reminder' | 'escalation' | 'several' | 'other';

export function kindOf({ text }: Post): MessageKind {
	if (REMINDER.test(text)) return 'reminder';
	if (ESCALATION.test(text)) return 'escalation';
	// Of one question when the others were answered meanwhile.
	return text.includes(WAIT) || text.includes(WAITS) ? 'several' : 'other';
}

/** The ids of the questions that a message shows. */
export function questionIdsIn({ content }: Post): string[] {
	return [...new Set(content.match(/\bq\d+\b/g) ?? [])];
}

/** For how many questions a message rings that it does not show. */
export function unlistedCount({ content }: Post): number {
	return Number(UNLISTED.exec(content)?.[1] ?? 0);
}

/** Whom it mentions, in text or blocks: ids of people and groups, `channel`, `here`. */
export function mentionsIn({ content }: Post): string[] {
	return [
		...new Set(Array.from(content.matchAll(/<(?:@|!subteam\^|!(?!date\^))(\w+)/g), ([, id = '']) => id)),
	].toSorted();
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
