import { useMemo } from 'react';
import type { WireChannel, WireMessage } from '../wire.ts';
import { Composer } from './composer.tsx';
import { Icon } from './icons.tsx';
import { MessageList } from './message-list.tsx';
import type { World } from './world.ts';

interface ThreadProps {
	world: World;
	channel: WireChannel;
	parent: WireMessage;
	onClose: () => void;
}

const none = new Map();

/** A message and everything under it, beside the channel. */
export function Thread({ world, channel, parent, onClose }: ThreadProps) {
	const messages = useMemo(
		() => [parent, ...world.messages.filter((one) => one.channel === channel.id && one.threadTs === parent.ts)],
		[world.messages, channel.id, parent],
	);
	return (
		<aside
			className="thread"
			aria-label="Thread"
			onKeyDown={(event) => {
				if (event.key === 'Escape' && !event.defaultPrevented) onClose();
			}}
		>
			<header className="channel-head">
				<h2>Thread</h2>
				<p className="channel-about">{channel.isIm ? world.workspace.app.realName : `# ${channel.name}`}</p>
				<button type="button" className="close" aria-label="Close the thread" onClick={onClose}>
					<Icon name="close" />
				</button>
			</header>
			<MessageList
				messages={messages}
				workspace={world.workspace}
				replies={none}
				newAfter={null}
				label="Messages in the thread"
			/>
			<Composer id="thread-composer" workspace={world.workspace} channel={channel} thread={parent.ts} label="Reply…" />
		</aside>
	);
}
