import { describe, expect, it } from 'vitest';
import { judgeReminders, type Strike } from './judge.ts';
import type { AskedQuestion, SeenReminder } from './questions.ts';
import { USUAL } from './times.ts';

const ENDED_AT = 1_000_000;

/** Seconds after the post. */
const reminder = (seconds: number, more: Partial<SeenReminder> = {}): SeenReminder => ({
	at: seconds * 1_000,
	key: `key ${seconds}`,
	kind: seconds < 14 ? 'reminder' : 'escalation',
	isMarked: false,
	...more,
});
const ALL = [reminder(12), reminder(24), reminder(48), reminder(72)];

/** Of a question that was posted at 0. */
function judged(
	question: Partial<AskedQuestion>,
	{ strikes = [], historyReadable = true }: { strikes?: readonly Strike[]; historyReadable?: boolean } = {},
) {
	const asked = { title: 'Question?', askedAt: -1_000, postedAt: 0, answeredAt: null, toldAt: null, reminders: [] };
	return judgeReminders([{ ...asked, ...question }], {
		times: USUAL.times,
		strikes,
		historyReadable,
		endedAt: ENDED_AT,
	});
}

const FAULTLESS = { missed: 0, unmarkedRepeats: 0, markedRepeats: 0, afterAnswer: 0, problems: [] };

describe('the judge of reminders', () => {
	it.each<[string, Partial<AskedQuestion>, readonly number[]]>([
		['a reminder and three escalations', { reminders: ALL }, [10_000, 10_000, 10_000, 10_000]],
		[
			'escalations that began before the reminder came',
			{ reminders: [reminder(25), reminder(49), reminder(73)] },
			[10_000, 10_000, 23_000],
		],
		['no reminder after an early answer', { answeredAt: 5_000, toldAt: 8_000 }, []],
		['no escalation after an answer', { reminders: [reminder(12)], answeredAt: 40_000, toldAt: 45_000 }, [10_000]],
		['a reminder on its way at the answer', { reminders: [reminder(12)], answeredAt: 9_000, toldAt: 12_500 }, [10_000]],
	])('finds nothing wrong with %s', (_, question, delays) => {
		expect(judged(question)).toMatchObject({ ...FAULTLESS, reminders: delays.length, delays });
	});

	it('misses a question that was never posted', () => {
		expect(judged({ postedAt: null })).toMatchObject({ missed: 1 });
	});

	it.each([
		['the reminder', []],
		['the first escalation', ALL.slice(0, 1)],
		['the last escalation', ALL.slice(0, 3)],
	])('misses %s', (_which, reminders) => {
		expect(judged({ reminders })).toMatchObject({
			...FAULTLESS,
			missed: 1,
			problems: [expect.stringContaining('never')],
		});
	});

	it('misses a reminder that comes too late, unless a kill explains it', () => {
		const reminders = [reminder(100), reminder(124), reminder(148)];
		expect(judged({ reminders }).missed).toBe(1);
		expect(judged({ reminders }, { strikes: [{ at: 70_000, upAt: 70_000 }] })).toMatchObject({ missed: 0, struck: 1 });
		expect(judged({ reminders }, { strikes: [{ at: -40_000, upAt: -40_000 }] }).missed).toBe(1);
	});

	it('counts a second message of the same reminder, and asks for the mark', () => {
		const again = (isMarked: boolean) => [...ALL, reminder(73, { key: 'key 72', isMarked })];
		expect(judged({ reminders: again(false) })).toMatchObject({ unmarkedRepeats: 1, markedRepeats: 0 });
		expect(judged({ reminders: again(false) }, { historyReadable: false }).problems).toHaveLength(1);
		expect(judged({ reminders: again(true) })).toMatchObject({ unmarkedRepeats: 0, markedRepeats: 1 });
		expect(judged({ reminders: again(true) }).problems).toHaveLength(1);
		expect(judged({ reminders: again(true) }, { historyReadable: false }).problems).toEqual([]);
	});

	it('counts reminders that were not due as repeats, whatever their messages say', () => {
		expect(judged({ reminders: [reminder(12), reminder(12.5), ...ALL.slice(1)] }).unmarkedRepeats).toBeGreaterThan(0);
		expect(judged({ reminders: [...ALL, reminder(90)] })).toMatchObject({ unmarkedRepeats: 1 });
		expect(judged({ reminders: [reminder(0.5)], answeredAt: 1_000 })).toMatchObject({ unmarkedRepeats: 1 });
	});

	it('counts a reminder after the channel was told of the answer, and one long after the answer', () => {
		expect(judged({ reminders: [reminder(12)], answeredAt: 9_000, toldAt: 11_000 })).toMatchObject({ afterAnswer: 1 });
		expect(judged({ reminders: [reminder(12), reminder(30)], answeredAt: 13_000 })).toMatchObject({ afterAnswer: 1 });
	});
});
