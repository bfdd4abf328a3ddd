import { type RefObject, useEffect, useRef } from 'react';

const FOCUSABLE =
	'a[href], button:not([disabled]), input:not([disabled]), textarea:not([disabled]), select:not([disabled]), [tabindex="0"]';

export function focusablesIn(root: HTMLElement): HTMLElement[] {
	return [...root.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((one) => one.offsetParent !== null);
}

export function keepTabInside(event: KeyboardEvent | React.KeyboardEvent, root: HTMLElement): void {
	if (event.key !== 'Tab') return;
	const all = focusablesIn(root);
	const first = all[0];
	const last = all.at(-1);
	if (first === undefined || last === undefined) return;
	const now = document.activeElement;
	if (event.shiftKey && (now === first || !root.contains(now))) {
		event.preventDefault();
		last.focus();
	} else if (!event.shiftKey && (now === last || !root.contains(now))) {
		event.preventDefault();
		first.focus();
	}
}

/**
 * Moves the focus into a dialog: where the app asked for it, to the first field when there is one, or to the dialog
 * when an update removed the focused element.
 */
export function useFocusInside(root: RefObject<HTMLElement | null>, version: string): void {
	const hadField = useRef(false);
	// biome-ignore lint/correctness/useExhaustiveDependencies: the version says that something else stands there.
	useEffect(() => {
		const dialog = root.current;
		const now = document.activeElement;
		// Somebody who uses the sandbox's tools keeps the focus there.
		if (dialog === null || now?.closest('.panel, .rail')) return;
		const field = dialog.querySelector<HTMLElement>('.block-input input, .block-input textarea');
		const isFirst = field !== null && !hadField.current;
		hadField.current ||= field !== null;
		if (now !== dialog && dialog.contains(now)) return;
		if (isFirst) field.focus();
		else if (now !== dialog) dialog.focus({ preventScroll: true });
	}, [version]);
}
