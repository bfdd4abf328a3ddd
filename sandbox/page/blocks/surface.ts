import { createContext, useContext } from 'react';
import type { WireInputs } from '../../wire.ts';
import type { Json } from '../json.ts';

/** What the controls of a modal or message need from it. */
export interface Surface {
	/** The prefix of the DOM ids of its controls. */
	id: string;
	inputs: WireInputs | null;
	/** By block_id. */
	fieldErrors: Record<string, string>;
	/** Presses a button or a menu entry. False when the app did not acknowledge. */
	press: (blockId: string, actionId: string, option?: Json) => Promise<boolean>;
	/** Stores a value in an element, in the form of `state.values`. */
	fill: (blockId: string, actionId: string, held: unknown, enter?: boolean) => Promise<void>;
}

const dead: Surface = {
	id: 'none',
	inputs: null,
	fieldErrors: {},
	press: async () => false,
	fill: async () => undefined,
};
export const SurfaceContext = createContext<Surface>(dead);
export const useSurface = () => useContext(SurfaceContext);

/** An element's value under a key of `state.values`. */
export function heldValue(surface: Surface, blockId: string, actionId: string, key: string): unknown {
	return surface.inputs?.values[blockId]?.[actionId]?.[key] ?? null;
}
