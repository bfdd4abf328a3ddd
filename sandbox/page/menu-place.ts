const GAP_PX = 4;
/** What a menu of fields needs below its field, to stand there and not above it. */
const ROOM_PX = 200;
const TALLEST_PX = 300;

/**
 * Puts a menu below what opens it, or above where there is more room. It reaches over the edges of lists and modals,
 * but not over those of the window. As wide as its field, or else as wide as its entries: to the side with room.
 */
function placeMenu(menu: HTMLElement, opener: Element, isField: boolean): void {
	const at = opener.getBoundingClientRect();
	const client = menu.closest('.slack')?.getBoundingClientRect() ?? document.documentElement.getBoundingClientRect();
	const scrolled = menu.closest('.dialog-body, .messages, #app-home')?.getBoundingClientRect() ?? client;
	const lowest = Math.min(client.bottom, window.innerHeight);
	const below = lowest - at.bottom - 2 * GAP_PX;
	const above = at.top - 2 * GAP_PX;
	const isBelow = below >= Math.min(isField ? ROOM_PX : Math.min(menu.scrollHeight, TALLEST_PX), above);
	if (isField) {
		menu.style.left = `${at.left}px`;
		menu.style.width = `${at.width}px`;
	} else {
		const most = Math.min(scrolled.right, window.innerWidth) - menu.offsetWidth - GAP_PX;
		const left = at.left <= most ? at.left : Math.min(at.right - menu.offsetWidth, most);
		menu.style.left = `${Math.max(GAP_PX, left)}px`;
	}
	menu.style.top = isBelow ? `${at.bottom + GAP_PX}px` : 'auto';
	menu.style.bottom = isBelow ? 'auto' : `${window.innerHeight - at.top + GAP_PX}px`;
	menu.style.maxHeight = `${Math.min(TALLEST_PX, isBelow ? below : above)}px`;
	// What opens it may be scrolled out of sight.
	const isSeen = at.bottom > scrolled.top && at.top < scrolled.bottom;
	menu.style.visibility = isSeen ? 'visible' : 'hidden';
}

/** Places it now, and again when something scrolls or the window changes. */
export function followPlace(menu: HTMLElement, opener: Element, isField = false): () => void {
	const follow = () => placeMenu(menu, opener, isField);
	follow();
	addEventListener('resize', follow);
	addEventListener('scroll', follow, true);
	return () => {
		removeEventListener('resize', follow);
		removeEventListener('scroll', follow, true);
	};
}
