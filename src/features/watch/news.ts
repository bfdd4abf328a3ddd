import { type CardUrgency, type Endings, hasOpenQuestion, type Watch } from '../../database/watch.ts';
import { type NewPost, NO_ENDINGS, targetOf, withEnding } from '../../posts/post.ts';
import type { Change, Digest } from '../../questions/changes.ts';
import { isOver, statusKind } from '../../questions/session.ts';

/** From this many on, a session gets one post for all its questions. */
const SWITCHING_FROM = 6;
/** A question of such a session that stays for this long is posted by itself. */
const REST_MS = 60_000;

/** Whether the session changes its question so often that the next one notifies only when it has rested. */
function isSwitching({ unansweredCount, isNewestAnswered }: Endings): boolean {
	return unansweredCount >= SWITCHING_FROM && !isNewestAnswered;
}

/** The changes since the read before; null: since nothing. */
export interface Told {
	readonly before: Digest | null;
	readonly changes: readonly Change[];
}

/**
 * What to tell a channel of these changes, which a read at `seenAt` found. `isRestless`: its question has changed often, and a
 * moment ago.
 */
export function newsFor(watch: Watch, { before, changes }: Told, seenAt: number) {
	const posts: NewPost[] = [];
	const target = targetOf(watch);
	let endings = watch.endings ?? NO_ENDINGS;
	for (const change of changes) {
		if (change.kind === 'questionReworded') endings = withEnding(endings, false, seenAt);
		const isAnswered = endsQuestion(change, before);
		if (isAnswered !== null) endings = withEnding(endings, isAnswered, seenAt);
		const news = newsOf(change, watch, changes);
		const post = news === null ? [] : [{ target, ...news }];
		posts.push(...(isSwitching(endings) ? post.flatMap((one) => untilItRests(one, watch.revision, seenAt)) : post));
	}
	const slowly = isSwitching(endings);
	const isRestless = slowly && seenAt - endings.unansweredAt < REST_MS;
	const isUrgent = !slowly && changes.some(({ kind }) => kind !== 'stepped' && kind !== 'filesChanged');
	const changed = changes.length > 0;
	const card: CardUrgency | null = isUrgent ? 'now' : changed || before === null ? 'progress' : null;
	return { update: { posts, card: watch.mode === 'raisedHand' ? null : card, changed, slowly }, isRestless };
}

/** The posts of a session that changes its question often: its one post now, and the question when it has rested. */
function untilItRests(post: NewPost, revision: number, now: number): NewPost[] {
	const { target, content } = post;
	if (content.kind !== 'question') return [post];
	const rested = { ...post, content: { ...content, changed: false }, heldUntil: now + REST_MS };
	return [{ target, key: `switching:${revision}`, content: { kind: 'switching' } }, rested];
}

/** Whether this change ends a question with an answer; null: it ends none. */
function endsQuestion(change: Change, before: Digest | null): boolean | null {
	if (change.kind === 'questionAnswered') return change.isWhole ? true : null;
	const isUnanswered =
		change.kind === 'questionClosed' || (change.kind === 'questionChanged' && hasOpenQuestion(before));
	return isUnanswered ? false : null;
}

/** A post of its own; null for none: how a question goes on, its post shows. */
function newsOf(change: Change, watch: Watch, changes: readonly Change[]): Omit<NewPost, 'target'> | null {
	switch (change.kind) {
		case 'questionAsked':
		case 'questionChanged': {
			if (change.items.length === 0) return null;
			// The store adds which time it is asked.
			return { key: 'question:', content: { kind: 'question', changed: change.kind === 'questionChanged' } };
		}
		case 'statusChanged': {
			if (watch.mode !== 'everything' || !statusMatters(change.from, change.to, changes)) return null;
			return { key: `status:${watch.revision}`, content: { kind: 'status', from: change.from, to: change.to } };
		}
		case 'ended': {
			if (watch.mode !== 'everything') return null;
			return { key: 'end', content: { kind: 'end' } };
		}
		default:
			return null;
	}
}

/** False when another post tells it (a question, an end) and when the agent goes on after a question or an end. */
function statusMatters(from: string, to: string, changes: readonly Change[]): boolean {
	if (changes.some(({ kind }) => kind === 'ended')) return false;
	switch (statusKind(to)) {
		case 'paused':
		case 'inactive':
		case 'unknown':
			return true;
		case 'humanInput':
			return !changes.some(({ kind }) => kind === 'questionAsked' || kind === 'questionChanged');
		case 'active':
			return statusKind(from) !== 'humanInput' && !isOver(from);
		default:
			return false;
	}
}
