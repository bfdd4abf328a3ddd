/** Milliseconds that this thread has used of a processor: other work on the machine does not count. */
export function processorMs(): number {
	const { user, system } = process.threadCpuUsage();
	return (user + system) / 1_000;
}
