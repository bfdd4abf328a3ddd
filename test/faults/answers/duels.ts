import { setTimeout as pause } from 'node:timers/promises';
import { itemsOf } from '../../../sandbox/session-service/log.ts';
import { headline } from '../../support/sentences.ts';
import type { Part } from '../harness.ts';
import { violationsOf } from '../harness.ts';
import { addSession, openForm } from './round.ts';

export interface DuelsResult {
	readonly duels: number;
	/**
	 * Duels with one PUT, in which the other person was told who was first and what they said, and kept their own text.
	 */
	readonly clean: number;
	/** How often the press that was sent second won. */
	readonly upsets: number;
	readonly problems: readonly string[];
	readonly seconds: number;
}

/** A second PUT for the question would come within this time after the last submission. */
const SETTLE_WITHIN_MS = 40_000;

/** What the second person is shown: who answered (`first`), what that answer says, and what they wrote themselves. */
export function wordsForTheSecond(first: { readonly person: string; readonly text: string }, own: string): string[] {
	return [headline('conflicted'), `@${first.person}`, first.text, own];
}

/** Two people submit an answer to the same question at the same moment, again and again. Nothing else goes wrong. */
export async function runDuels({
	harness,
	duels,
	batch,
	random,
	onProgress = () => {},
}: Part & { readonly duels: number }): Promise<DuelsResult> {
	const { service, slack, store, people } = harness;
	const started = performance.now();
	const problems: string[] = [];
	const broken = new Set<string>();
	let upsets = 0;
	await harness.startAll();

	function report(sessionId: string, what: string): void {
		broken.add(sessionId);
		problems.push(`${sessionId}: ${what}`);
	}

	async function duel(number: number): Promise<void> {
		const sessionId = `d${number}x`;
		addSession(harness, sessionId);
		const place = (number * 2) % (people.length - 1);
		const names = [people[place] ?? '', people[place + 1] ?? ''] as const;
		const texts = names.map((name) => `${name} says ${sessionId}`);
		const forms = await Promise.all(
			names.map((name, index) => openForm(harness, { sessionId, person: name, text: texts[index] ?? '' })),
		);
		const order = random.chance(0.5) ? [0, 1] : [1, 0];
		const outcomes = await Promise.all(order.map(async (index) => forms[index]?.modal.submit()));
		const [first = 0] = order;
		if (outcomes.some((outcome) => outcome?.outcome !== 'updated')) {
			report(sessionId, `a submission ended with ${outcomes.map((outcome) => outcome?.outcome).join(' and ')}`);
			return;
		}
		await service.sessions.until(sessionId, (json) => json.messages?.[1]?.human_input?.[0]?.value !== '');
		const sent = service.sessions.values(sessionId, 1)[0] ?? '';
		const winner = texts.indexOf(sent);
		const loser = 1 - winner;
		if (winner !== first) upsets++;
		// The acknowledgement already showed the second person everything.
		const shown = forms[loser]?.modal.text() ?? '';
		for (const words of wordsForTheSecond({ person: names[winner] ?? '', text: sent }, texts[loser] ?? '')) {
			if (!shown.includes(words)) report(sessionId, `the second person is not shown "${words}" but:\n${shown}`);
		}
	}

	for (let number = 0; number < duels; number += batch) {
		const numbers = Array.from({ length: Math.min(batch, duels - number) }, (_, index) => number + index);
		await harness.rates.roomFor(numbers.length * 2);
		await Promise.all(numbers.map(duel));
		onProgress(`${number + numbers.length} of ${duels} duels, ${broken.size} broken`);
		slack.forgetViews(Object.keys(slack.state.views));
	}

	const until = Date.now() + SETTLE_WITHIN_MS;
	while (Date.now() < until && (await store.unfinished()) !== 0) await pause(250);
	for (let number = 0; number < duels; number++) {
		const sessionId = `d${number}x`;
		const puts = service.log.puts(sessionId);
		if (puts.length === 1) continue;
		report(sessionId, `${puts.length} PUTs: ${puts.map((entry) => itemsOf(entry)[0]?.value).join(', ')}`);
	}
	return {
		duels,
		clean: duels - broken.size,
		upsets,
		problems: [...problems, ...violationsOf(harness)],
		seconds: (performance.now() - started) / 1000,
	};
}
