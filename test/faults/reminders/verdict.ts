import { MAYBE_REPEAT } from '../../../src/slack/parts.ts';
import type { StoreKind } from '../stores.ts';
import type { History, Post } from './history.ts';
import { FAULTS, type Fault, judge, LATE_MS, type Ring } from './judge.ts';
import { kindOf, leadsTo, mentionsIn, questionIdsIn, questionPosts } from './messages.ts';
import type { RunResult } from './run.ts';

/** As many reminders a minute are in time. */
const PER_MINUTE = 60;
/** Longer for each kill on PostgreSQL: leases of 25 s lapse first, and those of reads. */
const LEASE_LATE_MS = 40_000;
const TOGETHER_MS = 5_000;
/** Beyond it, a reminder no longer waits for others: their reads or a start took long. */
const IN_TIME_MS = 15_000;
const SETTINGS_ALLOWANCE_MS = 60_000;

/** What a run showed. All of `problems` must be empty. */
export function verdictOf({ history, lateMs }: RunResult, kind: StoreKind) {
	const { rings, dueAts, faults } = judge(history);
	const posted = rings.filter((ring) => ring.post !== null);
	const crowded = crowdedOf(rings, dueAts);
	const killCount = ({ dueAt, at }: Ring) =>
		history.stops.filter(({ how, from }) => how === 'killed' && from >= dueAt - LATE_MS && from <= at).length;
	const isLeased = (ring: Ring) => kind === 'postgres' && killCount(ring) > 0;
	const ordinary = rings.filter((ring) => !crowded.has(ring) && !isLeased(ring));
	const leased = rings.filter((ring) => !crowded.has(ring) && isLeased(ring));
	const isTooLate = (ring: Ring) => latenessOf(ring) > LATE_MS + killCount(ring) * LEASE_LATE_MS;
	const late = [...ordinary.filter(isLate), ...leased.filter(isTooLate)];
	const overtaken = overtakenIn([...crowded]);
	const reminderPosts = history.posts.filter((post) => kindOf(post) !== 'other');
	const several = reminderPosts.filter((post) => kindOf(post) === 'several');
	const wrongMentions = reminderPosts.filter((post) => !hasRightMentions(history, post));
	const asked = questionPosts(history.posts);
	const wrongPlaces = reminderPosts.filter((post) => !isAtRightPlace(post, asked));
	const markedRepeats = reminderPosts.filter(({ content }) => content.includes(MAYBE_REPEAT));
	const apart = apartIn(posted, history);
	const worst = (some: readonly Ring[]) => Math.max(0, ...some.map(latenessOf));
	const sorted = posted.map(latenessOf).toSorted((one, other) => one - other);
	return {
		questions: history.questions.length,
		reminders: posted.length,
		messages: { single: reminderPosts.length - several.length, several: several.length },
		faults: Object.fromEntries(
			FAULTS.map((name) => [name, faults.filter(({ fault }) => fault === name).length]),
		) as Record<Fault, number>,
		missed: late.filter(({ post }) => post === null).length,
		/** Later than 30 s, and no rule excuses it. */
		late: late.filter(({ post }) => post !== null).length,
		/** That fell due while more than 60 fell due in a minute, and how many of them came later than 30 s. */
		crowded: { reminders: crowded.size, late: [...crowded].filter(isLate).length, worstMs: worst([...crowded]) },
		/** That came while an older one waited, both for long. */
		overtaken: overtaken.length,
		/** On PostgreSQL: that waited for leases of a killed process. */
		leased: { reminders: leased.filter(isLate).length, worstMs: worst(leased) },
		/** The latest of all others. */
		worstMs: worst(ordinary),
		medianMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
		wrongMentions: wrongMentions.length,
		wrongPlaces: wrongPlaces.length,
		markedRepeats: markedRepeats.length,
		/** Of a channel, due within five seconds and in different messages. */
		apart: apart.length,
		/** The most that the program's own metric of late reminders got. */
		metricMs: Math.max(0, ...lateMs),
		problems: [
			...faults.map(({ fault, questionId, post }) => `${fault}: ${questionId} ${told(post)}`),
			...late.map(lateWords),
			...overtaken.map((ring) => `overtaken: ${lateWords(ring)}`),
			...wrongMentions.map((post) => `mentions ${mentionsIn(post).join(', ')}: ${told(post)}`),
			...wrongPlaces.map((post) => `not in the channel, or without a link: ${told(post)}`),
			...markedRepeats.map((post) => `marked as a repeat although the history is readable: ${told(post)}`),
			...apart.map((pair) => `due together, and apart: ${pair.map(ringWords).join('; ')}`),
		],
	};
}

export type Verdict = ReturnType<typeof verdictOf>;

const latenessOf = ({ dueAt, at }: Ring) => at - dueAt;
const isLate = (ring: Ring) => latenessOf(ring) > LATE_MS;

/** Reminders that fell due when more than 60 a minute did, needed or not, and after that until one a second would have left. */
function crowdedOf(rings: readonly Ring[], dueAts: readonly number[]): ReadonlySet<Ring> {
	const inOrder = dueAts.toSorted((one, other) => one - other);
	const crowdedAt = new Set<number>();
	let waiting = 0;
	let before = 0;
	let first = 0;
	for (const [index, dueAt] of inOrder.entries()) {
		waiting = Math.max(0, waiting - ((dueAt - before) * PER_MINUTE) / 60_000) + 1;
		before = dueAt;
		while ((inOrder[first] as number) <= dueAt - 60_000) first += 1;
		if (index - first + 1 > PER_MINUTE) for (const one of inOrder.slice(first, index + 1)) crowdedAt.add(one);
		if (waiting > PER_MINUTE) crowdedAt.add(dueAt);
	}
	return new Set(rings.filter(({ dueAt }) => crowdedAt.has(dueAt)));
}

/** Late reminders that came after one that fell due later. */
function overtakenIn(rings: readonly Ring[]): Ring[] {
	const late = rings.filter(isLate);
	return late.filter((ring) =>
		late.some((other) => other.dueAt > ring.dueAt + LATE_MS && other.at < ring.at - LATE_MS),
	);
}

/** An escalation mentions whom the channel's settings name, a reminder nobody. */
function hasRightMentions({ settings }: History, post: Post): boolean {
	const mentions = mentionsIn(post).join();
	const kind = kindOf(post);
	if (kind !== 'escalation' && mentions === '') return true;
	if (kind === 'reminder') return false;
	const ofChannel = settings.filter(({ channelId, at }) => channelId === post.channelId && at <= post.at);
	return ofChannel
		.filter((_, index) => (ofChannel[index + 1]?.at ?? post.at) >= post.at - SETTINGS_ALLOWANCE_MS)
		.some(({ settings: { mention } }) => [...mention.userIds, ...mention.groupIds].toSorted().join() === mentions);
}

/**
 * In the channel, and leads to each question: one, unless it is a message of several. A question without a post of its
 * own replaced another one of its session within a minute, in that one's post.
 */
function isAtRightPlace(post: Post, questions: ReadonlyMap<string, Post>): boolean {
	const asked = questionIdsIn(post).map((id) => questions.get(`${post.channelId} ${id}`));
	const sessions = post.content.match(/\bSession s\d+\b/g) ?? [];
	const isFormer = ({ channelId, at, text }: Post) =>
		channelId === post.channelId && at < post.at && sessions.some((name) => text.includes(`(${name})`));
	const isLinked = (question?: Post) =>
		(question ? [question] : [...questions.values()].filter(isFormer)).some((former) => leadsTo(post, former));
	const isOfOne = kindOf(post) === 'several' || asked.length === 1;
	return post.threadTs === null && isOfOne && asked.every(isLinked);
}

/**
 * Reminders that were left out of a message for reminders which fell due just before them. With the oldest of the message. One
 * that an outage held back comes as soon as the service is there, and waits for no others.
 */
function apartIn(rings: readonly Ring[], { outages }: History): (readonly [Ring, Ring])[] {
	const byChannel = Map.groupBy(rings, ({ channelId }) => channelId);
	return [...byChannel.values()].flatMap((ofChannel) => {
		const messages = [...Map.groupBy(ofChannel, ({ post }) => post).values()];
		return messages.flatMap((together): (readonly [Ring, Ring])[] => {
			const [oldest] = together.toSorted((one, other) => one.dueAt - other.dueAt) as [Ring, ...Ring[]];
			const { dueAt, at } = oldest;
			if (latenessOf(oldest) > IN_TIME_MS || outages.some(({ to }) => to === dueAt)) return [];
			const leftOut = ofChannel.filter(
				(ring) => ring.at > at && dueAt <= ring.dueAt && ring.dueAt <= Math.min(dueAt + TOGETHER_MS, at),
			);
			return leftOut.map((ring) => [oldest, ring]);
		});
	});
}

function lateWords({ questionId, channelId, dueAt, at, post }: Ring): string {
	const seconds = ((at - dueAt) / 1000).toFixed(1);
	return `${post === null ? 'missed, due for' : 'late by'} ${seconds} s: ${questionId} in ${channelId}, due ${iso(dueAt)}`;
}

function ringWords({ questionId, channelId, dueAt, at }: Ring): string {
	return `${questionId} in ${channelId}, due ${iso(dueAt)}, came ${iso(at)}`;
}

function told({ channelId, at, text }: Post): string {
	return `in ${channelId} at ${iso(at)}: ${text.slice(0, 100)}`;
}

const iso = (at: number) => new Date(Math.round(at)).toISOString();
