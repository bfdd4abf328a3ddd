import { maskedNames } from '../domain/masking.ts';
import type { SessionSnapshot } from '../domain/session-snapshot.ts';
import { APP_NAME, COMMAND } from '../kernel/command-name.ts';
import type { Expectation, WatchOutcome } from '../sessions/subscribe.ts';
import { type ErrorContext, errorWords } from '../slack/error-view.ts';
import { ACTIONS, encodeTarget } from '../slack/ids.ts';
import {
	andMoreWords,
	button,
	buttons,
	contactMrkdwn,
	context,
	counted,
	durationText,
	joined,
	type KnownBlock,
	type MessageContent,
	message,
	momentMrkdwn,
	personMrkdwn,
	saying,
	sayingSession,
	section,
	sectionsOf,
	sentences,
	sessionIdMrkdwn,
	sessionTitle,
	statusLine,
	statusWords,
	textMessage,
} from '../slack/parts.ts';
import { isBlank, oneLineMrkdwn } from '../slack/text.ts';
import type { Discovery, NoListReason, PostStyle, WaitingSession, Watch } from '../store/watch.ts';
import type { LeftOut } from '../surfaces/post.ts';

/** What a channel's posts are like: a box for each. */
export const POSTS = {
	progress: { label: "Progress in the card's thread", about: 'That a session is paused, and the like.' },
	questionsInThread: {
		label: "Questions in the card's thread",
		about: 'Reminders and ends too; an escalation names only the session.',
	},
	discreet: { label: 'Discreet', about: 'Notifications tell no questions, and posts no answers.' },
	buttons: { label: 'One-press buttons', about: 'Posts of questions have short options as buttons.' },
} as const satisfies Record<keyof PostStyle, { readonly label: string; readonly about: string }>;

/** What is wrong with a command, in at most 15 words. `{typed}`: what was typed; `{meant}`: what is similar to it. */
const MISTYPED = {
	unclear: `Handraise does not understand “{typed}”. \`${COMMAND} help\` shows what it does.`,
	unknown_word: 'No command `{typed}`. {meant}',
	missing_id: 'Which session? Add its id, or its link from the dashboard.',
	no_history: `History is of one session: add its id. \`${COMMAND} list\` shows those of this channel.`,
	too_many_ids: 'Those are too many sessions: name up to 20 at once.',
	one_id: `\`${COMMAND} {typed}\` takes the id of one session.`,
	stands_alone: `\`${COMMAND} {typed}\` takes nothing after it.`,
	foreign_link: 'That link does not lead to the dashboard of the sessions.',
	link_without_id: 'That link has no session id in it.',
	id_too_long: 'That is too long for a session id.',
	unknown_flag: `No flag \`{typed}\`: \`${COMMAND} settings\` has what differs between channels.`,
	former_flag: `Not watched: \`{typed}\` is now the box *{setting}* in \`${COMMAND} settings\`.`,
	reserved_id: 'A session id cannot be “{typed}”: the session service uses that word itself.',
	all_alone: '`all` stands alone behind `watch` and `unwatch`.',
} as const;

export type HelpReason = keyof typeof MISTYPED | 'asked';

export const WHAT_IT_IS = "*Handraise brings agents' questions to you and your answers to them.*";

const HELP = [
	`\`${COMMAND}\` — what waits for you, as on the *Home* tab`,
	`\`${COMMAND} &lt;id&gt;\` — see what the agent did and asks, and answer it. A dashboard link works too.`,
	`\`${COMMAND} watch &lt;id&gt;\` — follow it in this channel`,
	`\`${COMMAND} unwatch &lt;id&gt;\` — end that`,
	`\`${COMMAND} list\` — what this channel watches`,
	`\`${COMMAND} settings\` — this channel's reminders and quiet hours, how posts look, who may answer`,
	`\`${COMMAND} help\` — this help`,
];
/** Behind *More*. */
const MORE_HELP = [
	`\`${COMMAND} watch\` — choose from the sessions that wait, where Handraise may list them`,
	`\`${COMMAND} watch all\` — bring the questions of all sessions into this channel. \`${COMMAND} unwatch all\` ` +
		'ends all that is watched here.',
	`To answer with a message in a question's thread, mention ${APP_NAME} there, or choose *Use as answer* in its menu.`,
];

/** What `/session` understands. `isWhole`: after *More*. */
export function helpMessage(isWhole = false): MessageContent {
	return message(`${COMMAND} shows what an agent asks and takes your answer.`, [
		...section(WHAT_IT_IS),
		...section((isWhole ? [...HELP, ...MORE_HELP] : HELP).join('\n')),
		...(isWhole ? [] : buttons(saying('help')(button(ACTIONS.moreHelp, 'More')))),
	]);
}

export function mistypedMessage(reason: keyof typeof MISTYPED, typed = '', meant?: string): MessageContent {
	const hint = meant === undefined ? `\`${COMMAND} help\` shows all.` : `Did you mean \`${meant}\`?`;
	const words = MISTYPED[reason].replace('{meant}', hint).replace('{setting}', meant ?? '');
	return textMessage(`⚠️ ${words.replace('{typed}', () => oneLineMrkdwn(typed, 150).replaceAll('`', "'"))}`);
}

type Named = Pick<SessionSnapshot, 'name' | 'sessionId'>;

/** The id of a session, where another one that is shown with it has the same name; else empty. mrkdwn. */
export function idAmong(shown: readonly Named[], { name, sessionId }: Named): string {
	const title = sessionTitle(name, sessionId);
	const isShared = shown.some((one) => one.sessionId !== sessionId && sessionTitle(one.name, one.sessionId) === title);
	return isShared ? sessionIdMrkdwn(sessionId) : '';
}

/** Sessions that `/session watch` without an id offers. Each takes two of a message's 50 blocks. */
const MOST_OFFERED = 10;

/** The sessions that wait, each with a button that watches it. `waiting`: the longest waiting first. */
export function watchChooser(waiting: readonly WaitingSession[]): MessageContent {
	if (waiting.length === 0) return textMessage(NOTHING_TO_CHOOSE);
	const headline = 'Which session should this channel watch?';
	const offered = maskedNames(waiting.toReversed().slice(0, MOST_OFFERED));
	return message(headline, [
		...section(`*${headline}* These wait for a person, the newest first:`),
		...offered.flatMap(({ sessionId, name, since }) => {
			const id = idAmong(offered, { sessionId, name });
			const words = joined(`*${sessionTitle(name, sessionId)}*`, id, `since ${momentMrkdwn(since)}`);
			const watch = button(ACTIONS.watch, 'Watch', { value: encodeTarget({ sessionId, messageIndex: null }) });
			return section(words, { accessory: sayingSession(sessionId, id === '' ? name : '')(watch) });
		}),
		...context(andMoreWords(waiting.length - offered.length, 'sessions')),
	]);
}

const NOTHING_TO_CHOOSE = 'No other session waits for a person now. To watch one all the same, add its id or link.';

/** The result of a command, a line for each session. mrkdwn that is safe already, each line below 3,000 characters. */
export function outcomesMessage(lines: readonly string[], below: readonly KnownBlock[] = []): MessageContent {
	const parts = sectionsOf(lines);
	return message(parts[0]?.text?.text ?? '', [...parts, ...below]);
}

/** `channelId`: Slack may take the reply as a direct message alone. */
export const mentionButton = (channelId: string) =>
	buttons(saying('in the channel')(button(ACTIONS.mentionMe, 'Mention me if nobody answers', { value: channelId })));

/** `isListed`: whether `/session watch` alone lists sessions. */
export function watchOutcomeWords(sessionId: string, outcome: WatchOutcome, error: ErrorContext, isListed = false) {
	const name = `*${sessionTitle('name' in outcome ? outcome.name : '', sessionId)}*`;
	if ('refused' in outcome && outcome.refused !== null) return refusedWords(sessionId, outcome.refused);
	switch (outcome.kind) {
		case 'watching':
			return `👀 Watching ${name} here.`;
		case 'already':
			return `👀 ${name} is already watched here.`;
		case 'unknownSession': {
			const alone = isListed ? ` \`${COMMAND} watch\` alone lists those that wait.` : '';
			return `⚠️ No ${name} found. Check the id.${alone}`;
		}
		case 'over': {
			const { emoji, mrkdwn } = statusWords(outcome.status);
			return `${emoji} ${name} is over (${mrkdwn.toLowerCase()}): there is nothing to watch.`;
		}
		case 'limit': {
			const { limit, count, most } = outcome;
			const [who, whose, todo] = LIMITS[limit];
			return (
				`🛑 ${name} is not watched: ${who} ${counted(count, 'session')}, and the limit ${whose} is ${most}. ` +
				`${todo}, or ask ${contactMrkdwn(error.adminContact)} for more.`
			);
		}
		case 'unreadable':
			return `⚠️ ${name}: ${errorWords(outcome.code, error).text}`;
	}
}

/** `sessionId` null: `watch all`; `code`: Slack's. The watch stands, and its questions come to the Home tab. mrkdwn. */
const refusedWords = (sessionId: string | null, code: string) =>
	`⚠️ Slack refuses what Handraise posts here${sessionId === null ? '' : ` about *${sessionIdMrkdwn(sessionId)}*`} ` +
	`(\`${code}\`). Handraise tries again for half a minute. If nothing comes, ask whoever manages the channel to let ` +
	`apps post here${sessionId === null ? '' : ', then watch the session again'}.`;

const LIMITS = {
	person: ['you watch', 'for one person', `Stop one of yours with \`${COMMAND} unwatch\` and its id`],
	channel: [
		'this channel watches',
		'for one channel',
		`Stop one (\`${COMMAND} list\` shows them), use another channel`,
	],
	all: ['all channels together watch', 'for all channels', 'Stop one that nobody needs'],
} as const;

/** The person reached their limit before these sessions were read. mrkdwn. */
export function tooFastWords(sessionIds: readonly string[], code: string, error: ErrorContext): string {
	const [first = '', ...others] = sessionIds;
	const name = `*${sessionIdMrkdwn(first)}*`;
	const which = others.length === 0 ? `${name} was` : `${name} and ${others.length} more were`;
	return `⚠️ ${which} not read. ${errorWords(code, error).text}`;
}

/** Of several sessions. */
export function watchingWords(watched: readonly (readonly [id: string, name: string])[]): string {
	const titles = watched.slice(0, 5).map(([id, name]) => sessionTitle(name, id));
	const more = andMoreWords(watched.length - titles.length);
	return `👀 Watching ${watched.length} sessions here: ${sentences(titles.join(', '), more)}.`;
}

/** By its id: whoever may not see a session may stop watching it. */
export function unwatchedWords(sessionId: string, wasWatched: boolean): string {
	const name = `*${sessionIdMrkdwn(sessionId)}*`;
	return wasWatched ? `👋 ${name} is not watched here any more.` : `⚠️ ${name} is not watched here.`;
}

/** The result of `/session unwatch all`. `discovered`: whether `watch all` has ended too. */
export function unwatchedAllWords(count: number, discovered: boolean): string {
	if (count === 0 && !discovered) return 'This channel watches no session.';
	const watched = `${count === 1 ? 'One session is' : `${count} sessions are`} not watched here any more.`;
	const others = discovered ? 'The questions of all sessions do not come into this channel any more.' : '';
	return `👋 ${sentences(count === 0 ? '' : watched, others)}`;
}

/** How slow watching will be; empty when it is not slow. */
export function expectationWords({ slow, typicalSeconds, longestSeconds }: Expectation): string {
	if (!slow) return '';
	const [typical, longest] = [typicalSeconds, longestSeconds].map((seconds) => durationText(seconds * 1_000));
	return (
		`⏱️ Many sessions are watched: a new question is seen after about ${typical} if the agent is busy, and after up ` +
		`to ${longest} if it is quiet.`
	);
}

/** `refused`: Slack's code for a post. mrkdwn. */
export function discoveringWords(
	outcome: 'begun' | 'already',
	{ isListed, refused = null }: { isListed: boolean; refused?: string | null },
): string {
	if (refused !== null) return refusedWords(null, refused);
	const listed = isListed ? '' : '⏳ The list of sessions cannot be got at the moment: questions come when it can.';
	const since = outcome === 'begun' ? 'from now on' : 'already';
	return sentences(`✋ The questions of all sessions come into this channel ${since}.`, listed);
}

/** Why there is no list, and what to do. `{contact}` is replaced with whom to ask. */
const NO_LIST: Readonly<Record<NoListReason, string>> = {
	notDiscovering:
		'Handraise shows only sessions whose id somebody knows; {contact} can set `DISCOVER_SESSIONS` to `true`.',
	noList: 'Handraise cannot get the list of sessions and looks again by itself; if that lasts, tell {contact}.',
};

export function noListWords(why: NoListReason, adminContact: string | null): string {
	return NO_LIST[why].replace('{contact}', () => contactMrkdwn(adminContact));
}

export function notDiscoveringWords(why: NoListReason, adminContact: string | null): string {
	return `🛑 Nothing was changed. ${noListWords(why, adminContact)} \`${COMMAND} watch\` with an id works.`;
}

/** To a channel with `watch all`, once a day, and in its list. mrkdwn. */
export function leftOutWords(left: LeftOut, adminContact: string | null): string {
	if (left.kind === 'discoveryPaused') {
		if (left.isOver === true) return '🟢 `watch all` was paused and goes on: new questions come here again.';
		return `⏸️ \`watch all\` is paused: new questions do not come here. ${noListWords(left.why, adminContact)}`;
	}
	const who = left.limit === 'channel' ? 'Channel full' : 'All channels full';
	return (
		`🛑 ${who}: ${counted(left.most, 'session')}, and that is the limit. More wait on the *Home* tab and come when ` +
		`these are answered; for a higher limit, ask ${contactMrkdwn(adminContact)}.`
	);
}

/** In the list of what a channel watches: who began `watch all`. mrkdwn. */
export function discoveredByWords(discovery: Discovery): string {
	const how = `\`watch all\` by ${personMrkdwn(discovery.createdBy)}`;
	return joined(`✋ The questions of all sessions come into this channel: ${how}`, momentMrkdwn(discovery.createdAt));
}

/** How many sessions a channel watches. `discovers`: whether it gets the questions of all. mrkdwn. */
export function watchCountWords(total: number, discovers: boolean): string {
	if (total === 0 && discovers) return 'No session waits here now.';
	if (total === 0) return `This channel watches no session. To start, use \`${COMMAND} watch\`, with an id or alone.`;
	return total === 1 ? 'This channel watches one session.' : `This channel watches ${total} sessions.`;
}

/** Watches on a page of the list: each takes two of a message's 50 blocks. */
export const LIST_PAGE = 15;

interface ListedWatch extends Pick<Watch, 'session' | 'lastChangeAt'> {
	readonly view: SessionSnapshot | null;
}

/** What a channel watches: state, open questions, last change. `discovery`: what to say about `watch all`. */
export function watchList(
	{ watches, total }: { readonly watches: readonly ListedWatch[]; readonly total: number },
	offset: number,
	discovery: readonly string[] = [],
): MessageContent {
	const headline = watchCountWords(total, discovery.length > 0);
	const about = section(discovery.join('\n'));
	if (total === 0) return message(headline, [...section(headline), ...about]);
	return message(headline, [
		...section(`*${headline}*`),
		...about,
		...watches.slice(0, LIST_PAGE).flatMap(watchEntry),
		...buttons(
			offset > 0 ? button(ACTIONS.listNewer, 'Back', { value: String(offset - LIST_PAGE) }) : null,
			offset + LIST_PAGE < total ? button(ACTIONS.listOlder, 'More', { value: String(offset + LIST_PAGE) }) : null,
		),
	]);
}

function watchEntry({ session, view, lastChangeAt }: ListedWatch): KnownBlock[] {
	const { sessionId } = session;
	const value = encodeTarget({ sessionId, messageIndex: null });
	const openCount = view?.question?.openCount ?? 0;
	const open = openCount > 0 ? button(ACTIONS.answer, 'Answer', { value }) : button(ACTIONS.open, 'Open', { value });
	const accessory = sayingSession(session.sessionId, view?.name ?? '')(open);
	return [
		...section(`*${sessionTitle(view?.name ?? '', sessionId)}*`, { accessory }),
		...context(
			joined(
				view === null ? 'not read yet' : statusLine(view),
				// `/session unwatch` takes it.
				isBlank(view?.name ?? '') ? '' : sessionIdMrkdwn(sessionId),
				`last change ${momentMrkdwn(lastChangeAt)}`,
			),
		),
	];
}
