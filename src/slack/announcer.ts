import { createHash } from 'node:crypto';
import type { WebClient } from '@slack/web-api';
import { FRESH_MS, type MayAct, type Refusal } from '../answers/access-policy.ts';
import { isAnsweredSince, type QuestionKey } from '../answers/answer.ts';
import { setBounded } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';
import { isStillDue, type LadderTimes, timesIn } from '../inbox/channel-settings.ts';
import type { HandOver } from '../inbox/hand-over.ts';
import { isComputable, quietUntil } from '../inbox/quiet-hours.ts';
import type { Log } from '../log.ts';
import type { ShowAnswers } from '../questions/secrecy.ts';
import type { AnswerStore } from '../store/answer-store.ts';
import type { Claim, ClaimStore } from '../store/answering-store.ts';
import type { ChannelSettingsStore } from '../store/channel-settings-store.ts';
import type { HandOverStore } from '../store/hand-over-store.ts';
import type { WatchStore } from '../store/watch-store.ts';
import {
	type Announcement,
	type AnnouncementContent,
	isAsked,
	newestQuestion,
	type ReminderEntry,
	targetOf,
} from '../watches/announcements.ts';
import type { Announcer, DueAnnouncement, PostUpdate, PreparedPost } from '../watches/announcer.ts';
import type { ReminderStage } from '../watches/channel-settings.ts';
import { asShownBy, type QuestionView, type SessionSnapshot } from '../watches/session-snapshot.ts';
import type { Watch } from '../watches/watch.ts';
import { givenBackPost, handedOverPost, NOT_TOLD_ANY_MORE } from './blocks/hand-over.ts';
import { type MessageContent, replacement, textMessage } from './blocks/parts.ts';
import {
	digestPost,
	MOST_LISTED,
	type RemindedQuestion,
	reminderPost,
	updatedReminderPost,
} from './blocks/reminders.ts';
import { settingsChangedPost } from './blocks/settings-saving.ts';
import { type CardModel, watchCard } from './blocks/watch-card.ts';
import {
	type AskedContent,
	endWords,
	outcomeWords,
	type PostContext,
	type PostedContent,
	settledQuestionPost,
	watchPost,
} from './blocks/watch-posts.ts';
import { slackErrorCode, slackFailure } from './clients.ts';
import type { NameLookup } from './directory.ts';
import type { DirectChannelOf } from './memberships.ts';
import { createSending, DELETED, outcomeOf } from './sending.ts';
import type { createUserGroups, UserGroups } from './settings/user-groups.ts';
import type { Names } from './words.ts';

/** A card shows when its session was read only if that is longer ago than this. */
const OLD_READ_MS = 60_000;
const EVENT_TYPE = 'handraise_post';
/** Messages to ask for in one page of history. Slack may return fewer: 15 for some apps. */
const PAGE_SIZE = 100;
/** Calls of one search, including those that Slack limits. After that it is unknown whether the post exists. */
const MAX_SEARCH_CALLS = 10;
/** No further page is requested after this time: a call takes up to 10 s, and the announcement is leased for 25 s. */
const SEARCH_MS = 5_000;
/** Unfinished searches that are remembered. */
const MAX_SEARCHES = 100;

/** A reminder that has waited for Slack for longer since the read of its session is read again. */
const READ_WITHIN_MS = 60_000;

const NO_GROUPS: UserGroups = { kind: 'listed', groups: [] };

/** The progress of a search through the history. */
interface Search {
	/** False while the thread is searched; the channel comes after it. */
	readonly inChannel: boolean;
	/** Of the next page; null for the first. */
	readonly cursor: string | null;
	readonly callCount: number;
}

interface HistoryPage {
	readonly channel: string;
	readonly threadTs: string | null;
	readonly since: number;
	readonly cursor: string | null;
}

interface Dependencies {
	readonly client: WebClient;
	readonly directChannelOf: DirectChannelOf;
	readonly serviceUrl: string;
	readonly answers: AnswerStore;
	readonly claims: ClaimStore;
	readonly watches: Pick<WatchStore, 'postedQuestions' | 'shownOf'>;
	readonly handOvers: Pick<HandOverStore, 'handOverOf'>;
	/** Asked before a question is told in a direct message. */
	readonly mayAct: MayAct;
	readonly names: Names;
	readonly learnName: NameLookup['learnName'];
	readonly userGroups: ReturnType<typeof createUserGroups>;
	readonly settings: Pick<ChannelSettingsStore, 'read'>;
	/** `REMIND_AFTER` and `ESCALATE_AFTER` */
	readonly ladderTimes: LadderTimes;
	readonly dashboardUrl: string | null;
	readonly showAnswers: ShowAnswers;
	/** `QUICK_ANSWERS` */
	readonly quickAnswers: boolean;
	readonly adminContact: string | null;
	/** `WATCH_MAX_DAYS` */
	readonly maxDays: number;
	readonly clock: Clock;
	readonly log: Log;
}

/** Writes cards and posts to Slack; see the port. */
export function createAnnouncer(deps: Dependencies): Announcer {
	const {
		client,
		directChannelOf,
		serviceUrl,
		answers,
		claims,
		watches,
		names,
		dashboardUrl,
		adminContact,
		clock,
		log,
	} = deps;
	const { handOvers, mayAct, settings, ladderTimes, learnName, userGroups, showAnswers, quickAnswers, maxDays } = deps;
	const send = createSending(deps);
	/** Searches that continue later, by the metadata key of the post and the time from which it is searched. */
	const searches = new Map<string, Search>();

	function keyOf(sessionId: string, messageIndex: number): QuestionKey {
		return { service: serviceUrl, sessionId, messageIndex };
	}

	/** The hand-over by which somebody has the question now. */
	async function holderOf({ teamId, session }: Watch, fingerprint: string): Promise<HandOver | null> {
		const handOver = await handOvers.handOverOf({ teamId, session, fingerprint });
		return handOver?.givenBackAt === null ? handOver : null;
	}

	/** The same hand-over; null when its person may not answer any more, so that nobody has the question. */
	async function unlessRefused(handOver: HandOver | null): Promise<HandOver | null> {
		if (handOver === null) return null;
		const { teamId, to, channelId } = handOver;
		const refusal = await mayAct({ teamId, userId: to }, channelId, FRESH_MS);
		return refusal === null || refusal === 'could_not_check' ? handOver : null;
	}

	async function cardModel(watch: Watch, view: SessionSnapshot): Promise<CardModel> {
		const { question } = view;
		const key = question === null ? null : keyOf(view.sessionId, question.messageIndex);
		const [standing, active, handOver] =
			key === null
				? [null, [], null]
				: await Promise.all([
						answers.standing(key),
						claims.active(key, clock.now()),
						holderOf(watch, question?.fingerprint ?? ''),
					]);
		return {
			view,
			checkedAt: null,
			waitedMs: null,
			discreet: watch.discreet,
			isUpdate: true,
			...claimedBy(active),
			handOver,
			standing,
			endedWords: watch.ended === null ? null : endWords(watch.ended.reason, { days: maxDays, adminContact }),
			names,
			dashboardUrl,
		};
	}

	async function contextOf(
		{ announcement, watch, view }: DueAnnouncement,
		{ maybeRepeat, isUpdate = false }: { maybeRepeat: boolean; isUpdate?: boolean },
	): Promise<PostContext> {
		const { content, target } = announcement;
		const sessionId = watch?.session.sessionId ?? ('sessionId' in content ? content.sessionId : '');
		const asked = isAsked(content) ? content.question : null;
		const messageIndex = asked?.messageIndex ?? ('messageIndex' in content ? content.messageIndex : null);
		const key = sessionId === '' || messageIndex === null ? null : keyOf(sessionId, messageIndex);
		const isAlone = watch?.mode === 'raisedHand' && content.kind === 'question';
		// A new post names nobody: it would notify them.
		const shown = isUpdate ? key : null;
		const [standing, handOver, active, refused] = await Promise.all([
			key === null ? null : answers.standing(key),
			watch === null || asked === null ? null : holderOf(watch, asked.fingerprint),
			shown === null || !isAlone ? [] : claims.active(shown, clock.now()),
			shown === null || asked === null ? null : answers.refused(shown, asked.fingerprint),
		]);
		return {
			sessionId,
			view,
			standing,
			refused,
			handOver,
			channelId: watch?.channelId ?? '',
			threadTs: watch?.card.ts ?? null,
			watchedBy: watch?.createdBy ?? '',
			reader: target.kind === 'person' ? target.userId : null,
			alone: isAlone ? claimedBy(active) : null,
			offersOptions: quickAnswers && watch?.buttons === true,
			showsChoices: showAnswers !== 'never',
			discreet: watch?.discreet !== false,
			isUpdate,
			now: clock.now(),
			names,
			adminContact,
			maybeRepeat,
		};
	}

	/** Applies today's settings: a post that waited for Slack or for the next start may be older than them. */
	function withCurrentSettings(content: PostedContent, { discreet }: PostContext): PostedContent {
		if (content.kind !== 'answered' || content.question === null) return content;
		return { ...content, question: asShownBy(discreet ? 'never' : showAnswers, content.question) };
	}

	/**
	 * A post whose call needs nothing more from Slack or the store. `isShownInChannel`: a reply in a thread is shown in the
	 * channel too.
	 */
	async function prepared(
		due: DueAnnouncement,
		content: MessageContent,
		{ isShownInChannel }: { isShownInChannel: boolean },
	): Promise<PreparedPost> {
		const threadTs = threadOf(due);
		const channel = await channelOf(due).catch(outcomeOf);
		return {
			async send({ metadataKey }) {
				if (typeof channel !== 'string') return channel;
				const post = { channel, ...content, ...metadataOf(metadataKey) };
				if (threadTs === null) return send(() => client.chat.postMessage(post), due.announcement.target);
				const reply = { ...post, thread_ts: threadTs };
				const broadcast = { ...reply, reply_broadcast: true };
				const call = () => client.chat.postMessage(isShownInChannel ? broadcast : reply);
				return send(call, due.announcement.target, threadTs);
			},
		};
	}

	/** Reminds of those questions that nobody has answered meanwhile, by the settings that hold now. */
	async function prepareReminders(
		due: DueAnnouncement,
		{ kind, entries }: Extract<AnnouncementContent, { kind: ReminderStage | 'digest' }>,
		{ maybeRepeat }: { maybeRepeat: boolean },
	): Promise<PreparedPost | null> {
		const oldestFirst = entries.toSorted((one, other) => one.postedAt - other.postedAt);
		const { target } = due.announcement;
		if (target.kind === 'person') return null;
		// Before the look that counts: an answer may come while Slack tells links and names.
		const before = await openQuestions(oldestFirst);
		const links = kind === 'digest' ? await linksTo(before) : new Map();
		await Promise.all(before.map(learnNames));
		const now = clock.now();
		const { settings: current } = await settings.read(target);
		const { quietHours } = current;
		if (quietHours !== null && isComputable(quietHours) && quietUntil(quietHours, now) !== null) return null;
		const wanted = oldestFirst.filter((entry) => isStillDue(entry, timesIn(current, ladderTimes), now));
		const open = await openQuestions(wanted);
		const [first] = open;
		if (first === undefined) return null;
		const mention = open.some(({ entry }) => entry.stage === 'escalation') ? current.mention : null;
		const context = { mention, names, now, maybeRepeat };
		const message =
			kind === 'digest'
				? digestPost(
						open.map((one) => ({ ...one, link: links.get(one.entry.postTs) ?? null })),
						context,
					)
				: reminderPost(first, context);
		const isShownInChannel = kind === 'escalation';
		const leftOut = entries.filter((entry) => !open.some((one) => one.entry === entry));
		return { ...(await prepared(due, message, { isShownInChannel })), leftOut };
	}

	async function prepareSettingsChanged(
		due: DueAnnouncement,
		content: Extract<AnnouncementContent, { kind: 'settingsChanged' }>,
		{ maybeRepeat }: { maybeRepeat: boolean },
	): Promise<PreparedPost | null> {
		const mentions = [content.before.mention, content.after.mention];
		const people = new Set([content.by, ...mentions.flatMap(({ userIds }) => userIds)]);
		await Promise.all(Array.from(people, learnName));
		const namesGroups = mentions.some(({ groupIds }) => groupIds.length > 0);
		const groups = namesGroups ? await userGroups.list() : NO_GROUPS;
		const { target } = due.announcement;
		if (target.kind === 'person') return null;
		const known = { names, groups, channelId: target.channelId, defaults: ladderTimes, maybeRepeat };
		return prepared(due, settingsChangedPost(content, known), { isShownInChannel: false });
	}

	/** Those of these questions that still wait, as a read of a moment ago tells. */
	async function openQuestions(entries: readonly ReminderEntry[]): Promise<RemindedQuestion[]> {
		const shown = await watches.shownOf(entries.map(({ watchId }) => watchId));
		const asked = await Promise.all(
			entries.map(async (entry) => {
				const { watch, view, checkedAt } = shown.get(entry.watchId) ?? { watch: null, view: null, checkedAt: null };
				const question = view?.question ?? null;
				if (watch === null || watch.ended !== null || view === null || question === null) return [];
				if (checkedAt === null || checkedAt < clock.now() - READ_WITHIN_MS) return [];
				const isSame = question.fingerprint === entry.fingerprint && question.openCount > 0;
				if (!isSame) return [];
				const standing = await answers.standing(keyOf(entry.sessionId, question.messageIndex));
				if (isAnsweredSince(standing, checkedAt)) return [];
				const { discreet, channelId } = watch;
				const handOver = await unlessRefused(await holderOf(watch, entry.fingerprint));
				const threadOnly = !watch.questionsInChannel;
				const told = { sessionName: view.name, discreet, threadOnly, channelId, handOver, link: null };
				return [{ entry, question, readAt: checkedAt, offersOptions: quickAnswers && watch.buttons, ...told }];
			}),
		);
		return asked.flat();
	}

	/** Looks up whom a reminder names. */
	async function learnNames({ entry: { heldBy }, handOver }: RemindedQuestion): Promise<void> {
		await Promise.all([heldBy, handOver?.to].flatMap((userId) => (userId == null ? [] : [learnName(userId)])));
	}

	/** The links of the posts of the first questions, by the `ts` of the post. */
	async function linksTo(asked: readonly RemindedQuestion[]): Promise<ReadonlyMap<string, string | null>> {
		const links = asked.slice(0, MOST_LISTED).map(async ({ channelId, entry: { postTs } }) => {
			return [postTs, await linkTo(channelId, postTs)] as const;
		});
		return new Map(await Promise.all(links));
	}

	/** The same announcement with the watch whose question was handed over; null when that watch is forgotten. */
	async function withWatch(due: DueAnnouncement, watchId: string): Promise<DueAnnouncement> {
		const shown = (await watches.shownOf([watchId])).get(watchId);
		return { ...due, watch: shown?.watch ?? null, view: shown?.view ?? null };
	}

	/** The direct message about a hand-over, unless it is over by now or its person may not answer any more. */
	async function prepareHandOver(
		due: DueAnnouncement,
		content: Extract<AnnouncementContent, { kind: 'handedOver' | 'givenBack' }>,
		{ maybeRepeat }: { maybeRepeat: boolean },
	): Promise<PreparedPost | null> {
		const { target } = due.announcement;
		const shown = await withWatch(due, content.watchId);
		const question = shown.view?.question ?? null;
		const { fingerprint } = content.question;
		if (shown.watch === null || shown.watch.ended !== null) return null;
		if (question?.fingerprint !== fingerprint || question.openCount === 0) return null;
		const { teamId, session } = shown.watch;
		const newest = await handOvers.handOverOf({ teamId, session, fingerprint });
		const isHeld = newest?.givenBackAt === null;
		if (target.kind !== 'person' || newest?.id !== target.topic) return null;
		if (isHeld !== (content.kind === 'handedOver')) return null;
		const refusal = await mayAct(target, shown.watch.channelId, FRESH_MS);
		if (refusal === 'could_not_check') return NOT_CHECKED;
		// A question that is handed over goes back to whoever handed it over, who hears that.
		if (refusal !== null) return isHeld ? refusedPost(refusal) : null;
		const context = await contextOf(shown, { maybeRepeat });
		const message = content.kind === 'handedOver' ? handedOverPost(content, context) : givenBackPost(content, context);
		return prepared(due, message, { isShownInChannel: false });
	}

	/** Null when Slack does not tell it: the message has no link then. */
	async function linkTo(channel: string, ts: string): Promise<string | null> {
		try {
			return (await client.chat.getPermalink({ channel, message_ts: ts })).permalink ?? null;
		} catch (error) {
			log.debug({ code: slackFailure(error).code }, 'Slack did not tell the link of a post');
			return null;
		}
	}

	async function channelOf({ announcement: { target } }: DueAnnouncement): Promise<string> {
		return target.kind === 'person' ? directChannelOf(target.userId) : target.channelId;
	}

	/** A page of messages: newest first in a channel, oldest first in the thread `threadTs`. */
	async function historyPage({ channel, threadTs, since, cursor }: HistoryPage) {
		const page = {
			channel,
			oldest: (since / 1000).toFixed(6),
			limit: PAGE_SIZE,
			include_all_metadata: true,
			...(cursor !== null && { cursor }),
		};
		if (threadTs === null) return client.conversations.history(page);
		return client.conversations.replies({ ...page, ts: threadTs }).catch((error: unknown) => {
			if (slackErrorCode(error) !== 'thread_not_found') throw error;
			return { messages: [], has_more: false, response_metadata: { next_cursor: '' } };
		});
	}

	/**
	 * What a `settle` or `redraw` shows in the post of a question, or of a reminder of one of the questions in `posts`.
	 */
	async function redrawn(
		due: DueAnnouncement,
		post: Announcement,
		posts: readonly Announcement[],
	): Promise<MessageContent | typeof NOT_CHECKED | null> {
		const { content: change, target } = due.announcement;
		const asked = isReminder(post.content) ? questionOf(post.content.entries[0], posts) : post.content;
		if (asked === null || !isAsked(asked)) return null;
		const shown = asked.kind === 'question' ? due : await withWatch(due, asked.watchId);
		const refusal = target.kind === 'person' ? await mayAct(target, shown.watch?.channelId ?? null, FRESH_MS) : null;
		if (refusal === 'could_not_check') return NOT_CHECKED;
		if (refusal !== null) return textMessage(NOT_TOLD_ANY_MORE);
		const shownBy = asked.kind === 'question' && asked.switching === true ? newestQuestion : questionNow;
		const content = { ...asked, question: shownBy(asked.question, change, shown.view) };
		const context = await contextOf(
			{ ...shown, announcement: { ...post, content } },
			{ maybeRepeat: false, isUpdate: true },
		);
		const how = change.kind === 'settle' ? change.how : null;
		if (isReminder(post.content)) {
			const [entry] = post.content.entries;
			const { question, readAt } = content;
			const handOver = await unlessRefused(context.handOver);
			const sessionName = context.view?.name ?? '';
			const threadOnly = shown.watch?.questionsInChannel === false;
			const reminder = { ...context, entry, question, readAt, sessionName, threadOnly, handOver, link: null };
			await learnNames(reminder);
			return updatedReminderPost(reminder, outcomeWords(content, how, context), names);
		}
		if (how !== null) return settledQuestionPost(content, how, context);
		switch (content.kind) {
			case 'question':
				return watchPost(content, context);
			case 'handedOver':
				return handedOverPost(content, context);
			case 'givenBack':
				return givenBackPost(content, context);
		}
	}

	return {
		async prepareCard({ watch, view, checkedAt, questionSince }) {
			const model = await cardModel(watch, view);
			const timeless = watchCard(model);
			const now = clock.now();
			const isOld = checkedAt !== null && now - checkedAt > OLD_READ_MS;
			const waitedMs = questionSince === null ? null : now - questionSince;
			const current = { ...model, checkedAt: isOld ? checkedAt : null, waitedMs };
			return {
				key: keyOfLooks(timeless),
				async send({ ts, metadataKey }) {
					const channel = watch.channelId;
					const target = targetOf(watch);
					const content = watchCard({ ...current, isUpdate: ts !== null });
					if (ts === null) {
						return send(() => client.chat.postMessage({ channel, ...content, ...metadataOf(metadataKey) }), target);
					}
					const outcome = await send(() => client.chat.update({ channel, ts, ...replacement(content) }), target);
					return outcome.kind === 'refused' && DELETED.has(outcome.code) ? { kind: 'deleted' } : outcome;
				},
			};
		},

		async updatesOf(due) {
			const { announcement } = due;
			const updates: PostUpdate[] = [];
			const posts = await watches.postedQuestions(announcement.id);
			for (const post of posts) {
				const { id, postedTs, shownKey } = post;
				const content = postedTs === null ? null : await redrawn(due, post, posts);
				if (postedTs === null || content === null) continue;
				if ('send' in content) {
					updates.push({ announcementId: id, key: '', send: NOT_CHECKED.send });
					continue;
				}
				// Without `text`, in which the time that it waits would make every post look new.
				const key = keyOfLooks(content.blocks);
				// An attempt whose outcome is unknown may have shown something else since.
				if (key === shownKey && announcement.sendingSince === null) continue;
				const update = { ts: postedTs, ...replacement(content) };
				const call = async () => client.chat.update({ channel: await channelOf(due), ...update });
				updates.push({ announcementId: id, key, send: () => send(call, due.announcement.target) });
			}
			return updates;
		},

		async preparePost(due, { maybeRepeat }) {
			const { announcement, watch } = due;
			const { content } = announcement;
			if (content.kind === 'card' || content.kind === 'settle' || content.kind === 'redraw') return null;
			if ('entries' in content) return prepareReminders(due, content, { maybeRepeat });
			if (content.kind === 'handedOver' || content.kind === 'givenBack') {
				return prepareHandOver(due, content, { maybeRepeat });
			}
			if (content.kind === 'settingsChanged') return prepareSettingsChanged(due, content, { maybeRepeat });
			if (content.kind === 'discoveryBegun' || content.kind === 'discoveryEnded') await learnName(content.by);
			const context = await contextOf(due, { maybeRepeat });
			const message = watchPost(withCurrentSettings(content, context), context);
			const isShownInChannel = content.kind === 'question' && watch?.questionsInChannel === true;
			return prepared(due, message, { isShownInChannel });
		},

		async remove(due, ts) {
			const call = async () => client.chat.delete({ channel: await channelOf(due), ts });
			const outcome = await send(call, due.announcement.target);
			if (outcome.kind === 'sent') return 'removed';
			if (outcome.kind !== 'refused' && outcome.kind !== 'gone') return 'unknown';
			return outcome.kind === 'refused' && outcome.code === 'message_not_found' ? 'removed' : 'refused';
		},

		async find(due, { metadataKey, since, signal }) {
			const key = `${metadataKey} ${since}`;
			const endsAt = clock.now() + SEARCH_MS;
			const threadTs = threadOf(due);
			const start: Search = { inChannel: threadTs === null, cursor: null, callCount: 0 };
			let { inChannel, cursor, callCount } = searches.get(key) ?? start;
			const remember = () => setBounded(searches, key, { inChannel, cursor, callCount }, MAX_SEARCHES);
			try {
				const channel = await channelOf(due);
				while (callCount < MAX_SEARCH_CALLS) {
					if (signal.aborted || clock.now() > endsAt) {
						remember();
						return { kind: 'later', ms: 0 };
					}
					callCount += 1;
					const page = await historyPage({ channel, threadTs: inChannel ? null : threadTs, since, cursor });
					const found = page.messages?.find(({ metadata }) => isPost(metadata, metadataKey));
					if (found?.ts !== undefined) return { kind: 'found', ts: found.ts, threaded: isReply(found) };
					cursor = page.response_metadata?.next_cursor || null;
					if (cursor !== null) continue;
					if (page.has_more === true) return { kind: 'unreadable' };
					if (inChannel) return { kind: 'absent' };
					// If the card was deleted before the post, Slack put the post into the channel.
					inChannel = true;
				}
			} catch (error) {
				const { retryAfterMs } = slackFailure(error);
				// No scope for history (it is optional), or Slack does not respond: a marked repeat is better than a gap.
				if (retryAfterMs === null) return { kind: 'unreadable' };
				remember();
				return { kind: 'later', ms: retryAfterMs };
			}
			// A second search for the same attempt has to return the same.
			remember();
			return { kind: 'unreadable' };
		},
	};
}

function isReminder(content: AnnouncementContent): content is Extract<AnnouncementContent, { kind: ReminderStage }> {
	return content.kind === 'reminder' || content.kind === 'escalation';
}

/** Who is answering, and until when at least: nothing draws a card or post again at that time. */
function claimedBy(active: readonly Claim[]) {
	return {
		claims: active.map(({ person }) => person.userId),
		claimedUntil: active.length === 0 ? null : Math.min(...active.map(({ until }) => until)),
	};
}

/** The question of a reminder, as its newest post announced it; null when that is not among `posts`. */
function questionOf({ fingerprint }: ReminderEntry, posts: readonly Announcement[]): AskedContent | null {
	const asked = posts.flatMap(({ content }) => (content.kind === 'question' ? [content] : []));
	return asked.findLast(({ question }) => question.fingerprint === fingerprint) ?? null;
}

/**
 * The question whose posts are updated, with its index now, because messages before it may have come or gone. While it is
 * open, as it was last read: some of its items may have been answered.
 */
function questionNow(asked: QuestionView, change: AnnouncementContent, view: SessionSnapshot | null): QuestionView {
	if (change.kind === 'settle') return { ...asked, messageIndex: change.messageIndex };
	const newest = view?.question ?? null;
	if (newest?.fingerprint !== asked.fingerprint) return asked;
	return newest.openCount > 0 ? newest : { ...asked, messageIndex: newest.messageIndex };
}

function keyOfLooks(content: object): string {
	return createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22);
}

function isPost(metadata: { event_type?: string; event_payload?: object } | undefined, key: string): boolean {
	return metadata?.event_type === EVENT_TYPE && (metadata.event_payload as { key?: unknown } | undefined)?.key === key;
}

/** The first message of a thread carries its own `ts` as `thread_ts`. */
function isReply({ ts, thread_ts: threadTs }: { ts?: string; thread_ts?: string }): boolean {
	return threadTs !== undefined && threadTs !== ts;
}

/** Posts of a watch go into its card's thread, and those of a raised hand into the thread of its question. */
function threadOf({ announcement: { target, content }, watch }: DueAnnouncement): string | null {
	const isRoot = content.kind === (watch?.mode === 'raisedHand' ? 'question' : 'card');
	return target.kind === 'watch' && !isRoot ? (watch?.card.ts ?? null) : null;
}

/** Slack does not tell now whether a person may see a question. */
const NOT_CHECKED = {
	send: async () => ({ kind: 'later', ms: null, code: 'could_not_check', limited: false }) as const,
};

/** A post that the access policy refuses, as if Slack did. */
function refusedPost(code: Refusal): PreparedPost {
	return { send: async () => ({ kind: 'refused', code }) };
}

function metadataOf(key: string | null) {
	return key === null ? {} : { metadata: { event_type: EVENT_TYPE, event_payload: { key } } };
}
