import { isAnsweredSince } from '../domain/answer.ts';
import { namesAnybody, OPERATOR } from '../domain/answerers.ts';
import { type ChannelSettings, isInThread, type Mention } from '../domain/channel-settings.ts';
import { MINUTE_MS } from '../kernel/clock.ts';
import type { ChannelSettingsStore, StoredChannelSettings } from '../sessions/channel-settings-store.ts';
import type { WhoMayAnswer } from '../slack/answerers.ts';
import type { SlackCore } from '../slack/slack-core.ts';
import type { ChannelKey } from '../store/watch.ts';
import {
	askedOf,
	type ContentOf,
	type Drawing,
	type Drawn,
	type DuePost,
	lookOf,
	type ReminderEntry,
} from '../surfaces/post.ts';
import type { PostStore } from '../surfaces/post-store.ts';
import type { QuestionFacts } from './facts.ts';
import { drawAgainAt, isLastLook, outcomeWords, stepsWords } from './question-post.ts';
import { digestPost, listedOf, type RemindedQuestion, reminderPost, settledReminderPost } from './reminder.ts';
import { endOf } from './watch-posts.ts';

interface ReminderAudience {
	readonly mention: Mention | null;
	readonly isNew: boolean;
	readonly isForNobody: boolean;
}

interface Stores {
	readonly channelSettings: ChannelSettingsStore;
	readonly posts: Pick<PostStore, 'planOnce'>;
}

export function createReminderDrawing(
	core: SlackCore<Stores> & { readonly whoMayAnswer: Pick<WhoMayAnswer, 'stillThere'> },
	facts: QuestionFacts,
) {
	const { store, directory, clock, whoMayAnswer } = core;
	/** The stored questions of a reminder, each with its outcome. `isOpen`: a read of the last minute found it open. */
	async function asked(entries: readonly ReminderEntry[], due: DuePost) {
		const { ts } = due.post;
		const shown = await facts.remindedOf(entries);
		const found = await Promise.all(
			entries.map(async (entry) => {
				const one = { ...due, ...shown.get(entry.watchId) };
				const asked = askedOf(one);
				if (asked === null || one.question?.id !== entry.questionId) return [];
				const how = endOf(one);
				const context = await facts.contextOf(one, asked);
				const { standing, channelId, discreet, snapshot, named } = context;
				const { checkedAt } = one;
				// If Slack delayed the reminder for longer, the session is read again first.
				const isFresh = checkedAt !== null && checkedAt >= clock.now() - MINUTE_MS;
				const told = {
					sessionName: snapshot?.name ?? '',
					discreet,
					threadOnly: isInThread(one.watch?.mode, one.style),
				};
				const reminded = {
					...told,
					entry,
					channelId,
					named,
					question: asked.question,
					steps: stepsWords(asked.question, snapshot),
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

	/** The message of one reminder or several. `mention`: whom a new message mentions. */
	function messageOf(all: readonly RemindedQuestion[], { mention, isNew, isForNobody }: ReminderAudience) {
		const context = { mention, isForNobody, names: directory };
		const [first, ...others] = all;
		if (first === undefined) return null;
		if (others.length > 0) return digestPost(all, context);
		if (first.outcome !== '') return settledReminderPost(first, isForNobody);
		return reminderPost(first, isNew ? first.waitedMs : null, context);
	}

	/** The people and groups whom escalations mention and who are still there; null: the channel names nobody. */
	const mentionOf = async ({ mention }: ChannelSettings, { channelId }: ChannelKey) =>
		namesAnybody(mention) ? whoMayAnswer.stillThere(mention, channelId) : null;

	/** Tells whoever saved a channel's settings, once, that nobody whom its escalations mention is still there. */
	async function tellNobodyMentioned({ teamId, channelId }: ChannelKey, { change, revision }: StoredChannelSettings) {
		if (change === null || change.by === OPERATOR) return;
		const { userIds } = await whoMayAnswer.stillThere({ userIds: [change.by], groupIds: [] }, null);
		for (const userId of userIds) {
			const target = { kind: 'person', teamId, userId } as const;
			const content = { kind: 'nobodyMentioned', channelId } as const;
			await store.posts.planOnce({ target, key: `nobodyMentioned:${channelId}:${revision}`, content }, clock.now());
		}
	}

	/** A new reminder shows open questions by the current settings; a posted one shows what became of its questions. */
	async function reminder({ entries }: ContentOf<'reminder'>, due: DuePost): Promise<Drawn> {
		const { target, ts } = due.post;
		if (target.kind === 'person') return null;
		const oldestFirst = entries.toSorted((one, other) => one.postedAt - other.postedAt);
		// Asks Slack for links and names first, because an answer may arrive meanwhile. The second `asked` must come last.
		const hasNoLink = target.kind === 'watch' && isInThread(due.watch?.mode, due.style);
		const before = await asked(oldestFirst, due);
		const listed = listedOf(before.map(({ reminded }) => reminded));
		const linked = listed.map(async ({ entry: { postTs } }) => {
			return [postTs, hasNoLink ? null : await facts.linkTo(target.channelId, postTs)] as const;
		});
		const links = new Map(await Promise.all(linked));
		const withLink = <T extends { entry: ReminderEntry }>(one: T) => ({
			...one,
			link: links.get(one.entry.postTs) ?? null,
		});
		const named = before.flatMap(({ reminded: { entry, handOver: held } }) => [entry.heldBy, held?.from, held?.to]);
		await Promise.all(named.filter((userId) => userId != null).map(directory.learnName));
		const stored = await store.channelSettings.read(target);
		const escalates = entries.some(({ stage }) => stage === 'escalation');
		const mention = escalates ? await mentionOf(stored.settings, target) : null;
		const isForNobody = mention !== null && !namesAnybody(mention);
		if (ts !== null) {
			const all = before.map(({ reminded }) => withLink(reminded));
			const message = messageOf(all, { mention: null, isNew: false, isForNobody });
			const times = before.flatMap(({ againAt }) => againAt ?? []);
			const againAt = times.length === 0 ? null : Math.min(...times);
			return message && lookOf(message, { isLast: before.every(({ isLast }) => isLast), againAt });
		}
		const open = (await asked(oldestFirst, due)).flatMap(({ reminded, isOpen }) =>
			isOpen ? [withLink({ ...reminded, outcome: '' })] : [],
		);
		const about = { mention: null, isNew: false, isForNobody };
		const message = messageOf(open, { ...about, mention, isNew: true });
		const updated = messageOf(open, about);
		// If something has changed meanwhile, the reminder is decided again.
		if (open.length < entries.length || message === null || updated === null) return null;
		if (isForNobody) await tellNobodyMentioned(target, stored);
		// The key is that of an update, which shows no time and mentions nobody.
		return lookOf(message, { key: lookOf(updated).key, isLast: false });
	}

	return { reminder } satisfies Drawing<'reminder'>;
}
