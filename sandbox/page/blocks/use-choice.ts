import { useEffect, useState } from 'react';
import { heldValue, useSurface } from './surface.ts';

interface Mine {
	value: unknown;
	/** What the sandbox may still report meanwhile: the value before, and earlier choices that are on their way. */
	former: readonly string[];
	/** How many choices the sandbox has not acknowledged: until then, a report equal to the value may be of an earlier one. */
	onTheirWay: number;
}

/**
 * An element's value and a function to change it. The choice shows at once, until the sandbox reports the value, which
 * then counts.
 */
export function useChoice(blockId: string, actionId: string, key: string): [unknown, (next: unknown) => void] {
	const surface = useSurface();
	const there = heldValue(surface, blockId, actionId, key);
	const thereNow = JSON.stringify(there);
	const [mine, setMine] = useState<Mine | null>(null);
	const waiting = mine !== null && (mine.onTheirWay > 0 || mine.former.includes(thereNow)) ? mine : null;
	useEffect(() => {
		if (mine !== null && waiting === null) setMine(null);
	}, [mine, waiting]);
	return [
		waiting === null ? there : waiting.value,
		(next) => {
			const former = waiting === null ? [thereNow] : [...waiting.former, JSON.stringify(waiting.value)];
			setMine({
				value: next,
				former: former.filter((one) => one !== JSON.stringify(next)),
				onTheirWay: (waiting?.onTheirWay ?? 0) + 1,
			});
			const arrived = () => setMine((now) => now && { ...now, onTheirWay: now.onTheirWay - 1 });
			void surface.fill(blockId, actionId, next).finally(arrived);
		},
	];
}
