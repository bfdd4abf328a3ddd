import { useId, useState } from 'react';
import { Icon } from '../icons.tsx';
import { type Json, list, str } from '../json.ts';
import { Menu } from '../menu.tsx';
import { useMenu } from '../use-menu.ts';
import { safeAddress } from './mrkdwn.tsx';
import { useSurface } from './surface.ts';
import { words } from './text-object.tsx';

/** Runs something that the app has to acknowledge; tells whether it is under way and whether nobody did. */
function usePress(): { isBusy: boolean; hasFailed: boolean; run: (act: () => Promise<boolean>) => void } {
	const [state, setState] = useState<'idle' | 'busy' | 'failed'>('idle');
	return {
		isBusy: state === 'busy',
		hasFailed: state === 'failed',
		run(act) {
			setState('busy');
			void act().then((ok) => setState(ok ? 'idle' : 'failed'));
		},
	};
}

function NotAcknowledged() {
	return (
		<span className="press-failed" role="alert">
			<Icon name="warning" /> The app did not respond
		</span>
	);
}

export function Button({ blockId, element }: { blockId: string; element: Json }) {
	const surface = useSurface();
	const { isBusy, hasFailed, run } = usePress();
	const style = str(element, 'style');
	const address = safeAddress(str(element, 'url'));
	const label = words(element.text);
	function press(): void {
		if (address !== null) window.open(address, '_blank', 'noopener,noreferrer');
		run(() => surface.press(blockId, str(element, 'action_id')));
	}
	return (
		<span className="pressable">
			<button
				type="button"
				className={`button ${style === 'primary' ? 'button-primary' : style === 'danger' ? 'button-danger' : ''}`}
				data-block-id={blockId}
				data-action-id={str(element, 'action_id')}
				aria-busy={isBusy}
				aria-label={str(element, 'accessibility_label') || undefined}
				onClick={press}
			>
				{label}
				{address === null ? null : <span className="visually-hidden"> (opens a new tab)</span>}
			</button>
			{hasFailed ? <NotAcknowledged /> : null}
		</span>
	);
}

export function Overflow({ blockId, element }: { blockId: string; element: Json }) {
	const surface = useSurface();
	const { hasFailed, run } = usePress();
	const { root, opener, isOpen, toggle, close, onMenuKeyDown } = useMenu<HTMLSpanElement>();
	const menu = useId();
	function choose(option: Json): void {
		close();
		const address = safeAddress(str(option, 'url'));
		if (address !== null) window.open(address, '_blank', 'noopener,noreferrer');
		run(() => surface.press(blockId, str(element, 'action_id'), option));
	}
	return (
		<span className="pressable overflow" ref={root}>
			<button
				type="button"
				ref={opener}
				className="button button-icon"
				data-block-id={blockId}
				data-action-id={str(element, 'action_id')}
				aria-haspopup="menu"
				aria-expanded={isOpen}
				aria-controls={menu}
				aria-label="More options"
				onClick={toggle}
			>
				<Icon name="dotsAcross" />
			</button>
			{isOpen ? (
				<Menu
					id={menu}
					onKeyDown={onMenuKeyDown}
					entries={list(element, 'options').map((option) => {
						const label = words(option.text);
						return [str(option, 'value') || label, label, () => choose(option)] as const;
					})}
				/>
			) : null}
			{hasFailed ? <NotAcknowledged /> : null}
		</span>
	);
}
