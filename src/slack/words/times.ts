/** For so long after a person was told that they are too fast, presses are refused silently. */
export const SILENT_AFTER_TELLING_MS = 30_000;

/**
 * A moment in each reader's time zone (`date` formatting of mrkdwn), with UTC as the fallback.
 * @param at milliseconds since the epoch; before 1970 and from the year 3000 on, the result is `at an unknown time`
 */
export function momentMrkdwn(at: number): string {
	if (!isMoment(at)) return 'at an unknown time';
	return `<!date^${Math.floor(at / 1000)}^{date_short_pretty} {time}|${momentText(at)}>`;
}

/** The same as plain text: `20 Nov 2026, 08:19 UTC`. */
export function momentText(at: number): string {
	if (!isMoment(at)) return 'at an unknown time';
	const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) (\d\d:\d\d)/.exec(new Date(at).toUTCString()) ?? [];
	return `${Number(day)} ${month} ${year}, ${time} UTC`;
}

/** As `momentMrkdwn`, to the second and without the day. */
export function secondMrkdwn(at: number): string {
	if (!isMoment(at)) return 'at an unknown time';
	return `<!date^${Math.ceil(at / 1000)}^{time_secs}|${secondText(at)}>`;
}

/** The same as plain text: `08:19:05 UTC`. */
export function secondText(at: number): string {
	return isMoment(at)
		? `${new Date(Math.ceil(at / 1000) * 1000).toISOString().slice(11, 19)} UTC`
		: 'at an unknown time';
}

/** `just now`, `5 min ago`, `3 h ago`, `2 days ago`. */
export function agoText(at: number, now: number): string {
	const ms = now - at;
	return ms < 60_000 ? 'just now' : `${durationText(ms)} ago`;
}

/** `40 s`, `5 min`, `2 h 5 min`, `3 days`. Milliseconds; never negative. */
export function durationText(ms: number): string {
	const seconds = Math.max(0, Math.round(ms / 1000));
	if (seconds < 60) return `${seconds} s`;
	const minutes = Math.floor(seconds / 60);
	if (minutes < 60) return `${minutes} min`;
	const hours = Math.floor(minutes / 60);
	if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
	return `${Math.floor(hours / 24)} days`;
}

/** Slack shows a time that it cannot format as raw `<!date…>`. */
function isMoment(at: number): boolean {
	return Number.isFinite(at) && at > 0 && at < 32_503_680_000_000;
}
