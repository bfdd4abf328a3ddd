import { Fragment, type ReactNode, useLayoutEffect, useMemo, useRef } from 'react';
import type { WireMessage, WireWorkspace } from '../wire.ts';
import { useKeptFocus } from './kept-focus.ts';
import { Message, type Replies } from './message.tsx';
import { useNow } from './now.ts';
import { dayName, isSameDay } from './times.ts';

/** Messages of one author within this time are grouped, as in Slack. */
const TOGETHER_S = 300;

interface MessageListProps {
	messages: readonly WireMessage[];
	workspace: WireWorkspace;
	/** By the ts of the first message. */
	replies: ReadonlyMap<string, Replies>;
	/** The ts of the message above the line "New". */
	newAfter: string | null;
	label: string;
	intro?: ReactNode;
	onThread?: (ts: string) => void;
}

function follows(before: WireMessage | undefined, message: WireMessage): boolean {
	if (before === undefined || before.user !== message.user || before.isSlackbot !== message.isSlackbot) return false;
	if (before.ephemeral !== message.ephemeral || message.ephemeral || message.broadcast) return false;
	return Number(message.ts) - Number(before.ts) < TOGETHER_S;
}

export function countReplies(messages: readonly WireMessage[]): Map<string, Replies> {
	const counts = new Map<string, Replies>();
	for (const message of messages) {
		if (message.threadTs === null || message.ephemeral) continue;
		counts.set(message.threadTs, { count: (counts.get(message.threadTs)?.count ?? 0) + 1, lastTs: message.ts });
	}
	return counts;
}

/** Keeps the newest message visible for a person at the end, and does not move the list for one who has scrolled up. */
function useStickToEnd(last: string): React.RefObject<HTMLElement | null> {
	const box = useRef<HTMLElement>(null);
	const isAtEnd = useRef(true);
	useLayoutEffect(() => {
		const element = box.current;
		if (element === null) return;
		const follow = () => {
			if (isAtEnd.current) element.scrollTop = element.scrollHeight;
		};
		const onScroll = () => {
			isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 60;
		};
		// A card that grows or a picture that loads moves the end too.
		const watcher = new ResizeObserver(follow);
		for (const child of element.children) watcher.observe(child);
		watcher.observe(element);
		element.addEventListener('scroll', onScroll, { passive: true });
		return () => {
			watcher.disconnect();
			element.removeEventListener('scroll', onScroll);
		};
	}, []);
	// biome-ignore lint/correctness/useExhaustiveDependencies: the newest message is what moves the end.
	useLayoutEffect(() => {
		const element = box.current;
		if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight;
	}, [last]);
	return box;
}

export function MessageList({ messages, workspace, replies, newAfter, label, intro, onThread }: MessageListProps) {
	const box = useStickToEnd(messages.at(-1)?.ts ?? '');
	const keptFocus = useKeptFocus();
	const now = useNow();
	const firstNew = useMemo(
		() =>
			newAfter === null ? undefined : messages.find((one) => one.ts > newAfter && one.user !== workspace.me.id)?.ts,
		[messages, newAfter, workspace.me.id],
	);
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the arrow keys.
		<section className="messages" ref={box} aria-label={label} tabIndex={0} data-focus-region {...keptFocus}>
			<div className="messages-inner">
				{intro}
				{messages.map((message, index) => {
					const before = messages[index - 1];
					const isNewDay = before === undefined || !isSameDay(before.ts, message.ts);
					const isFirstNew = message.ts === firstNew;
					return (
						<Fragment key={message.ts}>
							{isNewDay ? (
								<p className="day">
									<span>{dayName(message.ts, now())}</span>
								</p>
							) : null}
							{isFirstNew ? (
								<p className="new-line">
									<span>New</span>
								</p>
							) : null}
							<Message
								message={message}
								workspace={workspace}
								isFollowing={!isNewDay && !isFirstNew && follows(before, message)}
								replies={replies.get(message.ts) ?? null}
								{...(onThread === undefined ? {} : { onThread })}
							/>
						</Fragment>
					);
				})}
			</div>
		</section>
	);
}
