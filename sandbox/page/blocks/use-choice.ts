import { useState } from 'react';
import { heldValue, useSurface } from './surface.ts';

/**
 * What an element holds and a way to change it. The choice shows at once and until the sandbox says what it holds now:
 * whatever that is, it counts.
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
