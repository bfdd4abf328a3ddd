import { expect, it } from 'vitest';
import { type Decision, decide, MOST_ESCALATIONS, type QuestionReminders } from '../../../src/surfaces/reminders.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** A Friday, 11:00 in Berlin. */
const POSTED = Date.UTC(2026, 10, 20, 10);
const NIGHT = { days: [1, 2, 3, 4, 5, 6, 7], from: '22:00', to: '08:00', timeZone: 'Europe/Berlin' } as const;

const claimOf = (userId: string, until: number) => ({
	question: { service: 'https://service.example', sessionId: 's1', messageIndex: 1 },
	person: { teamId: 'T1', userId },
	until,
});

/** The decision at `now` about a question that was posted at `POSTED` and was read just now. */
function decided(now: number, known: Partial<QuestionReminders> = {}): Decision {
	return decide(
		{
			remindSince: POSTED,
			remindedAt: null,
			escalationCount: 0,
			lastReminderAt: null,
			noted: null,
			times: { remindAfterMs: 15 * MINUTE, escalateAfterMs: HOUR },
			quietHours: null,
			settingsChangedAt: null,
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

const ringing = (dueAt: number) => ({ kind: 'remind', dueAt });
const waiting = (lookAt: number | null) => ({ kind: 'later', lookAt });
/** A reminder as it was noted while it waited. */
const since = (dueAt: number, heldBy: string | null = null) => ({ noted: { dueAt, heldBy } });

const REMINDED = { remindedAt: POSTED + 15 * MINUTE, lastReminderAt: POSTED + 15 * MINUTE };

it('waits for the reminder, rings it, and waits for the escalation', () => {
	expect(decided(POSTED)).toMatchObject(waiting(POSTED + 15 * MINUTE));
	const dueAt = POSTED + 15 * MINUTE;
	expect(decided(dueAt)).toEqual({ kind: 'remind', stage: 'reminder', dueAt, heldBy: null });
	expect(decided(POSTED + 16 * MINUTE, REMINDED)).toMatchObject(waiting(POSTED + HOUR));
	const escalated = decided(POSTED + HOUR, REMINDED);
	expect(escalated).toMatchObject({ kind: 'remind', stage: 'escalation', dueAt: POSTED + HOUR });
});

it('counts each repetition from the last escalation, and ends after three', () => {
	const lastReminderAt = POSTED + HOUR + 5 * MINUTE;
	const once = { ...REMINDED, escalationCount: 1, lastReminderAt };
	expect(decided(POSTED + 2 * HOUR, once)).toMatchObject(waiting(lastReminderAt + HOUR));
	expect(decided(lastReminderAt + HOUR, once)).toMatchObject({ kind: 'remind', stage: 'escalation' });
	const all = { ...once, escalationCount: MOST_ESCALATIONS };
	expect(decided(lastReminderAt + HOUR, all)).toMatchObject(waiting(null));
});

it('rings the escalation alone when the reminder is due too', () => {
	expect(decided(POSTED + 2 * HOUR)).toMatchObject({ kind: 'remind', stage: 'escalation' });
});

it.each<[string, Partial<QuestionReminders>, number | null]>([
	['no reminder', { times: { remindAfterMs: null, escalateAfterMs: HOUR } }, POSTED + HOUR],
	['no escalation', { times: { remindAfterMs: 15 * MINUTE, escalateAfterMs: null } }, POSTED + 15 * MINUTE],
	['neither', { times: { remindAfterMs: null, escalateAfterMs: null } }, null],
])('waits for what the settings name: %s', (_, known, until) => {
	expect(decided(POSTED, known)).toMatchObject(waiting(until));
});

it('rings nobody while an answer is on its way, and is not late for that when it is taken back', () => {
	const now = POSTED + 2 * HOUR;
	const waits = decided(now, { isAnswered: true });
	expect(waits).toMatchObject({ kind: 'held', lookAt: now + 10_000, dueAt: now + 10_000 });
	const takenBack = decided(now + 6_000, since(now + 10_000));
	expect(takenBack).toMatchObject(ringing(now + 6_000));
});

it('is due at the change of settings that makes it due', () => {
	const now = POSTED + 2 * HOUR;
	expect(decided(now, { settingsChangedAt: now - 1_000 })).toMatchObject(ringing(now - 1_000));
	expect(decided(now, { settingsChangedAt: POSTED })).toMatchObject(ringing(POSTED + HOUR));
});

it('waits for a read before it rings', () => {
	const now = POSTED + 15 * MINUTE;
	const waits = { kind: 'unread', lookAt: now + 1_000, dueAt: now };
	expect(decided(now, { readAt: now - 10_001 })).toMatchObject(waits);
	expect(decided(now, { readAt: null })).toMatchObject(waits);
	expect(decided(now + 3_000, since(now))).toMatchObject(ringing(now));
});

it('needs no second read while it waits for other reminders', () => {
	const due = POSTED + 15 * MINUTE;
	expect(decided(due + 20_000, { ...since(due), readAt: due - 9_000 })).toMatchObject(ringing(due));
	expect(decided(due + 31_000, { ...since(due), readAt: due })).toMatchObject({ kind: 'unread' });
});

it('rings nobody while the service is away, and is not late for that', () => {
	const now = POSTED + HOUR;
	const waits = decided(now, { isFailing: true });
	expect(waits).toMatchObject({ kind: 'unread', lookAt: now + 5_000, dueAt: now });
	const again = decided(now + 25_000, { isFailing: true, ...since(now) });
	expect(again).toMatchObject({ kind: 'unread', lookAt: now + 30_000 });
});

it('waits for no further reminders when the service is back, unless it has just fallen due', () => {
	const due = POSTED + HOUR;
	const long = decided(due + 25_000, { isFailing: true, ...since(due) });
	expect(long).toMatchObject({ dueAt: due + 15_000 });
	const back = decided(due + 26_000, since(due + 15_000));
	expect(back).toMatchObject(ringing(due + 15_000));
	expect(decided(due + 4_000, { isFailing: true, ...since(due) })).toMatchObject({ dueAt: due });
});

it('waits while somebody is answering, and then says who', () => {
	const now = POSTED + 15 * MINUTE;
	const until = now + 3 * MINUTE;
	const held = { kind: 'held', lookAt: until, dueAt: until, heldBy: 'U1' };
	expect(decided(now, { claim: claimOf('U1', until) })).toMatchObject(held);
	expect(decided(until, since(until, 'U1'))).toMatchObject({ ...ringing(until), heldBy: 'U1' });
	// The person closed the form before the end of their time.
	expect(decided(now + MINUTE, since(until, 'U1'))).toMatchObject(ringing(now + MINUTE));
});

it('rings once at the end of the quiet hours for all that was due in them', () => {
	const evening = Date.UTC(2026, 10, 20, 20, 30);
	const morning = Date.UTC(2026, 10, 21, 7);
	const known = { remindSince: evening, quietHours: NIGHT };
	expect(decided(evening, known)).toMatchObject(waiting(evening + 15 * MINUTE));
	const reminded = { ...known, remindedAt: evening + 15 * MINUTE, lastReminderAt: evening + 15 * MINUTE };
	expect(decided(evening + HOUR, reminded)).toMatchObject(waiting(morning));
	expect(decided(morning, known)).toMatchObject({ kind: 'remind', stage: 'escalation', dueAt: morning });
	expect(decided(morning + 1_000, { ...reminded, escalationCount: 1, lastReminderAt: morning })).toMatchObject(
		waiting(morning + HOUR),
	);
});

it('does not ring in quiet hours that begin while it is late', () => {
	const night = Date.UTC(2026, 10, 20, 22);
	expect(decided(night, { quietHours: NIGHT })).toMatchObject(waiting(Date.UTC(2026, 10, 21, 7)));
});
