import type { Harness, Signal } from '../harness.ts';

/** Calls `react` at the next signal of this kind for this session. */
export function onceFor({ signals }: Harness, signal: Signal, sessionId: string, react: () => void): void {
	const hear = (of?: string) => {
		if (of !== sessionId) return;
		signals.off(signal, hear);
		react();
	};
	signals.on(signal, hear);
}
