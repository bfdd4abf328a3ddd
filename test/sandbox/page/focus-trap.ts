import { type RefObject, useEffect } from 'react';

const FOCUSABLE =
	'a[href], button:not([disabled]), input:not([disabled]), textarea:not([disabled]), select:not([disabled]), [tabindex="0"]';

export function focusablesIn(root: HTMLElement): HTMLElement[] {
	return [...root.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((one) => one.offsetParent !== null);
}

/** Keeps the Tab key inside a dialog. */
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

/** Puts the focus into a dialog when it opens: where the app asked for it, on the first field, or on the dialog. */
export function useFocusOnOpen(root: RefObject<HTMLElement | null>, key: string): void {
	// biome-ignore lint/correctness/useExhaustiveDependencies: the key says that another dialog stands there.
	useEffect(() => {
		const dialog = root.current;
		const now = document.activeElement;
		// Whoever is busy with the sandbox's tools stays there.
		if (dialog === null || dialog.contains(now) || now?.closest('.panel, .rail')) return;
		const field =
			dialog.querySelector<HTMLElement>('[data-autofocus]') ??
			dialog.querySelector<HTMLElement>('.block-input input, .block-input textarea');
		(field ?? dialog).focus({ preventScroll: field === null });
	}, [key]);
}
