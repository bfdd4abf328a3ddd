import { createContext, useContext } from 'react';

/** How far the sandbox's clock is ahead of the machine's, in milliseconds. */
export const ClockContext = createContext(0);

export function useNow(): () => Date {
	const offsetMs = useContext(ClockContext);
	return () => new Date(Date.now() + offsetMs);
}
