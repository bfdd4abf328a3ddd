import { setTimeout as pause } from 'node:timers/promises';
import type { FakeSlack } from '../../fake-slack/index.ts';

/** Calls of views.open, and of views.update, in a whole workspace: tier 4 (docs.slack.dev, "Rate limits"). */
const VIEWS_PER_MINUTE = 100;
const MINUTE_MS = 60_000;
const LOOK_EVERY_MS = 250;
/** One minute until earlier calls no longer count, and one for receipts that were refused before. */
const ROOM_WITHIN_MS = 150_000;

/** Views that Slack gets for one answer: its form, "arrived", "went on", and one more after a failure. */
export const VIEWS_PER_ANSWER = 4;
/**
 * How much later an author may be told while Slack refuses calls: two of its minutes, because others wait for the next
 * one too.
 */
export const RATES_ALLOWANCE_MS = 2 * MINUTE_MS;

/**
 * Forms are opened no faster than one workspace's rates allow, because a form that Slack does not show holds no answer
 * to lose. Receipts do not wait, so they do meet refused calls.
 */
export function watchRates({ slack }: { readonly slack: FakeSlack }, areReal: boolean) {
	const refusals = new WeakSet<object>();
	let refused = 0;
	slack.changes.listen((change) => {
		if (change.kind !== 'call') return;
		for (const entry of slack.traffic.all().slice(-100)) {
			if (entry.status !== 429 || refusals.has(entry)) continue;
			refusals.add(entry);
			refused++;
		}
	});

	function taken(method: string): number {
		const since = Date.now() - MINUTE_MS;
		return slack.traffic.calls(method).filter(({ at, status }) => at > since && status !== 429).length;
	}

	return {
		/** Calls refused with status 429 so far. */
		get refused(): number {
			return refused;
		},
		/** Resolves when Slack would take that many calls of views.open and views.update, or after some minutes. */
		async roomFor(views: number): Promise<void> {
			if (!areReal) return;
			const wanted = Math.min(views, VIEWS_PER_MINUTE);
			const isFull = () => ['views.open', 'views.update'].some((method) => taken(method) + wanted > VIEWS_PER_MINUTE);
			for (const end = Date.now() + ROOM_WITHIN_MS; isFull() && Date.now() < end; ) await pause(LOOK_EVERY_MS);
		},
	};
}
