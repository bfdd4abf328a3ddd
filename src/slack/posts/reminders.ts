import { isAnsweredSince } from '../../answers/answer.ts';
import { quietUntil } from '../../inbox/quiet-hours.ts';
import { isStillDue, type ReminderStage, timesIn } from '../../watches/channel-settings.ts';
import type { ContentOf, ReminderEntry } from '../../watches/kinds.ts';
import {
	digestPost,
	MOST_LISTED,
	type RemindedQuestion,
	reminderPost,
	updatedReminderPost,
} from '../blocks/reminders.ts';
import { type AskedContent, outcomeWords } from '../blocks/watch-posts.ts';
import type { QuestionFacts } from './facts.ts';
import type { Draw, PostCore, Redraw } from './kind.ts';
import type { Messages } from './messages.ts';

/** A reminder that has waited for Slack for longer since the read of its session is read again. */
const READ_WITHIN_MS = 60_000;

/** Draws reminders, escalations and digests. */
export function createReminderDrawing(
	{ store: { channelSettings }, config: { ladderTimes, quickAnswers }, directory, clock }: PostCore,
	{ facts, linkTo }: { facts: QuestionFacts } & Pick<Messages, 'linkTo'>,
) {
	/** Those of these questions that still wait, as a read of a moment ago tells. */
	async function openQuestions(entries: readonly ReminderEntry[]): Promise<RemindedQuestion[]> {
		const shown = await facts.shownOf(entries.map(({ watchId }) => watchId));
		const asked = await Promise.all(
			entries.map(async (entry) => {
				const { watch, view, checkedAt } = shown.get(entry.watchId) ?? { watch: null, view: null, checkedAt: null };
				const question = view?.question ?? null;
				if (watch === null || watch.ended !== null || view === null || question === null) return [];
				if (checkedAt === null || checkedAt < clock.now() - READ_WITHIN_MS) return [];
				const isSame = question.fingerprint === entry.fingerprint && question.openCount > 0;
				if (!isSame) return [];
				const standing = await facts.standing(entry.sessionId, question.messageIndex);
				if (isAnsweredSince(standing, checkedAt)) return [];
				const { discreet, channelId } = watch;
				const handOver = await facts.unlessRefused(await facts.holderOf(watch, entry.fingerprint));
				const threadOnly = !watch.questionsInChannel;
				const told = { sessionName: view.name, discreet, threadOnly, channelId, handOver, link: null };
				return [{ entry, question, readAt: checkedAt, offersOptions: quickAnswers && watch.buttons, ...told }];
			}),
		);
		return asked.flat();
	}

	/** Looks up whom a reminder names. */
	async function learnNames({ entry: { heldBy }, handOver }: RemindedQuestion): Promise<void> {
		const named = [heldBy, handOver?.to].filter((userId) => userId != null);
		await Promise.all(named.map(directory.learnName));
	}

	/** The links of the posts of the first questions, by the `ts` of the post. */
	async function linksOf(asked: readonly RemindedQuestion[]): Promise<ReadonlyMap<string, string | null>> {
		const links = asked.slice(0, MOST_LISTED).map(async ({ channelId, entry: { postTs } }) => {
			return [postTs, await linkTo(channelId, postTs)] as const;
		});
		return new Map(await Promise.all(links));
	}

	/** Reminds of those questions that nobody has answered meanwhile, by the settings that hold now. */
	const draw: Draw<ReminderStage | 'digest'> = async ({ kind, entries }, due, { maybeRepeat }) => {
		const oldestFirst = entries.toSorted((one, other) => one.postedAt - other.postedAt);
		const { target } = due.announcement;
		if (target.kind === 'person') return null;
		// Slack is asked for links and names first, because an answer may come meanwhile. The look below must come last.
		const before = await openQuestions(oldestFirst);
		const links = kind === 'digest' ? await linksOf(before) : new Map();
		await Promise.all(before.map(learnNames));
		const now = clock.now();
		const { settings: current } = await channelSettings.read(target);
		const { quietHours } = current;
		if (quietHours !== null && quietUntil(quietHours, now) !== null) return null;
		const wanted = oldestFirst.filter((entry) => isStillDue(entry, timesIn(current, ladderTimes), now));
		const open = await openQuestions(wanted);
		const [first] = open;
		if (first === undefined) return null;
		const mention = open.some(({ entry }) => entry.stage === 'escalation') ? current.mention : null;
		const context = { mention, names: directory, now, maybeRepeat };
		const listed = open.map((one) => ({ ...one, link: links.get(one.entry.postTs) ?? null }));
		return {
			message: kind === 'digest' ? digestPost(listed, context) : reminderPost(first, context),
			isShownInChannel: kind === 'escalation',
			leftOut: entries.filter((entry) => !open.some((one) => one.entry === entry)),
		};
	};

	return {
		draw,

		/** A posted reminder as it is now. */
		async redraw(
			{ entries: [entry] }: ContentOf<ReminderStage>,
			asked: Pick<AskedContent, 'question' | 'readAt'>,
			{ context, how, watch }: Redraw,
		) {
			const handOver = await facts.unlessRefused(context.handOver);
			const sessionName = context.view?.name ?? '';
			const threadOnly = watch?.questionsInChannel === false;
			const { question, readAt } = asked;
			const reminder = { ...context, entry, question, readAt, sessionName, threadOnly, handOver, link: null };
			await learnNames(reminder);
			return updatedReminderPost(reminder, outcomeWords(asked, how, context), directory);
		},
	};
}
