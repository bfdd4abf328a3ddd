import { availableParallelism, cpus, loadavg } from 'node:os';

/** Of the last 1, 5 and 15 minutes. */
const load = () =>
	loadavg()
		.map((one) => one.toFixed(1))
		.join(' ');

const loadBefore = load();

/** What was measured on, and what else it had to do: since this process began, and now. */
export const machine = () =>
	`${availableParallelism()} × ${cpus()[0]?.model.trim()}, Node ${process.version}; load before ${loadBefore}, after ${load()}`;
