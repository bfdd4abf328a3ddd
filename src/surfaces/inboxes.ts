import type { Core } from '../core.ts';
import type { Person } from '../domain/session.ts';
import { backOff, codeOf, createFailures, createMemo, MINUTE_MS, uptimeOf } from '../kernel/basics.ts';
import { createLeaseLoop } from '../kernel/lease-loop.ts';
import type { RateLimit } from '../kernel/rate-limiter.ts';
import { type ContentOptions, createInboxContent, type InboxContent } from '../screens/inbox-content.ts';
import type { Directory } from '../slack/directory.ts';
import type { Choice } from '../slack/ids.ts';
import type { InboxPlace } from '../slack/request.ts';
import { LONGEST_SNOOZE_MS } from '../store/schema/watches.ts';
import { FOLLOWED_MS, type Inbox, type InboxStore, SPACING_MS } from './inbox-store.ts';
import type { News } from './marks.ts';

const UPDATES_AT_ONCE = 6;
/**
 * Slack takes about 100 `views.publish` and as many `views.update` a minute for the whole workspace. Few inboxes are
 * windows: forms need the latter.
 */
const UPDATE_RATE: RateLimit = { intervalMs: 800, burst: 20 };
/**
 * The part of the burst that inboxes leave to those in which somebody just did something: those that were opened, those
 * that do not show all yet, and those that only follow.
 */
const KEPT = { opened: 4, incomplete: 8, news: 10, usual: 18 };
/** For so long a Home that was opened waits for what Slack tells of its person, rather than show that it waits. */
const PATIENCE_MS = 10_000;
/** For this long after news inboxes may use what is kept for them. */
const NEWS_MS = 10_000;
/** What one person changes is news to others no more often than this. Who goes on faster has to rest first. */
const NEWS_RATE: RateLimit = { intervalMs: 10_000, burst: 5 };
/** What one person does in inboxes comes before those that only follow, but no more often than this. */
const FIRST_RATE: RateLimit = { intervalMs: 3_000, burst: 5 };
const RETRY = { firstMs: 2_000, longestMs: 2 * 60_000 } as const;

/** `gone`: nobody can see it any more, because the window was closed or the person is unknown. */
export type ShowOutcome =
	| { readonly kind: 'shown' | 'gone' }
	/** Slack refuses the content or the surface: the same call fails again. */
	| { readonly kind: 'refused'; readonly code: string }
	/** `ms`: the wait that Slack asks for, of the whole workspace; null: it asks for none. */
	| { readonly kind: 'later'; readonly ms: number | null };

/** Draws an inbox. Equal keys look the same; `isAsked`: its person waits for it. */
export type InboxDisplay = (
	inbox: Inbox,
	content: InboxContent,
	now: number,
) => { readonly key: string; readonly send: (how: { isAsked: boolean }) => Promise<ShowOutcome> };

/**
 * Keeps open inboxes current. Opening one stores a row; a lease loop shows the content of due rows, so the newest state
 * wins and replicas do not race. A change of questions, claims or answers makes all followed inboxes due: `marks.ts`.
 */
export function createInboxes(
	core: Core<{ inboxes: InboxStore }>,
	{ display, onListed, ...access }: ContentOptions & Pick<Directory, 'onListed'> & { readonly display: InboxDisplay },
) {
	const { rateLimiter, clock, log } = core;
	const { inboxes: store } = core.store;
	const { inboxes: metrics } = core.metrics;
	const failures = createFailures();
	let newsAt = Number.NEGATIVE_INFINITY;
	/** When the shared rate next has room for inboxes that only follow, and for all, clock milliseconds. */
	const room = createMemo(clock, () => ({ followers: 0, all: 0 }));
	const { build, next } = createInboxContent(core, access);

	/** Whether others have to see at once what this person changed. */
	async function isNews(userId: string | null): Promise<boolean> {
		if (userId === null) return true;
		const now = clock.now();
		const key = `inbox-news:${userId}`;
		const isOften = (await rateLimiter.take(key, NEWS_RATE, { now, keep: 0 })) > 0;
		if (isOften) await rateLimiter.charge(key, NEWS_RATE, { now, count: 1 });
		return !isOften;
	}

	/** Never rejects: where nobody can say, it is news. */
	async function learnNews(people: News): Promise<void> {
		const news = await Promise.all(Array.from(people, (userId) => isNews(userId).catch(() => true)));
		if (!news.includes(true)) return;
		newsAt = uptimeOf(clock);
		const { all } = room.get();
		room.set({ followers: all, all });
		loop.wake();
	}

	/** Who may see what has changed. Never rejects. */
	async function touch(): Promise<void> {
		const failed = (error: unknown) => log.warn('take_failed', { rows: 'inboxes', code: codeOf(error) });
		await store.touchAll(clock.now()).then(() => learnNews(new Set([null])), failed);
	}

	/** Counts a failure. Returns how long to wait for the next try, in milliseconds. */
	const nextDelay = (id: string, askedMs: number | null = null) => backOff(failures.add(id), RETRY, askedMs);

	/** When to build incomplete content again, even if nobody follows the inbox: a snoozed question may come back. */
	function completeAt(inbox: Inbox, againAt: number | null, now: number): number | null {
		if (againAt === null || isFollowed(inbox, againAt)) return againAt;
		const at = Math.max(againAt, now + nextDelay(inbox.id));
		return at < inbox.openedAt + LONGEST_SNOOZE_MS + FOLLOWED_MS ? at : null;
	}

	function retryAt(inbox: Inbox, askedMs: number | null, now: number): number | null {
		const at = now + nextDelay(inbox.id, askedMs);
		// Of an inbox that is not followed any more, the update shows a question that came back.
		const isShown = isFollowed(inbox, now) && inbox.askedCount === inbox.shownCount;
		return at < inbox.openedAt + (isShown ? 0 : LONGEST_SNOOZE_MS) + FOLLOWED_MS ? at : null;
	}

	/** Takes one call from the shared rate, if it has room. */
	async function takeTurn(inbox: Inbox, isAsked: boolean, isWaiting: boolean): Promise<boolean> {
		const now = clock.now();
		const follower = uptimeOf(clock) - newsAt < NEWS_MS ? 'news' : 'usual';
		const opened = inbox.viewId === null && inbox.shownCount === 0 ? KEPT.opened : 0;
		const keep = isWaiting ? KEPT.incomplete : isAsked ? opened : KEPT[follower];
		const waitMs = await rateLimiter.take(rateKey(inbox), UPDATE_RATE, { now, keep });
		if (waitMs === 0) return true;
		const at = now + waitMs;
		const { followers, all } = room.get();
		if (!isWaiting) room.set(isAsked ? { all: at, followers: Math.max(followers, at) } : { all, followers: at });
		return false;
	}

	async function update(inbox: Inbox, token: string): Promise<void> {
		const now = clock.now();
		const isAsked = inbox.askedCount !== inbox.shownCount;
		const startedAt = uptimeOf(clock);
		const { content, againAt } = await build(inbox, now);
		const isWhole = againAt === null;
		/** Whether it was opened, and its person waits for more than it can show. */
		const isWaiting = isAsked && !isWhole && inbox.viewId === null && inbox.shownCount === 0;
		const end = (shownKey: string | null, nextAt: number | null, endedAt = now) =>
			store.end(inbox, token, { shownKey, isWhole, nextAt, now: endedAt, spacingMs: SPACING_MS });
		// Many people may have opened theirs: an update that shows nothing yet would only delay others.
		const patientUntil = inbox.askedCount > 1 ? now : inbox.openedAt + PATIENCE_MS;
		if (isWaiting && now < patientUntil) return end(null, Math.min(againAt ?? patientUntil, patientUntil));
		const prepared = display(inbox, content, now);
		metrics.built(uptimeOf(clock) - startedAt);
		const backAt = content.kind === 'shown' ? (content.snoozed?.nextAt ?? null) : null;
		const wholeAt = completeAt(inbox, againAt, now);
		const agesAt = now + MINUTE_MS;
		const nextAt = earliestOf(isFollowed(inbox, agesAt) ? agesAt : null, wholeAt, backAt);
		// What it shows is older, but whole; and nobody waits for it.
		if (!isAsked && !isWhole && !isFollowed(inbox, now)) return end(null, nextAt);
		if ((!isAsked || !isWhole) && prepared.key === inbox.shownKey) {
			if (isWhole) failures.end(inbox.id);
			metrics.update('unchanged');
			return end(prepared.key, nextAt);
		}
		// It stays due since when it was: whoever waits longest comes first, however often others press.
		if (!(await takeTurn(inbox, isAsked, isWaiting)))
			return isWaiting ? end(null, againAt) : store.release([token], inbox.id);
		if (!(await store.beginShowing(inbox.id, token))) return;
		const outcome = await prepared.send({ isAsked });
		const sentAt = clock.now();
		if (outcome.kind === 'later') {
			metrics.update('failed');
			if (outcome.ms !== null) await rateLimiter.pause(rateKey(inbox), sentAt + backOff(1, RETRY, outcome.ms));
			return end(null, earliestOf(retryAt(inbox, outcome.ms, sentAt) ?? wholeAt, backAt), sentAt);
		}
		failures.end(inbox.id);
		if (outcome.kind === 'shown') {
			metrics.update('sent');
			// Nothing of somebody who may not use Handraise stays, unless they asked again.
			if (content.kind === 'refused' && isWhole) await store.remove(inbox.id, inbox.changeCount);
			return end(prepared.key, nextAt, sentAt);
		}
		if (outcome.kind === 'refused') {
			metrics.update('failed');
			log.warn('inbox_refused', { code: outcome.code });
		}
		await store.remove(inbox.id);
	}

	const loop = createLeaseLoop<Inbox>(core, {
		itemsName: 'inboxes',
		rows: store.rows,
		concurrency: UPDATES_AT_ONCE,
		async take(lease, count) {
			const now = clock.now();
			const { followers, all } = room.get();
			if (all > now) return [];
			return store.takeDue(lease, count, { now, only: followers > now ? 'asked' : 'all' });
		},
		async nextDueAt() {
			const now = clock.now();
			const { asked, all } = await store.nextDueAt();
			const roomAt = room.get();
			return earliestOf(asked && Math.max(asked, now, roomAt.all), all && Math.max(all, now, roomAt.followers));
		},
		work: update,
		release: (held) => store.release(held.map(({ token }) => token)),
	});

	onListed(() => void store.showWaiting(clock.now()).catch(() => undefined));

	return {
		closed: (id: string) => store.remove(id),
		/** The first question of a person's inbox that is of another session; null: none is known. */
		next: (person: Person, exceptSessionId: string) => next(person, exceptSessionId, clock.now()),
		/** Whether the rules of today offer the choice, and its agent still asks it. */
		offering: (choice: Choice) => store.offering(core.serviceUrl, choice),
		touch,
		/** These people's acts changed what inboxes show; null: those of agents. */
		learnNews: (people: News) => void learnNews(people),
		async forget(): Promise<void> {
			await store.removeOlderThan(clock.now() - FOLLOWED_MS);
			await store.removeEndedSnoozes(clock.now());
		},
		/** Begins to update. Call it once Slack has told who the app is. */
		start(): void {
			loop.start();
			// Who may see what may have changed.
			void touch();
		},
		/** Stops updating. People keep what they see. */
		stop: loop.stop,
	};
}

/** A person opened an inbox, changed its page or pressed something in it (null: the page stays). */
export async function askInbox(
	{ rateLimiter, clock, store: { inboxes } }: Core<{ inboxes: Pick<InboxStore, 'ask'> }>,
	place: InboxPlace,
	page: number | null,
): Promise<void> {
	const now = clock.now();
	const waitMs = await rateLimiter.take(`inbox-first:${place.person.userId}`, FIRST_RATE, { now, keep: 0 });
	await inboxes.ask(place, page, now, waitMs === 0 ? undefined : SPACING_MS);
}

const isFollowed = ({ openedAt }: Inbox, at: number) => openedAt > at - FOLLOWED_MS;

function earliestOf(...times: readonly (number | null)[]): number | null {
	const known = times.filter((at) => at !== null);
	return known.length === 0 ? null : Math.min(...known);
}

/** Slack's limits hold for a whole workspace. */
const rateKey = ({ person }: Inbox) => `inbox:${person.teamId}`;
