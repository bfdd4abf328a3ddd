import { useMemo } from 'react';
import type { WireChannel, WireMessage } from '../wire.ts';
import { Composer } from './composer.tsx';
import { Icon } from './icons.tsx';
import { MessageList } from './message-list.tsx';
import type { PageData } from './page-state.ts';

interface ThreadProps {
	data: PageData;
	channel: WireChannel;
	parent: WireMessage;
	onClose: () => void;
}

const none = new Map();

export function Thread({ data, channel, parent, onClose }: ThreadProps) {
	const messages = useMemo(
		() => [parent, ...data.messages.filter((one) => one.channel === channel.id && one.threadTs === parent.ts)],
		[data.messages, channel.id, parent],
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
				<p className="channel-about">{channel.isIm ? data.workspace.app.realName : `# ${channel.name}`}</p>
				<button type="button" className="close" aria-label="Close the thread" onClick={onClose}>
					<Icon name="close" />
				</button>
			</header>
			<MessageList
				messages={messages}
				workspace={data.workspace}
				replies={none}
				newAfter={null}
				label="Messages in the thread"
			/>
			<Composer id="thread-composer" workspace={data.workspace} channel={channel} thread={parent.ts} label="Reply…" />
		</aside>
	);
}
