import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { followPlace } from './menu-place.ts';

/** A menu: a press elsewhere closes it, the arrow keys move through its entries, and the first has the focus. */
export function useMenu<T extends HTMLElement>() {
	const [isOpen, setOpen] = useState(false);
	/** Around the menu and what opens it. */
	const root = useRef<T>(null);
	const opener = useRef<HTMLButtonElement>(null);
	/** Closes it, and returns the focus to what opens it. */
	function close(): void {
		setOpen(false);
		opener.current?.focus();
	}
	useLayoutEffect(() => {
		const menu = root.current?.querySelector<HTMLElement>('[role="menu"]');
		if (!isOpen || menu == null || opener.current === null) return undefined;
		return followPlace(menu, opener.current);
	}, [isOpen]);
	useEffect(() => {
		if (!isOpen) return undefined;
		root.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus({ preventScroll: true });
		const away = (event: MouseEvent) => {
			if (!root.current?.contains(event.target as Node)) setOpen(false);
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
	return { root, opener, isOpen, toggle: () => setOpen(!isOpen), close, onMenuKeyDown };
}
