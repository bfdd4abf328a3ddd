import { expect, it } from 'vitest';
import { type Decision, decide, type LadderFacts, MOST_ESCALATIONS } from '../../../src/surfaces/reminders.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** A Friday, 11:00 in Berlin. */
const POSTED = Date.UTC(2026, 10, 20, 10);
const NIGHT = { days: [1, 2, 3, 4, 5, 6, 7], from: '22:00', to: '08:00', timeZone: 'Europe/Berlin' } as const;

interface Known extends Partial<Omit<LadderFacts, 'ladder'>> {
	readonly ladder?: Partial<LadderFacts['ladder']>;
}

/** The decision at `now` about a question that was posted at `POSTED` and was read just now. */
function decided(now: number, { ladder, ...known }: Known = {}): Decision {
	return decide(
		{
			ladder: {
				watchId: 'w1',
				channel: { teamId: 'T1', channelId: 'C1' },
				session: { service: 'https://service.example', sessionId: 's1' },
				questionId: 'q1',
				postTs: '1.2',
				postedAt: POSTED,
				remindedAt: null,
				escalationCount: 0,
				lastReminderAt: null,
				isSending: false,
				reminderDueAt: null,
				heldBy: null,
				waiting: null,
				...ladder,
			},
			times: { remindAfterMs: 15 * MINUTE, escalateAfterMs: HOUR },
			quietHours: null,
			settingsChangedAt: null,
			isOpen: true,
			hasGoneOn: false,
			isLost: false,
			isAnswered: false,
			claim: null,
			readAt: now,
			isFailing: false,
			...known,
		},
		now,
	);
}

const ringing = (reminderDueAt: number) => ({ kind: 'remind', reminderDueAt });
const waiting = (dueAt: number | null) => ({ kind: 'wait', dueAt });

const REMINDED = { remindedAt: POSTED + 15 * MINUTE, lastReminderAt: POSTED + 15 * MINUTE };

it('waits for the reminder, rings it, and waits for the escalation', () => {
	expect(decided(POSTED)).toMatchObject(waiting(POSTED + 15 * MINUTE));
	expect(decided(POSTED + 15 * MINUTE)).toEqual({
		kind: 'remind',
		stage: 'reminder',
		reminderDueAt: POSTED + 15 * MINUTE,
	});
	expect(decided(POSTED + 16 * MINUTE, { ladder: REMINDED })).toMatchObject(waiting(POSTED + HOUR));
	const escalated = decided(POSTED + HOUR, { ladder: REMINDED });
	expect(escalated).toEqual({ kind: 'remind', stage: 'escalation', reminderDueAt: POSTED + HOUR });
});

it('counts each repetition from the last escalation, and ends after three', () => {
	const lastReminderAt = POSTED + HOUR + 5 * MINUTE;
	const once = { ...REMINDED, escalationCount: 1, lastReminderAt };
	expect(decided(POSTED + 2 * HOUR, { ladder: once })).toMatchObject(waiting(lastReminderAt + HOUR));
	expect(decided(lastReminderAt + HOUR, { ladder: once })).toMatchObject({ kind: 'remind', stage: 'escalation' });
	const all = { ...once, escalationCount: MOST_ESCALATIONS };
	expect(decided(lastReminderAt + HOUR, { ladder: all })).toMatchObject(waiting(null));
});

it('rings the escalation alone when the reminder is due too', () => {
	expect(decided(POSTED + 2 * HOUR)).toMatchObject({ kind: 'remind', stage: 'escalation' });
});

it.each<[string, Known, number | null]>([
	['no reminder', { times: { remindAfterMs: null, escalateAfterMs: HOUR } }, POSTED + HOUR],
	['no escalation', { times: { remindAfterMs: 15 * MINUTE, escalateAfterMs: null } }, POSTED + 15 * MINUTE],
	['neither', { times: { remindAfterMs: null, escalateAfterMs: null } }, null],
])('waits for what the settings name: %s', (_, known, until) => {
	expect(decided(POSTED, known)).toMatchObject(waiting(until));
});

it('is over when the question is settled', () => {
	expect(decided(POSTED + HOUR, { isOpen: false })).toEqual({ kind: 'over' });
});

it('rings nobody while an answer is on its way, and is not late for that when it is taken back', () => {
	const now = POSTED + 2 * HOUR;
	const waits = decided(now, { isAnswered: true });
	expect(waits).toMatchObject({ kind: 'wait', dueAt: now + 10_000, reminderDueAt: now + 10_000 });
	const takenBack = decided(now + 6_000, { ladder: { reminderDueAt: now + 10_000 } });
	expect(takenBack).toMatchObject(ringing(now + 6_000));
});

it('is due at the change of settings that makes it due', () => {
	const now = POSTED + 2 * HOUR;
	expect(decided(now, { settingsChangedAt: now - 1_000 })).toMatchObject(ringing(now - 1_000));
	expect(decided(now, { settingsChangedAt: POSTED })).toMatchObject(ringing(POSTED + HOUR));
});

it('waits for a read before it rings', () => {
	const now = POSTED + 15 * MINUTE;
	const waits = { kind: 'unread', dueAt: now + 1_000, reminderDueAt: now };
	expect(decided(now, { readAt: now - 10_001 })).toMatchObject(waits);
	expect(decided(now, { readAt: null })).toMatchObject(waits);
	expect(decided(now + 3_000, { ladder: { reminderDueAt: now } })).toMatchObject(ringing(now));
});

it('needs no second read while it waits for other reminders', () => {
	const due = POSTED + 15 * MINUTE;
	const ladder = { reminderDueAt: due };
	expect(decided(due + 20_000, { ladder, readAt: due - 9_000 })).toMatchObject(ringing(due));
	expect(decided(due + 31_000, { ladder, readAt: due })).toMatchObject({ kind: 'unread' });
});

it('rings nobody while the service is away, and is not late for that', () => {
	const now = POSTED + HOUR;
	const waits = decided(now, { isFailing: true });
	expect(waits).toMatchObject({ kind: 'unread', dueAt: now + 5_000, reminderDueAt: now });
	const again = decided(now + 25_000, { isFailing: true, ladder: { reminderDueAt: now } });
	expect(again).toMatchObject({ kind: 'unread', dueAt: now + 30_000 });
});

it('waits for no further reminders when the service is back, unless it has just fallen due', () => {
	const due = POSTED + HOUR;
	const long = decided(due + 25_000, { isFailing: true, ladder: { reminderDueAt: due } });
	expect(long).toMatchObject({ reminderDueAt: due + 15_000 });
	const back = decided(due + 26_000, { ladder: { reminderDueAt: due + 15_000 } });
	expect(back).toMatchObject(ringing(due + 15_000));
	expect(decided(due + 4_000, { isFailing: true, ladder: { reminderDueAt: due } })).toMatchObject({
		reminderDueAt: due,
	});
});

it('waits while somebody is answering, and then says who', () => {
	const now = POSTED + 15 * MINUTE;
	const until = now + 3 * MINUTE;
	const held = { kind: 'wait', dueAt: until, reminderDueAt: until, heldBy: 'U1' };
	expect(decided(now, { claim: { userId: 'U1', until } })).toEqual(held);
	const ladder = { reminderDueAt: until, heldBy: 'U1' };
	expect(decided(until, { ladder })).toMatchObject(ringing(until));
	// The person closed the form before the end of their time.
	expect(decided(now + MINUTE, { ladder })).toMatchObject(ringing(now + MINUTE));
});

it('rings once at the end of the quiet hours for all that was due in them', () => {
	const evening = Date.UTC(2026, 10, 20, 20, 30);
	const morning = Date.UTC(2026, 10, 21, 7);
	const known = { ladder: { postedAt: evening }, quietHours: NIGHT };
	expect(decided(evening, known)).toMatchObject(waiting(evening + 15 * MINUTE));
	const reminded = { postedAt: evening, remindedAt: evening + 15 * MINUTE, lastReminderAt: evening + 15 * MINUTE };
	expect(decided(evening + HOUR, { ...known, ladder: reminded })).toMatchObject(waiting(morning));
	expect(decided(morning, known)).toEqual({ kind: 'remind', stage: 'escalation', reminderDueAt: morning });
	expect(
		decided(morning + 1_000, { ...known, ladder: { ...reminded, escalationCount: 1, lastReminderAt: morning } }),
	).toMatchObject(waiting(morning + HOUR));
});

it('does not ring in quiet hours that begin while it is late', () => {
	const night = Date.UTC(2026, 10, 20, 22);
	expect(decided(night, { quietHours: NIGHT })).toMatchObject(waiting(Date.UTC(2026, 10, 21, 7)));
});
