import { textOf } from '../../fake-session-service/json.ts';
import { itemsOf, type LogEntry } from '../../fake-session-service/log.ts';
import type { Harness } from './harness.ts';

/** This machine made the service save one of several PUTs later than the call's time-out allows, so both count. */
export function isSavedTooLate({ callTimeoutMs }: Harness, saved: readonly LogEntry[]): boolean {
	return saved.length > 1 && saved.some(({ wallMs, savedWallMs }) => (savedWallMs ?? 0) - wallMs > callTimeoutMs);
}

/**
 * Judges what the service saved of one answer, or of all answers to one question: it is at most one, and goes over nobody's
 * answer. False: nothing was promised, because this machine made the service save later than the call's time-out allows.
 */
export function judgeSaved(
	harness: Harness,
	saved: readonly LogEntry[],
	count: { doubled: number; overwrites: number; tooLate: number },
	report: (what: string) => void,
): boolean {
	if (isSavedTooLate(harness, saved)) {
		count.tooLate++;
		return false;
	}
	if (saved.length > 1) {
		count.doubled++;
		report(`${saved.length} PUTs were saved`);
	}
	const replaced = saved.flatMap(replacedBy);
	if (replaced.length > 0) {
		count.overwrites++;
		report(`it went over "${replaced.join('", "')}"`);
	}
	return true;
}

/** Other values that this PUT replaced. */
function replacedBy(entry: LogEntry): string[] {
	const items = itemsOf(entry);
	return (entry.previous ?? []).flatMap((item, position) =>
		!item.value || item.value === items[position]?.value ? [] : [textOf(item)],
	);
}

/** What a request asked and what became of it, for the report of a problem. */
export function requestLine(entry: LogEntry, from: number): string {
	const saved = entry.savedAt === null ? '' : ` saved ${entry.savedAt - from}`;
	const end = entry.reset ? 'reset' : `${entry.status ?? 'no answer'}`;
	const value = entry.kind === 'answer' ? ` "${itemsOf(entry)[0]?.value}"` : '';
	return `    ${entry.at - from} ms ${entry.kind}${value} [${entry.faults.join(' ')}] ${end}${saved}`;
}
