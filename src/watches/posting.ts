import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { creatorToldOf } from './announce.ts';
import { type Announcement, metadataKeyOf } from './announcement.ts';
import { POST_PACE, UPDATE_PACE } from './pace.ts';
import type {
	Announcer,
	AttemptResult,
	DueAnnouncement,
	GoneReason,
	Pace,
	Paces,
	SendOutcome,
	WatchMetrics,
	WatchStore,
} from './ports.ts';

export interface PostingOptions {
	readonly store: WatchStore;
	readonly announcer: Announcer;
	readonly paces: Paces;
	readonly clock: Clock;
	readonly log: Log;
	readonly metrics: WatchMetrics;
	readonly owner: string;
	/** When what waits for a rate in this process may go, by the rate's name: everybody gets a turn of their own. */
	readonly turns: Map<string, number>;
}

const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 5 * 60_000;
/** Below the pace of posts, so that only one in this process waits for a channel's turn at a time. */
const SHORT_WAIT_MS = 500;
/** A post made just before a crash is looked for from this long before the attempt was noted: clocks differ. */
const LOOK_BACK_MS = 60_000;

/** How long to wait after so many failed attempts. */
export function retryDelay(attempts: number): number {
	return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(10, attempts));
}

/** Delivers one announcement that is leased, whatever became of it before; writes what came of it. */
export async function deliver(due: DueAnnouncement, options: PostingOptions, signal: AbortSignal): Promise<void> {
	const { store, owner, clock, log, metrics } = options;
	const { announcement } = due;
	const result = await attempt(due, options, signal);
	if (result === null) return;
	if (result.kind === 'gone') {
		await endGone(due, result.reason, options);
		return;
	}
	if (result.kind === 'retry' && result.code !== 'paced') metrics.post('retried');
	if (result.kind === 'refused') {
		metrics.post('refused');
		const { target, content } = announcement;
		const place = target.kind === 'person' ? target.userId : target.channelId;
		log.warn({ place, what: content.kind, code: result.code }, 'Slack refuses a post');
	}
	await store.endAttempt(announcement.id, owner, result, clock.now());
}

/** Null when the lease was lost. */
async function attempt(
	due: DueAnnouncement,
	options: PostingOptions,
	signal: AbortSignal,
): Promise<AttemptResult | { kind: 'gone'; reason: GoneReason } | null> {
	const { store, announcer, paces, clock, metrics, owner } = options;
	const { announcement } = due;
	const metadataKey = metadataKeyOf(announcement);
	let maybeRepeat = false;
	if (announcement.sendingSince !== null) {
		const since = announcement.sendingSince - LOOK_BACK_MS;
		const found = await announcer.find(due, { metadataKey, since, signal });
		if (found.kind === 'later') return again(clock.now() + found.ms, 'look_later', true);
		if (found.kind === 'found') {
			metrics.post('found');
			return { kind: 'posted', ts: found.ts, cardKey: null };
		}
		maybeRepeat = found.kind === 'unreadable';
	}
	const wait = await takeTurn(announcement, options, signal);
	if (wait > 0) return again(turnOf(announcement, wait, options), 'paced', maybeRepeat);
	const prepared = announcement.content.kind === 'card' ? await prepareCard(due, announcer) : null;
	if (announcement.content.kind === 'card' && prepared === null) return { kind: 'refused', code: 'nothing_to_show' };
	if (!(await store.beginAttempt(announcement.id, owner, clock.now()))) return null;
	const outcome =
		prepared === null
			? await announcer.post(due, { metadataKey, maybeRepeat, signal })
			: await prepared.send({ ts: null, metadataKey, signal });
	if (outcome.kind === 'sent') metrics.post(maybeRepeat ? 'maybeRepeated' : 'posted');
	if (outcome.kind === 'later' && outcome.limited) {
		await paces.pause(paceKeyOf(announcement), clock.now() + (outcome.ms ?? retryDelay(announcement.attempts)));
	}
	return resultOf(outcome, announcement, prepared?.key ?? null, clock.now());
}

function resultOf(
	outcome: SendOutcome,
	announcement: Announcement,
	cardKey: string | null,
	now: number,
): AttemptResult | { kind: 'gone'; reason: GoneReason } {
	switch (outcome.kind) {
		case 'sent':
			return { kind: 'posted', ts: outcome.ts, cardKey };
		case 'gone':
			return outcome;
		case 'refused':
			return { kind: 'refused', code: outcome.code };
		case 'later':
			return again(now + (outcome.ms ?? retryDelay(announcement.attempts)), outcome.code, false);
		case 'unknown':
			return again(now + retryDelay(announcement.attempts), outcome.code, true);
	}
}

function again(at: number, code: string, unknown: boolean): AttemptResult {
	return { kind: 'retry', at, code, unknown };
}

async function prepareCard({ watch, view }: DueAnnouncement, announcer: Announcer) {
	return watch === null || view === null ? null : announcer.prepareCard({ watch, view, checkedAt: view.seenAt });
}

/** The channel takes no posts: its watches end, and whoever made them hears of it. */
async function endGone(due: DueAnnouncement, reason: GoneReason, options: PostingOptions): Promise<void> {
	const { store, owner, clock } = options;
	const { announcement } = due;
	const now = clock.now();
	await store.endAttempt(announcement.id, owner, { kind: 'refused', code: reason }, now);
	if (announcement.target.kind !== 'person') {
		const { teamId, channelId } = announcement.target;
		await endChannel({ store, teamId, channelId, reason, now });
	}
}

/** Ends every watch of a channel that cannot be written to any more; each creator gets one word for all of theirs. */
export async function endChannel({
	store,
	teamId,
	channelId,
	reason,
	now,
}: {
	store: WatchStore;
	teamId: string;
	channelId: string;
	reason: GoneReason;
	now: number;
}): Promise<number> {
	const watches = await store.ofChannel(teamId, channelId);
	const byCreator = Map.groupBy(watches, ({ createdBy }) => createdBy);
	for (const [first, ...others] of byCreator.values()) {
		if (first === undefined) continue;
		const word = creatorToldOf([first, ...others], reason);
		await store.end(first.id, reason, { now, announcements: [word], keepPending: false });
		for (const { id } of others) await store.end(id, reason, { now, announcements: [], keepPending: false });
	}
	return watches.length;
}

/** Waits for the rate where that is short; else says how long, so that whoever is next elsewhere need not wait for this. */
async function takeTurn(
	announcement: Announcement,
	{ paces, clock }: PostingOptions,
	signal: AbortSignal,
): Promise<number> {
	for (;;) {
		const pace = paceOf(announcement);
		const wait = await paces.take(paceKeyOf(announcement), pace, { now: clock.now(), keep: 0 });
		if (wait === 0 || wait > SHORT_WAIT_MS) return wait;
		await clock.sleep(wait, signal);
	}
}

/** The next turn that nobody else waits for: posts that all came back at the same moment would only be put off again. */
function turnOf(announcement: Announcement, wait: number, { turns, clock }: PostingOptions): number {
	const now = clock.now();
	for (const [name, turn] of turns) if (turn < now) turns.delete(name);
	const name = paceKeyOf(announcement);
	const turn = Math.max(now + wait, (turns.get(name) ?? 0) + paceOf(announcement).intervalMs);
	turns.set(name, turn);
	return turn;
}

/** Settling is an update, and those share one rate for the workspace. */
function paceOf({ content }: Announcement): Pace {
	return content.kind === 'settle' ? UPDATE_PACE : POST_PACE;
}

function paceKeyOf({ target, content }: Announcement): string {
	if (content.kind === 'settle') return `update:${target.teamId}`;
	return `post:${target.teamId}:${target.kind === 'person' ? target.userId : target.channelId}`;
}
