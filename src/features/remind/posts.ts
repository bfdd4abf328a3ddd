import type { Core } from '../../core.ts';
import { type Mention, type ReminderStage, stillDue } from '../../database/watch.ts';
import {
	askedOf,
	type ContentOf,
	type Drawing,
	type Drawn,
	type DuePost,
	lookOf,
	type ReminderEntry,
} from '../../posts/post.ts';
import { isAnsweredSince } from '../../questions/answer.ts';
import type { ChannelSettingsStore } from '../watch/channel-store.ts';
import { endOf } from '../watch/draw.ts';
import type { QuestionFacts } from '../watch/facts.ts';
import { drawAgainAt, isLastLook, outcomeWords, stepsWords } from '../watch/post-view.ts';
import { digestPost, listedOf, type RemindedQuestion, reminderPost, settledReminderPost } from './view.ts';

/** A reminder that has waited for Slack for longer since the read of its session is read again. */
const READ_WITHIN_MS = 60_000;
type ReminderKind = ReminderStage | 'digest';

export function createReminderDrawing(core: Core<{ channelSettings: ChannelSettingsStore }>, facts: QuestionFacts) {
	const { store, config, directory, clock } = core;
	/** What is stored of these questions, each with how it ended. `isOpen`: by a read a moment ago. */
	async function asked(entries: readonly ReminderEntry[], due: DuePost) {
		const { content, ts } = due.post;
		const isNow = ts === null || content.kind === 'digest';
		const shown = isNow ? await facts.remindedOf(entries) : null;
		const found = await Promise.all(
			entries.map(async (entry) => {
				const one = { ...due, ...shown?.get(entry.watchId) };
				const asked = askedOf(one);
				if (asked === null || one.question?.id !== entry.questionId) return [];
				const how = endOf(one);
				const context = await facts.contextOf(one, asked);
				const { standing, channelId, discreet, view, named } = context;
				const { checkedAt } = one;
				const isFresh = checkedAt !== null && checkedAt >= clock.now() - READ_WITHIN_MS;
				const told = { sessionName: view?.name ?? '', discreet, threadOnly: one.watch?.questionsInChannel === false };
				const reminded = {
					...told,
					entry,
					channelId,
					named,
					question: asked.question,
					steps: stepsWords(asked.question, view),
					waitedMs: (ts === null ? clock.now() : Number(ts) * 1_000) - entry.postedAt,
					outcome: outcomeWords(asked, how, context),
					handOver: await facts.holderOf(one),
				};
				const isOpen = how === null && asked.question.openCount > 0 && !isAnsweredSince(standing, checkedAt);
				const isLast = isLastLook(how, context);
				return [{ reminded, isOpen: isOpen && isFresh, isLast, againAt: drawAgainAt(context) }];
			}),
		);
		return found.flat();
	}

	function messageOf(kind: ReminderKind, all: readonly RemindedQuestion[], mention: Mention | null, isNew = false) {
		const context = { mention, names: directory };
		const [first] = all;
		if (first === undefined) return null;
		if (kind === 'digest') return digestPost(all, context);
		if (first.outcome !== '') return settledReminderPost(first);
		return reminderPost(first, isNew ? first.waitedMs : null, context);
	}

	/** A new reminder shows what nobody has answered, by the settings that hold now; a posted one what became of it. */
	async function draw(content: ContentOf<ReminderKind>, due: DuePost): Promise<Drawn> {
		const { kind, entries } = content;
		const { target, ts } = due.post;
		if (target.kind === 'person') return null;
		const oldestFirst = entries.toSorted((one, other) => one.postedAt - other.postedAt);
		// Asks Slack for links and names first: an answer may come meanwhile. The look below must come last.
		const isInThread = kind === 'reminder' && due.watch?.questionsInChannel === false;
		const before = await asked(oldestFirst, due);
		const listed = listedOf(before.map(({ reminded }) => reminded));
		const linked = listed.map(async ({ entry: { postTs } }) => {
			return [postTs, isInThread ? null : await facts.linkTo(target.channelId, postTs)] as const;
		});
		const links = new Map(await Promise.all(linked));
		const withLink = <T extends { entry: ReminderEntry }>(one: T) => ({
			...one,
			link: links.get(one.entry.postTs) ?? null,
		});
		const named = before.flatMap(({ reminded: { entry, handOver: held } }) => [entry.heldBy, held?.from, held?.to]);
		await Promise.all(named.filter((userId) => userId != null).map(directory.learnName));
		if (ts !== null) {
			const all = before.map(({ reminded }) => withLink(reminded));
			const message = messageOf(kind, all, null);
			const times = before.flatMap(({ againAt }) => againAt ?? []);
			const againAt = times.length === 0 ? null : Math.min(...times);
			return message && lookOf(message, { isLast: before.every(({ isLast }) => isLast), againAt });
		}
		const { settings: current } = await store.channelSettings.read(target);
		const still = stillDue(oldestFirst, current, { defaults: config.ladderTimes, now: clock.now() });
		const open = (await asked(still, due)).flatMap(({ reminded, isOpen }) =>
			isOpen ? [withLink({ ...reminded, outcome: '' })] : [],
		);
		const mention = open.some(({ entry }) => entry.stage === 'escalation') ? current.mention : null;
		const [message, updated] = [messageOf(kind, open, mention, true), messageOf(kind, open, null)];
		if (open.length === 0 || message === null || updated === null) return null;
		const leftOut = entries.filter((entry) => !open.some((one) => one.entry === entry));
		// As an update shows it, which names no time and mentions nobody.
		return lookOf(message, { key: lookOf(updated).key, isLast: false, leftOut });
	}

	return { reminder: draw, escalation: draw, digest: draw } satisfies Drawing<ReminderKind>;
}
