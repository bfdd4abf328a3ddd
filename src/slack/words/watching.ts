import type { Expectation } from '../../watches/capacity.ts';
import type { ContentOf } from '../../watches/kinds.ts';
import type { WatchOutcome } from '../../watches/subscribe.ts';
import type { WatchEnd } from '../../watches/watch.ts';
import { type ErrorContext, errorWords } from './errors.ts';
import { contactMrkdwn } from './people.ts';
import { andMoreWords, sessionIdMrkdwn, sessionName, statusWords } from './sessions.ts';
import { durationText, momentMrkdwn } from './times.ts';

/** The result of `/session watch` for one session, in one line of mrkdwn. */
export function watchOutcomeWords(sessionId: string, outcome: WatchOutcome, error: ErrorContext): string {
	const name = `*${sessionIdMrkdwn(sessionId)}*`;
	switch (outcome.kind) {
		case 'watching':
			return `👀 ${name} is watched in this channel now.`;
		case 'already':
			return outcome.changed
				? `👀 ${name} is already watched here. What is posted about it has changed.`
				: `👀 ${name} is already watched here.`;
		case 'unknownSession':
			return `⚠️ No session named ${name} found. Check the id.`;
		case 'over': {
			const { emoji, mrkdwn } = statusWords(outcome.status);
			return `${emoji} ${name} is over (${mrkdwn.toLowerCase()}); there is nothing to watch. \`/session\` with its id shows it.`;
		}
		case 'limit':
			return limitWords(name, outcome, error.adminContact);
		case 'unreadable':
			return `⚠️ ${name}: ${errorWords(outcome.code, error).text}`;
	}
}

const LIMITS = {
	person: ['you watch', 'for one person', 'Stop one of yours with `/session unwatch` and its id'],
	channel: ['this channel watches', 'for one channel', 'Stop one (`/session list` shows them), use another channel'],
	all: ['all channels together watch', 'for all channels', 'Stop one that nobody needs'],
} as const;

function limitWords(
	name: string,
	{ limit, count, most }: Extract<WatchOutcome, { kind: 'limit' }>,
	adminContact: string | null,
): string {
	const [who, whose, todo] = LIMITS[limit];
	const sessions = `${count} ${count === 1 ? 'session' : 'sessions'}`;
	return `🛑 ${name} is not watched: ${who} ${sessions}, and the limit ${whose} is ${most}. ${todo}, or ask ${contactMrkdwn(adminContact)} for more.`;
}

/** The person reached their limit before these sessions were read. mrkdwn. */
export function tooFastWords(
	sessionIds: readonly string[],
	{ code, retryAt }: { readonly code: string; readonly retryAt: number },
	error: ErrorContext,
): string {
	const [first = '', ...others] = sessionIds;
	const name = `*${sessionIdMrkdwn(first)}*`;
	const which = others.length === 0 ? `${name} was` : `${name} and ${others.length} more were`;
	return `⚠️ ${which} not read. ${errorWords(code, { ...error, retryAt }).text}`;
}

export const WATCH_OPTIONS =
	'`--questions-only` posts questions and answers only; `--thread-only` keeps questions out of the channel: an escalation there names only the session. `--discreet` keeps questions out of notifications and answers out of posts; `--no-buttons` shows no options as buttons.';

/** The result of `/session unwatch` for one session. mrkdwn. */
export function unwatchedWords(sessionId: string, wasWatched: boolean): string {
	const name = `*${sessionIdMrkdwn(sessionId)}*`;
	return wasWatched ? `👋 ${name} is not watched here any more.` : `Session ${name} is not watched here.`;
}

/** The result of `/session unwatch all`. `discovered`: whether `watch all` has ended too. */
export function unwatchedAllWords(count: number, discovered: boolean): string {
	if (count === 0 && !discovered) return 'This channel watches no session.';
	const watched = `${count === 1 ? 'One session is' : `${count} sessions are`} not watched here any more.`;
	const others = 'The questions of all sessions do not come into this channel any more.';
	return `👋 ${[...(count === 0 ? [] : [watched]), ...(discovered ? [others] : [])].join(' ')}`;
}

/** How slow watching will be; empty when it is not slow. */
export function expectationWords({ slow, roundSeconds, typicalSeconds, longestSeconds }: Expectation): string {
	if (!slow) return '';
	const round = durationText(roundSeconds * 1_000);
	const typical = durationText(typicalSeconds * 1_000);
	const longest = durationText(longestSeconds * 1_000);
	return `⏱️ Many sessions are watched, so this will be slow: reading all of them once takes ${round}. A new question is seen after about ${typical} if the agent is busy, and after up to ${longest} if it is quiet.`;
}

/** How many sessions a channel watches. `discovers`: whether it gets the questions of all. mrkdwn. */
export function watchCountWords(total: number, discovers: boolean): string {
	if (total === 0 && discovers) return 'No session waits here now.';
	if (total === 0) return 'This channel watches no session. To start, use `/session watch` with an id.';
	return total === 1 ? 'This channel watches one session.' : `This channel watches ${total} sessions.`;
}

/** A session, by its title, asks a question. */
export function asksWords(title: string, changed = false): string {
	return changed ? `✏️ ${title} asks something else now` : `✋ ${title} asks for an answer`;
}

/** On the one post of a session that changes its question often. mrkdwn. */
export const SWITCHING =
	'This post shows the newest question, up to a few seconds late, instead of a new post for each. *Answer…* opens the question that the agent asks when you press it. A question that stays for a minute is posted by itself.';
export const NOTHING_ASKED = 'The agent asks nothing at the moment.';

/** mrkdwn */
export function switchingWords(title: string): string {
	return `🔀 ${title} changes its question often`;
}

/** Of an answer whose author saw another text than the question has now. */
export const BEFORE_NEW_TEXT = 'for an earlier text of the question';
export const OUTSIDE = "Answered outside Slack, on the session service's own page";
export const QUESTION_CLOSED = '💨 The question is closed: the agent went on without an answer.';
export const MAYBE_REPEAT = '🔁 Handraise was interrupted: this post may be a repeat.';

/** On the post of a question that was settled without an answer, and on a direct message whose person does not have it now. */
export const SETTLED_WORDS = {
	closed: '💨 Closed without an answer',
	changed: '✏️ The agent asks something else now',
	unwatched: '👋 Not watched here any more. `/session` with its id shows its state.',
	gaveWay:
		'💤 Not followed here any more: a newer question needed the place. `/session` with its id opens it, and the *Home* tab lists it where that lists waiting sessions.',
	own: '⬇️ The agent asks the same for a minute now: its question has a post of its own.',
	handedOn: '↪️ Handed over again.',
	givenBack: '↩️ You gave this question back. It is open for all again.',
} as const;

export function serviceDownWords(since: number): string {
	return `⚠️ The session service has been unavailable since ${momentMrkdwn(since)}: it is down, limits our requests or refuses our key. Cards in this channel are not updated until it is back. Answers are saved and sent then.`;
}

export function serviceBackWords(downMs: number): string {
	return `✅ The session service is back after ${durationText(downMs)}. Cards are current again.`;
}

/** A direct message to the person who started watching. */
export function creatorToldWords(
	{ sessionIds, all, channelId, reason }: ContentOf<'creatorTold'>,
	adminContact: string | null,
): string {
	const what = all === true ? 'The watch of all sessions' : `The watch of ${sessionNames(sessionIds)}`;
	const why = endWords(reason, { days: null, adminContact });
	const command = all === true ? '`/session watch all`' : '`/session watch`';
	return `👋 ${what} in ${placeMrkdwn(channelId)} has ended: ${why.replace('`/session watch`', command)}`;
}

/** Sessions named in one line. */
const NAMED_SESSIONS = 10;

function sessionNames(ids: readonly string[]): string {
	if (ids.length === 1) return sessionName(ids[0] ?? '');
	const named = ids.slice(0, NAMED_SESSIONS).map((id) => `*${sessionIdMrkdwn(id)}*`);
	return `the sessions ${named.join(', ')} ${andMoreWords(ids.length - NAMED_SESSIONS)}`.trimEnd();
}

/** Whether a channel's id is that of a direct message with one person. */
export function isDirectMessage(channelId: string): boolean {
	return channelId.startsWith('D');
}

/** Slack shows no name for a direct message's id. `whose`: who is in it when that is not the reader; mrkdwn. */
export function placeMrkdwn(channelId: string, whose: string | null = null): string {
	if (!isDirectMessage(channelId)) return `<#${channelId}>`;
	return whose === null ? 'our direct messages' : `the direct messages of ${whose} with Handraise`;
}

/** `{days}` is replaced with how long nothing changed, `{contact}` with whom to ask. */
const ENDS: Readonly<Record<WatchEnd, string>> = {
	sessionOver: 'The session is over; this card stays as it is.',
	unwatched: 'Not watched any more.',
	noChange: 'Nothing changed for {days} days, so I stopped watching. `/session watch` starts again.',
	handLowered: 'The question is not open any more.',
	gaveWay: 'A newer question needed the place.',
	sessionGone: 'The session service does not know this session any more, so I stopped watching.',
	channelArchived: 'The channel was archived.',
	channelGone: 'The channel is gone.',
	botRemoved: 'I was removed from the channel. Invite me and use `/session watch` to start again.',
	channelShared:
		'Another organisation can read this channel, or is invited to it, so I post nothing more there. What I posted there before stays, and they can read it: ask a workspace admin to delete the card and the posts in its thread, or to stop the sharing. To go on, use `/session watch` in another channel. To allow watching in shared channels, ask {contact}.',
	channelNotAllowed:
		'Handraise is no longer allowed there, so I post nothing more there. What I posted there before stays. To change that, ask {contact}.',
};

/** Why a watch ended, and what to do. mrkdwn. */
export function endWords(
	reason: WatchEnd,
	{ days, adminContact }: { days: number | null; adminContact: string | null },
): string {
	return ENDS[reason].replace('{days}', `${days ?? 'some'}`).replace('{contact}', () => contactMrkdwn(adminContact));
}
