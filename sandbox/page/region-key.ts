import { useEffect } from 'react';

/** F6 moves the focus from Slack to the sandbox's tools and back, as it moves between regions in Slack. */
export function useRegionKey(): void {
	useEffect(() => {
		let inSlack: Element | null = null;
		const onKeyDown = (event: KeyboardEvent) => {
			if (event.key !== 'F6') return;
			event.preventDefault();
			const slack = document.querySelector('.slack');
			if (slack === null) return;
			if (slack.contains(document.activeElement) || document.activeElement === document.body) {
				inSlack = document.activeElement;
				document.querySelector<HTMLElement>('.rail-tab')?.focus();
				return;
			}
			const back =
				inSlack !== null && slack.contains(inSlack)
					? inSlack
					: (document.querySelector('[role="dialog"]') ?? document.querySelector('#composer, #app-home'));
			if (back instanceof HTMLElement) back.focus();
		};
		document.addEventListener('keydown', onKeyDown);
		return () => document.removeEventListener('keydown', onKeyDown);
	}, []);
}
