import { COMMAND } from '../kernel/command-name.ts';
import { type MessageContent, textMessage } from '../slack/blocks.ts';
import { errorWords } from '../slack/error-view.ts';
import {
	andMoreWords,
	contactOf,
	durationText,
	momentOf,
	personName,
	placeWords,
	sessionName,
	shownId,
	statusWords,
} from '../slack/phrases.ts';
import { bold, lines, listed, marked, rich, sentences, type Words } from '../slack/rich-text.ts';
import { WATCH_MAX_DAYS, type WatchEnd } from '../store/watch.ts';
import type { ContentOf, PostKind } from '../surfaces/post.ts';
import { type PostContext, postTitle, WATCHED_AGAIN, waitingLine } from './question-post.ts';
import { leftOutWords } from './watch.ts';

type Draw<K extends PostKind> = (content: ContentOf<K>, post: PostContext) => Words;

/** The kinds that need nothing but their content and the context of their post. */
const PLAIN = {
	status({ from, to }, post) {
		const { emoji, words } = statusWords(to);
		const first = rich`${emoji} *${postTitle(post)}*: ${words} (before: ${statusWords(from).words})`;
		return lines(first, post.snapshot?.status === to ? waitingLine(post.snapshot) : '');
	},
	watchEnded: (_, post) => rich`👋 ${endedWords(post)}`,
	serviceDown: ({ since, code }) =>
		marked(
			'⚠️ {what} Nothing here is updated until it is back. Answers are saved, and sent then. Last update: {since}',
			{ what: errorWords(code).what, since: momentOf(since) },
		),
	serviceBack: ({ downMs }) =>
		`✅ The session service is back after ${durationText(downMs)}. Everything here is current again.`,
	// Names without mentions, because a new post would notify people.
	discoveryBegun: ({ by }, { names }) =>
		marked(
			'✋ {who} turned on questions from all sessions in this channel. `{command} unwatch all` ends that, and all ' +
				'other watches here.',
			{ who: personName(by, names), command: COMMAND },
		),
	discoveryEnded: ({ by }, { names }) =>
		`👋 ${personName(by, names)} turned off questions from all sessions in this channel. Nothing else is watched ` +
		'here either.',
	discoveryFull: (content, { adminContact }) => leftOutWords(content, adminContact),
	discoveryPaused: (content, { adminContact }) => leftOutWords(content, adminContact),
	postRefused: ({ channelId, sessionId, code }) =>
		marked(
			'⚠️ Slack refused a post of Handraise{about} in {place} (`{code}`). Cards, questions and reminders may be ' +
				'missing there. The questions are on the *Home* tab too. If apps may not post there, ask whoever manages the ' +
				'channel. {next}',
			{
				about: sessionId === null ? '' : rich` about ${sessionName(sessionId)}`,
				place: placeWords(channelId),
				code,
				next:
					sessionId === null
						? 'New questions of all sessions come there then.'
						: rich`Then use \`${COMMAND} watch ${shownId(sessionId)}\` there again.`,
			},
		),
	nobodyLeft: (_, { adminContact }) =>
		marked(
			'⚠️ Nobody whom this channel names as *Who may answer* is here any more, so nobody may answer what is watched ' +
				'here. To open it, ask {contact}.',
			{ contact: contactOf(adminContact) },
		),
	nobodyMentioned: ({ channelId }) =>
		marked(
			'⚠️ Nobody named under *Mention* in the settings of {place} is there any more. Questions that nobody answers ' +
				'get another reminder, and nobody is mentioned. You saved these settings last. To change them, type ' +
				'`{command} settings` there.',
			{ place: placeWords(channelId), command: COMMAND },
		),
	creatorTold: creatorToldWords,
} as const satisfies { readonly [K in PostKind]?: Draw<K> };
export type PlainKind = keyof typeof PLAIN;
export type PostedContent = ContentOf<PlainKind>;

export function plainKinds<Draw>(draw: Draw): Readonly<Record<PlainKind, Draw>> {
	return Object.fromEntries(Object.keys(PLAIN).map((kind) => [kind, draw])) as Record<PlainKind, Draw>;
}

/** A post of a plain kind, in a thread, a channel or a direct message. Holds no link that gives access. */
export function watchPost(content: PostedContent, post: PostContext): MessageContent {
	const draw = PLAIN[content.kind] as Draw<PlainKind>;
	return textMessage(draw(content, post));
}

function creatorToldWords(told: ContentOf<'creatorTold'>, post: PostContext): Words {
	const { sessionIds, channelId, reason } = told;
	const isAll = sessionIds.length === 0;
	const what = isAll ? 'all sessions' : sessionNames(sessionIds);
	const why = endedWords({ ...post, ended: reason }, isAll ? `${COMMAND} watch all` : `${COMMAND} watch`);
	return rich`👋 The watch of ${what} in ${placeWords(channelId)} has ended: ${why}`;
}

const NAMED_SESSIONS = 10;

function sessionNames(ids: readonly string[]): Words {
	if (ids.length === 1) return sessionName(ids[0] ?? '');
	const named = ids.slice(0, NAMED_SESSIONS).map((id) => bold(shownId(id)));
	return sentences('the sessions', listed(...named), andMoreWords(ids.length - NAMED_SESSIONS));
}

/** Our words, read by `marked`. Slots: `{contact}`, whom to ask; `{watch}`, the command. */
const ENDS: Readonly<Record<WatchEnd, string>> = {
	sessionOver: 'Handraise stopped watching when the session was over.',
	unwatched: 'No longer watched.',
	noChange: `Nothing changed for ${WATCH_MAX_DAYS} days, so Handraise stopped watching. \`{watch}\` starts again.`,
	handLowered: 'No longer asked.',
	gaveWay: 'A newer question needed the place.',
	discoveryEnded: 'No longer watched.',
	sessionGone: 'The session service does not know this session any more, so Handraise stopped watching.',
	channelArchived: 'The channel was archived.',
	channelGone:
		'Slack does not find this channel any more: it was deleted, or Handraise was removed from it. If it is still ' +
		'there, invite Handraise and use `{watch}` to start again.',
	botRemoved: 'Handraise was removed from the channel. Invite it and use `{watch}` to start again.',
	channelShared:
		'Another organisation can read this channel, or is invited to it, so Handraise posts nothing more there. What ' +
		'it posted there before stays, and they can read it: ask a workspace admin to delete the card and the posts in ' +
		'its thread, or to stop the sharing. To go on, use `{watch}` in another channel. To allow watching in ' +
		'shared channels, ask {contact}.',
	channelNotAllowed:
		'Handraise is no longer allowed there, so it posts nothing more there. What it posted there before stays. To ' +
		'change that, ask {contact}.',
};

/** Why a watch ended; empty while it goes on. `watch`: the command that starts it again. */
export function endedWords(
	post: Pick<PostContext, 'ended' | 'again' | 'adminContact'>,
	watch = `${COMMAND} watch`,
): Words {
	if (post.ended === null) return '';
	if (post.again === 'done') return WATCHED_AGAIN;
	return marked(ENDS[post.ended], { contact: contactOf(post.adminContact), watch });
}
