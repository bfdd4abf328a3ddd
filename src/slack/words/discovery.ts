import type { Discovery, NoListReason } from '../../watches/discovered.ts';
import type { LeftOut } from '../../watches/kinds.ts';
import { contactMrkdwn, type Names, personMrkdwn, personName } from './people.ts';
import { momentMrkdwn } from './times.ts';

const NOT_LISTED = '⏳ The list of sessions cannot be got at the moment: questions come when it can.';

/** The result of `/session watch all`. `discovery`: as it is after a change; null: it has ended meanwhile. mrkdwn. */
export function discoveringWords(
	outcome: 'begun' | 'changed' | 'already',
	{ discovery, isListed }: { discovery: Discovery | null; isListed: boolean },
): string {
	const changed = discovery === null ? '' : `New ones are posted by ${commandWords(discovery)}.`;
	const since = outcome === 'begun' ? 'from now on' : 'already';
	const all = `✋ The questions of all sessions come into this channel ${since}.`;
	return [all, changed, isListed ? '' : NOT_LISTED].filter((words) => words !== '').join(' ');
}

/** What `/session watch all` takes. */
export const DISCOVERY_OPTIONS =
	'`--discreet` keeps questions out of notifications and chosen options out of posts; `--no-buttons` shows no options as buttons. `--no-discreet` and `--buttons` take that back.';

/** Why there is no list, and what to do. `{contact}` is replaced with whom to ask. */
const NO_LIST: Readonly<Record<NoListReason, string>> = {
	notDiscovering:
		'Handraise shows only sessions whose id somebody knows. To change that, ask {contact} to set `DISCOVER_SESSIONS` to `true`.',
	listOff:
		'Handraise does not ask the session service for its list. To change that, ask {contact} to set `SESSION_SERVICE_LIST` to `auto`.',
	noList:
		'Handraise cannot get the list of sessions from the session service. It looks again by itself. If that lasts, tell {contact}.',
};

/** Why no sessions are listed. mrkdwn. */
export function noListWords(why: NoListReason, adminContact: string | null): string {
	return NO_LIST[why].replace('{contact}', () => contactMrkdwn(adminContact));
}

/** Why `/session watch all` did nothing. mrkdwn. */
export function notDiscoveringWords(why: NoListReason, adminContact: string | null): string {
	return `🛑 Nothing was changed. ${noListWords(why, adminContact)} \`/session watch\` with an id works.`;
}

/** To a channel when somebody has typed `/session watch all`. mrkdwn; nobody is mentioned. */
export function discoveryBegunWords(by: string, names: Names): string {
	return `✋ ${personName(by, names)} has typed \`/session watch all\`: whenever a session of this account waits for a person, its question comes into this channel, one post for each. \`/session unwatch all\` ends that, and all other watches of this channel.`;
}

/** The same of `/session unwatch all`. */
export function discoveryEndedWords(by: string, names: Names): string {
	return `👋 ${personName(by, names)} has typed \`/session unwatch all\`: the questions of all sessions do not come into this channel any more, and nothing else is watched here.`;
}

/** To a channel with `watch all`, once a day, and in its list. mrkdwn. */
export function leftOutWords(left: LeftOut, adminContact: string | null): string {
	if (left.kind === 'discoveryPaused') {
		return `⏸️ \`watch all\` is paused: new questions do not come here. ${noListWords(left.why, adminContact)} What is posted here can be answered, and \`/session watch\` with an id works. \`/session list\` shows when it is back.`;
	}
	const who = left.limit === 'channel' ? 'This channel watches' : 'All channels together watch';
	return `🛑 ${who} ${left.most} ${left.most === 1 ? 'session' : 'sessions'}, and that is the limit. More sessions wait for a person; the *Home* tab lists them where it lists waiting sessions. They come here when others are answered. A session that begins to wait comes at once, unless people chose or have in hand all that is watched: the question in which nothing has changed for the longest time gives way. For a higher limit, ask ${contactMrkdwn(adminContact)}.`;
}

/** In the list of what a channel watches: who began `watch all`. mrkdwn. */
export function discoveredByWords(discovery: Discovery, names: Names): string {
	const { createdBy, createdAt } = discovery;
	return `✋ The questions of all sessions come into this channel: ${commandWords(discovery)} by ${personMrkdwn(createdBy, names)} ${momentMrkdwn(createdAt)}.`;
}

function commandWords({ discreet, buttons }: Discovery): string {
	return `\`watch all${discreet ? ' --discreet' : ''}${buttons ? '' : ' --no-buttons'}\``;
}
