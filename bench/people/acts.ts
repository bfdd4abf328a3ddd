import type { FakeSlack } from '../../fake-slack/index.ts';
import { spread } from '../figures/stats.ts';
import { OPTION, personName, userId } from './company.ts';
import type { PostedQuestion, Screens } from './screens.ts';

const REACTION_WITHIN_MS = 60_000;

/** What somebody did, how long it took and what came of it. */
export interface Outcome {
	/** When it began, milliseconds since the epoch. */
	readonly at: number;
	/** Infinite when it was not acknowledged. */
	readonly ackMs: number;
	/** Until they saw what came of it. */
	readonly seenMs: number;
	/** Null when it worked. */
	readonly refusal: string | null;
}

async function timed(
	screens: Screens,
	user: string,
	act: () => Promise<boolean>,
	refusalOf: (words: string | null) => string | null,
): Promise<Outcome> {
	const [at, from] = [Date.now(), performance.now()];
	let seenMs = Number.POSITIVE_INFINITY;
	const reacted = screens.next(user, REACTION_WITHIN_MS).then((reaction) => {
		if (reaction !== null) seenMs = performance.now() - from;
		return reaction;
	});
	const isAcked = await act().catch(() => false);
	const ackMs = isAcked ? performance.now() - from : Number.POSITIVE_INFINITY;
	const reaction = await reacted;
	if (reaction === null) return { at, ackMs, seenMs, refusal: `nothing within ${REACTION_WITHIN_MS / 1_000} s` };
	return { at, ackMs, seenMs, refusal: refusalOf(reaction.words) };
}

/** Somebody presses an option of a question: its post shows them, and no message refuses it. */
export function press(slack: FakeSlack, screens: Screens, person: number, post: PostedQuestion): Promise<Outcome> {
	const actor = slack.as(personName(person));
	const message = actor.messages(post.channel, { all: true }).find(({ ts }) => ts === post.ts);
	const act = async () => (await message?.press(OPTION)) ?? false;
	return timed(screens, userId(person), act, (words) => words);
}

/** Somebody opens a session: its window shows its name. */
export function open(
	slack: FakeSlack,
	screens: Screens,
	person: number,
	{ channel, sessionId, name }: { readonly channel: string; readonly sessionId: string; readonly name: string },
): Promise<Outcome> {
	const act = async () => (await slack.as(personName(person)).command(channel, `/session ${sessionId}`)).ok;
	return timed(screens, userId(person), act, (words) => (words?.includes(name) === true ? null : (words ?? 'a post')));
}

/** Rows of a table about what people did; `start`: of the run, milliseconds since the epoch. */
export function rowsOf(what: string, outcomes: readonly Outcome[], start: number): string[] {
	const refused = new Map<string, number[]>();
	const late: number[] = [];
	for (const { at, ackMs, refusal } of outcomes) {
		const second = Math.round((at - start) / 1_000);
		if (!Number.isFinite(ackMs)) late.push(second);
		if (refusal === null) continue;
		const words = refusal.replaceAll(/\s+/g, ' ').slice(0, 110);
		refused.set(words, [...(refused.get(words) ?? []), second]);
	}
	const times = (list: readonly number[]) => `${list.length} (in second ${list.toSorted((a, b) => a - b).join(', ')})`;
	const list = [...refused].map(([words, at]) => `${times(at)} “${words.replaceAll('|', '/')}”`).join('; ');
	return [
		`| ${what}: acknowledged after, p50 / p99 / longest of ${outcomes.length} | ${spread(outcomes.map((one) => one.ackMs))} |`,
		...(late.length === 0 ? [] : [`| ${what}: not acknowledged within 3 s | ${times(late)} |`]),
		`| ${what}: what came of it seen after | ${spread(outcomes.map((one) => one.seenMs))} |`,
		`| ${what}: refused or told of a delay | ${list || 'none'} |`,
	];
}
