import { useCallback, useEffect, useMemo, useState } from 'react';
import type { WireChannel } from '../wire.ts';
import { useDo } from './actions.ts';
import { Composer } from './composer.tsx';
import { Icon } from './icons.tsx';
import { countReplies, MessageList } from './message-list.tsx';
import type { PageData } from './page-state.ts';
import { usePlace } from './place.ts';
import { unreadOf } from './unread.ts';

interface ChannelViewProps {
	data: PageData;
	channel: WireChannel;
	onSidebar: () => void;
}

/** Reports to the sandbox what this person has seen, while the window is in front. */
function useReadMark(channel: WireChannel, lastTs: string | undefined): void {
	const doIt = useDo();
	useEffect(() => {
		const mark = () => {
			if (document.visibilityState !== 'visible' || lastTs === undefined || lastTs <= channel.readTs) return;
			void doIt('read', { channel: channel.id, ts: lastTs });
		};
		mark();
		document.addEventListener('visibilitychange', mark);
		return () => document.removeEventListener('visibilitychange', mark);
	}, [doIt, channel.id, channel.readTs, lastTs]);
}

/** Slack's text at the beginning of a channel. */
function Intro({ channel, appName }: { channel: WireChannel; appName: string }) {
	if (channel.isIm) {
		return (
			<div className="intro">
				<h2>{appName}</h2>
				<p>This is the very beginning of your direct messages with {appName}. Slash commands work here too.</p>
			</div>
		);
	}
	return (
		<div className="intro">
			<h2>
				{channel.isPrivate ? <Icon name="lock" /> : '#'} {channel.name}
			</h2>
			<p>
				This is the very beginning of the <b>{channel.isPrivate ? channel.name : `#${channel.name}`}</b> channel.
			</p>
		</div>
	);
}

export function ChannelBody({ data, channel }: Omit<ChannelViewProps, 'onSidebar'>) {
	const { workspace } = data;
	const [, go] = usePlace();
	const openThread = useCallback((thread: string) => go({ channel: channel.id, thread }), [go, channel.id]);
	const inChannel = useMemo(
		() => data.messages.filter((one) => one.channel === channel.id),
		[data.messages, channel.id],
	);
	const shown = useMemo(() => inChannel.filter((one) => one.threadTs === null || one.broadcast), [inChannel]);
	const replies = useMemo(() => countReplies(inChannel), [inChannel]);
	// The line "New" keeps its place from when the channel was opened.
	const [newAfter] = useState(() =>
		unreadOf(data.messages, channel, workspace.me.id).length > 0 ? channel.readTs : null,
	);
	useReadMark(channel, shown.at(-1)?.ts);
	const name = channel.isIm ? workspace.app.realName : channel.name;
	return (
		<>
			<MessageList
				messages={shown}
				workspace={workspace}
				replies={replies}
				newAfter={newAfter}
				intro={<Intro channel={channel} appName={workspace.app.realName} />}
				label={`Messages in ${name}`}
				onThread={openThread}
			/>
			<Composer
				key={channel.id}
				id="composer"
				workspace={workspace}
				channel={channel}
				thread={null}
				label={channel.isIm ? `Message ${name}` : `Message #${name}`}
			/>
		</>
	);
}

export function ChannelView({ data, channel, onSidebar }: ChannelViewProps) {
	const { workspace } = data;
	const people = channel.members.filter((id) => workspace.people.some((one) => one.id === id));
	const hasBot = channel.members.includes(workspace.app.botUser);
	const name = channel.isIm ? workspace.app.realName : channel.name;
	return (
		<main className="channel" aria-label={`Channel ${name}`}>
			<header className="channel-head">
				<button type="button" className="sidebar-button" aria-label="Channels" onClick={onSidebar}>
					<Icon name="menu" />
				</button>
				<h1>
					{channel.isIm ? null : (
						<span className="channel-mark" aria-hidden="true">
							{channel.isPrivate ? <Icon name="lock" /> : '#'}
						</span>
					)}
					{name}
				</h1>
				{channel.isIm ? (
					<p className="channel-about">App</p>
				) : (
					<p className="channel-about">
						{people.length} {people.length === 1 ? 'member' : 'members'}
						{hasBot ? ', Handraise among them' : ''}
						{channel.isExtShared ? ' · shared with another organisation' : ''}
					</p>
				)}
			</header>
			<ChannelBody data={data} channel={channel} />
		</main>
	);
}
