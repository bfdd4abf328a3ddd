import { useMemo, useRef } from 'react';
import { useDo } from './actions.ts';
import type { Surface } from './blocks/surface.ts';

/** Waits for values on their way to the sandbox, so that Submit or a press never overtakes a letter. */
export function useFills(viewId: string): { fill: Surface['fill']; settled: () => Promise<unknown> } {
	const doIt = useDo();
	const last = useRef<Promise<unknown>>(Promise.resolve());
	return useMemo(
		() => ({
			fill(blockId, actionId, held, enter) {
				last.current = last.current.then(() =>
					doIt('act', { do: 'fillInModal', viewId, blockId, actionId, held, enter }),
				);
				return last.current.then(() => undefined);
			},
			settled: () => last.current,
		}),
		[doIt, viewId],
	);
}
