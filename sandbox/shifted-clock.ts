/**
 * Loaded into the program (`node --import`) before its own modules. Its `Date` is ahead of the machine's by
 * CLOCK_OFFSET_MS, and jumps when the parent process sends another offset: as when a machine's clock is set. With
 * CLOCK_PASSES `performance.now()` jumps too, as if that time had passed. Timers do not change: the program looks for
 * what is due each second.
 */
const MachineDate = Date;
let offsetMs = Number(process.env.CLOCK_OFFSET_MS ?? 0);
const now = () => MachineDate.now() + offsetMs;

globalThis.Date = new Proxy(MachineDate, {
	construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
	apply: () => new MachineDate(now()).toString(),
	get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
});

if (process.env.CLOCK_PASSES !== undefined) {
	const machineUptime = performance.now.bind(performance);
	performance.now = () => machineUptime() + offsetMs;
}

process.on('message', (next: number) => {
	offsetMs = next;
	process.send?.(next);
});
// The listener must not keep the process alive.
process.channel?.unref();
