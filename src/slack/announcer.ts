import { createHash } from 'node:crypto';
import type { WebClient } from '@slack/web-api';
import type { QuestionKey } from '../answers/answer.ts';
import type { AnswerStore, ClaimStore } from '../answers/ports.ts';
import { setBounded } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { ShowAnswers } from '../questions/disclosure.ts';
import type { AnnouncementContent } from '../watches/announcements.ts';
import type { Announcer, DueAnnouncement, SendOutcome } from '../watches/announcer.ts';
import type { WatchStore } from '../watches/ports.ts';
import { asShownBy, type SessionSnapshot } from '../watches/session-snapshot.ts';
import type { Watch } from '../watches/watch.ts';
import { replacement } from './blocks/parts.ts';
import { type CardModel, watchCard } from './blocks/watch-card.ts';
import { type PostContext, type PostedContent, settledQuestionPost, watchPost } from './blocks/watch-posts.ts';
import { isThreaded, slackErrorCode, slackRetryAfter } from './clients.ts';
import type { Names } from './words/people.ts';
import { endWords } from './words/watching.ts';

/** The read a card shows is said to be old from here on; before that it goes without saying. */
const WORTH_SAYING_MS = 60_000;
const EVENT_TYPE = 'handraise_post';
/** Posts asked for at once when looking for one that may stand there already; Slack may give fewer, 15 for some apps. */
const PAGE_SIZE = 100;
/** Calls that one look may take, those that Slack limits included. After that nobody knows whether the post is there. */
const MOST_CALLS = 10;
/** No further page is asked for after this long: a call takes up to 10 s, and the announcement is leased for 25 s. */
const LOOK_FOR_MS = 5_000;
/** Unfinished looks that are remembered. */
const MOST_LOOKS = 100;

/** How far a look through the history has come. */
interface Look {
	/** Whether the thread was looked through, so that the channel is next. */
	readonly inChannel: boolean;
	/** Of the next page; null for the first. */
	readonly cursor: string | null;
	readonly calls: number;
}

type Settle = Extract<AnnouncementContent, { kind: 'settle' }>;

interface Dependencies {
	readonly client: WebClient;
	/** Names the session service in the store. */
	readonly service: string;
	readonly answers: AnswerStore;
	readonly claims: ClaimStore;
	readonly watches: Pick<WatchStore, 'postedQuestions'>;
	readonly names: Names;
	readonly dashboardUrl: string | null;
	readonly showAnswers: ShowAnswers;
	readonly adminContact: string | null;
	/** `WATCH_MAX_DAYS` */
	readonly maxDays: number;
	readonly clock: Clock;
	readonly log: Log;
}

/** Writes cards and posts to Slack and says what Slack made of it; see the port. */
export function createAnnouncer(deps: Dependencies): Announcer {
	const { client, service, answers, claims, watches, names, dashboardUrl, adminContact, clock, log } = deps;
	const { showAnswers, maxDays } = deps;
	/** Looks that go on later, by the key of the post and the time from which it is looked for. */
	const looks = new Map<string, Look>();

	function keyOf(sessionId: string, messageIndex: number): QuestionKey {
		return { service, sessionId, messageIndex };
	}

	async function cardModel(watch: Watch, view: SessionSnapshot): Promise<CardModel> {
		const key = view.question === null ? null : keyOf(view.sessionId, view.question.messageIndex);
		const [standing, active] =
			key === null ? [null, []] : await Promise.all([answers.standing(key), claims.active(key, clock.now())]);
		return {
			view,
			checkedAt: null,
			claims: active.map(({ person }) => person.userId),
			standing,
			endedWords: watch.ended === null ? null : endWords(watch.ended.reason, { days: maxDays, adminContact }),
			names,
			dashboardUrl,
		};
	}

	/** Runs one call and puts Slack's answer into the port's terms. `threadTs`: the thread that a post names. */
	async function send(
		call: () => Promise<{ ts?: string; message?: object }>,
		threadTs: string | null = null,
	): Promise<SendOutcome> {
		try {
			const { ts, message } = await call();
			if (ts === undefined) return { kind: 'unknown', code: 'no_ts' };
			return threadTs === null || isThreaded(message) ? { kind: 'sent', ts } : { kind: 'unthreaded', ts };
		} catch (error) {
			const outcome = outcomeOf(error);
			log.debug({ outcome }, 'Slack did not take a post');
			return outcome;
		}
	}

	async function contextOf({ announcement, watch, view }: DueAnnouncement, maybeRepeat: boolean): Promise<PostContext> {
		const { content } = announcement;
		const sessionId = watch?.session.sessionId ?? '';
		const standing =
			watch !== null && (content.kind === 'answered' || content.kind === 'settle')
				? await answers.standing(keyOf(sessionId, content.messageIndex))
				: null;
		return { sessionId, view, standing, names, adminContact, maybeRepeat };
	}

	/** A post that waited, for Slack or for the next start, is older than the setting. */
	function shownNow(content: PostedContent): PostedContent {
		if (content.kind !== 'answered' || content.question === null) return content;
		return { ...content, question: asShownBy(showAnswers, content.question) };
	}

	async function channelOf({ announcement: { target } }: DueAnnouncement): Promise<string | null> {
		if (target.kind !== 'person') return target.channelId;
		const { channel } = await client.conversations.open({ users: target.userId });
		return channel?.id ?? null;
	}

	/** A page of what stands there: newest first in a channel, oldest first in a thread (`ts`). */
	async function history({
		ts,
		since,
		...where
	}: {
		channel: string;
		ts: string | null;
		since: number;
		cursor?: string;
	}) {
		const page = { ...where, oldest: (since / 1000).toFixed(6), limit: PAGE_SIZE, include_all_metadata: true };
		if (ts === null) return client.conversations.history(page);
		return client.conversations.replies({ ...page, ts }).catch((error: unknown) => {
			if (slackErrorCode(error) !== 'thread_not_found') throw error;
			return { messages: [], has_more: false, response_metadata: { next_cursor: '' } };
		});
	}

	/** The posts of a settled question lose their button. One that somebody deleted is no loss. */
	async function settle(due: DueAnnouncement, { how }: Settle): Promise<SendOutcome> {
		const { announcement, watch } = due;
		const nothing: SendOutcome = { kind: 'sent', ts: watch?.card.ts ?? '' };
		if (watch === null) return nothing;
		const context = await contextOf(due, false);
		for (const { content, postedTs } of await watches.postedQuestions(announcement.id)) {
			if (content.kind !== 'question' || postedTs === null) continue;
			const settled = replacement(settledQuestionPost(content.question, how, context));
			const outcome = await send(() => client.chat.update({ channel: watch.channelId, ts: postedTs, ...settled }));
			if (outcome.kind !== 'sent' && outcome.kind !== 'refused') return outcome;
		}
		return nothing;
	}

	return {
		async prepareCard({ watch, view, checkedAt }) {
			const model = await cardModel(watch, view);
			const timeless = watchCard(model);
			const isOld = checkedAt !== null && clock.now() - checkedAt > WORTH_SAYING_MS;
			const content = isOld ? watchCard({ ...model, checkedAt }) : timeless;
			return {
				key: createHash('sha256').update(JSON.stringify(timeless)).digest('base64url').slice(0, 22),
				async send({ ts, metadataKey }) {
					const channel = watch.channelId;
					if (ts === null) {
						return send(() => client.chat.postMessage({ channel, ...content, ...metadataOf(metadataKey) }));
					}
					const outcome = await send(() => client.chat.update({ channel, ts, ...replacement(content) }));
					return outcome.kind === 'refused' && DELETED.has(outcome.code) ? { kind: 'deleted' } : outcome;
				},
			};
		},

		async post(due, { metadataKey, maybeRepeat }) {
			const { announcement, watch } = due;
			const { content } = announcement;
			if (content.kind === 'card') return { kind: 'refused', code: 'card_is_no_post' };
			if (content.kind === 'settle') return settle(due, content);
			const message = watchPost(shownNow(content), await contextOf(due, maybeRepeat));
			const threadTs = threadOf(due);
			const isShownInChannel = content.kind === 'question' && watch?.questionsInChannel === true;
			return send(async () => {
				const channel = await channelOf(due);
				if (channel === null) return {};
				const base = { channel, ...message, ...metadataOf(metadataKey) };
				if (threadTs === null) return client.chat.postMessage(base);
				const inThread = { ...base, thread_ts: threadTs };
				return client.chat.postMessage(isShownInChannel ? { ...inThread, reply_broadcast: true } : inThread);
			}, threadTs);
		},

		async remove(due, ts) {
			const outcome = await send(async () => {
				const channel = await channelOf(due);
				return channel === null ? {} : client.chat.delete({ channel, ts });
			});
			if (outcome.kind === 'sent') return 'removed';
			if (outcome.kind !== 'refused' && outcome.kind !== 'gone') return 'unknown';
			return outcome.kind === 'refused' && outcome.code === 'message_not_found' ? 'removed' : 'refused';
		},

		async find(due, { metadataKey, since, signal }) {
			const name = `${metadataKey} ${since}`;
			const until = clock.now() + LOOK_FOR_MS;
			const threadTs = threadOf(due);
			let { inChannel, cursor, calls } = looks.get(name) ?? { inChannel: threadTs === null, cursor: null, calls: 0 };
			const remember = () => setBounded(looks, name, { inChannel, cursor, calls }, MOST_LOOKS);
			try {
				const channel = await channelOf(due);
				if (channel === null) return { kind: 'unreadable' };
				while (calls < MOST_CALLS) {
					if (signal.aborted || clock.now() > until) {
						remember();
						return { kind: 'later', ms: 0 };
					}
					calls += 1;
					const {
						messages = [],
						has_more: hasMore,
						response_metadata: page,
					} = await history({ channel, ts: inChannel ? null : threadTs, since, ...(cursor !== null && { cursor }) });
					const found = messages.find(({ metadata }) => isPost(metadata, metadataKey));
					if (found?.ts !== undefined) return { kind: 'found', ts: found.ts, threaded: isReply(found) };
					cursor = page?.next_cursor || null;
					if (cursor !== null) continue;
					if (hasMore === true) return { kind: 'unreadable' };
					if (inChannel) return { kind: 'absent' };
					// The card may have been deleted before this was posted: then it stands in the channel.
					inChannel = true;
				}
			} catch (error) {
				const seconds = slackRetryAfter(error);
				if (seconds !== null) {
					remember();
					return { kind: 'later', ms: seconds * 1_000 };
				}
				// No scope for history (it is optional), or Slack is away: a repeat that says so is better than a gap.
				return { kind: 'unreadable' };
			}
			// Asked again for the same attempt, the answer is the same.
			remember();
			return { kind: 'unreadable' };
		},
	};
}

function isPost(metadata: { event_type?: string; event_payload?: object } | undefined, key: string): boolean {
	return metadata?.event_type === EVENT_TYPE && (metadata.event_payload as { key?: unknown } | undefined)?.key === key;
}

/** A message that has replies names its own thread. */
function isReply({ ts, thread_ts: threadTs }: { ts?: string; thread_ts?: string }): boolean {
	return threadTs !== undefined && threadTs !== ts;
}

/** What belongs to a watch goes into its card's thread. */
function threadOf({ announcement, watch }: DueAnnouncement): string | null {
	return announcement.target.kind === 'watch' && announcement.content.kind !== 'card' ? (watch?.card.ts ?? null) : null;
}

function metadataOf(key: string | null) {
	return key === null ? {} : { metadata: { event_type: EVENT_TYPE, event_payload: { key } } };
}

/** Codes with which nothing was written and never will be. */
const GONE = {
	is_archived: 'channelArchived',
	// What an update of a message in an archived channel gets.
	is_inactive: 'channelArchived',
	channel_not_found: 'channelGone',
	not_in_channel: 'botRemoved',
} as const;
/** What Slack says to an update of a message that was deleted: with replies it leaves one that is Slack's own. */
const DELETED = new Set(['message_not_found', 'cant_update_message']);
/** Slack's own troubles: it may have been written. */
const UNCERTAIN = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);
/** Nothing is wrong with what was sent: somebody can mend it, or it passes. */
const LATER = new Set([
	'invalid_auth',
	'not_authed',
	'token_revoked',
	'account_inactive',
	'missing_scope',
	'ratelimited',
]);

function outcomeOf(error: unknown): SendOutcome {
	const seconds = slackRetryAfter(error);
	if (seconds !== null) return { kind: 'later', ms: seconds * 1_000, code: 'ratelimited', limited: true };
	const code = slackErrorCode(error);
	if (code === null) return { kind: 'unknown', code: 'no_answer' };
	if (code in GONE) return { kind: 'gone', reason: GONE[code as keyof typeof GONE] };
	if (UNCERTAIN.has(code)) return { kind: 'unknown', code };
	if (LATER.has(code)) return { kind: 'later', ms: null, code, limited: false };
	return { kind: 'refused', code };
}
