import type { WireMessage } from '../wire.ts';
import { useDo } from './actions.ts';
import { copyForBuilder } from './builder.ts';
import { Icon } from './icons.tsx';
import { Menu } from './menu.tsx';
import { useToast } from './toast.tsx';
import { useMenu } from './use-menu.ts';

interface MessageMenuProps {
	message: WireMessage;
	author: string;
	shortcuts: readonly { name: string; callbackId: string }[];
	onThread?: (() => void) | undefined;
	/** What a notification says, below the message; absent when the message itself says it. */
	notification?: { words: string; toggle: () => void } | undefined;
}

/** The toolbar of a message: reply in thread, the app's shortcuts, its JSON. */
export function MessageMenu({ message, author, shortcuts, onThread, notification }: MessageMenuProps) {
	const doIt = useDo();
	const toast = useToast();
	const { root, opener, isOpen, toggle, close, onMenuKeyDown } = useMenu<HTMLDivElement>();
	async function use(callbackId: string): Promise<void> {
		close();
		const { channel, ts } = message;
		const answer = await doIt<{ acked: boolean }>('act', { do: 'messageShortcut', channel, ts, callbackId });
		if (answer.acked !== true) toast('The app did not respond to the shortcut.');
	}
	function toggleNotification(): void {
		close();
		notification?.toggle();
	}
	async function copy(): Promise<void> {
		close();
		toast(await copyForBuilder({ channel: message.channel, ts: message.ts }));
	}
	const entries = [
		...shortcuts.map(({ name, callbackId }) => {
			const words = (
				<>
					{name} <span className="menu-app">Handraise</span>
				</>
			);
			return [callbackId, words, () => void use(callbackId)] as const;
		}),
		...(notification === undefined ? [] : [['notification', notification.words, toggleNotification] as const]),
		['copy', 'Copy for Block Kit Builder', () => void copy()] as const,
	];
	return (
		<div className={isOpen ? 'message-menu message-menu-open' : 'message-menu'} ref={root}>
			{onThread === undefined ? null : (
				<button
					type="button"
					aria-label={`Reply in the thread of ${author}’s message`}
					title="Reply in thread"
					onClick={onThread}
				>
					<Icon name="thread" />
				</button>
			)}
			<button
				type="button"
				ref={opener}
				aria-label={`More actions for ${author}’s message`}
				title="More actions"
				aria-haspopup="menu"
				aria-expanded={isOpen}
				onClick={toggle}
			>
				<Icon name="dots" />
			</button>
			{isOpen ? (
				<Menu aria-label={`Actions for ${author}’s message`} onKeyDown={onMenuKeyDown} entries={entries} />
			) : null}
		</div>
	);
}
