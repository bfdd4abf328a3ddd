import type { Core } from '../../core.ts';
import { type ReminderStage, stillDue } from '../../database/channel-settings.ts';
import type { ContentOf, ReminderEntry } from '../../posts/kinds.ts';
import { askedOf, type Drawing, type Drawn, type DuePost, lookOf } from '../../posts/post.ts';
import { isAnsweredSince } from '../../questions/answer.ts';
import type { ChannelSettingsStore } from '../watch/channel-store.ts';
import { endOf, type QuestionFacts } from '../watch/facts.ts';
import { isLastLook, outcomeWords } from '../watch/post-view.ts';
import { digestPost, MOST_LISTED, type RemindedQuestion, reminderPost, settledReminderPost } from './view.ts';

/** A reminder that has waited for Slack for longer since the read of its session is read again. */
const READ_WITHIN_MS = 60_000;

/** Draws reminders, escalations and digests. */
export function createReminderDrawing(core: Core<{ channelSettings: ChannelSettingsStore }>, facts: QuestionFacts) {
	const { store, config, directory, clock } = core;

	/** Those of these questions that still wait, as a read of a moment ago tells. */
	async function openQuestions(entries: readonly ReminderEntry[]): Promise<RemindedQuestion[]> {
		const shown = await facts.shownOf(entries.map(({ watchId }) => watchId));
		const asked = await Promise.all(
			entries.map(async (entry) => {
				const one = shown.get(entry.watchId);
				if (one === undefined) return [];
				const { watch, view, checkedAt, question: stored } = one;
				const question = view?.question ?? null;
				if (watch.ended !== null || view === null || question === null) return [];
				if (checkedAt === null || checkedAt < clock.now() - READ_WITHIN_MS) return [];
				if (stored?.id !== entry.questionId || stored.settled !== null || question.openCount === 0) return [];
				const standing = await facts.standing({ ...watch.session, messageIndex: question.messageIndex });
				if (isAnsweredSince(standing, checkedAt)) return [];
				const { discreet, channelId } = watch;
				const handOver = await facts.holderOf({ watch, question: stored });
				const threadOnly = !watch.questionsInChannel;
				const told = { sessionName: view.name, discreet, threadOnly, channelId, handOver, link: null };
				return [{ entry, question, readAt: checkedAt, offersOptions: config.QUICK_ANSWERS && watch.buttons, ...told }];
			}),
		);
		return asked.flat();
	}

	async function learnNames({ entry: { heldBy }, handOver }: RemindedQuestion): Promise<void> {
		const named = [heldBy, handOver?.from, handOver?.to].filter((userId) => userId != null);
		await Promise.all(named.map(directory.learnName));
	}

	/** Reminds of those questions that nobody has answered meanwhile, by the settings that hold now. */
	async function draw({ kind, entries }: ContentOf<ReminderStage | 'digest'>, { post: { target } }: DuePost) {
		const oldestFirst = entries.toSorted((one, other) => one.postedAt - other.postedAt);
		if (target.kind === 'person') return null;
		// Slack is asked for links and names first, because an answer may come meanwhile. The look below must come last.
		const before = await openQuestions(oldestFirst);
		const linked = kind === 'digest' ? before.slice(0, MOST_LISTED) : [];
		const linkOf = async ({ channelId, entry: { postTs } }: RemindedQuestion) =>
			[postTs, await facts.linkTo(channelId, postTs)] as const;
		const links = new Map(await Promise.all(linked.map(linkOf)));
		await Promise.all(before.map(learnNames));
		const now = clock.now();
		const { settings: current } = await store.channelSettings.read(target);
		const open = await openQuestions(stillDue(oldestFirst, current, { defaults: config.ladderTimes, now }));
		const [first] = open;
		if (first === undefined) return null;
		const mention = open.some(({ entry }) => entry.stage === 'escalation') ? current.mention : null;
		const context = { mention, names: directory, now };
		const listed = open.map((one) => ({ ...one, link: links.get(one.entry.postTs) ?? null }));
		const leftOut = entries.filter((entry) => !open.some((one) => one.entry === entry));
		if (kind === 'digest') return lookOf(digestPost(listed, context), { leftOut });
		// As an update shows it, which names no time and mentions nobody.
		const { key } = lookOf(reminderPost(first, null, { mention: null, names: directory }));
		return lookOf(reminderPost(first, now - first.entry.postedAt, context), { key, isLast: false, leftOut });
	}

	/** A posted reminder as it is now. */
	async function redraw(entry: ReminderEntry, due: DuePost): Promise<Drawn> {
		const asked = askedOf(due);
		if (asked === null) return null;
		const how = endOf(due);
		const context = await facts.contextOf(due, asked);
		const handOver = await facts.holderOf(due);
		const threadOnly = due.watch?.questionsInChannel === false;
		const told = { sessionName: context.view?.name ?? '', threadOnly, handOver, link: null };
		const reminder = { ...context, ...asked, ...told, entry };
		await learnNames(reminder);
		const outcome = outcomeWords(asked, how, context);
		const message =
			outcome === ''
				? reminderPost(reminder, null, { mention: null, names: directory })
				: settledReminderPost(reminder, outcome);
		return lookOf(message, { isLast: isLastLook(how !== null, context) });
	}

	function drawOne(content: ContentOf<ReminderStage>, due: DuePost): Promise<Drawn> {
		return due.post.ts === null ? draw(content, due) : redraw(content.entries[0], due);
	}

	return { reminder: drawOne, escalation: drawOne, digest: draw } satisfies Drawing<ReminderStage | 'digest'>;
}
