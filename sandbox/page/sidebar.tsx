import type { WireChannel } from '../wire.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icons.tsx';
import { PersonSwitcher } from './person-switcher.tsx';
import { mentionsOf, unreadOf } from './unread.ts';
import type { World } from './world.ts';

interface SidebarProps {
	world: World;
	current: string | null;
	onChoose: (channel: string) => void;
	onOpenApp: () => void;
	onClose: () => void;
}

function Entry(props: { world: World; channel: WireChannel; isCurrent: boolean; onChoose: () => void }) {
	const { world, channel, isCurrent, onChoose } = props;
	const { me, app, people } = world.workspace;
	const unread = unreadOf(world.messages, channel, me.id);
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

/** The workspace's channels, the app, and who one is. */
export function Sidebar({ world, current, onChoose, onOpenApp, onClose }: SidebarProps) {
	const channels = world.channels.filter((one) => !one.isIm && !one.isArchived);
	const talk = world.channels.find((one) => one.isIm) ?? null;
	const { workspace } = world;
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
							world={world}
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
						<Entry world={world} channel={talk} isCurrent={talk.id === current} onChoose={() => onChoose(talk.id)} />
					)}
				</div>
				<PersonSwitcher workspace={workspace} />
			</nav>
			<button type="button" className="sidebar-shade" aria-label="Close the channel list" onClick={onClose} />
		</>
	);
}
