import { type FocusEvent, useLayoutEffect, useRef } from 'react';

/**
 * Where the focus is, so that it can return there after the app has replaced the element. The parts that this reads
 * from the page: a region is a list of messages or the Home tab, a surface is one message or the Home tab.
 */
interface FocusPlace {
	element: HTMLElement;
	region: HTMLElement | null;
	surface: string | null;
}

const REGION = '[data-focus-region]';
const byData = (name: string, value: string | undefined) => `[data-${name}="${CSS.escape(value ?? '')}"]`;

/** Null when nothing has the focus. */
export function focusPlace(element: Element | null): FocusPlace | null {
	if (!(element instanceof HTMLElement) || element === document.body) return null;
	return {
		element,
		region: element.closest<HTMLElement>(REGION),
		surface: element.closest<HTMLElement>('[data-surface]')?.dataset.surface ?? null,
	};
}

/** The message that follows a deleted one, or the last. */
function neighbour(region: HTMLElement, surface: string): HTMLElement | null {
	const all = Array.from(region.querySelectorAll<HTMLElement>('[data-surface]'));
	return all.find((one) => (one.dataset.surface ?? '') > surface) ?? all.at(-1) ?? null;
}

/** Where a removed element belonged: its message; in Home its row, or else Home's first heading. */
function around({ element, region, surface }: FocusPlace): HTMLElement | null {
	if (region === null || surface === null || !region.isConnected) return null;
	const isWhole = region.dataset.surface === surface;
	const found = isWhole ? region : region.querySelector<HTMLElement>(byData('surface', surface));
	if (found === null) return neighbour(region, surface) ?? region;
	const { blockId, actionId } = element.dataset;
	const same = found.querySelector<HTMLElement>(byData('block-id', blockId) + byData('action-id', actionId));
	if (same !== null || !isWhole) return same ?? found;
	// Another row at the same place is about another question.
	const row = found.querySelector(byData('block-id', blockId))?.closest<HTMLElement>('.blocks > *');
	return row ?? found.querySelector<HTMLElement>('.block-header') ?? found;
}

/**
 * Moves the focus back. When the element is gone: to the one with the same block_id and action_id, else to the message
 * or to its row or the heading of Home. Never to another button: a second press of Enter would do something else.
 */
export function focusAgain(place: FocusPlace): void {
	const { element } = place;
	const same = element.isConnected ? element : document.getElementById(element.id);
	const target = same ?? around(place) ?? document.querySelector<HTMLElement>('#composer, #app-home');
	if (target === null) return;
	// A message or block takes the focus by script only.
	if (target.tabIndex < 0) target.tabIndex = -1;
	target.focus({ preventScroll: same === null });
	if (same === null) target.scrollIntoView({ block: 'nearest' });
}

/** Keeps the focus in a region of which the app replaces and removes parts. */
export function useKeptFocus(): {
	onFocus: (event: FocusEvent<HTMLElement>) => void;
	onBlur: (event: FocusEvent<HTMLElement>) => void;
} {
	const place = useRef<FocusPlace | null>(null);
	// After each render: an update of the app removes elements without an event.
	useLayoutEffect(() => {
		const now = place.current;
		if (now === null) return;
		if (now.element.isConnected) place.current = focusPlace(now.element);
		else if (document.activeElement === document.body || document.activeElement === null) focusAgain(now);
	});
	return {
		onFocus: (event) => {
			place.current = focusPlace(event.target);
		},
		onBlur: (event) => {
			// A window in the background keeps its focused element.
			if (document.activeElement !== event.target) place.current = null;
		},
	};
}
