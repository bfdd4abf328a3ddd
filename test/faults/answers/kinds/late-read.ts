import { setTimeout as pause } from 'node:timers/promises';
import type { Harness } from '../../harness.ts';
import { until } from '../../until.ts';
import { savedOf, wordsForTheSecond } from '../receipt-watch.ts';
import type { FaultKind, Turn } from '../turn.ts';

/** Between the service's response to the first person's PUT and the stored delivery. */
const NOTED_MS = 60;

/**
 * The read for the second person's form begins before the first person's answer is delivered, and its response comes
 * after it.
 */
export const lateRead: FaultKind = {
	stores: ['sqlite', 'postgres'],
	async run(turn) {
		// The second person opens the form only once.
		await turn.room(turn.size);
		const pairs = Array.from({ length: Math.ceil(turn.size / 2) }, () => meet(turn));
		return (await Promise.all(pairs)).filter((met) => met).length;
	},
};

async function meet({ harness, begin, press }: Turn): Promise<boolean> {
	const first = await begin();
	const read = holdNextRead(harness, first.sessionId);
	// When the program gave up the read there is no form and nothing to judge.
	const opening = begin({ rivalOf: first, tries: 1 }).catch(() => null);
	// Slack may refuse even the loading view. Then nothing is read.
	await Promise.race([read.begun, opening]);
	// The program does not wait longer than that.
	const tooLate = pause(harness.callTimeoutMs * 0.8);
	const delivering = press(first).then(() => until(() => isAnswered(harness, first.sessionId), harness.callTimeoutMs));
	await Promise.race([tooLate, delivering.then(() => pause(NOTED_MS))]);
	const isLate = savedOf(harness, first).length > 0;
	read.release();
	const second = await opening;
	await delivering;
	if (second === null) return false;
	await press(second);
	const shown = second.modal.text();
	for (const words of wordsForTheSecond({ person: first.person, text: first.texts[0] ?? '' }, second.texts[0] ?? '')) {
		if (!shown.includes(words)) second.broken.push(`at the press it was not told "${words}" but:\n${shown}`);
	}
	return isLate;
}

/** The program has the response. */
function isAnswered({ service }: Harness, sessionId: string): boolean {
	return service.log.puts(sessionId).some((entry) => entry.answeredAt !== null);
}

/** The next read of this session gets its response worked out at once. The response is sent when it is released. */
function holdNextRead({ held }: Harness, sessionId: string): { readonly begun: Promise<void>; release(): void } {
	const begun = Promise.withResolvers<void>();
	const released = Promise.withResolvers<void>();
	held.set(sessionId, () => {
		held.delete(sessionId);
		begun.resolve();
		return released.promise;
	});
	return { begun: begun.promise, release: () => released.resolve() };
}
