import { isAnsweredSince } from '../../answers/answer.ts';
import type { Core } from '../../core.ts';
import { quietUntil } from '../../inbox/quiet-hours.ts';
import type { DueAnnouncement } from '../../watches/announcements.ts';
import { isStillDue, type ReminderStage, timesIn } from '../../watches/channel-settings.ts';
import type { ContentOf, ReminderEntry, SettledHow } from '../../watches/kinds.ts';
import {
	digestPost,
	MOST_LISTED,
	type RemindedQuestion,
	reminderPost,
	updatedReminderPost,
} from '../blocks/reminders.ts';
import { type Asked, outcomeWords, type PostContext } from '../blocks/watch-posts.ts';
import type { Drawn, QuestionFacts } from './facts.ts';
import type { createMessages } from './messages.ts';

/** A reminder that has waited for Slack for longer since the read of its session is read again. */
const READ_WITHIN_MS = 60_000;

/** Draws reminders, escalations and digests. */
export function createReminderDrawing(
	{ store: { channelSettings }, config: { ladderTimes, quickAnswers }, directory, clock }: Core,
	facts: QuestionFacts,
	linkTo: ReturnType<typeof createMessages>['linkTo'],
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
	async function draw(
		{ kind, entries }: ContentOf<ReminderStage | 'digest'>,
		{ announcement: { target } }: DueAnnouncement,
		maybeRepeat: boolean,
	): Promise<Drawn> {
		const oldestFirst = entries.toSorted((one, other) => one.postedAt - other.postedAt);
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
	}

	return {
		draw,

		/** A posted reminder as it is now. `how`: null while its question is not settled. */
		async redraw(
			entry: ReminderEntry,
			{ content, how, threadOnly }: { content: Asked; how: SettledHow | null; threadOnly: boolean },
			context: PostContext,
		) {
			const handOver = await facts.unlessRefused(context.handOver);
			const { question, readAt } = content;
			const sessionName = context.view?.name ?? '';
			const reminder = { ...context, entry, question, readAt, sessionName, threadOnly, handOver, link: null };
			await learnNames(reminder);
			return updatedReminderPost(reminder, outcomeWords(content, how, context), directory);
		},
	};
}
