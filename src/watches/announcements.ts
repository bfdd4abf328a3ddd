import type { Change } from '../questions/changes.ts';
import { statusKind } from '../questions/session.ts';
import type { AnnouncementContent, SettledHow } from './kinds.ts';
import type { QuestionView, SessionSnapshot } from './session-snapshot.ts';
import { isSwitching, NO_ENDINGS, REST_MS, UNANSWERED, withEnding } from './switching.ts';
import type { CardUrgency, ChannelKey, Watch, WatchEnd } from './watch.ts';

/** `lastError` of what waits for its `heldUntil`. The target's other posts do not wait for it. */
export const HELD = 'card_held';
/** `lastError` of a post that waits for the shared rate: its attempt sent nothing and failed at nothing. */
export const PACED = 'paced';

/** Where to post. Announcements of one target are posted in order. `switching`: see `switchingTargetOf`. */
export type AnnouncementTarget =
	| (ChannelKey & { readonly kind: 'watch'; readonly watchId: string; readonly topic?: 'switching' })
	| { readonly kind: 'channel'; readonly teamId: string; readonly channelId: string }
	/** `topic`: posts about other topics to the same person do not wait for those about this one. */
	| { readonly kind: 'person'; readonly teamId: string; readonly userId: string; readonly topic?: string };

export interface NewAnnouncement {
	readonly target: AnnouncementTarget;
	/** Unique within its target, so that nothing is queued twice. */
	readonly key: string;
	readonly content: AnnouncementContent;
	/** Not posted before this time, clock milliseconds. A question that is settled before it is never posted. */
	readonly heldUntil?: number;
	/**
	 * Not queued when the key of the newest of the target's announcements with `about` in their key begins with `says` and a
	 * colon.
	 */
	readonly unlessSaid?: { readonly about: string; readonly says: string };
}

/** An intent to post, stored in one transaction with the digest it follows from. */
export interface Announcement extends NewAnnouncement {
	readonly id: string;
	readonly attempts: number;
	/**
	 * Set before Slack is called, cleared when certainly nothing was posted. While it is set the post may exist, so it is
	 * searched for before it is posted again.
	 */
	readonly sendingSince: number | null;
	readonly postedTs: string | null;
	/** `PostUpdate.key` of what the post of a question shows; null while that is what was posted. */
	readonly shownKey: string | null;
	readonly lastError: string | null;
}

/** The session as channels may see it. */
export interface SeenSession {
	readonly view: SessionSnapshot;
	/** The question of a message; null when it asks nothing. */
	readonly questionAt: (messageIndex: number) => QuestionView | null;
}

/**
 * What to tell a channel about the changes since its watch's last announcement: posts by the watch's mode, in the order of
 * the changes, and the card's update. `changed`: whether people see a difference. `endings`: with this read.
 */
export function newsFor(watch: Watch, changes: readonly Change[], seen: SeenSession) {
	const announcements: NewAnnouncement[] = [];
	const { seenAt } = seen.view;
	let endings = watch.endings ?? NO_ENDINGS;
	let card: CardUrgency | null = watch.digest === null ? 'progress' : null;
	let reworded: QuestionView | null = null;
	for (const seenChange of changes) {
		const change = isSwitching(withEnding(endings, false, seenAt)) ? asReplaced(seenChange, seen) : seenChange;
		card = moreUrgent(card, urgencyOf(change));
		const post = isPosted(change, watch) ? postOf(change, watch, changes, seen) : null;
		if (change.kind === 'questionReworded') {
			reworded = seen.questionAt(change.messageIndex);
			endings = withEnding(endings, false, seenAt);
			const key = `${UNANSWERED}redraw:${watch.revision}`;
			announcements.push({ target: targetOf(watch), key, content: { kind: 'redraw' } });
		}
		if (change.kind === 'questionMoved' && hadOpenQuestion(watch)) {
			announcements.push({ target: targetOf(watch), key: `redraw:${watch.revision}`, content: { kind: 'redraw' } });
		}
		const settled = settledBy(change, watch);
		if (settled !== null) endings = withEnding(endings, settled.how === 'answered', seenAt);
		const posted = post === null ? [] : [{ target: targetOf(watch), ...post }];
		const posts = isSwitching(endings) ? posted.flatMap((one) => untilItRests(one, seenAt)) : posted;
		const counted = endings.isNewestAnswered ? '' : UNANSWERED;
		const key = `${counted}settle:${settled?.how}:${settled?.messageIndex}:${watch.revision}`;
		const settles =
			settled === null ? [] : [{ target: targetOf(watch), key, content: { kind: 'settle', ...settled } as const }];
		// A settle concerns the posts before it: not the one of the question that replaces them.
		announcements.push(...(settled?.how === 'changed' ? [...settles, ...posts] : [...posts, ...settles]));
	}
	const changed = card !== null && changes.length > 0;
	if (card !== null && isSwitching(endings)) card = 'progress';
	return { announcements, card: watch.mode === 'raisedHand' ? null : card, changed, endings, reworded };
}

/** Of a session that changes its question often, another text above a question is another question. */
function asReplaced(change: Change, { questionAt }: SeenSession): Change {
	if (change.kind !== 'questionReworded') return change;
	const { messageIndex } = change;
	const items = questionAt(messageIndex)?.items.flatMap(({ open }, position) => (open ? [position] : [])) ?? [];
	return { kind: 'questionChanged', messageIndex, items };
}

/** The posts of a session that changes its question often: its one post now, and the question when it has rested. */
function untilItRests(post: NewAnnouncement, now: number): NewAnnouncement[] {
	const { target, key, content } = post;
	if (content.kind === 'questionClosed') return [];
	if (content.kind !== 'question' || target.kind !== 'watch') return [post];
	const rested = { ...post, content: { ...content, changed: false }, heldUntil: now + REST_MS };
	return [{ target: switchingTargetOf(target), key, content: { ...content, switching: true } }, rested];
}

/** Where a watch has its post for all questions. Apart from the others: what settles a question does not settle it. */
export function switchingTargetOf(target: Extract<AnnouncementTarget, { kind: 'watch' }>) {
	return { ...target, topic: 'switching' } as const;
}

/** The question that this post shows: the newest one, or at its end the one that was settled. */
export function newestQuestion(asked: QuestionView, change: AnnouncementContent, view: SessionSnapshot | null) {
	const newest = view?.question ?? { ...asked, openCount: 0 };
	if (change.kind !== 'settle') return newest;
	const { messageIndex } = change;
	if (newest.messageIndex !== messageIndex) return { ...asked, messageIndex, context: '', items: [], openCount: 0 };
	return { ...newest, items: newest.items.map((item) => ({ ...item, open: true })) };
}

/** Of a raised hand only its questions are posted: their posts say how they were settled. */
function isPosted({ kind }: Change, { mode }: Watch): boolean {
	return mode !== 'raisedHand' || kind === 'questionAsked' || kind === 'questionChanged';
}

export function targetOf(watch: Pick<Watch, 'id' | 'teamId' | 'channelId'>) {
	return { kind: 'watch', watchId: watch.id, teamId: watch.teamId, channelId: watch.channelId } as const;
}

/** The least time between two replacements of deleted cards. */
const CARD_AGAIN_MS = 3_600_000;

/** The card that replaces the deleted card `lostTs`. `before`: the `notBefore` of the newest replacement, or null. */
export function cardAgain(watch: Watch, lostTs: string, before: number | null, now: number): NewAnnouncement {
	const notBefore = before === null ? now : Math.max(now, Math.min(before, now) + CARD_AGAIN_MS);
	const held = notBefore > now ? { heldUntil: notBefore } : {};
	return { target: targetOf(watch), key: `card:${lostTs}`, content: { kind: 'card', notBefore }, ...held };
}

/** Announces the end of a watch whose session goes on. */
export function watchEndedIn(watch: Watch, reason: WatchEnd, days: number | null): NewAnnouncement {
	return { target: targetOf(watch), key: 'watchEnded', content: { kind: 'watchEnded', reason, days } };
}

/** Settles the posts of an open question, because they are no longer kept current, or because it is not there any more. */
export function settlingOf(watch: Watch, how: 'unwatched' | 'gaveWay' | 'closed' = 'unwatched'): NewAnnouncement[] {
	const question = watch.digest?.question ?? null;
	if (question === null || question.open.length === 0) return [];
	const { messageIndex } = question;
	const content = { kind: 'settle', messageIndex, how } as const;
	return [{ target: targetOf(watch), key: `settle:${messageIndex}:${how}`, content }];
}

function hadOpenQuestion({ digest }: Watch): boolean {
	return digest?.question != null && digest.question.open.length > 0;
}

/** The question that this change settles: it takes no more answers. */
function settledBy(change: Change, watch: Watch): { messageIndex: number; how: SettledHow } | null {
	if (change.kind === 'questionChanged' && hadOpenQuestion(watch)) {
		return { messageIndex: change.messageIndex, how: 'changed' };
	}
	const isAnswered = change.kind === 'questionAnswered' && change.stillOpen.length === 0;
	if (isAnswered) return { messageIndex: change.messageIndex, how: 'answered' };
	return change.kind === 'questionClosed' ? { messageIndex: change.messageIndex, how: 'closed' } : null;
}

function moreUrgent(first: CardUrgency | null, second: CardUrgency | null): CardUrgency | null {
	return first === 'now' || second === 'now' ? 'now' : (first ?? second);
}

function urgencyOf(change: Change): CardUrgency | null {
	switch (change.kind) {
		case 'stepped':
		case 'rewound':
		case 'filesChanged':
			return 'progress';
		case 'screenshotChanged':
			// The card has a button for the screenshot, not the picture.
			return null;
		default:
			return 'now';
	}
}

function postOf(
	change: Change,
	watch: Watch,
	changes: readonly Change[],
	{ view, questionAt }: SeenSession,
): Omit<NewAnnouncement, 'target'> | null {
	switch (change.kind) {
		case 'questionAsked':
		case 'questionChanged': {
			const { messageIndex, items } = change;
			const question = questionAt(messageIndex);
			if (question === null || items.length === 0) return null;
			const { fingerprint } = question;
			const changed = change.kind === 'questionChanged';
			const content = { kind: 'question', question, changed, readAt: view.seenAt } as const;
			const says = `question:${messageIndex}:${fingerprint}:${items.join(',')}`;
			const { key, unlessSaid } = onceOnly(watch, says, fingerprint);
			// With a digest, this is known to be news: the agent waits again.
			return watch.digest === null ? { key, unlessSaid, content } : { key, content };
		}
		case 'questionAnswered': {
			const { messageIndex, items, stillOpen } = change;
			const question = change.taken === true ? null : questionAt(messageIndex);
			const fingerprint = (question ?? watch.digest?.question)?.fingerprint ?? '';
			const says = `answered:${messageIndex}:${fingerprint}:${items.join(',')}`;
			const content = { kind: 'answered', messageIndex, question, items, stillOpen } as const;
			return { ...onceOnly(watch, says, fingerprint), content };
		}
		case 'questionClosed': {
			const { messageIndex } = change;
			const key = `closed:${messageIndex}:${watch.digest?.question?.fingerprint ?? ''}:${watch.revision}`;
			return { key, content: { kind: 'questionClosed', messageIndex } };
		}
		case 'statusChanged': {
			if (watch.mode !== 'everything' || !statusMatters(change.from, change.to, changes)) return null;
			return { key: `status:${watch.revision}`, content: { kind: 'status', from: change.from, to: change.to } };
		}
		case 'ended': {
			if (watch.mode !== 'everything') return null;
			return { key: 'end', content: { kind: 'end', status: change.status, result: view.result, step: view.step } };
		}
		default:
			return null;
	}
}

/**
 * The key of a post about a question. It contains the watch's revision, because a question may be asked and answered more
 * than once. `unlessSaid` keeps a read with a shortened history, or a damaged digest, from repeating the newest post.
 */
function onceOnly(watch: Watch, says: string, fingerprint: string) {
	return { key: `${says}:${watch.revision}`, unlessSaid: { about: `:${fingerprint}:`, says } };
}

/** False when another post tells it (a question, an answer, an end) and when the agent goes on after an answer. */
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
			return statusKind(from) !== 'humanInput';
		default:
			return false;
	}
}
