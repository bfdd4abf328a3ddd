import { useEffect, useRef } from 'react';
import type { WireModal, WireWorkspace } from '../wire.ts';
import { focusAgain, focusPlace } from './kept-focus.ts';
import { Modal } from './modal.tsx';

/**
 * The modals of this window. Only the top one can be used. When the last one closes, the focus returns to where it was,
 * also when the app has replaced the message or the Home tab meanwhile.
 */
export function ModalStack({ modals, workspace }: { modals: readonly WireModal[]; workspace: WireWorkspace }) {
	const before = useRef<ReturnType<typeof focusPlace>>(null);
	const top = modals.at(-1);
	const isOpen = top !== undefined;
	const wasOpen = useRef(false);
	if (isOpen && !wasOpen.current) before.current = focusPlace(document.activeElement);
	wasOpen.current = isOpen;
	useEffect(() => {
		if (isOpen) return;
		const back = before.current;
		before.current = null;
		if (back !== null) focusAgain(back);
	}, [isOpen]);
	if (top === undefined) return null;
	return (
		<div className="shade">
			<Modal key={top.id} modal={top} depth={modals.length} appName={workspace.app.realName} />
		</div>
	);
}
