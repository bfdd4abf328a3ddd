/**
 * Whether a time that was noted for later has come. One that is further ahead than `longestMs`, the longest for which
 * anything of its kind is put off, was noted before the clock was put back: it counts as come.
 */
export function hasCome(at: number, now: number, longestMs: number): boolean {
	return at <= now || at > now + longestMs;
}
