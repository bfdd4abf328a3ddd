import type { KnownBlock } from '@slack/types';
import type { Answer } from '../../answers/answer.ts';
import type { AnnouncementContent } from '../../watches/announcement.ts';
import type { SessionView } from '../../watches/session-view.ts';
import type { WatchEnd } from '../../watches/watch.ts';
import { ACTIONS, encodeTarget } from '../ids.ts';
import { quotedMarkdown } from '../text.ts';
import {
	contactMrkdwn,
	durationText,
	momentMrkdwn,
	type Names,
	sessionIdMrkdwn,
	sessionName,
	sessionTitle,
	statusWords,
} from '../words.ts';
import { type MessageContent, message } from './message.ts';
import { button, buttons, context, section } from './parts.ts';
import { answerBlocks, answeredLine, isThere, questionBlocks, waitingLine } from './watch-question.ts';

/** What the words of a post need beside its content. */
export interface PostContext {
	readonly sessionId: string;
	/** The session as it was read last. */
	readonly view: SessionView | null;
	/** Ours to the question the post is about. */
	readonly standing: Answer | null;
	readonly names: Names;
	readonly adminContact: string | null;
	/** It may stand there already: say so. */
	readonly maybeRepeat: boolean;
}

/** Cards have a builder of their own, and settling changes a post. */
export type PostedContent = Exclude<AnnouncementContent, { kind: 'card' | 'settle' }>;

/** The posts in a watch's thread, in a channel or to a person; never with a link that gives access. */
export function watchPost(content: PostedContent, post: PostContext): MessageContent {
	const { text, blocks } = postParts(content, post);
	const repeat = post.maybeRepeat ? context('🔁 Handraise was interrupted: this may be a repeat.') : [];
	return message(text, [...blocks, ...repeat]);
}

function postParts(content: PostedContent, post: PostContext): { text: string; blocks: KnownBlock[] } {
	const title = titleOf(post);
	switch (content.kind) {
		case 'question': {
			const { question, changed } = content;
			const value = encodeTarget({ sessionId: post.sessionId, messageIndex: question.messageIndex });
			const headline = changed ? `✏️ ${title} asks something else now` : `✋ ${title} asks for an answer`;
			return {
				text: headline,
				blocks: [
					...questionBlocks(headline, question, 2_500),
					...buttons(button(ACTIONS.answer, 'Answer', { value, style: 'primary' })),
				],
			};
		}
		case 'answered': {
			const line = answeredWords(post);
			const open = content.stillOpen.length;
			return {
				text: `✅ ${line}`,
				blocks: [
					...section(`✅ ${line}`),
					...(content.question === null ? [] : answerBlocks(content.question, content.items)),
					...context(open === 0 ? '' : `${open} ${open === 1 ? 'item is' : 'items are'} still open.`),
				],
			};
		}
		case 'questionClosed':
			return oneLine('💨 The question is closed: the agent went on without an answer.');
		case 'status': {
			const { emoji, mrkdwn } = statusWords(content.to);
			const line = `${emoji} ${title}: ${mrkdwn} (before: ${statusWords(content.from).mrkdwn})`;
			const waiting = post.view?.status === content.to ? waitingLine(post.view, post.names) : '';
			return { text: line, blocks: [...section(line), ...section(waiting)] };
		}
		case 'end': {
			const { emoji, mrkdwn } = statusWords(content.status);
			const headline = `${emoji} ${title}: ${mrkdwn} after ${content.step} ${content.step === 1 ? 'step' : 'steps'}`;
			const result = content.result === null ? '' : quotedMarkdown(content.result, 2_900);
			return {
				text: headline,
				blocks: [...section(`*${headline}*`), ...section(result === '' ? '' : `*The agent's result*\n${result}`)],
			};
		}
		case 'watchEnded':
			return oneLine(`👋 ${endWords(content.reason, { ...post, days: content.days })}`);
		case 'serviceDown':
			return oneLine(
				`⚠️ The session service has been unavailable since ${momentMrkdwn(content.since)}: it is down, limits our requests or refuses our key. Cards in this channel are not updated until it is back. Answers are saved and sent then.`,
			);
		case 'serviceBack':
			return oneLine(`✅ The session service is back after ${durationText(content.downMs)}. Cards are current again.`);
		case 'creatorTold':
			return oneLine(
				`👋 The watch of ${sessionNames(content.sessionIds)} in ${placeMrkdwn(content.channelId)} has ended: ${endWords(content.reason, { ...post, days: null })}`,
			);
	}
}

function titleOf({ view, sessionId }: PostContext): string {
	return sessionTitle(view?.name ?? '', sessionId);
}

/** Those that a line has room for. */
const NAMED = 10;

function sessionNames(ids: readonly string[]): string {
	if (ids.length === 1) return sessionName(ids[0] ?? '');
	const named = ids.slice(0, NAMED).map((id) => `*${sessionIdMrkdwn(id)}*`);
	const more = ids.length - named.length;
	return `the sessions ${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

/** Slack shows no name for the id of a direct message. */
function placeMrkdwn(channelId: string): string {
	return channelId.startsWith('D') ? 'our direct messages' : `<#${channelId}>`;
}

function oneLine(words: string): { text: string; blocks: KnownBlock[] } {
	return { text: words, blocks: section(words) };
}

function answeredWords({ standing, names }: PostContext): string {
	return isThere(standing)
		? answeredLine(standing, names)
		: "Answered outside Slack, in the session service's own page";
}

/** The post of a question once it is settled: what was asked, who settled it, no button. */
export function settledQuestionPost(
	question: Extract<AnnouncementContent, { kind: 'question' }>['question'],
	how: Extract<AnnouncementContent, { kind: 'settle' }>['how'],
	post: PostContext,
): MessageContent {
	const title = titleOf(post);
	const words = {
		answered: `✅ ${answeredWords(post)}`,
		closed: '💨 Closed without an answer',
		unwatched: '👋 Not watched here any more. `/session` with its id shows how it stands.',
	}[how];
	return message(`${title}: ${words}`, [...questionBlocks(`${title} asked`, question, 2_500), ...context(words)]);
}

/** Why a watch ended, and what to do. */
export function endWords(
	reason: WatchEnd,
	{ days, adminContact }: { days: number | null; adminContact: string | null },
): string {
	switch (reason) {
		case 'sessionOver':
			return 'The session is over; this card stays as it is.';
		case 'unwatched':
			return 'Not watched any more.';
		case 'noChange':
			return `Nothing changed for ${days ?? 'some'} days, so I stopped watching. \`/session watch\` starts again.`;
		case 'sessionGone':
			return 'The session service does not know this session any more, so I stopped watching.';
		case 'channelArchived':
			return 'The channel was archived.';
		case 'channelGone':
			return 'The channel is gone.';
		case 'botRemoved':
			return 'I was removed from the channel. Invite me and use `/session watch` to start again.';
		case 'channelShared':
			return `Another organisation can read this channel, or is invited to it, so I post nothing more there. What I posted there before stays, and they can read it: ask a workspace admin to delete the card and the posts in its thread, or to stop the sharing. To go on, use \`/session watch\` in another channel. To allow watching in shared channels, ask ${contactMrkdwn(adminContact)}.`;
		case 'channelNotAllowed':
			return `Handraise may not be used there any more, so I post nothing more there. What I posted there before stays. To change that, ask ${contactMrkdwn(adminContact)}.`;
	}
}
