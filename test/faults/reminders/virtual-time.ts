import { createManualClock, type ManualClock } from '../../../fake-slack/index.ts';
import type { Clock } from '../../../src/kernel/basics.ts';
import { createAgenda } from './agenda.ts';

/** A time that jumps to the next event or sleeper as soon as no call is under way. */
export function createVirtualTime(start: number) {
	const agenda = createAgenda(start);
	const clocks = new Set<ManualClock>();
	let now = start;
	let callCount = 0;
	let onLastCall: () => void = () => {};

	/** Until no call is under way. What waited for a call has run by then. */
	async function quiet(): Promise<void> {
		for (;;) {
			await new Promise<void>((resolve) => setImmediate(resolve));
			if (callCount === 0) return;
			await new Promise<void>((resolve) => {
				onLastCall = resolve;
			});
		}
	}

	function nextAt(): number | null {
		const times = [agenda.nextAt, ...Array.from(clocks, ({ nextWake }) => nextWake)].filter((time) => time !== null);
		return times.length === 0 ? null : Math.min(...times);
	}

	return {
		/** Milliseconds since the epoch. */
		now: () => now,
		/** Runs `event` at that time. What it awaits goes on while time passes. */
		at: (time: number, event: () => void): void => agenda.at(Math.max(now, Math.round(time)), event),
		/** Sleeps outside of the program, and longer than it lives. */
		sleep: (ms: number) => new Promise<void>((resolve) => agenda.at(now + Math.max(0, Math.round(ms)), resolve)),
		/** The clock of a process that starts now. `stop`: it stands still from now on, and its sleepers never wake. */
		startClock() {
			const clock = createManualClock(now);
			clocks.add(clock);
			// Whole milliseconds, as machines give them and PostgreSQL needs them.
			const sleep: Clock['sleep'] = (ms, signal) => clock.sleep(Math.ceil(ms), signal);
			return { clock: { now: clock.now, sleep }, stop: () => clocks.delete(clock) };
		},
		/** Time stands still until this call ends, because it works in real time. */
		async during<T>(call: Promise<T>): Promise<T> {
			callCount += 1;
			try {
				return await call;
			} finally {
				callCount -= 1;
				if (callCount === 0) onLastCall();
			}
		},
		/** Lets time pass until `isOver` holds. */
		async pass(isOver: () => boolean): Promise<void> {
			for (;;) {
				await quiet();
				if (isOver()) return;
				const at = nextAt();
				if (at === null) throw new Error('Nothing is left to happen.');
				now = at;
				for (const clock of clocks) await clock.advance(at - clock.now());
				while (agenda.nextAt !== null && agenda.nextAt <= at) agenda.runNext();
			}
		},
	};
}

export type VirtualTime = ReturnType<typeof createVirtualTime>;
