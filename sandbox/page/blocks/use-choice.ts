import { useState } from 'react';
import { heldValue, useSurface } from './surface.ts';

/**
 * An element's value and a function to change it. The choice shows at once, until the sandbox reports the value, which
 * then counts.
 */
export function useChoice(blockId: string, actionId: string, key: string): [unknown, (next: unknown) => void] {
	const surface = useSurface();
	const there = heldValue(surface, blockId, actionId, key);
	const thereNow = JSON.stringify(there);
	const [mine, setMine] = useState<{ value: unknown; instead: string } | null>(null);
	return [
		mine !== null && mine.instead === thereNow ? mine.value : there,
		(next) => {
			setMine({ value: next, instead: thereNow });
			void surface.fill(blockId, actionId, next);
		},
	];
}
