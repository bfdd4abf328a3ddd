import { describe, expect, it } from 'vitest';

import type { Subject } from '../contract.ts';
import { ANN, BOB, SERVICE, T0 } from '../support.ts';
import { ASKED, news, read, settled, watchActs } from './watch-acts.ts';

const session = { service: SERVICE, sessionId: 's1' };
const MINUTE = 60_000;

export function describeSnoozes(subject: Subject): void {
	const store = () => subject.store.inboxes;
	const replica = () => subject.replica.inboxes;
	const snooze = (until: number, overrides = {}) =>
		store().snooze({ person: ANN, session, fingerprint: 'f1', until, ...overrides });

	describe('snoozes', () => {
		it('are those of one person, one for each session', async () => {
			await snooze(T0 + 15 * MINUTE);
			await snooze(T0 + 60 * MINUTE, { fingerprint: 'f2' });
			await snooze(T0 + 30 * MINUTE, { session: { ...session, sessionId: 's2' } });
			await snooze(T0 + 45 * MINUTE, { person: BOB });
			const anns = await replica().snoozes(SERVICE, ANN);
			expect(anns.toSorted((one, other) => one.until - other.until)).toEqual([
				{ person: ANN, session: { ...session, sessionId: 's2' }, fingerprint: 'f1', until: T0 + 30 * MINUTE },
				{ person: ANN, session, fingerprint: 'f2', until: T0 + 60 * MINUTE },
			]);
			expect(await replica().snoozes('https://other.example', ANN)).toEqual([]);
		});

		it('of a person end together, those of others stay', async () => {
			await snooze(T0 + 15 * MINUTE);
			await snooze(T0 + 15 * MINUTE, { person: BOB });
			await replica().endSnoozes(SERVICE, ANN);
			await replica().endSnoozes(SERVICE, ANN);
			expect(await store().snoozes(SERVICE, ANN)).toEqual([]);
			expect(await store().snoozes(SERVICE, BOB)).toHaveLength(1);
		});

		it('of a question end when it is settled, not when one of its watches ends', async () => {
			const acts = watchActs(subject);
			const [one, two] = [await acts.added(), await acts.added({ channelId: 'C2' })];
			await snooze(T0 + 15 * MINUTE);
			await snooze(T0 + 15 * MINUTE, { person: BOB });
			await snooze(T0 + 15 * MINUTE, { session: { ...session, sessionId: 's2' } });
			const end = { now: T0, posts: [], keepPending: false } as const;
			await subject.store.watches.end(one.id, 'unwatched', end);
			expect(await replica().snoozes(SERVICE, BOB)).toHaveLength(1);
			const again = { nextRead: { at: T0, by: T0 } };
			await acts.recorded([news(two)], read({ ...again, questions: [ASKED] }));
			expect(await replica().snoozes(SERVICE, BOB)).toHaveLength(1);
			await acts.recorded([], read({ ...again, questions: [settled('answered')] }));
			expect(await replica().snoozes(SERVICE, BOB)).toEqual([]);
			const anns = await replica().snoozes(SERVICE, ANN);
			expect(anns.map((snooze) => snooze.session.sessionId)).toEqual(['s2']);
		});

		it('are forgotten after their end', async () => {
			await snooze(T0 + 15 * MINUTE);
			expect(await replica().removeEndedSnoozes(T0 + 15 * MINUTE - 1)).toBe(0);
			expect(await replica().removeEndedSnoozes(T0 + 15 * MINUTE)).toBe(1);
		});
	});
}
