import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Evidence, withArrival } from '../../src/domain/asked.ts';
import type { ReadMessage } from '../../src/domain/gate.ts';
import {
	isChecking,
	NO_OCCURRENCES,
	type OccurrenceChange,
	type Occurrences,
	occurrencesIn,
	type SettledHow,
	type StoredOccurrence,
	type StoredOccurrences,
} from '../../src/domain/occurrences.ts';
import type { QuestionDigest, Session } from '../../src/domain/session.ts';
import { runs } from '../support/runs.ts';
import { buildSession, saying } from '../support/sessions.ts';
import { anySession, asking } from './sessions.ts';

const NONE: readonly number[] = [];
const SECOND_MS = 1_000;

interface Row extends Omit<StoredOccurrence, 'fingerprint' | 'shownHash'> {
	question: QuestionDigest;
	messageIndex: number;
	settledHow: SettledHow | null;
	evidence: Evidence;
	/** The messages in which values were shown as it was settled. */
	at: (number | null)[];
}

/** What is stored of one session, written as the changes say. */
function createStored() {
	const rows: Row[] = [];
	/** The ids of those to which an answer is live. */
	const held = new Set<string>();
	let isWatched = true;
	let arrivals = 0;

	const known = (row: Row): StoredOccurrence => ({
		...row,
		...pickKnown(row.question),
		messageIndex: row.messageIndex,
	});
	const rowOf = (id: string) => rows.find((row) => row.id === id) ?? never();

	function write(change: OccurrenceChange): void {
		if (change.kind === 'asked') {
			const { question, settled: settledHow, evidence } = change;
			const { messageIndex } = question;
			rows.push({ id: `q${rows.length}`, askedAt: 0, question, messageIndex, settledHow, evidence, at: [] });
			return;
		}
		const row = rowOf(change.id);
		if (change.kind === 'settled') {
			row.settledHow = change.how;
			row.at.push(change.at);
		} else if (change.kind === 'seen')
			Object.assign(row, { evidence: change.evidence, messageIndex: change.messageIndex });
		else {
			Object.assign(row, { question: change.question, messageIndex: change.question.messageIndex });
			if (change.kind === 'reopened') row.settledHow = null;
		}
		expect(rows.filter(({ settledHow }) => settledHow === null).length).toBeLessThan(2);
	}

	return {
		rows,
		held,
		watch(now: boolean) {
			isWatched = now;
		},
		read(second: number, session: Session, arrival = arrivals): Occurrences {
			const index = session.messages.findLastIndex(({ humanInput, role }) => humanInput.length > 0 && role !== 'user');
			const fingerprint = session.messages[index]?.fingerprint;
			const newestFirst = rows.map(known).reverse();
			const stored: StoredOccurrences = {
				newest: newestFirst[0] ?? null,
				equal: newestFirst.filter((row) => row.fingerprint === fingerprint),
				heldIds: [...held],
				isWatched,
			};
			const found = occurrencesIn(session, { readAt: second * SECOND_MS, arrival }, stored);
			for (const change of found.changes) write(change);
			// The same read again changes nothing.
			const again = rows.map(known).reverse();
			const since = {
				...stored,
				newest: again[0] ?? null,
				equal: again.filter((row) => row.fingerprint === fingerprint),
			};
			expect(occurrencesIn(session, { readAt: second * SECOND_MS, arrival }, since).changes).toEqual([]);
			return found;
		},
		/** Our answer to this row arrives. */
		answer(second: number, at: number, { filled = [0], leftEmpty = NONE, steps = 0, isPerhaps = false } = {}) {
			const row = rows[at] ?? never();
			const number = isPerhaps ? null : ++arrivals;
			const value = { answerId: `a${at}`, number, at: second * SECOND_MS, steps, isPerhaps, filled };
			row.evidence = withArrival(row.evidence, value, { filled: NONE, leftEmpty });
		},
	};
}

const pickKnown = ({ fingerprint, shownHash }: QuestionDigest) => ({ fingerprint, shownHash });

function never(): never {
	throw new Error('there is such a row');
}

type Stored = ReturnType<typeof createStored>;
type Event = (stored: Stored) => unknown;

const at = (status: string, ...messages: ReadMessage[]) => buildSession({ status, messages });
const read =
	(second: number, status: string, ...messages: ReadMessage[]): Event =>
	(stored) =>
		stored.read(second, at(status, ...messages));
const waits = (second: number, ...messages: ReadMessage[]) => read(second, 'humanInput', ...messages);
const active = (second: number, ...messages: ReadMessage[]) => read(second, 'active', ...messages);
const ours =
	(second: number, row = 0, how: Parameters<Stored['answer']>[2] = {}): Event =>
	(stored) =>
		stored.answer(second, row, how);
const watched =
	(isWatched: boolean): Event =>
	(stored) =>
		stored.watch(isWatched);

const OPEN = asking(['']);
const FILLED = asking(['x']);
const OTHER = asking([''], 'Other');
const STEP = saying('step');

function play(...events: readonly Event[]): Stored {
	const stored = createStored();
	for (const event of events) event(stored);
	return stored;
}

/** All rows: where they stand and how they ended. */
const told = (...events: readonly Event[]) =>
	play(...events)
		.rows.map((row) => `${row.messageIndex} ${row.settledHow ?? 'open'}`)
		.join(', ');

describe('what is asked', () => {
	it.each<[string, Event[], string]>([
		['nothing', [waits(0, STEP), read(1, 'failed', OPEN)], ''],
		['one question', [waits(0, OPEN)], '0 open'],
		['one that the first read finds answered', [active(0, FILLED)], '0 answered'],
		['one that is answered', [waits(0, OPEN), waits(1, FILLED)], '0 answered'],
		['one that is answered in part', [waits(0, asking(['', ''])), waits(1, asking(['x', '']))], '0 answered'],
		['one that a session ends with', [waits(0, OPEN), read(1, 'completed', OPEN)], '0 closed'],
		['one that a session ends with after a step', [waits(0, STEP, OPEN), read(1, 'failed', STEP, OPEN)], '1 closed'],
		['one that a session ends with its value', [waits(0, OPEN), read(1, 'stopped', FILLED)], '0 answered'],
		['one of which the agent takes the items back', [waits(0, OPEN), active(1, STEP)], '0 closed'],
		['one whose message is gone', [waits(0, STEP, OPEN), active(1, STEP)], '1 closed'],
		['another one', [waits(0, OPEN), waits(1, OPEN, OTHER)], '0 closed, 1 open'],
		['another one after an answer', [waits(0, OPEN), waits(1, FILLED, OTHER)], '0 answered, 1 open'],
		['the same once more, beside the one before', [waits(0, OPEN), waits(1, OPEN, OPEN)], '0 renewed, 1 open'],
		[
			'the same once more, after an answer to the one before',
			[waits(0, OPEN), waits(1, FILLED), waits(2, FILLED, OPEN)],
			'0 answered, 1 open',
		],
		['something else in the same message', [waits(0, OPEN), waits(1, OTHER)], '0 changed, 0 open'],
		['something else there, answered', [waits(0, OPEN), waits(1, asking(['x'], 'Other'))], '0 changed, 0 answered'],
		['one in other words', [waits(0, OPEN), waits(1, { ...OPEN, content: 'Please' })], '0 open'],
		['one that moved', [waits(0, OPEN), waits(1, STEP, OPEN)], '1 open'],
		['one that moved and was answered', [waits(0, OPEN), waits(1, STEP, FILLED)], '1 answered'],
		['one that moved beside another one at its place', [waits(0, OPEN), waits(1, OTHER, OPEN)], '1 open'],
		[
			'the one before, whose message is the newest again',
			[waits(0, OPEN), waits(1, OPEN, OTHER), waits(2, OPEN), waits(62, OPEN)],
			'0 closed, 1 closed, 0 open',
		],
		[
			'the one before, but not for a minute, because the agent may wait for the other one',
			[waits(0, OPEN), waits(1, OPEN, OTHER), waits(2, OPEN), waits(61, OPEN)],
			'0 closed, 1 closed',
		],
		[
			'the one before, which stands after the newest one now',
			[waits(0, OPEN), waits(1, OPEN, OTHER), waits(2, STEP, OTHER, OPEN)],
			'2 closed, 1 closed, 2 open',
		],
		[
			'the one before, for which the agent does not wait',
			[waits(0, OPEN), waits(1, OPEN, OTHER), active(2, OPEN), active(99, OPEN)],
			'0 closed, 1 closed',
		],
		['what it asked before, again', [waits(0, OPEN), waits(1, OTHER), waits(2, OPEN)], '0 changed, 0 changed, 0 open'],
		[
			'one that was closed, for which the agent waits in a message before',
			[waits(0, STEP, OPEN), active(1, STEP), waits(2, OPEN)],
			'0 closed, 0 open',
		],
		['one that moved behind an answered one', [waits(0, OPEN), waits(1, STEP, asking(['y'], 'B'), OPEN)], '2 open'],
		[
			'the one before, answered, and the newest; nothing of what was asked and answered between two reads',
			[waits(0, OPEN), waits(1, FILLED, asking(['y'], 'B'), asking(['z', ''], 'C'), asking([''], 'D'))],
			'0 answered, 3 open',
		],
		[
			'one that was closed, for which the agent waits again',
			[waits(0, OPEN), active(1, STEP), active(2, OPEN), waits(3, OPEN)],
			'0 closed, 0 open',
		],
		[
			'not what was asked between two reads without an answer, or by a person, or before the first read',
			[
				waits(0, asking(['x'], 'A'), OPEN),
				waits(1, asking(['x'], 'A'), OPEN, OTHER, { ...asking(['y'], 'B'), role: 'user' }, asking([''], 'C')),
			],
			'1 closed, 4 open',
		],
	])('is %s', (_what, events, rows) => {
		expect(told(...events)).toBe(rows);
	});

	it('follows the verdict: one row while the agent goes on and waits again, one for each time that it asks', () => {
		const wentOn = [waits(0, OPEN), active(1, OPEN, STEP), active(31, OPEN, STEP)];
		expect(told(...wentOn)).toBe('0 wentOn');
		expect(told(...wentOn, active(32, OPEN), active(99, OPEN))).toBe('0 wentOn');
		expect(told(...wentOn, waits(40, OPEN, STEP))).toBe('0 open');
		expect(told(...wentOn, active(40, FILLED, STEP))).toBe('0 answered');
		expect(told(...wentOn, active(40, OPEN, OTHER))).toBe('0 closed, 1 open');
		expect(told(...wentOn, active(40, OPEN, OPEN))).toBe('0 closed, 1 open');
		const answered = [waits(0, OPEN), ours(1)];
		expect(told(...answered, active(2, OPEN), active(999, OPEN))).toBe('0 answered');
		expect(told(...answered, waits(2, OPEN), waits(62, OPEN))).toBe('0 answered, 0 open');
		expect(told(...answered, active(2, OPEN), waits(3, OPEN), waits(13, OPEN))).toBe('0 answered, 0 open');
		expect(told(waits(0, OPEN), ours(1, 0, { isPerhaps: true }), active(2, OPEN))).toBe('0 wentOn');
		const perhaps = [waits(0, OPEN), ours(1, 0, { isPerhaps: true })];
		expect(told(...perhaps, waits(2, OPEN), waits(62, OPEN))).toBe('0 open');
		expect(told(...perhaps, active(2, OPEN), waits(3, OPEN), waits(63, OPEN))).toBe('0 wentOn, 0 open');
	});

	it('is asked again in each message, of the newest time that it was asked there', () => {
		const again = [
			waits(0, OPEN),
			ours(1),
			waits(2, OPEN),
			waits(62, OPEN),
			ours(63, 1),
			waits(64, OPEN),
			waits(124, OPEN),
		];
		expect(told(...again)).toBe('0 answered, 0 answered, 0 open');
		const lostIn = (events: Event[]) => play(...events).rows.map(({ evidence }) => evidence.lost);
		expect(lostIn(again.slice(0, 4))).toEqual([null, 'a0']);
		expect(lostIn(again)).toEqual([null, null, 'a1']);
	});

	it('settles the open question that is asked again before a read found its answer', () => {
		const stored = play(waits(0, OPEN), waits(1, FILLED), waits(2, OPEN), waits(62, OPEN));
		expect(stored.rows.map(({ at: where }) => where)).toEqual([[0], []]);
		const held = play(waits(0, OPEN), (one) => one.held.add('q0'), ours(1), waits(2, OPEN), waits(99, OPEN));
		expect(held.rows.map(({ settledHow }) => settledHow)).toEqual(['answered']);
		// The answer arrived, and the watch was away.
		const open = play(waits(0, OPEN));
		open.answer(1, 0);
		const row = open.rows[0] ?? never();
		row.evidence = { ...row.evidence, emptySince: 2_000 };
		open.read(62, at('humanInput', OPEN));
		expect(open.rows.map((one) => [one.settledHow, one.at])).toEqual([
			['answered', [null]],
			[null, []],
		]);
	});

	it('leaves an answer to what no read showed as what was asked before', () => {
		const other = play(waits(0, OTHER)).rows[0] ?? never();
		const stored = play(waits(0, OPEN), ({ rows }) =>
			rows.unshift({ ...other, id: 'former', settledHow: 'unwatched' }),
		);
		stored.answer(1, 0);
		stored.read(2, at('humanInput', asking(['x'], 'Other')));
		expect(stored.rows.map(({ settledHow }) => settledHow)).toEqual(['unwatched', 'changed']);
	});

	it('says in which message a read shows the values of an answer', () => {
		const where = (...events: Event[]) => play(...events).rows.map((row) => row.at);
		expect(where(waits(0, OPEN), waits(1, STEP, FILLED))).toEqual([[1]]);
		expect(where(waits(0, OPEN), ours(1), active(2, OPEN))).toEqual([[null]]);
		expect(where(waits(0, OPEN), active(1, FILLED, OTHER))).toEqual([[0], []]);
		expect(where(waits(0, OPEN), ours(1), active(2, OPEN, OTHER))).toEqual([[null], []]);
		expect(where(waits(0, OPEN), active(1, OPEN, OTHER))).toEqual([[null], []]);
		expect(where(waits(0, OPEN), active(1, OPEN, STEP), active(31, OPEN, STEP))).toEqual([[null]]);
		const part = [waits(0, asking(['', ''])), waits(1, asking(['x', 'y'])), waits(2, asking(['', 'y']))];
		const again = [...part, waits(62, asking(['', 'y'])), ours(63, 1, { isPerhaps: true })];
		expect(where(...again, active(64, asking(['', 'y'])))).toEqual([[0], [null]]);
		expect(where(...part, waits(62, asking(['', 'y'])), waits(63, asking(['', 'y']), OTHER))).toEqual([
			[0],
			[null],
			[],
		]);
	});
});

describe('the agent continued', () => {
	const continued = (...events: Event[]) => play(waits(0, OPEN), ours(1), ...events).rows[0]?.evidence.continued;

	it('when it asks something new, in a new message or in the same one, after an answer', () => {
		expect(continued(waits(2, OPEN, OTHER))).toBe(true);
		expect(continued(waits(2, OTHER))).toBe(true);
		expect(play(waits(0, OPEN), waits(1, OPEN, OTHER)).rows[0]?.evidence.continued).toBe(false);
		const perhaps = play(waits(0, OPEN), ours(1, 0, { isPerhaps: true }), waits(2, OPEN, OTHER));
		expect(perhaps.rows[0]).toMatchObject({ settledHow: 'closed', evidence: { continued: false } });
	});
	it('not when its message, or all of it, is gone', () => {
		expect(continued(active(2, STEP))).toBe(false);
		const older = play(waits(0, OPEN, STEP), waits(1, OPEN, STEP, OTHER), ours(2, 1), active(3, OPEN));
		expect(older.rows[1]).toMatchObject({ settledHow: 'answered', evidence: { continued: false } });
	});
});

describe('an unwatched session', () => {
	const unwatched = [
		waits(0, OPEN),
		(stored: Stored) => Object.assign(stored.rows[0] ?? never(), { settledHow: 'unwatched' }),
	];

	it('has rows only for what our answers are to', () => {
		expect(told(watched(false), waits(0, OPEN), waits(1, FILLED), active(2, FILLED, OTHER))).toBe('');
		expect(told(watched(false), waits(0, OPEN), waits(1, FILLED, asking(['y'], 'B'), OTHER))).toBe('');
		const between = active(1, FILLED, asking(['y'], 'B'), OTHER);
		expect(told(...unwatched, watched(false), between)).toBe('0 answered');
		expect(play(watched(false)).read(0, at('active', FILLED))).toMatchObject({ verdict: 'answered', changes: [] });
	});
	it('keeps what reads show of them, and opens nothing', () => {
		const stored = play(...unwatched, watched(false), ours(1), waits(2, OPEN));
		expect(stored.rows).toMatchObject([{ settledHow: 'unwatched', evidence: { emptySince: 2_000 } }]);
		stored.read(62, at('humanInput', OPEN));
		expect(stored.rows).toMatchObject([
			{ settledHow: 'unwatched' },
			{ settledHow: 'unwatched', evidence: { lost: 'a0', value: null } },
		]);
		stored.read(63, at('humanInput', OPEN));
		expect(stored.rows.length).toBe(2);
		expect(told(...unwatched, watched(false), waits(1, OPEN, OTHER))).toBe('0 closed');
		expect(told(...unwatched, watched(false), ours(1), waits(2, OPEN, OTHER))).toBe('0 answered');
	});
	it('is told what happened when somebody watches it again', () => {
		expect(told(...unwatched, waits(1, OPEN))).toBe('0 open');
		expect(told(...unwatched, active(1, OPEN))).toBe('0 open');
		expect(told(...unwatched, active(1, FILLED))).toBe('0 answered');
		expect(told(...unwatched, watched(false), active(1, FILLED))).toBe('0 unwatched');
		expect(told(...unwatched, active(1, OPEN, OTHER))).toBe('0 closed, 1 open');
		expect(told(...unwatched, watched(false), active(1, OPEN, STEP), active(40, OPEN, STEP))).toBe('0 unwatched');
		expect(told(...unwatched, active(1, OPEN, STEP), active(40, OPEN, STEP))).toBe('0 wentOn');
		expect(told(...unwatched, watched(false), waits(1, OTHER), watched(true), waits(2, OPEN))).toBe(
			'0 changed, 0 open',
		);
	});
});

describe('a read that is older than what arrived', () => {
	it('changes nothing, and keeps closed what was settled', () => {
		const stored = play(waits(0, OPEN), waits(1, FILLED), ours(2));
		const early = stored.read(99, at('humanInput', OPEN), 0);
		expect(early).toMatchObject({ changes: [], verdict: null, evidence: null, isOld: true });
		expect([...early.closedItems(0)]).toEqual([0]);
		expect([...early.closedItems(1)]).toEqual([]);
		const open = play(waits(0, OPEN), ours(1));
		expect([...open.read(99, at('humanInput', OPEN), 0).closedItems(0)]).toEqual([]);
		expect(open.read(99, at('humanInput', OPEN, OTHER), 0).changes).toEqual([]);
		expect(open.read(99, at('completed', OPEN), 0).changes).toEqual([]);
		expect(open.read(99, at('active', STEP), 0).changes).toEqual([]);
	});
	it('is one also where the answer is to a question before the newest', () => {
		const stored = play(waits(0, OPEN), waits(1, OPEN, OTHER), ours(2));
		expect(stored.read(99, at('humanInput', OPEN), 0).changes).toEqual([]);
		expect(stored.read(99, at('humanInput', OPEN), 1).changes).not.toEqual([]);
	});
});

describe('the items that are not open', () => {
	const closed = (...events: Event[]) => {
		const [last] = events.slice(-1);
		const found = last?.(play(...events.slice(0, -1))) as Occurrences;
		return [0, 1].map((index) => [...found.closedItems(index)]);
	};

	it('are none of what is asked, but those that ours left empty', () => {
		expect(closed(waits(0, OPEN))).toEqual([[], []]);
		expect(closed(waits(0, OPEN), active(1, OPEN))).toEqual([[], []]);
		const left = [waits(0, asking(['', ''])), ours(1, 0, { leftEmpty: [1] }), waits(2, asking(['', '']))];
		expect(closed(...left, waits(62, asking(['', ''])))).toEqual([[1], []]);
		expect(closed(...left, waits(62, asking(['', ''])), waits(63, asking(['', ''])))).toEqual([[1], []]);
		expect(closed(...left, waits(62, asking(['', ''])), waits(63, { ...asking(['', '']), content: 'x' }))).toEqual([
			[1],
			[],
		]);
	});
	it('are all empty ones of what is answered, left or past', () => {
		expect(closed(waits(0, asking(['x', ''])))).toEqual([[1], []]);
		expect(closed(waits(0, OPEN), ours(1), active(2, OPEN))).toEqual([[0], []]);
		expect(closed(waits(0, OPEN), active(1, OPEN, STEP), active(31, OPEN, STEP))).toEqual([[0], []]);
		expect(closed(waits(0, OPEN), active(1, OPEN, STEP), active(31, OPEN, STEP), active(32, OPEN))).toEqual([[0], []]);
		expect(closed(waits(0, OPEN), waits(1, OPEN, OTHER), active(2, OPEN))).toEqual([[0], []]);
	});
	it('of what nobody watches are those that ours left empty', () => {
		const left = [waits(0, asking(['', ''])), ours(1, 0, { leftEmpty: [1] }), waits(2, asking(['', '']))];
		const again = [...left, waits(62, asking(['', ''])), watched(false)];
		expect(closed(...again, waits(63, asking(['', ''])))).toEqual([[1], []]);
		expect(closed(watched(false), waits(0, OPEN))).toEqual([[], []]);
	});
});

describe('occurrencesIn', () => {
	it('stores a change of text or place of an open question once', () => {
		const stored = play(waits(0, OPEN));
		const reworded = stored.read(1, at('humanInput', { ...OPEN, content: 'Please' }));
		expect(reworded.changes.map(({ kind }) => kind)).toEqual(['updated']);
		const moved = stored.read(2, at('humanInput', STEP, { ...OPEN, content: 'Please' }));
		expect(moved.changes.map(({ kind }) => kind)).toEqual(['seen', 'updated']);
		expect(stored.read(3, at('humanInput', STEP, { ...OPEN, content: 'Please' })).changes).toEqual([]);
	});
	it('says that an agent that waits beside an empty field is checked', () => {
		const stored = createStored();
		expect(isChecking(stored.read(0, at('humanInput', OPEN)))).toBe(false);
		stored.answer(1, 0);
		expect(isChecking(stored.read(2, at('humanInput', FILLED)))).toBe(false);
		expect(isChecking(stored.read(3, at('humanInput', OPEN)))).toBe(true);
		expect(isChecking(stored.read(4, at('active', OPEN)))).toBe(false);
		expect(isChecking(NO_OCCURRENCES)).toBe(false);
	});
	it('finds nothing where nothing is asked', () => {
		expect(createStored().read(0, at('active', STEP))).toMatchObject({ verdict: null, evidence: null, changes: [] });
		expect(play(waits(0, OPEN)).read(1, at('stopped', OPEN))).toMatchObject({ verdict: null, evidence: null });
	});
	it('finds no open item in NO_OCCURRENCES, and needs nothing known', () => {
		expect([...NO_OCCURRENCES.closedItems(0)]).toEqual([]);
		const nothing: StoredOccurrences = { newest: null, equal: [], heldIds: [], isWatched: true };
		const found = occurrencesIn(at('humanInput', OPEN), { readAt: 0, arrival: 0 }, nothing);
		expect(found).toMatchObject({ verdict: 'asks', changes: [{ kind: 'asked', settled: null }] });
	});
	it('keeps one open row for the open question, whatever a session does between two reads', () => {
		fc.assert(
			fc.property(fc.array(fc.tuple(anySession, fc.constantFrom(1, 11, 61)), { maxLength: 6 }), (reads) => {
				const stored = createStored();
				let second = 0;
				for (const [session, gap] of reads) {
					second += gap;
					stored.read(second, session);
				}
			}),
			{ numRuns: runs(1_250) },
		);
	});
});
