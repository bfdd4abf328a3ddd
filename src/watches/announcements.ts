import type { Change } from '../questions/changes.ts';
import { statusKind } from '../questions/status.ts';
import type { QuestionView, SessionView } from './session-view.ts';
import type { CardUrgency, Watch, WatchEnd } from './watch.ts';

/**
 * What is to be posted. Texts are cut and untrusted, secret values are never in it.
 *
 * - `card`: the first post of a watch; everything else of it goes into its thread. A new one takes the place of one that
 *   somebody deleted, not before `notBefore` (clock milliseconds).
 * - `question`: new, or (`changed`) another at the same place. `answered`: it got values. `questionClosed`: it is open no
 *   longer and no answer is known.
 * - `settle`: no post, but the posts of this question lose their button and say how it was settled.
 * - `end`: the session's, with its result. `watchEnded`: only the watch's.
 * - `serviceDown`, `serviceBack`: one for a channel, not in a thread. `creatorTold`: a direct message.
 */
export type AnnouncementContent =
	| { readonly kind: 'card'; readonly notBefore?: number }
	| { readonly kind: 'question'; readonly question: QuestionView; readonly changed: boolean }
	| {
			readonly kind: 'answered';
			readonly messageIndex: number;
			readonly question: QuestionView | null;
			/** The positions that got a value. */
			readonly items: readonly number[];
			readonly stillOpen: readonly number[];
	  }
	| { readonly kind: 'questionClosed'; readonly messageIndex: number }
	| { readonly kind: 'settle'; readonly messageIndex: number; readonly how: 'answered' | 'closed' | 'unwatched' }
	| { readonly kind: 'status'; readonly from: string; readonly to: string }
	| { readonly kind: 'end'; readonly status: string; readonly result: string | null; readonly step: number }
	| { readonly kind: 'watchEnded'; readonly reason: WatchEnd; readonly days: number | null }
	| { readonly kind: 'serviceDown'; readonly since: number }
	| { readonly kind: 'serviceBack'; readonly since: number; readonly downMs: number }
	| {
			readonly kind: 'creatorTold';
			readonly reason: WatchEnd;
			readonly channelId: string;
			readonly sessionIds: readonly string[];
	  };

/**
 * What `lastError` says of a card that waits for its time: the watch has no thread until then, and its other posts do not
 * wait for one.
 */
export const CARD_HELD = 'card_held';
/** What it says of a post for which the shared rate has no room yet. */
export const PACED = 'paced';

/** Whether an attempt that ended with this code only waits for its turn: nothing was sent. */
export function waitsForTurn(code: string): boolean {
	return code === PACED || code === CARD_HELD;
}

/** Where it goes and, by that, what it waits for: announcements of one target are posted in order. */
export type AnnouncementTarget =
	| { readonly kind: 'watch'; readonly watchId: string; readonly teamId: string; readonly channelId: string }
	| { readonly kind: 'channel'; readonly teamId: string; readonly channelId: string }
	| { readonly kind: 'person'; readonly teamId: string; readonly userId: string };

export interface NewAnnouncement {
	readonly target: AnnouncementTarget;
	/** Unique for its target for ever: the same thing is never queued twice. */
	readonly key: string;
	readonly content: AnnouncementContent;
	/**
	 * Not queued when the newest announcement of its target with `about` in its key says `says` already, which is its key
	 * or the beginning of it up to a colon.
	 */
	readonly unlessSaid?: { readonly about: string; readonly says: string };
}

/** `dropped`: its turn never came (the watch ended, the channel is gone, the outage was over before anybody was told). */
export type AnnouncementState = 'pending' | 'posted' | 'refused' | 'dropped';

/** An intent to post, stored in the transaction that stores the digest it follows from. */
export interface Announcement extends NewAnnouncement {
	readonly id: string;
	readonly state: AnnouncementState;
	readonly createdAt: number;
	readonly attempts: number;
	readonly nextAttemptAt: number | null;
	/**
	 * Set before Slack is called and cleared when it is known that nothing was posted: while set, it may stand in the
	 * channel already, and is looked for before it is posted again.
	 */
	readonly sendingSince: number | null;
	readonly postedTs: string | null;
	readonly lastError: string | null;
}

/** What the changes since a watch's last announcement mean for its channel. */
export interface News {
	readonly announcements: readonly NewAnnouncement[];
	readonly card: CardUrgency | null;
	/** Whether people see a difference. */
	readonly changed: boolean;
}

/**
 * Which changes become posts, by the watch's mode, in their order. `questionAt` gives the question of a message as it is
 * now.
 */
export function newsFor(
	watch: Watch,
	changes: readonly Change[],
	view: SessionView,
	questionAt: (messageIndex: number) => QuestionView | null,
): News {
	const announcements: NewAnnouncement[] = [];
	let card: CardUrgency | null = watch.digest === null ? 'progress' : null;
	for (const change of changes) {
		card = moreUrgent(card, urgencyOf(change));
		const said = contentOf(watch, change, changes, view, questionAt);
		if (said !== null) announcements.push({ target: targetOf(watch), ...said });
		const settled = settledBy(change);
		if (settled !== null) {
			const key = `settle:${settled.messageIndex}:${watch.revision}`;
			announcements.push({ target: targetOf(watch), key, content: { kind: 'settle', ...settled } });
		}
	}
	return { announcements, card, changed: card !== null && changes.length > 0 };
}

export function targetOf(watch: Pick<Watch, 'id' | 'teamId' | 'channelId'>) {
	return { kind: 'watch', watchId: watch.id, teamId: watch.teamId, channelId: watch.channelId } as const;
}

/** Whoever deletes a card again and again gets a new one no more often than this. */
export const CARD_AGAIN_MS = 3_600_000;

/**
 * The card that takes the place of `lostTs`, once for each that was lost. `before`: the `notBefore` of the last one that
 * took the place of another, null when this is the first.
 */
export function cardAgain(watch: Watch, lostTs: string, before: number | null, now: number): NewAnnouncement {
	const notBefore = before === null ? now : Math.max(now, Math.min(before, now) + CARD_AGAIN_MS);
	return { target: targetOf(watch), key: `card:${lostTs}`, content: { kind: 'card', notBefore } };
}

/** Whether it stands in the channel while there is no thread; the next card shows the rest. */
export function standsWithoutThread({ kind }: AnnouncementContent): boolean {
	return kind === 'question' || kind === 'end' || kind === 'watchEnded';
}

/** A word in the thread, for a watch that ends while its session goes on. */
export function watchEndedIn(watch: Watch, reason: WatchEnd, days: number | null): NewAnnouncement {
	return { target: targetOf(watch), key: 'watchEnded', content: { kind: 'watchEnded', reason, days } };
}

/** The question whose posts take no answer any more. */
function settledBy(change: Change): { messageIndex: number; how: 'answered' | 'closed' } | null {
	const isAnswered = change.kind === 'questionAnswered' && change.stillOpen.length === 0;
	if (isAnswered) return { messageIndex: change.messageIndex, how: 'answered' };
	return change.kind === 'questionClosed' ? { messageIndex: change.messageIndex, how: 'closed' } : null;
}

function moreUrgent(one: CardUrgency | null, other: CardUrgency | null): CardUrgency | null {
	return one === 'now' || other === 'now' ? 'now' : (one ?? other);
}

function urgencyOf(change: Change): CardUrgency | null {
	switch (change.kind) {
		case 'stepped':
		case 'rewound':
		case 'filesChanged':
			return 'progress';
		case 'screenshotChanged':
			// The card holds a button for it, not the picture.
			return null;
		default:
			return 'now';
	}
}

function contentOf(
	watch: Watch,
	change: Change,
	all: readonly Change[],
	view: SessionView,
	questionAt: (messageIndex: number) => QuestionView | null,
): Omit<NewAnnouncement, 'target'> | null {
	switch (change.kind) {
		case 'questionAsked':
		case 'questionChanged': {
			const { messageIndex, items } = change;
			const question = questionAt(messageIndex);
			if (question === null || items.length === 0) return null;
			const { fingerprint } = question;
			const changed = change.kind === 'questionChanged';
			const content = { kind: 'question', question, changed } as const;
			const { key, unlessSaid } = saying(
				watch,
				`question:${messageIndex}:${fingerprint}:${items.join(',')}`,
				fingerprint,
			);
			// Where it is known what was announced last, this is news: the agent waits again.
			return watch.digest === null ? { key, unlessSaid, content } : { key, content };
		}
		case 'questionAnswered': {
			const { messageIndex, items, stillOpen } = change;
			const question = questionAt(messageIndex);
			const fingerprint = question?.fingerprint ?? '';
			return {
				...saying(watch, `answered:${messageIndex}:${fingerprint}:${items.join(',')}`, fingerprint),
				content: { kind: 'answered', messageIndex, question, items, stillOpen },
			};
		}
		case 'questionClosed': {
			const { messageIndex } = change;
			const key = `closed:${messageIndex}:${watch.digest?.question?.fingerprint ?? ''}:${watch.revision}`;
			return { key, content: { kind: 'questionClosed', messageIndex } };
		}
		case 'statusChanged': {
			if (watch.mode !== 'everything' || !statusMatters(change.from, change.to, all)) return null;
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
 * The key of a post about a question. The watch's revision is in it, since a question may be asked and answered more than
 * once; what was said of it last is not said again, so that a history that is short for one read, or a digest of another
 * version, repeats nothing.
 */
function saying(watch: Watch, says: string, fingerprint: string) {
	return { key: `${says}:${watch.revision}`, unlessSaid: { about: `:${fingerprint}:`, says } };
}

/** Not where another post says it: a question asked or answered, an end. Waking from a rest matters, going on does not. */
function statusMatters(from: string, to: string, all: readonly Change[]): boolean {
	if (all.some(({ kind }) => kind === 'ended')) return false;
	switch (statusKind(to)) {
		case 'paused':
		case 'inactive':
		case 'unknown':
			return true;
		case 'humanInput':
			return !all.some(({ kind }) => kind === 'questionAsked' || kind === 'questionChanged');
		case 'active':
			return statusKind(from) !== 'humanInput';
		default:
			return false;
	}
}
