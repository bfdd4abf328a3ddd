import { Fragment, type ReactNode } from 'react';

/** Draws each of parts that have no identity of their own: their position is their key. */
export function each<T>(all: readonly T[], draw: (one: T, place: number) => ReactNode): ReactNode[] {
	return all
		.map((one, place) => ({ one, place }))
		.map(({ one, place }) => <Fragment key={place}>{draw(one, place)}</Fragment>);
}
