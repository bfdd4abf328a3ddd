import { type Clock, systemClock } from '../../src/kernel/clock.ts';

/** The machine's clock with fractions of a millisecond, comparable across processes of one machine. */
export const preciseClock: Clock = {
	now: () => performance.timeOrigin + performance.now(),
	sleep: systemClock.sleep,
};
