import type { Change } from '../questions/changes.ts';
import { statusKind } from '../questions/session.ts';
import { type NewAnnouncement, switchingTargetOf, targetOf } from './announcements.ts';
import type { AnnouncementContent, ContentOf, SettledHow } from './kinds.ts';
import type { QuestionView, SeenSession, SessionSnapshot } from './session-snapshot.ts';
import type { CardUrgency, Endings, Watch } from './watch.ts';
import { hasOpenQuestion } from './watched-session.ts';

export const NO_ENDINGS: Endings = { unansweredCount: 0, unansweredAt: 0, isNewestAnswered: false, isAnswered: false };
export const COUNTED_MS = 10 * 60_000;
/** From this many on, a session gets one post for all its questions. */
const SWITCHING_FROM = 6;
/** A question of such a session that stays for this long is posted by itself. */
export const REST_MS = 60_000;
/** The least time between two updates of such a post, and of the session's card. */
export const SHOWN_EVERY_MS = 10_000;
/** The key of an announcement that tells that a question ended, or got another text, without an answer begins with this. */
export const UNANSWERED = 'unanswered:';

/** The endings after one more. `isAnswered`: as a read shows it. */
export function withEnding(endings: Endings, isAnswered: boolean, at: number): Endings {
	if (isAnswered || endings.isAnswered) return { ...endings, isNewestAnswered: true };
	const unansweredCount = endings.unansweredCount + 1;
	return { ...endings, unansweredCount, unansweredAt: at, isNewestAnswered: false };
}

/** Whether the session changes its question so often that the next one notifies only when it has rested. */
export function isSwitching({ unansweredCount, isNewestAnswered }: Endings): boolean {
	return unansweredCount >= SWITCHING_FROM && !isNewestAnswered;
}

/** What to tell a channel since its watch's last announcement. `changed`: whether people see a difference. */
export function newsFor(watch: Watch, changes: readonly Change[], seen: SeenSession) {
	const announcements: NewAnnouncement[] = [];
	const target = targetOf(watch);
	const { seenAt } = seen.view;
	let endings = watch.endings ?? NO_ENDINGS;
	let card: CardUrgency | null = watch.digest === null ? 'progress' : null;
	let reworded: QuestionView | null = null;
	for (const seenChange of changes) {
		const change = isSwitching(withEnding(endings, false, seenAt)) ? asReplaced(seenChange, seen) : seenChange;
		card = moreUrgent(card, urgencyOf(change));
		const post = isPosted(change, watch) ? postOf(change, watch, changes, seen) : null;
		const isReworded = change.kind === 'questionReworded';
		if (isReworded) {
			reworded = seen.questionAt(change.messageIndex);
			endings = withEnding(endings, false, seenAt);
		}
		if (isReworded || (change.kind === 'questionMoved' && hasOpenQuestion(watch.digest))) {
			const key = `${isReworded ? UNANSWERED : ''}redraw:${watch.revision}`;
			announcements.push({ target, key, content: { kind: 'redraw' } });
		}
		const settled = settledBy(change, watch);
		if (settled !== null) endings = withEnding(endings, settled.how === 'answered', seenAt);
		const posted = post === null ? [] : [{ target, ...post }];
		const posts = isSwitching(endings) ? posted.flatMap((one) => untilItRests(one, seenAt)) : posted;
		const counted = endings.isNewestAnswered ? '' : UNANSWERED;
		const key = `${counted}settle:${settled?.how}:${settled?.messageIndex}:${watch.revision}`;
		const settles: NewAnnouncement[] = settled === null ? [] : [{ target, key, content: settled }];
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

/** How this change settles a question: it takes no more answers. */
function settledBy(change: Change, { digest }: Watch): ContentOf<'settle'> | null {
	const settled = (messageIndex: number, how: SettledHow) => ({ kind: 'settle', messageIndex, how }) as const;
	switch (change.kind) {
		case 'questionChanged':
			return hasOpenQuestion(digest) ? settled(change.messageIndex, 'changed') : null;
		case 'questionAnswered':
			return change.stillOpen.length === 0 ? settled(change.messageIndex, 'answered') : null;
		case 'questionClosed':
			return settled(change.messageIndex, 'closed');
		default:
			return null;
	}
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
 * The key of a post about a question, which may be asked and answered more than once. `unlessSaid` keeps a read with a
 * shortened history, or a damaged digest, from repeating the newest post.
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
