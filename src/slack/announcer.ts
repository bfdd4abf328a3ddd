import { createHash } from 'node:crypto';
import type { WebClient } from '@slack/web-api';
import type { Answer, QuestionKey } from '../answers/answer.ts';
import type { AnswerStore, ClaimStore } from '../answers/ports.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { AnnouncementContent } from '../watches/announcement.ts';
import type { Announcer, DueAnnouncement, SendOutcome, WatchStore } from '../watches/ports.ts';
import type { SessionView } from '../watches/session-view.ts';
import type { Watch } from '../watches/watch.ts';
import { type CardModel, watchCard } from './blocks/watch-card.ts';
import { endWords, type PostContext, settledQuestionPost, watchPost } from './blocks/watch-posts.ts';
import { slackErrorCode, slackRetryAfter } from './clients.ts';
import type { Names } from './words.ts';

/** The read a card shows is said to be old from here on; before that it goes without saying. */
const WORTH_SAYING_MS = 60_000;
const EVENT_TYPE = 'handraise_post';
/** Posts looked through for one that may stand there already. */
const LOOK_THROUGH = 100;

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
	/** `WATCH_MAX_DAYS` */
	readonly maxDays: number;
	readonly clock: Clock;
	readonly log: Log;
}

/** Writes cards and posts to Slack and says what Slack made of it; see the port. */
export function createAnnouncer(deps: Dependencies): Announcer {
	const { client, service, answers, claims, watches, names, dashboardUrl, maxDays, clock, log } = deps;

	function keyOf(sessionId: string, messageIndex: number): QuestionKey {
		return { service, sessionId, messageIndex };
	}

	async function cardModel(watch: Watch, view: SessionView): Promise<CardModel> {
		const key = view.question === null ? null : keyOf(view.sessionId, view.question.messageIndex);
		const now = clock.now();
		const [standing, active] =
			key === null ? [null, []] : await Promise.all([answers.standing(key), claims.active(key, now)]);
		return {
			view,
			checkedAt: null,
			claims: active.map(({ person }) => ({ userId: person.userId, since: null })),
			standing,
			endedWords: watch.ended === null ? null : endWords(watch.ended.reason, maxDays),
			names,
			now,
			dashboardUrl,
		};
	}

	/** Runs one call and puts Slack's answer into the port's terms. */
	async function send(call: () => Promise<{ ts?: string | undefined }>): Promise<SendOutcome> {
		try {
			const { ts } = await call();
			return ts === undefined ? { kind: 'unknown', code: 'no_ts' } : { kind: 'sent', ts };
		} catch (error) {
			const outcome = outcomeOf(error);
			log.debug({ outcome }, 'Slack did not take a post');
			return outcome;
		}
	}

	async function standingFor({ announcement, watch }: DueAnnouncement): Promise<Answer | null> {
		const { content } = announcement;
		return watch !== null && (content.kind === 'answered' || content.kind === 'settle')
			? answers.standing(keyOf(watch.session.sessionId, content.messageIndex))
			: null;
	}

	async function contextOf(due: DueAnnouncement, maybeRepeat: boolean): Promise<PostContext> {
		const sessionId = due.watch?.session.sessionId ?? '';
		const standing = await standingFor(due);
		return { sessionId, sessionTitle: due.view?.name ?? '', standing, names, maybeRepeat };
	}

	async function channelOf({ announcement: { target } }: DueAnnouncement): Promise<string | null> {
		if (target.kind !== 'person') return target.channelId;
		const { channel } = await client.conversations.open({ users: target.userId });
		return channel?.id ?? null;
	}

	/** The posts of a settled question lose their button. One that somebody deleted is no loss. */
	async function settle(due: DueAnnouncement, { messageIndex, how }: Settle): Promise<SendOutcome> {
		const { watch } = due;
		const nothing: SendOutcome = { kind: 'sent', ts: watch?.card.ts ?? '' };
		if (watch === null) return nothing;
		const context = await contextOf(due, false);
		for (const { content, postedTs } of await watches.postedQuestions(watch.id, messageIndex)) {
			if (content.kind !== 'question' || postedTs === null) continue;
			const { text, blocks } = settledQuestionPost(content.question, how, context);
			const outcome = await send(() => client.chat.update({ channel: watch.channelId, ts: postedTs, text, blocks }));
			if (outcome.kind !== 'sent' && outcome.kind !== 'refused') return outcome;
		}
		return nothing;
	}

	return {
		async prepareCard({ watch, view, checkedAt }) {
			const model = await cardModel(watch, view);
			const timeless = watchCard(model);
			const isOld = checkedAt !== null && model.now - checkedAt > WORTH_SAYING_MS;
			const content = isOld ? watchCard({ ...model, checkedAt }) : timeless;
			return {
				key: createHash('sha256').update(JSON.stringify(timeless)).digest('base64url').slice(0, 22),
				send: ({ ts, metadataKey }) =>
					send(() =>
						ts === null
							? client.chat.postMessage({ channel: watch.channelId, ...content, ...metadataOf(metadataKey) })
							: client.chat.update({ channel: watch.channelId, ts, text: content.text, blocks: content.blocks }),
					),
			};
		},

		async post(due, { metadataKey, maybeRepeat }) {
			const { announcement, watch } = due;
			const { content } = announcement;
			if (content.kind === 'card') return { kind: 'refused', code: 'card_is_no_post' };
			if (content.kind === 'settle') return settle(due, content);
			const message = watchPost(content, await contextOf(due, maybeRepeat));
			const threadTs = announcement.target.kind === 'watch' ? (watch?.card.ts ?? null) : null;
			const isShownInChannel = content.kind === 'question' && watch?.questionsInChannel === true;
			const inThread = (thread: string | null) =>
				send(async () => {
					const channel = await channelOf(due);
					if (channel === null) return {};
					const base = { channel, ...message, ...metadataOf(metadataKey) };
					if (thread === null) return client.chat.postMessage(base);
					return client.chat.postMessage(
						isShownInChannel ? { ...base, thread_ts: thread, reply_broadcast: true } : { ...base, thread_ts: thread },
					);
				});
			const outcome = await inThread(threadTs);
			// Somebody deleted the card and its thread with it: a question is not lost for that.
			const isThreadGone = threadTs !== null && outcome.kind === 'refused' && THREAD_GONE.has(outcome.code);
			return isThreadGone ? inThread(null) : outcome;
		},

		async find(due, { metadataKey, since }) {
			const oldest = (since / 1000).toFixed(6);
			const threadTs = due.announcement.target.kind === 'watch' ? (due.watch?.card.ts ?? null) : null;
			const look = { oldest, limit: LOOK_THROUGH, include_all_metadata: true };
			try {
				const channel = await channelOf(due);
				if (channel === null) return { kind: 'unreadable' };
				const { messages = [] } =
					threadTs === null
						? await client.conversations.history({ channel, ...look })
						: await client.conversations.replies({ channel, ts: threadTs, ...look });
				const found = messages.find(
					({ metadata }) =>
						metadata?.event_type === EVENT_TYPE &&
						(metadata.event_payload as { key?: unknown } | undefined)?.key === metadataKey,
				);
				return found?.ts === undefined ? { kind: 'absent' } : { kind: 'found', ts: found.ts };
			} catch (error) {
				const seconds = slackRetryAfter(error);
				if (seconds !== null) return { kind: 'later', ms: seconds * 1_000 };
				// No scope for history (it is optional), or Slack is away: a repeat that says so is better than a gap.
				return { kind: 'unreadable' };
			}
		},
	};
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
/** The message that a thread hangs on is not there any more. */
const THREAD_GONE = new Set(['thread_not_found', 'cannot_reply_to_message', 'message_not_found']);
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
