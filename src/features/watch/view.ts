import type { Discovery, NoListReason, WaitingSession, Watch } from '../../database/watch.ts';
import type { LeftOut } from '../../posts/post.ts';
import type { SessionSnapshot } from '../../questions/session-snapshot.ts';
import { type ErrorContext, errorWords } from '../../slack/error-view.ts';
import { ACTIONS, encodeTarget } from '../../slack/ids.ts';
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
	section,
	sectionsOf,
	sentences,
	sessionIdMrkdwn,
	statusLine,
	statusWords,
	textMessage,
} from '../../slack/parts.ts';
import { oneLineMrkdwn, quotedNameMrkdwn } from '../../slack/text.ts';
import type { Expectation, WatchOutcome } from './subscribe.ts';

/** Why help is shown. `{typed}`: what was typed. */
const REASONS = {
	asked: '',
	unclear: 'I do not understand “{typed}”.',
	unknown_word: 'There is no command “{typed}”.',
	missing_id: 'Which session? Add its id, or paste its link from the dashboard, which ends with the id.',
	too_many_ids: 'Those are too many sessions. You can name up to 20 at once.',
	one_id: '`/session {typed}` takes the id of one session.',
	stands_alone: '`/session {typed}` takes nothing after it.',
	foreign_link: 'That link does not lead to our session dashboard.',
	link_without_id: 'That link has no session id in it.',
	id_too_long: 'That is too long for a session id.',
	unknown_flag:
		'`watch` has no flag “{typed}”, so nothing was changed. Put a session id that begins with a dash in quotes.',
	reserved_id: 'A session id cannot be “{typed}”: the session service uses that word itself.',
	all_alone:
		'`all` goes with `watch` and `unwatch` only, and stands alone: `watch all` takes `--discreet` and ' +
		'`--no-buttons`, because it makes no cards, and `unwatch all` takes nothing.',
} as const;

export type HelpReason = keyof typeof REASONS;

export const WHAT_IT_IS = "*Handraise brings agents' questions to you and your answers to them.*";

/** More than these stands behind *More*. */
const HELP = [
	'`/session 3f9a2c1d` — see what the agent did and asks, and answer it. A dashboard link works too.',
	'`/session watch 3f9a2c1d` — follow it in this channel. `/session unwatch 3f9a2c1d` ends that.',
	'`/session list` — what this channel watches',
	'`/session inbox` — what waits for you, as on the *Home* tab',
	'To answer with a message in the thread of a question, mention me there, or choose *Use as answer* in its menu.',
];

/** What `/session` understands, and why help is shown if nobody asked for it. `isWhole`: after *More*. */
export function helpMessage(reason: HelpReason = 'asked', typed = '', isWhole = false): MessageContent {
	const why = REASONS[reason].replace('{typed}', () => oneLineMrkdwn(typed, 150).replaceAll('`', "'"));
	const lines = [
		...HELP,
		'`/session watch` — choose from the sessions that wait, where Handraise may list them',
		'`/session watch all` — bring the questions of all sessions into this channel. `/session unwatch all` ends ' +
			'all that is watched here.',
		WATCH_FLAGS,
		'`/session settings` — reminders of this channel, whom they mention, quiet hours',
		'`/session history 3f9a2c1d` — who answered what',
		'`/session help` — this help',
	];
	return message(`${why} /session shows what an agent asks and takes your answer.`.trim(), [
		...section(why === '' ? WHAT_IT_IS : `⚠️ ${why}`),
		...section((isWhole ? lines : HELP).join('\n')),
		...(isWhole ? [] : buttons(button(ACTIONS.moreHelp, 'More'))),
	]);
}

/** Sessions that `/session watch` without an id offers. Each takes two of a message's 50 blocks. */
const MOST_OFFERED = 10;

/** The sessions that wait, each with a button that watches it. `waiting`: the longest waiting first. */
export function watchChooser(waiting: readonly WaitingSession[]): MessageContent {
	if (waiting.length === 0) return textMessage(NOTHING_TO_CHOOSE);
	const headline = 'Which session should this channel watch?';
	const offered = waiting.toReversed().slice(0, MOST_OFFERED);
	return message(headline, [
		...section(`*${headline}* These wait for a person, the newest first:`),
		...offered.flatMap(({ sessionId, name, since }) => {
			const value = encodeTarget({ sessionId, messageIndex: null });
			const words = joined(sessionHeading(name, sessionId), `since ${momentMrkdwn(since)}`);
			return section(words, { accessory: button(ACTIONS.watch, 'Watch', { value }) });
		}),
		...context(andMoreWords(waiting.length - offered.length, 'sessions')),
	]);
}

const NOTHING_TO_CHOOSE =
	'No other session waits for a person now. To watch one all the same, add its id to `/session watch`, or paste ' +
	'its link from the dashboard.';

/** The result of a command, a line for each session. mrkdwn that is safe already, each line below 3,000 characters. */
export function outcomesMessage(lines: readonly string[]): MessageContent {
	const parts = sectionsOf(lines);
	return message(parts[0]?.text?.text ?? '', parts);
}

export function watchOutcomeWords(sessionId: string, outcome: WatchOutcome, error: ErrorContext): string {
	const name = `*${sessionIdMrkdwn(sessionId)}*`;
	if ('refused' in outcome && outcome.refused !== null) return refusedWords(sessionId, outcome.refused);
	switch (outcome.kind) {
		case 'watching':
			return `👀 ${name} is watched in this channel now.`;
		case 'already':
			return `👀 ${name} is already watched here.${outcome.changed ? ' What is posted about it has changed.' : ''}`;
		case 'unknownSession':
			return `⚠️ No session named ${name} found. Check the id.`;
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
	`(\`${code}\`). It tries again for half a minute. If nothing comes, ask whoever manages the channel to let apps ` +
	`post here. ${
		sessionId === null
			? 'New questions of all sessions come then.'
			: `Then use \`/session watch ${sessionIdMrkdwn(sessionId)}\` again.`
	}`;

const LIMITS = {
	person: ['you watch', 'for one person', 'Stop one of yours with `/session unwatch` and its id'],
	channel: ['this channel watches', 'for one channel', 'Stop one (`/session list` shows them), use another channel'],
	all: ['all channels together watch', 'for all channels', 'Stop one that nobody needs'],
} as const;

/** The person reached their limit before these sessions were read. mrkdwn. */
export function tooFastWords(sessionIds: readonly string[], code: string, error: ErrorContext): string {
	const [first = '', ...others] = sessionIds;
	const name = `*${sessionIdMrkdwn(first)}*`;
	const which = others.length === 0 ? `${name} was` : `${name} and ${others.length} more were`;
	return `⚠️ ${which} not read. ${errorWords(code, error).text}`;
}

const WATCH_FLAGS =
	'`/session watch 3f9a2c1d` and a flag: `--questions-only` posts questions and answers only; `--thread-only` ' +
	'keeps questions in the thread of the card: an escalation names only the session in the channel. `--discreet` ' +
	'keeps questions out of notifications and answers out of posts; `--no-buttons` shows no options as buttons. ' +
	'`watch all` takes these two, and `--no-discreet` and `--buttons`, which take them back.';

export function unwatchedWords(sessionId: string, wasWatched: boolean): string {
	const name = `*${sessionIdMrkdwn(sessionId)}*`;
	return wasWatched ? `👋 ${name} is not watched here any more.` : `Session ${name} is not watched here now.`;
}

/** The result of `/session unwatch all`. `discovered`: whether `watch all` has ended too. */
export function unwatchedAllWords(count: number, discovered: boolean): string {
	if (count === 0 && !discovered) return 'This channel watches no session.';
	const watched = `${count === 1 ? 'One session is' : `${count} sessions are`} not watched here any more.`;
	const others = discovered ? 'The questions of all sessions do not come into this channel any more.' : '';
	return `👋 ${sentences(count === 0 ? '' : watched, others)}`;
}

/** How slow watching will be; empty when it is not slow. */
export function expectationWords({ slow, roundSeconds, typicalSeconds, longestSeconds }: Expectation): string {
	if (!slow) return '';
	const [round, typical, longest] = [roundSeconds, typicalSeconds, longestSeconds].map((s) => durationText(s * 1_000));
	return (
		`⏱️ Many sessions are watched, so this will be slow: reading all of them once takes ${round}. A new question ` +
		`is seen after about ${typical} if the agent is busy, and after up to ${longest} if it is quiet.`
	);
}

/**
 * The result of `/session watch all`. `discovery`: as it is after a change; null: it has ended meanwhile. `refused`:
 * Slack's code for a new post. mrkdwn.
 */
export function discoveringWords(
	outcome: 'begun' | 'changed' | 'already',
	{ discovery, isListed, refused = null }: { discovery: Discovery | null; isListed: boolean; refused?: string | null },
): string {
	if (refused !== null) return refusedWords(null, refused);
	const changed = discovery === null ? '' : `New ones are posted by ${commandWords(discovery)}.`;
	const listed = isListed ? '' : '⏳ The list of sessions cannot be got at the moment: questions come when it can.';
	const since = outcome === 'begun' ? 'from now on' : 'already';
	return sentences(`✋ The questions of all sessions come into this channel ${since}.`, changed, listed);
}

/** Why there is no list, and what to do. `{contact}` is replaced with whom to ask. */
const NO_LIST: Readonly<Record<NoListReason, string>> = {
	notDiscovering:
		'Handraise shows only sessions whose id somebody knows. To change that, ask {contact} to set ' +
		'`DISCOVER_SESSIONS` to `true`.',
	listOff:
		'Handraise does not ask the session service for its list. To change that, ask {contact} to set ' +
		'`SESSION_SERVICE_LIST` to `auto`.',
	noList:
		'Handraise cannot get the list of sessions from the session service. It looks again by itself. If that ' +
		'lasts, tell {contact}.',
};

export function noListWords(why: NoListReason, adminContact: string | null): string {
	return NO_LIST[why].replace('{contact}', () => contactMrkdwn(adminContact));
}

export function notDiscoveringWords(why: NoListReason, adminContact: string | null): string {
	return `🛑 Nothing was changed. ${noListWords(why, adminContact)} \`/session watch\` with an id works.`;
}

/** To a channel with `watch all`, once a day, and in its list. mrkdwn. */
export function leftOutWords(left: LeftOut, adminContact: string | null): string {
	if (left.kind === 'discoveryPaused') {
		if (left.isOver === true) return '🟢 `watch all` was paused and goes on: new questions come here again.';
		return (
			`⏸️ \`watch all\` is paused: new questions do not come here. ${noListWords(left.why, adminContact)} What is ` +
			'posted here can be answered, and `/session watch` with an id works. `/session list` shows when it is back.'
		);
	}
	const who = left.limit === 'channel' ? 'This channel watches' : 'All channels together watch';
	return (
		`🛑 ${who} ${counted(left.most, 'session')}, and that is the limit. More sessions wait for a person; the *Home* ` +
		'tab lists them where it lists waiting sessions. They come here when others are answered. A session that ' +
		'begins to wait comes at once, unless people chose or have in hand all that is watched: the question in which ' +
		`nothing has changed for the longest time gives way. For a higher limit, ask ${contactMrkdwn(adminContact)}.`
	);
}

/** In the list of what a channel watches: who began `watch all`. mrkdwn. */
export function discoveredByWords(discovery: Discovery): string {
	const who = `${personMrkdwn(discovery.createdBy)} ${momentMrkdwn(discovery.createdAt)}`;
	return `✋ The questions of all sessions come into this channel: ${commandWords(discovery)} by ${who}.`;
}

function commandWords({ discreet, buttons }: Discovery): string {
	return `\`watch all${discreet ? ' --discreet' : ''}${buttons ? '' : ' --no-buttons'}\``;
}

/** How many sessions a channel watches. `discovers`: whether it gets the questions of all. mrkdwn. */
export function watchCountWords(total: number, discovers: boolean): string {
	if (total === 0 && discovers) return 'No session waits here now.';
	if (total === 0) return 'This channel watches no session. To start, use `/session watch` with an id.';
	return total === 1 ? 'This channel watches one session.' : `This channel watches ${total} sessions.`;
}

/** Watches on a page of the list: each takes two of a message's 50 blocks. */
export const LIST_PAGE = 15;

interface ListedWatch extends Pick<Watch, 'session' | 'lastChangeAt' | 'mode'> {
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

/** mrkdwn. The id tells sessions of the same name apart. */
function sessionHeading(name: string, sessionId: string): string {
	const [quotedName, id] = [quotedNameMrkdwn(name, 120), sessionIdMrkdwn(sessionId)];
	return quotedName === '' ? `Session *${id}*` : `*Session ${quotedName}* (${id})`;
}

function watchEntry({ session, view, lastChangeAt, mode }: ListedWatch): KnownBlock[] {
	const value = encodeTarget({ sessionId: session.sessionId, messageIndex: null });
	const openCount = view?.question?.openCount ?? 0;
	const open = openCount > 0 ? button(ACTIONS.answer, 'Answer', { value }) : button(ACTIONS.open, 'Open', { value });
	return [
		...section(sessionHeading(view?.name ?? '', session.sessionId), { accessory: open }),
		...context(
			joined(
				view === null ? 'not read yet' : statusLine(view),
				openCount === 0 ? '' : `✋ ${counted(openCount, 'question')} open`,
				mode === 'questionsOnly' ? 'questions only' : mode === 'raisedHand' ? 'by `watch all`' : '',
				`last change ${momentMrkdwn(lastChangeAt)}`,
			),
		),
	];
}
