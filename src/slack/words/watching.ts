import type { Expectation } from '../../watches/capacity.ts';
import type { WatchOutcome } from '../../watches/subscribe.ts';
import type { ChannelVerdict } from '../channels.ts';
import { type ErrorContext, errorWords } from './errors.ts';
import { contactMrkdwn } from './people.ts';
import { sessionIdMrkdwn } from './sessions.ts';
import { statusWords } from './statuses.ts';
import { durationText } from './times.ts';

/** What became of `/session watch` for one session, in one line of mrkdwn. */
export function watchOutcomeWords(sessionId: string, outcome: WatchOutcome, error: ErrorContext): string {
	const name = `*${sessionIdMrkdwn(sessionId)}*`;
	switch (outcome.kind) {
		case 'watching':
			return `👀 ${name} is watched in this channel now.`;
		case 'already':
			return outcome.changed
				? `👀 ${name} was watched here already; what is posted of it is changed.`
				: `👀 ${name} is watched here already.`;
		case 'unknownSession':
			return `⚠️ The session service knows no session ${name}. Check the id.`;
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
	channel: ['this channel watches', 'for one channel', '`/session list` shows them: stop one, use another channel'],
	all: ['all channels together watch', 'there may be', 'Stop one that nobody needs'],
} as const;

function limitWords(
	name: string,
	{ limit, count, most }: Extract<WatchOutcome, { kind: 'limit' }>,
	adminContact: string | null,
): string {
	const [who, whose, todo] = LIMITS[limit];
	const sessions = `${count} ${count === 1 ? 'session' : 'sessions'}`;
	return `🛑 ${name} is not watched: ${who} ${sessions}, and ${most} is the most ${whose}. ${todo}, or ask ${contactMrkdwn(adminContact)} for more.`;
}

/** Somebody was too fast: these sessions were not looked at. mrkdwn. */
export function tooFastWords(
	sessionIds: readonly string[],
	{ code, retryAt }: { readonly code: string; readonly retryAt: number },
	error: ErrorContext,
): string {
	const [first = '', ...others] = sessionIds;
	const name = `*${sessionIdMrkdwn(first)}*`;
	const which = others.length === 0 ? `${name} was` : `${name} and ${others.length} more were`;
	return `⚠️ ${which} not looked at. ${errorWords(code, { ...error, retryAt }).text}`;
}

/** How slow watching will be, in one line, where that is worth saying; else empty. */
export function expectationWords({ slow, roundSeconds, typicalSeconds, longestSeconds }: Expectation): string {
	if (!slow) return '';
	const round = durationText(roundSeconds * 1_000);
	const typical = durationText(typicalSeconds * 1_000);
	const longest = durationText(longestSeconds * 1_000);
	return `⏱️ So many sessions are watched that this will be slow: reading each of them once takes ${round}. A question of an agent at work is seen after about ${typical}, that of a quiet one after up to ${longest}.`;
}

/** Why nothing can be watched in this channel, and what to do. mrkdwn. */
export function channelRefusalWords(
	reason: Extract<ChannelVerdict, { ok: false }>['reason'],
	adminContact: string | null,
): string {
	switch (reason) {
		case 'not_member':
			return '⚠️ I am not in this channel, so I cannot keep a card here. Invite me with `/invite @Handraise`, then try again.';
		case 'archived':
			return '⚠️ This channel is archived, so nothing can be posted here.';
		case 'external':
			return `🔒 This channel is shared with another organisation, and everybody here would read the card. To allow that, ask ${contactMrkdwn(adminContact)}.`;
		case 'unclear_sharing':
			return `🔒 Slack does not say clearly who else can read this channel, so I keep no card here. Nothing was done. If trying again does not help, ask ${contactMrkdwn(adminContact)}.`;
		case 'direct':
			return '⚠️ A group message cannot hold a card. Use a channel, or our direct messages.';
		case 'no_channel':
			return '⚠️ I do not know which channel to watch it in. Type `/session watch` with the id in the channel.';
		case 'could_not_check':
			return '⚠️ Slack did not tell me in time about this channel. Nothing was done; please try again.';
	}
}
