import { describe, expect, it } from 'vitest';
import {
	type Arrived,
	askedAgain,
	type Evidence,
	evidence as evidenceSchema,
	isBefore,
	NOTHING_SEEN,
	type Sighting,
	sightingOf,
	verdictOf,
	withArrival,
	withSighting,
} from '../../src/domain/asked.ts';
import { buildSession, saying } from '../support/sessions.ts';
import { asking } from './sessions.ts';

/** What happens to one time that an agent asks: a read shows it, or an answer of ours arrives. */
type Event = (before: Evidence) => { readonly found: Evidence; readonly seen: Sighting | null };

/** `steps`: messages of the agent after the one that asks. `steadySecond`: when the clock was set. */
interface Shown {
	readonly status: string;
	readonly values?: readonly string[];
	readonly steps?: number;
	readonly steadySecond?: number;
}

/** A read that began at this second. */
function read(second: number, { status, values = [''], steps = 0, steadySecond }: Shown): Event {
	const messages = [asking(values), ...Array.from({ length: steps }, () => saying('step'))];
	const steady = steadySecond === undefined ? {} : { steadySince: steadySecond * 1_000 };
	const seen = sightingOf(buildSession({ status, messages }), 0, { readAt: second * 1_000, arrival: null, ...steady });
	return (before) => ({ found: withSighting(before, seen), seen });
}
const reading =
	(status: string) =>
	(second: number, values: readonly string[] = [''], steps = 0) =>
		read(second, { status, values, steps });
const [waits, active, paused, inactive] = [
	reading('humanInput'),
	reading('active'),
	reading('paused'),
	reading('inactive'),
];

const NONE: readonly number[] = [];
const OURS: Arrived = { answerId: 'a1', number: 1, at: 0, steps: 0, isPerhaps: false, filled: [0] };

/** Our answer arrives at this second. `steps`: as the read before its PUT showed. */
function ours(
	second: number,
	{ steps = 0, filled = [0], leftEmpty = NONE, isPerhaps = false, answerId = 'a1' } = {},
): Event {
	const value = { ...OURS, answerId, at: second * 1_000, steps, isPerhaps, filled };
	return (before) => ({ found: withArrival(before, value, { filled: [], leftEmpty }), seen: null });
}
const perhaps = (second: number, steps = 0) => ours(second, { steps, isPerhaps: true });

/** The evidence after these events, and what each read meant. `isHeld`: an answer is live. */
function play(events: readonly Event[], isHeld = false) {
	let found = NOTHING_SEEN;
	let newest: Sighting | null = null;
	const verdicts = events.flatMap((event) => {
		const { seen, found: after } = event(found);
		// As it is stored.
		found = evidenceSchema.parse(JSON.parse(JSON.stringify(after)));
		newest = seen ?? newest;
		return seen === null ? [] : [verdictOf(found, seen, isHeld)];
	});
	return { verdicts, found, seen: newest as Sighting | null };
}

const told = (...events: readonly Event[]) => play(events).verdicts.join();

describe('the rule', () => {
	it.each<[string, Event[], string]>([
		['asks: nothing was in the field, whatever the status', [active(0), paused(100), waits(200)], 'asks,asks,asks'],
		[
			'asks: an agent that never waited visibly, however far it goes',
			[active(0), active(40, [''], 4), active(9_999, [''], 90)],
			'asks,asks,asks',
		],

		[
			'went on: two active reads 30 s apart with a new message, after it had waited',
			[waits(0), active(1, [''], 1), active(30, [''], 4), active(31, [''], 4)],
			'asks,asks,asks,wentOn',
		],
		['went on: not without a message', [waits(0), active(1), active(99)], 'asks,asks,asks'],
		[
			'went on: nor by one that it wrote while it waited',
			[waits(0), waits(1, [''], 1), active(2, [''], 1), active(99, [''], 1)],
			'asks,asks,asks,asks',
		],
		[
			'went on: from the first active read with the message',
			[waits(0), active(1), active(40, [''], 1), active(69, [''], 1), active(70, [''], 1)],
			'asks,asks,asks,asks,wentOn',
		],
		[
			'went on: not if it waited or was paused between',
			[
				waits(0),
				active(1, [''], 1),
				paused(20, [''], 1),
				active(31, [''], 1),
				waits(40, [''], 1),
				active(62, [''], 2),
				active(91, [''], 2),
				active(92, [''], 2),
			],
			'asks,asks,asks,asks,asks,asks,asks,wentOn',
		],
		[
			'went on: until it waits again',
			[waits(0), active(1, [''], 1), active(31, [''], 1), waits(32, [''], 1), active(33, [''], 1)],
			'asks,asks,wentOn,asks,asks',
		],
		['went on: not while paused', [waits(0), paused(1, [''], 1), paused(99, [''], 1)], 'asks,asks,asks'],

		['answered: a read shows a value', [waits(0), waits(1, ['x']), active(2, ['x'])], 'asks,answered,answered'],
		['answered: ours arrived', [waits(0), ours(1), waits(2, ['ours'])], 'asks,answered'],
		[
			'answered: an emptied field changes nothing',
			[waits(0), waits(1, ['x']), active(2), active(999)],
			'asks,answered,answered,answered',
		],
		[
			'answered: also of an agent that waits on for less than a minute',
			[waits(0), ours(1), waits(2), waits(61)],
			'asks,answered,answered',
		],
		[
			'answered: no status says that it continued',
			[waits(0), ours(1), paused(2), active(3), inactive(4), active(999)],
			'asks,answered,answered,answered,answered',
		],
		['answered: one item of several is enough', [waits(0, ['', '']), active(1, ['x', ''])], 'asks,answered'],

		[
			'continued: the agent wrote a message after ours',
			[waits(0), ours(1), active(2, ['ours'], 1), active(3, [''], 1)],
			'asks,continued,continued',
		],
		['continued: in any status but humanInput', [waits(0), ours(1), paused(2, [''], 1)], 'asks,continued'],
		[
			'continued: not one that was there before our PUT',
			[waits(0, [''], 2), ours(1, { steps: 2 }), active(2, [''], 2), active(3, [''], 3)],
			'asks,answered,continued',
		],
		[
			'continued: not while it waits',
			[waits(0), ours(1), waits(2, ['ours'], 1), active(3, ['ours'], 1)],
			'asks,answered,continued',
		],
		[
			'continued: nor by a message that the read which found a value from elsewhere showed',
			[waits(0), active(1, ['x'], 1), active(2, ['x'], 1), active(3, ['x'], 2)],
			'asks,answered,answered,continued',
		],
		[
			'continued: stays so while it waits, until it asks again',
			[waits(0), ours(1), active(2, [''], 1), waits(3, [''], 1), waits(12, [''], 1), waits(13, [''], 1)],
			'asks,continued,continued,continued,askedAgain',
		],

		[
			'again: it waits beside the empty field for 60 s',
			[waits(0), ours(1), waits(2), waits(61), waits(62)],
			'asks,answered,answered,askedAgain',
		],
		[
			'again: so for a value from elsewhere',
			[waits(0), waits(1, ['x']), waits(2), waits(61), waits(62)],
			'asks,answered,answered,answered,askedAgain',
		],
		[
			'again: from when the field was found empty',
			[waits(0), ours(1), waits(600, ['ours']), waits(601), waits(660), waits(661)],
			'asks,answered,answered,answered,askedAgain',
		],
		['again: not by one read after a long gap', [waits(0), ours(1), waits(600), waits(609)], 'asks,answered,answered'],
		[
			'again: after 10 s where an earlier read since the value showed another status',
			[waits(0), ours(1), active(2), waits(11), waits(20), waits(21)],
			'asks,answered,answered,answered,askedAgain',
		],
		[
			'again: after 10 s also where only one of the empty fields had a value',
			[ours(1), active(2, ['', '']), waits(3, ['', '']), waits(13, ['', ''])],
			'answered,answered,askedAgain',
		],
		[
			'again: also where the read that found a value from elsewhere did',
			[waits(0), active(1, ['x']), waits(2), waits(12)],
			'asks,answered,answered,askedAgain',
		],
		[
			'again: not by a status before the value',
			[waits(0), active(1), ours(2), waits(3), waits(13)],
			'asks,asks,answered,answered',
		],
		[
			'again: every other status begins the time anew',
			[waits(0), ours(1), waits(2), paused(30), waits(31), waits(40), waits(41)],
			'asks,answered,answered,answered,answered,askedAgain',
		],
		[
			'again: so does a field that is filled',
			[waits(0), ours(1), waits(2), waits(30, ['ours']), waits(31), waits(90), waits(91)],
			'asks,answered,answered,answered,answered,askedAgain',
		],
		[
			'again: an item that nobody has filled yet after 60 s, also where the agent was away',
			[waits(0, ['', '']), active(1, ['x', '']), waits(2, ['x', '']), waits(61, ['x', '']), waits(62, ['x', ''])],
			'asks,answered,answered,answered,askedAgain',
		],
		[
			'again: counted from the read that finds the other item filled',
			[waits(0, ['', '']), waits(1, ['x', '']), waits(60, ['x', '']), waits(61, ['x', ''])],
			'asks,answered,answered,askedAgain',
		],
		[
			'again: not an item that ours left empty',
			[waits(0, ['', '']), ours(1, { leftEmpty: [1] }), waits(2, ['ours', '']), waits(999, ['ours', ''])],
			'asks,answered,answered',
		],
		[
			'again: unless somebody filled it since',
			[
				waits(0, ['', '']),
				ours(1, { leftEmpty: [1] }),
				waits(2, ['ours', 'x']),
				waits(3, ['ours', '']),
				waits(63, ['ours', '']),
			],
			'asks,answered,answered,askedAgain',
		],
		[
			'again: with what stood there before our PUT',
			[ours(1, { filled: [0, 1] }), active(2, ['ours', '']), waits(3, ['ours', '']), waits(13, ['ours', ''])],
			'answered,answered,askedAgain',
		],
		[
			'again: a new answer begins all anew',
			[
				waits(0),
				ours(1),
				active(2, [''], 1),
				waits(3, [''], 1),
				ours(4, { steps: 1 }),
				waits(5, [''], 1),
				waits(64, [''], 1),
			],
			'asks,continued,continued,answered,answered',
		],

		[
			'perhaps: a PUT of unknown outcome, after which the agent has worked',
			[waits(0), perhaps(1), active(2), active(99, [''], 3)],
			'asks,perhaps,perhaps',
		],
		[
			'perhaps: asked again after 60 s of humanInput, also where the agent was away',
			[waits(0), perhaps(1), active(2), waits(3), waits(62), waits(63)],
			'asks,perhaps,perhaps,perhaps,askedAgain',
		],
		[
			'perhaps: also where the field had a value before',
			[waits(0), ours(1), active(2), perhaps(3), active(4), waits(5), waits(64), waits(65)],
			'asks,answered,perhaps,perhaps,perhaps,askedAgain',
		],
		[
			'perhaps: a value that is there is an answer',
			[waits(0), perhaps(1), active(2, ['x']), active(3, ['x'], 1)],
			'asks,answered,continued',
		],
		[
			'perhaps: and begins all anew',
			[waits(0), perhaps(1), active(2), waits(3), waits(4, ['x']), waits(5), waits(15), waits(64), waits(65)],
			'asks,perhaps,perhaps,answered,answered,answered,answered,askedAgain',
		],
		['perhaps: not while the agent waits on', [waits(0), perhaps(1), waits(2), waits(99)], 'asks,asks,asks'],
		[
			'perhaps: not where nothing but `active` was ever seen, until there is a message',
			[active(0), perhaps(1), active(2), active(99), active(100, [''], 1)],
			'asks,asks,asks,perhaps',
		],
		['perhaps: ours that arrived after all', [waits(0), perhaps(1), ours(2), waits(3)], 'asks,answered'],
	])('%s', (_what, events, verdicts) => {
		expect(told(...events)).toBe(verdicts);
	});

	it('lets a live answer hold what would be closed or asked again', () => {
		const held = (...events: readonly Event[]) => play(events, true).verdicts.at(-1);
		expect(held(waits(0), active(1, [''], 1), active(99, [''], 1))).toBe('asks');
		expect(held(waits(0), ours(1), waits(2), waits(99))).toBe('answered');
		expect(held(waits(0), ours(1), active(2, [''], 1), waits(3), waits(99))).toBe('continued');
		expect(held(waits(0), perhaps(1), active(2), waits(3), waits(99))).toBe('perhaps');
	});

	it('counts no time from before a step of the clock', () => {
		const steady = (second: number, from: number) => read(second, { status: 'humanInput', steadySecond: from });
		expect(told(waits(0), ours(1), waits(2), steady(70, 11), steady(71, 11))).toBe('asks,answered,answered,askedAgain');
		const went = (second: number, from: number) => read(second, { status: 'active', steps: 1, steadySecond: from });
		expect(told(waits(0), went(1, 0), went(40, 11), went(41, 11))).toBe('asks,asks,asks,wentOn');
		// The clock was set back.
		expect(told(waits(100), ours(101), waits(102), waits(5), waits(64), waits(65))).toBe(
			'asks,answered,answered,answered,askedAgain',
		);
	});
});

describe('the evidence', () => {
	const found = (...events: readonly Event[]) => play(events).found;

	it('names whose value it was: ours, or one from elsewhere', () => {
		expect(found(waits(0), ours(1), waits(2, ['x'])).value).toEqual({ ...OURS, at: 1_000 });
		expect(found(ours(1), waits(2, ['ours', 'x'])).value?.answerId).toBe('a1');
		expect(found(waits(0), active(1, ['x'], 3)).value).toEqual({
			answerId: null,
			number: null,
			at: 1_000,
			steps: 3,
			isPerhaps: false,
			filled: [],
		});
		expect(found(waits(0), perhaps(1), active(2, ['x'])).value).toMatchObject({ answerId: null, isPerhaps: false });
		expect(found(waits(0), perhaps(1), active(2)).value).toMatchObject({ answerId: 'a1', isPerhaps: true });
	});
	it('has the positions that had a value, in order, and those that ours left empty', () => {
		expect(found(waits(0, ['', '', 'x']), ours(1, { filled: [1], leftEmpty: [0] }))).toMatchObject({
			filled: [1, 2],
			leftEmpty: [0],
		});
		expect(found(ours(1, { filled: [1] }), waits(2, ['x', ''])).filled).toEqual([0, 1]);
		expect(found(ours(1, { leftEmpty: [1] }), ours(2, { leftEmpty: [0] })).leftEmpty).toEqual([0, 1]);
		expect(found(waits(0), perhaps(1)).filled).toEqual([]);
	});
	it('says whether a read showed a field empty that had a value', () => {
		expect(found(ours(1), waits(2, ['ours'])).emptied).toBe(false);
		expect(found(ours(1), waits(2, ['']), waits(3, ['x'])).emptied).toBe(true);
		expect(found(ours(1), waits(2, ['ours', ''])).emptied).toBe(false);
		expect(found(perhaps(1), waits(2, [''])).emptied).toBe(false);
		expect(found(ours(1), waits(2, ['']), ours(3)).emptied).toBe(false);
	});
	it('does not say that the agent continued where nobody counted its messages', () => {
		const old: Event = (before) => ({
			found: withArrival(before, { ...OURS, steps: null }, { filled: [], leftEmpty: [] }),
			seen: null,
		});
		expect(told(waits(0), old, active(1, [''], 9))).toBe('asks,answered');
	});
	it('of a message that asks something else shows no field', () => {
		const session = buildSession({
			status: 'active',
			messages: [asking(['x', '']), saying('step'), saying('no', 'user')],
		});
		const at = { readAt: 7, arrival: null };
		const shown = { at: 7, status: 'active', steps: 1, steadySince: Number.NEGATIVE_INFINITY };
		expect(sightingOf(session, 0, at)).toEqual({ ...shown, filled: [0], empty: [1] });
		expect(sightingOf(session, 0, at, false)).toEqual({ ...shown, filled: [], empty: [] });
		expect(sightingOf(session, 9, { ...at, steadySince: 3 })).toMatchObject({
			steadySince: 3,
			steps: 0,
			filled: [],
			empty: [],
		});
	});
});

describe('what is asked again', () => {
	const again = (...events: readonly Event[]) => {
		const { found, seen } = play(events);
		if (seen === null) throw new Error('there is a read');
		return askedAgain(found, seen);
	};

	it('begins as if nothing had arrived, and remembers what is there', () => {
		expect(again(ours(1), active(2, [''], 2), waits(3, [''], 2), waits(13, [''], 2))).toEqual({
			...NOTHING_SEEN,
			waitedSteps: 2,
			emptySince: 13_000,
			lost: 'a1',
		});
		const part = again(ours(1, { filled: [0, 1] }), active(2, ['', 'y']), waits(3, ['', 'y']), waits(13, ['', 'y']));
		expect(part).toMatchObject({ filled: [1], value: null, lost: 'a1' });
	});
	it('names whose answer is not in the field any more, and nobody where none was', () => {
		expect(again(waits(0), waits(1, ['x']), waits(2), waits(62)).lost).toBe('');
		expect(again(waits(0), perhaps(1), waits(2), waits(62)).lost).toBeNull();
		expect(again(waits(0), ours(1), active(2), perhaps(3), waits(4), waits(64)).lost).toBeNull();
		expect(again(waits(0, ['', '']), ours(1), waits(2, ['x', '']), waits(62, ['x', ''])).lost).toBeNull();
		expect(again(ours(1), waits(2, ['', '']), waits(62, ['', ''])).lost).toBe('a1');
		expect(again(waits(0)).lost).toBeNull();
		// Ours stands there, and what is gone was somebody else's.
		const beside = [waits(0, ['', '']), ours(1), waits(2, ['ours', 'x']), waits(3, ['ours', ''])];
		expect(again(...beside, waits(63, ['ours', ''])).lost).toBeNull();
	});
	it('does not ask for what ours left empty, unless it was filled since', () => {
		const left = ours(1, { leftEmpty: [1] });
		expect(again(left, waits(2, ['', '']), waits(62, ['', ''])).leftEmpty).toEqual([1]);
		expect(again(left, waits(2, ['', 'x']), waits(3, ['', '']), waits(63, ['', ''])).leftEmpty).toEqual([]);
	});
	it('is answered by a value where none is, and not by one that stood there', () => {
		const { found, seen } = play([ours(1, { filled: [0, 1] }), waits(2, ['', 'y']), waits(62, ['', 'y'])]);
		if (seen === null) throw new Error('there is a read');
		const asked = askedAgain(found, seen);
		const meaning = (values: string[]) => {
			const shown = waits(70, values)(asked);
			return shown.seen && verdictOf(shown.found, shown.seen, false);
		};
		expect([meaning(['', 'y']), meaning(['x', 'y'])]).toEqual(['asks', 'answered']);
	});
});

describe('a read that began before ours arrived', () => {
	const arrived = (value: Partial<Arrived>) => ({
		...NOTHING_SEEN,
		value: { ...OURS, at: 5_000, number: 3, ...value },
	});

	it('is known by the number of arrivals, whatever its time', () => {
		const early = (arrival: number, readAt: number) => isBefore({ readAt, arrival }, arrived({}).value);
		expect([early(2, 9_000), early(3, 1_000), early(4, 1_000)]).toEqual([true, false, false]);
	});
	it('is known by its time where nobody counted', () => {
		expect(isBefore({ readAt: 4_999, arrival: null }, arrived({}).value)).toBe(true);
		expect(isBefore({ readAt: 5_000, arrival: null }, arrived({}).value)).toBe(false);
		expect(isBefore({ readAt: 4_999, arrival: 9 }, arrived({ number: null }).value)).toBe(true);
		expect(isBefore({ readAt: 5_000, arrival: 0 }, arrived({ number: null }).value)).toBe(false);
	});
	it('is none where nothing of ours arrived', () => {
		expect(isBefore({ readAt: 0, arrival: 0 }, NOTHING_SEEN.value)).toBe(false);
		expect(isBefore({ readAt: 0, arrival: 0 }, arrived({ answerId: null, number: null }).value)).toBe(false);
	});
});
