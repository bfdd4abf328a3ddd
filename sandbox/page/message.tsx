import { memo, useMemo, useState } from 'react';
import type { WireMessage, WirePerson, WireWorkspace } from '../wire.ts';
import { useDo } from './actions.ts';
import { Avatar } from './avatar.tsx';
import { Blocks } from './blocks/blocks.tsx';
import { Mrkdwn } from './blocks/mrkdwn.tsx';
import { useNames } from './blocks/names.ts';
import { type Surface, SurfaceContext } from './blocks/surface.ts';
import { tableLast } from './blocks/table.tsx';
import { Icon } from './icons.tsx';
import { MessageMenu } from './message-menu.tsx';
import { spokenText } from './spoken-text.ts';
import { clockTime } from './times.ts';

export interface Replies {
	count: number;
	lastTs: string;
}

interface MessageProps {
	message: WireMessage;
	workspace: WireWorkspace;
	/** Follows a message of the same author: no picture and name. */
	isFollowing: boolean;
	replies: Replies | null;
	/** Absent inside a thread. */
	onThread?: (ts: string) => void;
}

export const personOf = (id: string, realName: string, kind: WirePerson['kind'], isListed = false): WirePerson => {
	return { id, name: realName.toLowerCase(), realName, displayName: realName, kind, isListed };
};
const SLACKBOT = personOf('USLACKBOT', 'Slackbot', 'member', true);

/** The author as this person sees them; the app's bot is a person too. */
export function authorOf({ isSlackbot, user }: WireMessage, workspace: WireWorkspace): WirePerson {
	if (isSlackbot) return SLACKBOT;
	return workspace.people.find((one) => one.id === user) ?? personOf(user, user, 'member');
}

/** What Slack adds to the name of others than members. */
const TAGS: Readonly<Partial<Record<WirePerson['kind'], string>>> = {
	bot: 'APP',
	external: 'EXTERNAL',
	guest: 'GUEST',
};

function useMessageSurface(message: WireMessage): Surface {
	const doIt = useDo();
	const { channel, ts, inputs } = message;
	return useMemo<Surface>(
		() => ({
			id: `m${ts.replace('.', '-')}`,
			inputs,
			fieldErrors: {},
			async press(blockId, actionId, option) {
				const press = { do: 'pressInMessage', channel, ts, blockId, actionId, option };
				return (await doIt<{ acked: boolean }>('act', press)).acked === true;
			},
			async fill(blockId, actionId, held) {
				await doIt('act', { do: 'fillInMessage', channel, ts, blockId, actionId, held });
			},
		}),
		[channel, ts, inputs, doIt],
	);
}

export const Message = memo(function Message(props: MessageProps) {
	const { message, workspace, isFollowing, replies, onThread } = props;
	const doIt = useDo();
	const author = authorOf(message, workspace);
	const surface = useMessageSurface(message);
	const [showsNotification, setShowsNotification] = useState(false);
	const inThread = message.threadTs !== null;
	const time = clockTime(message.ts);
	// Whoever gets the focus here, because a press replaced its button, hears what became of it.
	const [firstLine = ''] = spokenText(message, useNames()).split('\n');
	const blocks = useMemo(() => tableLast(message.blocks), [message.blocks]);
	const notification = {
		words: showsNotification ? 'Hide notification' : 'Show notification',
		toggle: () => setShowsNotification(!showsNotification),
	};
	const classes = ['message', isFollowing ? 'message-following' : '', message.ephemeral ? 'message-ephemeral' : ''];
	return (
		<article
			className={classes.join(' ')}
			aria-label={`${author.realName}, ${time}: ${firstLine}`}
			data-surface={message.ts}
		>
			<div className="message-side">
				{isFollowing ? (
					<span className="message-side-time">{time.replace(/\s[AP]M$/, '')}</span>
				) : (
					<Avatar person={author} size="large" />
				)}
			</div>
			<div className="message-main">
				{message.ephemeral ? (
					<p className="only-you">
						<Icon name="eye" /> Only visible to you
					</p>
				) : null}
				{isFollowing ? null : (
					<p className="message-head">
						<b>{author.realName}</b>
						{TAGS[author.kind] === undefined ? null : <span className="tag">{TAGS[author.kind]}</span>}
						<time title={new Date(Number(message.ts) * 1000).toLocaleString()}>{time}</time>
					</p>
				)}
				{inThread && message.broadcast && onThread !== undefined ? (
					<button type="button" className="in-thread" onClick={() => onThread(message.threadTs ?? '')}>
						replied to a thread
					</button>
				) : null}
				<SurfaceContext value={surface}>
					{message.blocks.length > 0 ? (
						<Blocks blocks={blocks} />
					) : (
						<div className="message-text">
							<Mrkdwn text={message.text} />
							{message.edited ? <span className="edited"> (edited)</span> : null}
						</div>
					)}
				</SurfaceContext>
				{showsNotification ? (
					<p className="notification">
						<b>Notification:</b> <Mrkdwn text={message.text} />
					</p>
				) : null}
				{replies === null || onThread === undefined ? null : (
					<button type="button" className="replies" onClick={() => onThread(message.ts)}>
						<b>
							{replies.count} {replies.count === 1 ? 'reply' : 'replies'}
						</b>{' '}
						<span>Last reply at {clockTime(replies.lastTs)}</span>
					</button>
				)}
				{message.ephemeral ? (
					<button
						type="button"
						className="dismiss"
						onClick={() => void doIt('dismiss-message', { channel: message.channel, ts: message.ts })}
					>
						Dismiss message
					</button>
				) : null}
			</div>
			<MessageMenu
				message={message}
				author={author.realName}
				shortcuts={message.ephemeral ? [] : workspace.messageShortcuts}
				notification={message.blocks.length === 0 || message.ephemeral ? undefined : notification}
				onThread={onThread && !message.ephemeral ? () => onThread(message.threadTs ?? message.ts) : undefined}
			/>
		</article>
	);
});
