import { COMMAND } from '../kernel/command-name.ts';
import { errorWords } from '../slack/error-view.ts';
import {
	andMoreWords,
	contactMrkdwn,
	durationText,
	type MessageContent,
	momentMrkdwn,
	personName,
	placeMrkdwn,
	section,
	sessionIdMrkdwn,
	sessionName,
	statusWords,
	textMessage,
} from '../slack/parts.ts';
import { WATCH_MAX_DAYS, type WatchEnd } from '../store/watch.ts';
import type { ContentOf, PostKind } from '../surfaces/post.ts';
import { type PostContext, titleOf, WATCHED_AGAIN, waitingLine } from './question-post.ts';
import { leftOutWords } from './watch.ts';

/** Words alone are a string. mrkdwn. */
type Draw<K extends PostKind> = (content: ContentOf<K>, post: PostContext) => MessageContent | string;

/** The kinds that need nothing but their content and the context of their post. */
const PLAIN = {
	status({ from, to }, post) {
		const { emoji, mrkdwn } = statusWords(to);
		const text = `${emoji} ${titleOf(post)}: ${mrkdwn} (before: ${statusWords(from).mrkdwn})`;
		return textMessage(text, section(post.view?.status === to ? waitingLine(post.view) : ''));
	},
	watchEnded: (_, post) => `👋 ${endedWords(post)}`,
	serviceDown: ({ since, code }) =>
		`⚠️ ${errorWords(code).what} Nothing here is updated until it is back. Answers are saved, and sent then. ` +
		`Last update: ${momentMrkdwn(since)}`,
	serviceBack: ({ downMs }) =>
		`✅ The session service is back after ${durationText(downMs)}. Everything here is current again.`,
	// A new post mentions nobody.
	discoveryBegun: ({ by }, { names }) =>
		`✋ ${personName(by, names)} turned on questions from all sessions in this channel. ` +
		`\`${COMMAND} unwatch all\` ends that, and all other watches here.`,
	discoveryEnded: ({ by }, { names }) =>
		`👋 ${personName(by, names)} turned off questions from all sessions in this channel. Nothing else is watched ` +
		'here either.',
	discoveryFull: (content, { adminContact }) => leftOutWords(content, adminContact),
	discoveryPaused: (content, { adminContact }) => leftOutWords(content, adminContact),
	postRefused: ({ channelId, sessionId, code }) =>
		`⚠️ Slack refused a post of Handraise${sessionId === null ? '' : ` about ${sessionName(sessionId)}`} in ` +
		`${placeMrkdwn(channelId)} (\`${code}\`). Cards, questions and reminders may be missing there. The questions are ` +
		'on the *Home* tab too. If apps may not post there, ask whoever manages the channel. ' +
		(sessionId === null
			? 'New questions of all sessions come there then.'
			: `Then use \`${COMMAND} watch ${sessionIdMrkdwn(sessionId)}\` there again.`),
	nobodyLeft: (_, { adminContact }) =>
		'⚠️ Nobody whom this channel names as *Who may answer* is here any more, so nobody may answer what is watched ' +
		`here. To open it, ask ${contactMrkdwn(adminContact)}.`,
	nobodyMentioned: ({ channelId }) =>
		`⚠️ Nobody named under *Mention* in the settings of ${placeMrkdwn(channelId)} is there any more. Questions ` +
		'that nobody answers get another reminder, and nobody is mentioned. You saved these settings last. To change ' +
		`them, type \`${COMMAND} settings\` there.`,
	creatorTold: creatorToldWords,
} as const satisfies { readonly [K in PostKind]?: Draw<K> };
export type PlainKind = keyof typeof PLAIN;
export type PostedContent = ContentOf<PlainKind>;

export function plainKinds<Draw>(draw: Draw): Readonly<Record<PlainKind, Draw>> {
	return Object.fromEntries(Object.keys(PLAIN).map((kind) => [kind, draw])) as Record<PlainKind, Draw>;
}

/** A post in a watch's thread, in a channel or to a person. Holds no link that gives access. */
export function watchPost(content: PostedContent, post: PostContext): MessageContent {
	const draw = PLAIN[content.kind] as Draw<PlainKind>;
	const drawn = draw(content, post);
	return typeof drawn === 'string' ? textMessage(drawn) : drawn;
}

function creatorToldWords(told: ContentOf<'creatorTold'>, post: PostContext): string {
	const { sessionIds, channelId, reason } = told;
	const isAll = sessionIds.length === 0;
	const what = `The watch of ${isAll ? 'all sessions' : sessionNames(sessionIds)}`;
	const why = endedWords({ ...post, ended: reason });
	const command = isAll ? `\`${COMMAND} watch all\`` : `\`${COMMAND} watch\``;
	return `👋 ${what} in ${placeMrkdwn(channelId)} has ended: ${why.replace(`\`${COMMAND} watch\``, command)}`;
}

const NAMED_SESSIONS = 10;

function sessionNames(ids: readonly string[]): string {
	if (ids.length === 1) return sessionName(ids[0] ?? '');
	const named = ids.slice(0, NAMED_SESSIONS).map((id) => `*${sessionIdMrkdwn(id)}*`);
	return `the sessions ${named.join(', ')} ${andMoreWords(ids.length - NAMED_SESSIONS)}`.trimEnd();
}

/** `{contact}` is replaced with whom to ask. */
const ENDS: Readonly<Record<WatchEnd, string>> = {
	sessionOver: 'Handraise stopped watching when the session was over.',
	unwatched: 'No longer watched.',
	noChange:
		`Nothing changed for ${WATCH_MAX_DAYS} days, so Handraise stopped watching. ` +
		`\`${COMMAND} watch\` starts again.`,
	handLowered: 'The question is not open any more.',
	gaveWay: 'A newer question needed the place.',
	discoveryEnded: 'No longer watched.',
	sessionGone: 'The session service does not know this session any more, so Handraise stopped watching.',
	channelArchived: 'The channel was archived.',
	channelGone:
		'Slack does not find this channel any more: it was deleted, or Handraise was removed from it. If it is still ' +
		`there, invite Handraise and use \`${COMMAND} watch\` to start again.`,
	botRemoved: `Handraise was removed from the channel. Invite it and use \`${COMMAND} watch\` to start again.`,
	channelShared:
		'Another organisation can read this channel, or is invited to it, so Handraise posts nothing more there. What ' +
		'it posted there before stays, and they can read it: ask a workspace admin to delete the card and the posts in ' +
		`its thread, or to stop the sharing. To go on, use \`${COMMAND} watch\` in another channel. To allow watching in ` +
		'shared channels, ask {contact}.',
	channelNotAllowed:
		'Handraise is no longer allowed there, so it posts nothing more there. What it posted there before stays. To ' +
		'change that, ask {contact}.',
};

/** Why a watch ended; empty while it goes on. mrkdwn. */
export function endedWords(post: Pick<PostContext, 'ended' | 'again' | 'adminContact'>): string {
	if (post.ended === null) return '';
	if (post.again === 'done') return WATCHED_AGAIN;
	return ENDS[post.ended].replace('{contact}', () => contactMrkdwn(post.adminContact));
}
