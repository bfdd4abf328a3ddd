import { setTimeout as pause } from 'node:timers/promises';
import type { Message } from '../../../fake-slack/index.ts';
import { ACTIONS } from '../../../src/slack/ids.ts';
import { MAYBE_REPEAT } from '../../../src/slack/phrases.ts';
import { outcomeOf, type Part } from '../harness.ts';
import { shuffled, until } from '../until.ts';
import { type FleetOptions, startFleet } from './fleet.ts';

export interface WatchFaultOptions extends FleetOptions, Omit<Part, 'batch'> {
	readonly kills: number;
	/** Questions asked around each kill. */
	readonly questions: number;
}

/** How long a dead replica's work waits on PostgreSQL: the longest lease (25 s), and time to post. */
const LEASES_LAPSED_MS = 28_000;
/** A single process on SQLite has no other that holds a lease: it restarts and posts. */
const RESTARTED_MS = 8_000;
const TOLD_WITHIN_MS = 60_000;
const ASKED_OVER_MS = 3_000;
const LOOK_EVERY_MS = 250;
/** Cards and posts show what happened within this time: at the end, 100 and more updates may wait for 40 a minute. */
const SHOWN_WITHIN_MS = 240_000;
/** The part of the questions whose post Slack takes and answers with 500. */
const LOST_SHARE = 0.2;
const REPLACED_WITHIN_MS = 10_000;

interface Expected {
	readonly id: string;
	readonly words: string;
	/** Of the question that is asked or answered. */
	readonly title: string;
	readonly isQuestion: boolean;
	readonly at: number;
	killedAt: number;
}

/**
 * Kills a replica with SIGKILL while agents ask and get answers, repeatedly, and judges by what stands in Slack: each
 * question once in its channel, each answer on its question's post, and at the end one card for each session that
 * shows, as the questions' posts do, what is still open. Once in each round somebody deletes a card. About every second kill
 * comes when Slack has taken a post and the program does not know it yet, and Slack answers 500 to some that it takes. At the end
 * somebody presses each repeat: then it asks nothing any more.
 */
export async function runWatchFaults(options: WatchFaultOptions) {
	const { harness, random, historyReadable, onProgress = () => {} } = options;
	const { slack, replicas } = harness;
	const started = performance.now();
	const fleet = await startFleet(harness, options);
	const expected: Expected[] = [];
	const replaced = replicas.length > 1 ? LEASES_LAPSED_MS : RESTARTED_MS;
	const open = new Map<string, string>();
	/** Sessions whose card was deleted. A second one in the same hour would not be replaced soon. */
	const withoutCard = new Set<string>();
	let killedLastAt = 0;
	let lost = 0;
	for (let kill = 0; kill < options.kills; kill += 1) {
		const told = await strike(kill);
		await until(() => told.every((one) => firstPost(one) !== null), TOLD_WITHIN_MS, LOOK_EVERY_MS);
		await harness.startAll();
		onProgress(
			`kill ${kill + 1} of ${options.kills}: ${told.filter((one) => firstPost(one) === null).length} not told`,
		);
	}
	// The work of the last killed replica is taken up when its leases have ended. A repeat would only come then.
	await pause(Math.max(0, killedLastAt + replaced - Date.now()));
	await until(() => untrue().length === 0, SHOWN_WITHIN_MS, LOOK_EVERY_MS);
	// What is pressed says its question no more.
	const judged = judge();
	for (const { id, ts } of asking()) await fleet.pressAnswer(id, ts);
	await until(() => asking().length === 0, REPLACED_WITHIN_MS, LOOK_EVERY_MS);
	const repeats = asking().map(({ title }) => `asks as a repeat: ${title}`);
	const { problems, ...counts } = judged;
	return { ...counts, ...outcomeOf(harness, started, [...problems, ...untrue(), ...repeats]) };

	/** One kill during questions and answers. Resolves with what had to be posted, when all of it has happened. */
	async function strike(round: number): Promise<Expected[]> {
		const told: Expected[] = [];
		const chosen = shuffled(fleet.ids, random).slice(0, options.questions);
		const uncarded = chosen.find((id) => !withoutCard.has(id));
		if (uncarded !== undefined) {
			withoutCard.add(uncarded);
			await fleet.deleteCard(uncarded);
		}
		const work = chosen.map(async (id) => {
			await pause(random.whole(0, ASKED_OVER_MS));
			const asked = open.get(id);
			const isQuestion = asked === undefined;
			const words = isQuestion ? `Question ${round} of ${id}?` : `Answer ${round} to ${id}.`;
			if (isQuestion) {
				if (random.chance(LOST_SHARE)) fleet.loseResponse(words, () => (lost += 1));
				fleet.ask(id, words);
				open.set(id, words);
			} else {
				fleet.answer(id, words);
				open.delete(id);
			}
			const title = asked ?? words;
			told.push({ id, words, title, isQuestion, at: Date.now(), killedAt: 0 });
		});
		const running = replicas.filter((replica) => replica.running);
		if (random.chance(0.5)) await nextPost();
		else await pause(random.whole(0, ASKED_OVER_MS));
		await random.pick(running).kill();
		const killedAt = Date.now();
		killedLastAt = killedAt;
		// A single process is restarted at once. Of two, the other has to take over.
		if (running.length === 1) await harness.startAll();
		await Promise.all(work);
		for (const one of told) one.killedAt = killedAt;
		expected.push(...told);
		return told;
	}

	/** Resolves when Slack has just taken a post, at the latest when the last question must have been posted. */
	async function nextPost(): Promise<void> {
		const before = slack.state.messages.length;
		const isMore = () => slack.state.messages.length > before;
		await slack.changes.until(isMore, () => 'nothing was posted', TOLD_WITHIN_MS).catch(() => {});
	}

	function firstPost({ id, words }: Expected): Message | null {
		return fleet.posts(id, words)[0] ?? null;
	}

	function judge() {
		const problems: string[] = [];
		/** For questions: from the kill, or the asking if later, to the post; ms. */
		const delays: number[] = [];
		let missed = 0;
		/** Without the mark of a possible repeat. */
		let unmarkedRepeats = 0;
		let markedRepeats = 0;
		for (const one of expected) {
			const [first, ...others] = fleet.posts(one.id, one.words);
			if (first === undefined) {
				missed += 1;
				problems.push(`missed: ${one.words}`);
				continue;
			}
			if (!isInPlace(one, first)) problems.push(`in another place: ${one.words}`);
			if (one.isQuestion) delays.push(Math.max(0, Number(first.ts) * 1000 - Math.max(one.at, one.killedAt)));
			for (const other of others) {
				// When the question is settled later, the post says who answered.
				const isMarked = JSON.stringify([other.blocks, other.history]).includes(MAYBE_REPEAT);
				if (isMarked) markedRepeats += 1;
				else unmarkedRepeats += 1;
				if (!isMarked || historyReadable)
					problems.push(`${isMarked ? 'marked as' : 'not marked as'} a repeat: ${one.words}`);
			}
		}
		return {
			problems,
			kills: options.kills,
			/** Posts that Slack took and answered with 500. */
			lost,
			/** Questions and answers that each had to be posted once: a question in the channel, its answer in its thread. */
			expected: expected.length,
			missed,
			unmarkedRepeats,
			markedRepeats,
			delays: delays.toSorted((one, other) => one - other),
		};
	}

	/** A question stands in the channel, an answer on a post of its question. */
	function isInPlace({ id, title }: Expected, { ts, threadTs }: Message): boolean {
		return threadTs === undefined && fleet.posts(id, title).some((post) => post.ts === ts);
	}

	/** The repeats that ask: a newer post of their question is kept true. */
	function asking() {
		return expected
			.filter(({ isQuestion }) => isQuestion)
			.flatMap(({ id, title }) => {
				const repeats = fleet.posts(id, title).slice(0, -1);
				return repeats.filter(isAsking).map(({ ts }) => ({ id, title, ts }));
			});
	}

	/** The posts and cards that do not show what is open now. Of posts that were repeated only the newest is kept true. */
	function untrue(): string[] {
		const posts = expected
			.filter(({ isQuestion }) => isQuestion)
			.flatMap(({ id, title }) => {
				const post = fleet.posts(id, title).at(-1);
				return post === undefined || isAsking(post) === (open.get(id) === title) ? [] : [`not true any more: ${title}`];
			});
		const cards = fleet.ids.flatMap((id) => {
			const [card, ...others] = fleet.cards(id);
			if (card === undefined) return [`no card: ${id}`];
			const title = open.get(id);
			const isTrue = /"text":" asks(?:"| ·)/.test(JSON.stringify(card.blocks)) === (title !== undefined);
			// A new card is repeated when nobody can look whether it stands there.
			const mayRepeat = !historyReadable && withoutCard.has(id);
			return [
				...(isTrue || others.length > 0 ? [] : [`not true any more: the card of ${id}`]),
				...(others.length === 0 || mayRepeat ? [] : [`${others.length} cards too many: ${id}`]),
			];
		});
		return [...posts, ...cards];
	}
}

const isAsking = ({ blocks }: Message) => JSON.stringify(blocks).includes(`"action_id":"${ACTIONS.answer}"`);
