import type { WireChannel } from '../wire.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icons.tsx';
import type { PageData } from './page-state.ts';
import { PersonSwitcher } from './person-switcher.tsx';
import { mentionsOf, unreadOf } from './unread.ts';

interface SidebarProps {
	data: PageData;
	current: string | null;
	/** Whether the app's Home tab or its messages are shown. */
	isApp: boolean;
	onChoose: (channel: string) => void;
	onOpenApp: () => void;
	onClose: () => void;
}

interface EntryProps {
	data: PageData;
	/** Null for an app with which this person has not talked. */
	channel: WireChannel | null;
	isCurrent: boolean;
	onChoose: () => void;
}

function Entry({ data, channel, isCurrent, onChoose }: EntryProps) {
	const { me, app, people } = data.workspace;
	const unread = channel === null ? [] : unreadOf(data.messages, channel, me.id);
	const mentions = channel === null ? 0 : mentionsOf(unread, channel);
	const bot = people.find((one) => one.id === app.botUser) ?? null;
	return (
		<button
			type="button"
			className={`entry ${isCurrent ? 'entry-current' : ''} ${unread.length > 0 ? 'entry-unread' : ''}`}
			aria-current={isCurrent ? 'page' : undefined}
			onClick={onChoose}
		>
			{channel === null || channel.isIm ? (
				<Avatar person={bot} size="small" />
			) : (
				<span className="entry-mark" aria-hidden="true">
					{channel.isPrivate ? <Icon name="lock" /> : '#'}
				</span>
			)}
			<span className="entry-name">{channel === null || channel.isIm ? app.realName : channel.name}</span>
			{channel?.isExtShared ? <span className="entry-note">shared</span> : null}
			{unread.length > 0 ? <span className="visually-hidden">, {unread.length} unread</span> : null}
			{mentions > 0 ? (
				<span className="badge" aria-hidden="true">
					{mentions}
				</span>
			) : null}
		</button>
	);
}

export function Sidebar({ data, current, isApp, onChoose, onOpenApp, onClose }: SidebarProps) {
	const channels = data.channels.filter((one) => !one.isIm && !one.isArchived);
	const talk = data.channels.find((one) => one.isIm) ?? null;
	const { workspace } = data;
	return (
		<>
			<nav
				className="sidebar"
				aria-label="Channels"
				onKeyDown={(event) => {
					if (event.key === 'Escape') onClose();
				}}
			>
				<p className="team">
					<span className="team-mark" aria-hidden="true">
						{workspace.team.name.slice(0, 1)}
					</span>
					{workspace.team.name}
				</p>
				<div className="entries">
					<h2>Channels</h2>
					{channels.map((channel) => (
						<Entry
							key={channel.id}
							data={data}
							channel={channel}
							isCurrent={!isApp && channel.id === current}
							onChoose={() => onChoose(channel.id)}
						/>
					))}
					<h2>Apps</h2>
					<Entry data={data} channel={talk} isCurrent={isApp} onChoose={onOpenApp} />
					<h2>Sandbox</h2>
					<a className="entry" href={`/gallery?as=${workspace.me.name}`}>
						<span className="entry-mark" aria-hidden="true">
							<Icon name="guide" />
						</span>
						<span className="entry-name">Gallery</span>
					</a>
					<a className="entry" href={`/try?as=${workspace.me.name}`}>
						<span className="entry-mark" aria-hidden="true">
							<Icon name="robot" />
						</span>
						<span className="entry-name">Try a question</span>
					</a>
				</div>
				<PersonSwitcher workspace={workspace} />
			</nav>
			<button type="button" className="sidebar-shade" aria-label="Close the channel list" onClick={onClose} />
		</>
	);
}
