import { maskedNames } from '../domain/masking.ts';
import type { SessionSnapshot } from '../domain/session-snapshot.ts';
import { COMMAND } from '../kernel/command-name.ts';
import type { Expectation, WatchOutcome } from '../sessions/subscribe.ts';
import {
	button,
	buttons,
	context,
	fitting,
	type KnownBlock,
	labelAbout,
	labelAboutSession,
	type MessageContent,
	message,
	row,
	section,
	textMessage,
} from '../slack/blocks.ts';
import { type ErrorContext, errorWords } from '../slack/error-view.ts';
import {
	ACTIONS,
	encodeListedPage,
	encodeListedWatch,
	encodeTarget,
	encodeUnwatchAll,
	type ListedPage,
	type UnwatchAll,
} from '../slack/ids.ts';
import {
	agoText,
	andMoreWords,
	contactOf,
	counted,
	durationText,
	endWords,
	idIfAmbiguous,
	mentionOf,
	momentOf,
	progressWords,
	sessionTitle,
	shownId,
	statusWords,
} from '../slack/phrases.ts';
import { bold, joined, lines, listed, rich, sentences, template, type Words } from '../slack/rich-text.ts';
import type { Discovery, NoListReason, WaitingSession, Watch } from '../store/watch.ts';
import type { LeftOut } from '../surfaces/post.ts';
import { askedLine, LINE_LENGTHS } from './question.ts';

/** Sessions that `/session watch` without an id offers. Each takes two of a message's 50 blocks. */
const MOST_OFFERED = 10;

/** The sessions that wait, each with a button that watches it. `waiting`: the longest waiting first. */
export function watchChooser(waiting: readonly WaitingSession[], now: number): MessageContent {
	if (waiting.length === 0) return textMessage(NOTHING_TO_CHOOSE);
	const headline = 'Which session should this channel watch?';
	const offered = maskedNames(waiting.toReversed().slice(0, MOST_OFFERED));
	const blocks = fitting(LINE_LENGTHS, (length) => [
		...section(rich`*${headline}* These ask, the newest first:`),
		...offered.flatMap(({ sessionId, name, since }) => {
			const id = idIfAmbiguous(offered, { sessionId, name });
			const words = joined(sessionTitle(name, sessionId, length), id, agoText(since, now));
			const watch = button(ACTIONS.watch, 'Watch', { value: encodeTarget({ sessionId, messageIndex: null }) });
			return row(`✋ ${words}`, labelAboutSession(sessionId, id === '' ? name : '')(watch));
		}),
		...context(andMoreWords(waiting.length - offered.length, 'sessions')),
	]);
	return message(headline, blocks);
}

const NOTHING_TO_CHOOSE = 'No other session asks now. To watch one all the same, add its id or link.';

/** The result of a command, a line for each session, as many as a message holds. */
export function outcomesMessage(outcomes: readonly Words[]): MessageContent {
	const blocks = fitting([outcomes.length, 15, 10, 5], (most) =>
		section(lines(...outcomes.slice(0, most), andMoreWords(outcomes.length - most))),
	);
	return message(outcomes[0] ?? '', blocks);
}

/** `isListed`: whether `/session watch` alone lists sessions. */
export function watchOutcomeWords(
	sessionId: string,
	outcome: WatchOutcome,
	error: ErrorContext,
	isListed = false,
): Words {
	const name = bold(sessionTitle('name' in outcome ? outcome.name : '', sessionId));
	if ('refused' in outcome && outcome.refused !== null) return refusedWords(sessionId, outcome.refused);
	switch (outcome.kind) {
		case 'watching':
			return rich`👀 Watching ${name} here.`;
		case 'already':
			return rich`👀 ${name} is already watched here.`;
		case 'unknownSession': {
			const alone = isListed ? rich`\`${COMMAND} watch\` alone lists those that ask.` : '';
			return sentences(rich`⚠️ No ${name} found. Check the id.`, alone);
		}
		case 'over': {
			const { emoji } = statusWords(outcome.status);
			return rich`${emoji} ${name} ${endWords(outcome.status)}: there is nothing to watch.`;
		}
		case 'limit': {
			const { limit, count, most } = outcome;
			const [who, whose, todo] = LIMITS[limit];
			return sentences(
				rich`🛑 ${name} is not watched: ${who} ${counted(count, 'session')}, and the limit ${whose} is ${most}.`,
				rich`${template(todo)}, or ask ${contactOf(error.adminContact)} for more.`,
			);
		}
		case 'unreadable':
			return rich`⚠️ ${name}: ${errorWords(outcome.code, error).text}`;
	}
}

/** Slack refuses a watch's post with `code`. The watch is stored all the same. `sessionId`: null for `watch all`. */
const refusedWords = (sessionId: string | null, code: string): Words =>
	template(
		'⚠️ Slack refuses what Handraise posts here{about} (`{code}`). Handraise tries again for half a minute. If ' +
			'nothing comes, ask whoever manages the channel to let apps post here{again}.',
		{
			about: sessionId === null ? '' : rich` about *${shownId(sessionId)}*`,
			code,
			again: sessionId === null ? '' : ', then watch the session again',
		},
	);

const LIMITS = {
	person: ['you watch', 'for one person', `Stop one of yours with \`${COMMAND} unwatch\` and its id`],
	channel: [
		'this channel watches',
		'for one channel',
		`Stop one (\`${COMMAND} list\` shows them), use another channel`,
	],
	all: ['all channels together watch', 'for all channels', 'Stop one that nobody needs'],
} as const;

/** The sessions that were not read, because the person reached their limit. */
export function tooFastWords(sessionIds: readonly string[], code: string, error: ErrorContext): Words {
	const [first = '', ...others] = sessionIds;
	const which = others.length === 0 ? 'was' : `${andMoreWords(others.length)} were`;
	return rich`⚠️ *${shownId(first)}* ${which} not read. ${errorWords(code, error).text}`;
}

/** The result of watching several sessions. */
export function watchingWords(watched: readonly (readonly [id: string, name: string])[]): Words {
	const titles = watched.slice(0, 5).map(([id, name]) => bold(sessionTitle(name, id)));
	const more = andMoreWords(watched.length - titles.length);
	return rich`👀 Watching ${watched.length} sessions here: ${sentences(listed(...titles), more)}.`;
}

/** `name`: null when it was not watched. */
export function unwatchedWords(sessionId: string, name: string | null): Words {
	return name === null
		? rich`⚠️ *${shownId(sessionId)}* is not watched here.`
		: rich`👋 *${sessionTitle(name, sessionId)}* is not watched here any more.`;
}

const ofChannel = labelAbout('watches of this channel');

/** The confirmation before `/session unwatch all`. `total`: watches, with those of `watch all`. */
export function unwatchAllOffer(total: number, asking: UnwatchAll): MessageContent {
	const what = counted(total, 'watch', 'watches');
	const all = 'the questions of all sessions do not come here any more';
	const asked = !asking.discovers
		? `End ${what} here?`
		: total === 0
			? `End it? Then ${all}.`
			: `End ${what} here? And ${all}.`;
	const end = button(ACTIONS.unwatchAll, 'End all', { value: encodeUnwatchAll(asking) });
	const keep = button(ACTIONS.keepWatches, 'No');
	return textMessage(`👋 ${asked}`, buttons(...[end, keep].map(ofChannel)));
}

export const WATCHES_KEPT = '👌 Nothing was changed.';

/** The result of `/session unwatch all`. `hadAll`: whether `watch all` has ended too. */
export function unwatchedAllWords(count: number, hadAll: boolean): string {
	if (count === 0 && !hadAll) return 'This channel watches no session.';
	const watched = `${count === 1 ? 'One session is' : `${count} sessions are`} not watched here any more.`;
	const others = hadAll ? 'The questions of all sessions do not come into this channel any more.' : '';
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

/** The result of `watch all`. `refused`: Slack's code if it refuses the post; else null. */
export function discoveringWords(
	outcome: 'begun' | 'already',
	{ isListed, refused = null }: { isListed: boolean; refused?: string | null },
): Words {
	if (refused !== null) return refusedWords(null, refused);
	const listed = isListed ? '' : '⏳ The list of sessions cannot be got at the moment: questions come when it can.';
	const since = outcome === 'begun' ? 'from now on' : 'already';
	return sentences(`✋ The questions of all sessions come into this channel ${since}.`, listed);
}

/** Why there is no list, and what to do (`template`). `{contact}`: whom to ask. */
const NO_LIST: Readonly<Record<NoListReason, string>> = {
	notDiscovering:
		'Handraise shows only sessions whose id somebody knows; {contact} can set `DISCOVER_SESSIONS` to `true`.',
	noList: 'Handraise cannot get the list of sessions and looks again by itself; if that lasts, tell {contact}.',
};

export function noListWords(why: NoListReason, adminContact: string | null): Words {
	return template(NO_LIST[why], { contact: contactOf(adminContact) });
}

export function notDiscoveringWords(why: NoListReason, adminContact: string | null): Words {
	return rich`🛑 Nothing was changed. ${noListWords(why, adminContact)} \`${COMMAND} watch\` with an id works.`;
}

/** Tells a channel with `watch all` why questions are missing: once a day, and in its list. */
export function leftOutWords(left: LeftOut, adminContact: string | null): Words {
	if (left.kind === 'discoveryPaused') {
		if (left.isOver === true) return rich`🟢 \`watch all\` was paused and goes on: new questions come here again.`;
		return rich`⏸️ \`watch all\` is paused: new questions do not come here. ${noListWords(left.why, adminContact)}`;
	}
	return template(
		'🛑 {who}: {most}, and that is the limit. More ask on the *Home* tab and come when these are answered; for a ' +
			'higher limit, ask {contact}.',
		{
			who: left.limit === 'channel' ? 'Channel full' : 'All channels full',
			most: counted(left.most, 'session'),
			contact: contactOf(adminContact),
		},
	);
}

/** Who began `watch all`, in the list of what a channel watches. */
export function discoveredByWords({ createdBy, createdAt }: Discovery): Words {
	const how = rich`✋ The questions of all sessions come into this channel: \`watch all\` by ${mentionOf(createdBy)}`;
	return joined(how, momentOf(createdAt));
}

/** How many sessions a channel watches. `discovers`: whether it gets the questions of all. */
export function watchCountWords(total: number, discovers: boolean): Words {
	if (total === 0 && discovers) return 'Nothing asks here now.';
	if (total === 0)
		return rich`This channel watches no session. To start, use \`${COMMAND} watch\`, with an id or alone.`;
	return total === 1 ? 'This channel watches one session.' : `This channel watches ${total} sessions.`;
}

/** Watches on a page of the list: with the longest ids, each takes 1,000 of the 12,000 characters of a message. */
export const WATCHES_PAGE = 10;

interface ListedWatch extends Pick<Watch, 'session'> {
	readonly snapshot: SessionSnapshot | null;
}

/** What a channel watches: state, step, question and *Stop watching*. `discovery`: what to say about `watch all`. */
export function watchList(
	{ watches, total }: { readonly watches: readonly ListedWatch[]; readonly total: number },
	at: ListedPage,
	discovery: readonly Words[] = [],
): MessageContent {
	const { offset } = at;
	const page = (to: number) => ({ value: encodeListedPage({ ...at, offset: to }) });
	const headline = watchCountWords(total, discovery.length > 0);
	const about = section(lines(...discovery));
	if (total === 0) return message(headline, [...section(headline), ...about]);
	const shown = watches.slice(0, WATCHES_PAGE);
	const blocks = fitting(LINE_LENGTHS, (length) => [
		...section(bold(headline)),
		...about,
		...shown.flatMap((watch) => watchEntry(watch, shown, at, length)),
		...buttons(
			ofChannel(offset > 0 ? button(ACTIONS.listNewer, 'Back', page(Math.max(0, offset - WATCHES_PAGE))) : null),
			ofChannel(offset + WATCHES_PAGE < total ? button(ACTIONS.listOlder, 'More', page(offset + WATCHES_PAGE)) : null),
		),
	]);
	return message(headline, blocks);
}

function watchEntry(
	{ session, snapshot }: ListedWatch,
	all: readonly ListedWatch[],
	at: ListedPage,
	length: number,
): KnownBlock[] {
	const { sessionId } = session;
	const name = snapshot?.name ?? '';
	const others = all.map((one) => ({ sessionId: one.session.sessionId, name: one.snapshot?.name ?? '' }));
	const state = snapshot === null ? 'not read yet' : progressWords(snapshot);
	const open = snapshot?.question != null && snapshot.question.openCount > 0 ? snapshot.question : null;
	const id = idIfAmbiguous(others, { name, sessionId });
	const first = joined(sessionTitle(name, sessionId, length), id, state);
	const emoji = snapshot === null ? '⏳' : statusWords(snapshot.status).emoji;
	const words = lines(`${emoji} ${first}`, open === null ? '' : `Question: ${askedLine(open, length)}`);
	const stop = button(ACTIONS.stopListed, 'Stop watching', { value: encodeListedWatch({ ...at, sessionId }) });
	return row(words, labelAboutSession(sessionId, id === '' ? name : '')(stop));
}
