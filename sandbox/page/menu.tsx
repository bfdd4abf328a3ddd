import type { ComponentProps, ReactNode } from 'react';

interface MenuProps extends ComponentProps<'div'> {
	/** What each says, and what a press on it does. */
	entries: readonly (readonly [key: string, words: ReactNode, use: () => void])[];
}

/** A menu that `useMenu` has opened. */
export function Menu({ entries, ...others }: MenuProps) {
	return (
		<div className="menu" role="menu" {...others}>
			{entries.map(([key, words, use]) => (
				<button type="button" role="menuitem" className="menu-item" key={key} onClick={use}>
					{words}
				</button>
			))}
		</div>
	);
}
