import type { Expectation } from '../../watches/capacity.ts';
import type { WatchOutcome } from '../../watches/subscribe.ts';
import type { ChannelVerdict } from '../channels.ts';
import { oneLineMrkdwn } from '../text.ts';
import { type ErrorContext, errorWords } from './errors.ts';
import { contactMrkdwn } from './people.ts';
import { statusWords } from './statuses.ts';
import { durationText } from './times.ts';

/** What became of `/session watch` for one session, in one line of mrkdwn. */
export function watchOutcomeWords(sessionId: string, outcome: WatchOutcome, error: ErrorContext): string {
	const name = `*${oneLineMrkdwn(sessionId, 100)}*`;
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
		case 'unreadable':
			return `⚠️ ${name}: ${errorWords(outcome.code, error).text}`;
	}
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
		case 'direct':
			return '⚠️ A group message cannot hold a card. Use a channel, or our direct messages.';
		case 'no_channel':
			return '⚠️ I do not know which channel to watch it in. Type `/session watch` with the id in the channel.';
		case 'could_not_check':
			return '⚠️ Slack did not tell me in time about this channel. Nothing was done; please try again.';
	}
}
