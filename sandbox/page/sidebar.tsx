import type { WireChannel } from '../wire.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icons.tsx';
import type { PageData } from './page-state.ts';
import { PersonSwitcher } from './person-switcher.tsx';
import { mentionsOf, unreadOf } from './unread.ts';

interface SidebarProps {
	data: PageData;
	current: string | null;
	onChoose: (channel: string) => void;
	onOpenApp: () => void;
	onClose: () => void;
}

function Entry(props: { data: PageData; channel: WireChannel; isCurrent: boolean; onChoose: () => void }) {
	const { data, channel, isCurrent, onChoose } = props;
	const { me, app, people } = data.workspace;
	const unread = unreadOf(data.messages, channel, me.id);
	const mentions = mentionsOf(unread, channel, me.id);
	const bot = people.find((one) => one.id === app.botUser) ?? null;
	return (
		<button
			type="button"
			className={`entry ${isCurrent ? 'entry-current' : ''} ${unread.length > 0 ? 'entry-unread' : ''}`}
			aria-current={isCurrent ? 'page' : undefined}
			onClick={onChoose}
		>
			{channel.isIm ? (
				<Avatar person={bot} size="small" />
			) : (
				<span className="entry-mark" aria-hidden="true">
					{channel.isPrivate ? <Icon name="lock" /> : '#'}
				</span>
			)}
			<span className="entry-name">{channel.isIm ? app.realName : channel.name}</span>
			{channel.isExtShared ? <span className="entry-note">shared</span> : null}
			{unread.length > 0 ? <span className="visually-hidden">, {unread.length} unread</span> : null}
			{mentions > 0 ? (
				<span className="badge" aria-hidden="true">
					{mentions}
				</span>
			) : null}
		</button>
	);
}

/** The workspace's channels, the app, and the current person. */
export function Sidebar({ data, current, onChoose, onOpenApp, onClose }: SidebarProps) {
	const channels = data.channels.filter((one) => !one.isIm && !one.isArchived);
	const talk = data.channels.find((one) => one.isIm) ?? null;
	const { workspace } = data;
	const bot = workspace.people.find((one) => one.id === workspace.app.botUser) ?? null;
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
							isCurrent={channel.id === current}
							onChoose={() => onChoose(channel.id)}
						/>
					))}
					<h2>Apps</h2>
					{talk === null ? (
						<button type="button" className="entry" onClick={onOpenApp}>
							<Avatar person={bot} size="small" />
							<span className="entry-name">{workspace.app.realName}</span>
						</button>
					) : (
						<Entry data={data} channel={talk} isCurrent={talk.id === current} onChoose={() => onChoose(talk.id)} />
					)}
				</div>
				<PersonSwitcher workspace={workspace} />
			</nav>
			<button type="button" className="sidebar-shade" aria-label="Close the channel list" onClick={onClose} />
		</>
	);
}
