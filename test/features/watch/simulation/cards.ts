import { FRESH_RATE, type RateState, takeCall } from '../../../../src/core/rate-limiter.ts';
import type { CardUrgency } from '../../../../src/database/watch.ts';
import { KEPT_FROM_CARDS, KEPT_FROM_PROGRESS, UPDATE_RATE } from '../../../../src/posts/outbox.ts';
import type { Agenda } from './agenda.ts';

interface Card {
	wanted: { urgency: CardUrgency; since: number } | null;
	/** The steps in the newest read, and the steps that the card shows. */
	read: number;
	shown: number;
}

/**
 * One card for each session under the shared rate of `chat.update`, in the order in which the outbox takes them: urgent
 * ones first, then the longest wanted.
 */
export function createVirtualCards(agenda: Agenda, count: number) {
	const cards = Array.from({ length: count }, (): Card => ({ wanted: null, read: 0, shown: 0 }));
	let rate: RateState = FRESH_RATE;
	let alarmAt = Number.POSITIVE_INFINITY;
	let wanted = 0;
	let sent = 0;
	let dropped = 0;

	function pump(): void {
		for (;;) {
			const next = first();
			if (next?.wanted == null) return;
			const keep = next.wanted.urgency === 'now' ? KEPT_FROM_CARDS : KEPT_FROM_PROGRESS;
			const decision = takeCall(rate, UPDATE_RATE, { now: agenda.now, keep });
			if (decision.waitMs > 0) {
				wakeAt(agenda.now + decision.waitMs);
				return;
			}
			rate = decision.state;
			next.wanted = null;
			next.shown = next.read;
			sent += 1;
		}
	}

	function first(): Card | undefined {
		let best: Card | undefined;
		for (const card of cards) if (card.wanted !== null && (best === undefined || goesBefore(card, best))) best = card;
		return best;
	}

	function wakeAt(at: number): void {
		if (at >= alarmAt) return;
		alarmAt = at;
		agenda.at(at, () => {
			if (agenda.now < alarmAt) return;
			alarmAt = Number.POSITIVE_INFINITY;
			pump();
		});
	}

	return {
		want(index: number, urgency: CardUrgency, steps: number): void {
			const card = cards[index] as Card;
			wanted += 1;
			card.read = steps;
			if (card.wanted === null) card.wanted = { urgency, since: agenda.now };
			else {
				dropped += 1;
				if (urgency === 'now') card.wanted.urgency = 'now';
			}
			pump();
		},
		shown: (index: number) => (cards[index] as Card).shown,
		figures: () => ({ wanted, sent, dropped }),
	};
}

function goesBefore(one: Card, other: Card): boolean {
	if (one.wanted === null || other.wanted === null) return one.wanted !== null;
	if (one.wanted.urgency !== other.wanted.urgency) return one.wanted.urgency === 'now';
	return one.wanted.since < other.wanted.since;
}
