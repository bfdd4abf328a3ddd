/**
 * Watches the longest turn of this thread's event loop, in milliseconds of the processor: other work on the machine does not
 * count. Ends with `using`.
 */
export function watchTurns() {
	let longest = 0;
	const used = () => {
		const { user, system } = process.threadCpuUsage();
		return (user + system) / 1_000;
	};
	let before = used();
	const timer = setInterval(() => {
		const now = used();
		longest = Math.max(longest, now - before);
		before = now;
	}, 1);
	return {
		longest: () => longest,
		[Symbol.dispose]: () => clearInterval(timer),
	};
}
