import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react';

/** An open menu: a press elsewhere closes it, the arrow keys move through its entries, and the first has the focus. */
export function useMenu<T extends HTMLElement>(
	isOpen: boolean,
	close: () => void,
): { root: RefObject<T | null>; onMenuKeyDown: (event: KeyboardEvent<HTMLElement>) => void } {
	const root = useRef<T>(null);
	const closeNow = useRef(close);
	closeNow.current = close;
	useEffect(() => {
		if (!isOpen) return;
		keepWithin(root.current);
		root.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
		const away = (event: MouseEvent) => {
			if (!root.current?.contains(event.target as Node)) closeNow.current();
		};
		document.addEventListener('mousedown', away);
		return () => document.removeEventListener('mousedown', away);
	}, [isOpen]);
	function onMenuKeyDown(event: KeyboardEvent<HTMLElement>): void {
		const items = Array.from(event.currentTarget.querySelectorAll<HTMLElement>('[role="menuitem"]'));
		const now = items.indexOf(document.activeElement as HTMLElement);
		if (event.key === 'ArrowDown') items[(now + 1) % items.length]?.focus();
		else if (event.key === 'ArrowUp') items.at(now - 1)?.focus();
		else if (event.key === 'Escape') close();
		else return;
		event.preventDefault();
		event.stopPropagation();
	}
	return { root, onMenuKeyDown };
}

/** A menu opens to the left of its button, but no further than the message, window or Home around it begins. */
function keepWithin(root: HTMLElement | null): void {
	const [menu, around] = [root?.querySelector<HTMLElement>('[role="menu"]'), root?.closest('.blocks')];
	if (!menu || !around) return;
	const hidden = around.getBoundingClientRect().left - menu.getBoundingClientRect().left;
	if (hidden > 0) menu.style.right = `${-hidden}px`;
}
