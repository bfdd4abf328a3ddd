import { describe, expect, it } from 'vitest';
import { evidenceAt } from '../../src/questions/answer.ts';
import {
	evidence,
	judge,
	type Known,
	type KnownAsking,
	NOTHING_SEEN,
	withArrival,
	withSighting,
} from '../../src/questions/asked.ts';
import { afterRead } from '../../src/questions/compare.ts';
import { askingMessageIndex, type ReadMessage, type Session } from '../../src/questions/session.ts';
import { digestOfQuestionAt } from '../../src/questions/session-snapshot.ts';
import { buildSession, saying } from '../support/sessions.ts';
import { createRows, type GivenAnswer } from './asked-rows.ts';
import { asking } from './sessions.ts';

/** A watched session, its rows, and the answer that is under way. */
interface Watched {
	readonly rows: ReturnType<typeof createRows>;
	live: GivenAnswer | null;
	before: Session;
}
/** What happens; of a read, what it means and which items are open then. */
type Event = (watched: Watched) => string | null;

const asked = (status: string, values: readonly string[], steps = 0) =>
	buildSession({ status, messages: [asking(values), ...Array.from({ length: steps }, () => saying('step'))] });

/** A read that began at this second. `arrival`: how many answers had arrived by then. */
function read(second: number, session: Session, arrival?: number): Event {
	return (watched) => {
		const { rows } = watched;
		watched.before = session;
		const begun = { session, readAt: second * 1_000, arrival: arrival ?? rows.arrivals() };
		const { judged } = rows.record(begun);
		const index = askingMessageIndex(session);
		const open = index === null ? [] : (digestOfQuestionAt(session, index, judged.closedItems)?.open ?? []);
		expect(rows.open() === undefined).toBe(open.length === 0);
		return open.length === 0 ? `${judged.verdict}` : `${judged.verdict}, open: ${open.join()}`;
	};
}

const reading =
	(status: string) =>
	(second: number, values: readonly string[] = [''], steps = 0) =>
		read(second, asked(status, values, steps));
const [waits, active, paused] = [reading('humanInput'), reading('active'), reading('paused')];

/** Somebody answers at this second; its PUT has not begun. */
const accepted =
	(values: readonly string[] = ['ours']): Event =>
	({ rows, before }) => {
		const question = digestOfQuestionAt(before, askingMessageIndex(before) ?? -1);
		if (question === null) throw new Error('nothing is asked');
		rows.accept(question, values, 0);
		return null;
	};
/** The answer arrives. `session`: in the read before its PUT. */
const arrived =
	(second: number, session: Session): Event =>
	({ rows }) => {
		const answer = rows.answers().findLast(({ state }) => state === 'accepted');
		if (answer === undefined || !rows.begin(answer, session)) throw new Error('it is not sent');
		rows.arrive(answer, second * 1_000);
		return null;
	};
const answered =
	(second: number, session = asked('humanInput', ['']), values = ['ours']): Event =>
	(watched) => {
		accepted(values)(watched);
		return arrived(second, session)(watched);
	};
/** Nobody watches the session for a time. */
const unwatched: Event = ({ rows }) => {
	rows.unwatch();
	return null;
};

function play(...events: readonly Event[]) {
	const watched: Watched = { rows: createRows(), live: null, before: buildSession() };
	const told = events.flatMap((event) => {
		const found = event(watched);
		watched.rows.restart();
		return found ?? [];
	});
	return { told, rows: watched.rows.rows() };
}

const ends = (...events: readonly Event[]) => play(...events).rows.map(({ settledHow }) => settledHow);

describe('the rule', () => {
	it.each<[string, Event[], string[]]>([
		// 0
		[
			'0: an answer that is under way holds a question that the agent left',
			[waits(0), active(1, [''], 1), accepted(), active(40, [''], 2)],
			['waits, open: 0', 'waits, open: 0', 'waits, open: 0'],
		],
		[
			'0: and one of which the agent had gone on',
			[waits(0), active(1, [''], 1), active(31, [''], 1), accepted(), waits(40, [''], 1)],
			['waits, open: 0', 'waits, open: 0', 'wentOn', 'wentOn'],
		],
		// 1
		['1: nothing is asked in a session that is over', [waits(0), reading('failed')(1)], ['waits, open: 0', 'null']],
		// 3
		[
			'3: a value answers it',
			[waits(0), waits(1, ['x']), active(2, ['x'])],
			['waits, open: 0', 'answered', 'answered'],
		],
		[
			'3: of an answer in part the other items stay open while the agent waits',
			[waits(0, ['', '']), waits(1, ['x', '']), active(2, ['x', '']), waits(3, ['x', ''])],
			['waits, open: 0,1', 'answered, open: 1', 'answered', 'answered, open: 1'],
		],
		[
			'3: and the answered item is taken when it is empty again',
			[waits(0, ['', '', '']), waits(1, ['x', 'y', '']), waits(2, ['', 'y', '']), waits(99, ['', 'y', ''])],
			['waits, open: 0,1,2', 'answered, open: 2', 'answered, open: 2', 'answered, open: 2'],
		],
		[
			'3: what its author left empty counts as answered',
			[waits(0, ['', '']), answered(1, asked('humanInput', ['', '']), ['x', '']), waits(2, ['x', ''])],
			['waits, open: 0,1', 'answered'],
		],
		// 4
		[
			'4: an agent that worked with it and waits beside the empty field asks again',
			[waits(0), answered(1), active(2), waits(11), waits(12)],
			['waits, open: 0', 'taken', 'checking', 'askedAgain, open: 0'],
		],
		[
			'4: also of a value from elsewhere that it kept until then',
			[waits(0), active(1, ['x'], 1), active(5, ['x'], 2), waits(6, [''], 2), waits(16, [''], 2)],
			['waits, open: 0', 'answered', 'answered', 'checking', 'askedAgain, open: 0'],
		],
		[
			'4: but no status that flickered before the field was empty says so',
			[waits(0), answered(1), active(2, ['ours']), waits(3), waits(14), waits(62), waits(63)],
			['waits, open: 0', 'answered', 'checking', 'checking', 'checking', 'askedAgain, open: 0'],
		],
		// 5, 6
		[
			'5, 6: one that waits on is checked for 60 s',
			[waits(0), answered(1), waits(2), waits(61), waits(62)],
			['waits, open: 0', 'checking', 'checking', 'lost, open: 0'],
		],
		[
			'5, 6: from when the field was found empty, because agents look for answers late',
			[waits(0), answered(1), waits(600, ['ours']), waits(601), waits(660), waits(661)],
			['waits, open: 0', 'answered', 'checking', 'checking', 'lost, open: 0'],
		],
		[
			'5, 6: and one read after a long gap is not enough',
			[waits(0), answered(1), waits(600), waits(609), waits(660)],
			['waits, open: 0', 'checking', 'checking', 'lost, open: 0'],
		],
		[
			'6: a value that comes back begins anew',
			[waits(0), answered(1), waits(2), waits(30, ['ours']), waits(61), waits(120), waits(121)],
			['waits, open: 0', 'checking', 'answered', 'checking', 'checking', 'lost, open: 0'],
		],
		[
			'6: so for a value from elsewhere',
			[waits(0), waits(1, ['x']), waits(2), waits(61), waits(62)],
			['waits, open: 0', 'answered', 'checking', 'checking', 'lost, open: 0'],
		],
		[
			'6: it is asked once, and an answer to it is checked again',
			[waits(0), answered(1), waits(2), waits(62), waits(63), answered(64), waits(65), waits(125)],
			['waits, open: 0', 'checking', 'lost, open: 0', 'waits, open: 0', 'checking', 'lost, open: 0'],
		],
		// 7
		['7: an active agent that waited has taken it', [waits(0), answered(1), active(2)], ['waits, open: 0', 'taken']],
		[
			'7: the read before the PUT may be the one that showed it wait',
			[active(0), answered(1), active(2)],
			['waits, open: 0', 'taken'],
		],
		[
			'7: a paused one that wrote more has, too',
			[waits(0), answered(1), paused(2), paused(3, [''], 1), paused(4)],
			['waits, open: 0', 'unconfirmed', 'taken', 'taken'],
		],
		[
			'7: what it wrote before does not count',
			[waits(0), answered(1, asked('humanInput', [''], 2)), paused(2, [''], 2), paused(3, [''], 3)],
			['waits, open: 0', 'unconfirmed', 'taken'],
		],
		[
			'7: nor does a history that was compacted hide what it wrote since',
			[waits(0), answered(1, asked('humanInput', [''], 2)), paused(2, ['ours'], 3), paused(3, [''], 0)],
			['waits, open: 0', 'answered', 'taken'],
		],
		// 8
		[
			'8: one that never waited and wrote more took it, or it was lost',
			[active(0), answered(1, asked('active', [''])), active(2), active(3, [''], 1)],
			['waits, open: 0', 'unconfirmed', 'emptied'],
		],
		// 9
		[
			'9: of one that wrote no more nobody can tell',
			[active(0), answered(1, asked('active', [''])), active(2), active(900), paused(901)],
			['waits, open: 0', 'unconfirmed', 'unconfirmed', 'unconfirmed'],
		],
		[
			'9: and it is asked again once the agent waits',
			[waits(0), answered(1), paused(2), waits(11), waits(12)],
			['waits, open: 0', 'unconfirmed', 'checking', 'lost, open: 0'],
		],
		// 10
		[
			'10: without a value, an agent that waits or wrote nothing since is waited for',
			[active(0), active(100), paused(200), waits(300, [''], 5)],
			['waits, open: 0', 'waits, open: 0', 'waits, open: 0', 'waits, open: 0'],
		],
		// 11
		[
			'11: one that works on for 30 s went on without an answer',
			[waits(0), active(1, [''], 1), active(30, [''], 4), active(31, [''], 4)],
			['waits, open: 0', 'waits, open: 0', 'waits, open: 0', 'wentOn'],
		],
		[
			'11: not if it waited between',
			[waits(0), active(1, [''], 1), waits(20, [''], 1), active(31, [''], 1), active(60, [''], 1), active(61, [''], 1)],
			[...Array(5).fill('waits, open: 0'), 'wentOn'],
		],
		[
			'11: nor if it wrote nothing',
			[waits(0), active(1), active(99), active(100, [''], 1)],
			['waits, open: 0', 'waits, open: 0', 'waits, open: 0', 'wentOn'],
		],
		[
			'11: nor if it was paused then',
			[waits(0), paused(1, [''], 1), active(40, [''], 1), paused(80, [''], 1), active(81, [''], 1)],
			['waits, open: 0', 'waits, open: 0', 'waits, open: 0', 'waits, open: 0', 'wentOn'],
		],
		[
			'11: it stays so until the agent waits again',
			[waits(0), active(1, [''], 1), active(31, [''], 1), paused(32, [''], 1), active(33), waits(40, [''], 1)],
			['waits, open: 0', 'waits, open: 0', 'wentOn', 'wentOn', 'wentOn', 'waits, open: 0'],
		],
		[
			'11: an answer that comes all the same is judged as any other',
			[
				waits(0),
				active(1, [''], 1),
				active(31, [''], 1),
				answered(32, asked('active', [''], 1)),
				active(33, ['ours'], 1),
			],
			['waits, open: 0', 'waits, open: 0', 'wentOn', 'answered'],
		],
		// 12
		[
			'12: one that never waited is waited for, however far it goes',
			[active(0), active(40, [''], 4), active(9_999, [''], 90)],
			['waits, open: 0', 'waits, open: 0', 'waits, open: 0'],
		],
	])('%s', (_what, events, told) => {
		expect(play(...events).told).toEqual(told);
	});

	it('keeps one row while an agent goes on and waits again, and makes one for each time that it asks', () => {
		const wentOn = [waits(0), active(1, [''], 1), active(31, [''], 1)];
		expect(ends(...wentOn)).toEqual(['wentOn']);
		expect(ends(...wentOn, waits(40, [''], 1))).toEqual([null]);
		expect(ends(waits(0), answered(1), waits(2), waits(62))).toEqual(['answered', null]);
		expect(ends(waits(0), answered(1), active(2), waits(3), waits(12))).toEqual(['answered', null]);
		expect(ends(waits(0), answered(1), active(2), active(99))).toEqual(['answered']);
		expect(ends(waits(0), answered(1), reading('completed')(2))).toEqual(['answered']);
		expect(ends(waits(0), reading('completed')(2))).toEqual(['closed']);
	});

	it('keeps what rows have shown when somebody watches again', () => {
		const again = (...events: Event[]) => play(...events).told.at(-1);
		const taken = [waits(0), answered(1), active(2)];
		expect(again(...taken, unwatched, active(3), active(4))).toBe('taken');
		expect(ends(...taken, unwatched, active(3), active(4))).toEqual(['answered']);
		const wentOn = [waits(0), active(1, [''], 1), unwatched, active(40, [''], 1)];
		expect(ends(...wentOn, active(41, [''], 1))).toEqual(['unwatched']);
		expect(ends(...wentOn, waits(41, [''], 1))).toEqual([null]);
		expect(again(active(0, ['x']), active(1), active(9))).toBe('unconfirmed');
	});

	it('names the answer that was lost, and no other', () => {
		const lost = (...events: Event[]) => play(waits(0), ...events).rows.at(-1)?.evidence?.lost ?? null;
		expect(lost(answered(1), waits(2), waits(62))).toBe('a2');
		expect(lost(answered(1), active(2), waits(12))).toBeNull();
		expect(lost(waits(1, ['x']), waits(2), waits(62))).toBe('');
		expect(lost(answered(1), waits(2), waits(62), waits(70))).toBe('a2');
	});
});

describe('a read that began before an answer arrived', () => {
	it('says nothing about it, as the numbers of arrivals tell, whatever its time', () => {
		const early = read(9, asked('active', [''], 3), 0);
		const { told, rows } = play(waits(0), answered(1), early, waits(10, ['ours']));
		expect(told).toEqual(['waits, open: 0', 'null, open: 0', 'answered']);
		expect(rows.map(({ settledHow }) => settledHow)).toEqual(['answered']);
		expect(play(waits(0), answered(9), read(1, asked('active', ['']), 1)).told.at(-1)).toBe('taken');
	});
	it('does not open what was settled, nor what nobody watched', () => {
		const early = (second: number) => read(second, asked('humanInput', ['']), 0);
		expect(play(waits(0), waits(1, ['x']), answered(2), early(99)).told.at(-1)).toBe('null');
		expect(play(waits(0), unwatched, answered(2), early(99)).told.at(-1)).toBe('null');
	});
	it('is known by its time where nobody counted', () => {
		const value = { answerId: 'a1', number: null, at: 5_000, positions: [0], steps: 0, waited: true };
		const known = { ...NOBODY, answered: withArrival(NOTHING_SEEN, value) };
		const verdictAt = (readAt: number, arrival: number | null) =>
			judge(asked('active', ['']), { readAt, arrival }, known).verdict;
		expect([verdictAt(4_999, null), verdictAt(5_000, null), verdictAt(4_999, 7)]).toEqual([null, 'taken', null]);
		const counted = { ...known, answered: withArrival(NOTHING_SEEN, { ...value, number: 3 }) };
		expect(judge(asked('active', ['']), { readAt: 4_999, arrival: null }, counted).verdict).toBeNull();
		expect(judge(asked('active', ['']), { readAt: 5_000, arrival: null }, counted).verdict).toBe('taken');
		const elsewhere = withArrival(NOTHING_SEEN, { ...value, answerId: null });
		expect(judge(asked('active', ['']), { readAt: 1, arrival: null }, { ...known, answered: elsewhere }).verdict).toBe(
			'taken',
		);
	});
});

const storedRow = (more: Partial<KnownAsking> = {}): KnownAsking => ({
	id: 'q1',
	messageIndex: 0,
	sameBefore: 0,
	fingerprint: '',
	shownHash: '',
	askedAt: 0,
	isRead: true,
	settledHow: null,
	settledAt: null,
	evidence: null,
	...more,
});

const NOBODY: Known = {
	newest: null,
	same: null,
	answered: NOTHING_SEEN,
	newestAnswer: null,
	isHeld: false,
	perhapsAt: null,
};

describe('another question', () => {
	const at = (status: string, ...messages: ReadMessage[]) => buildSession({ status, messages });
	const [old, next] = [asking([''], 'Old'), asking([''], 'Next')];

	it('2: closes the one before, or ends it with its answer', () => {
		expect(ends(read(0, at('humanInput', old)), read(1, at('humanInput', old, next)))).toEqual(['closed', null]);
		const given = answered(1, at('humanInput', old));
		expect(ends(read(0, at('humanInput', old)), given, read(2, at('humanInput', old, next)))).toEqual([
			'answered',
			null,
		]);
		expect(ends(read(0, at('humanInput', old)), read(1, at('active', asking(['x'], 'Old'), next)))).toEqual([
			'answered',
			null,
		]);
	});
	it('2: that drops its items brings the one before back only while the agent waits', () => {
		const both = [read(0, at('humanInput', old)), read(1, at('humanInput', old, next))];
		const dropped = [old, saying('Next')];
		expect(ends(...both, read(2, at('active', ...dropped)), read(99, at('active', ...dropped)))).toEqual([
			'closed',
			'closed',
		]);
		expect(ends(...both, read(2, at('humanInput', ...dropped)))).toEqual(['closed', 'closed', null]);
		const answeredNow = read(2, at('active', asking(['x'], 'Old'), saying('Next')));
		expect(ends(...both, answeredNow)).toEqual(['closed', 'closed', 'answered']);
	});
	it('2: that drops its items does not bring back one that no read has seen', () => {
		const { told } = play(
			read(0, at('humanInput', old, next)),
			read(1, at('active', old, saying('Next'))),
			read(2, at('humanInput', old, saying('Next'))),
		);
		expect(told).toEqual(['waits, open: 0', 'unconfirmed', 'waits, open: 0']);
		expect(play(read(0, at('active', old, next)), read(1, at('active', old))).told.at(-1)).toBe('waits, open: 0');
	});
	it('2: is the newest one whatever its agent wrote since, and wherever it stands', () => {
		const first = read(0, at('active', saying('a'), old));
		const last = (...messages: ReadMessage[]) => play(first, read(1, at('active', ...messages))).told.at(-1);
		expect(last(saying('a'), old, next, saying('b'))).toBe('waits, open: 0');
		expect(last(saying('a'), next, saying('b'))).toBe('waits, open: 0');
		expect(last(old, saying('b'))).toBe('waits, open: 0');
		expect(last(asking(['x'], 'Next'), saying('b'))).toBe('answered');
	});
	it('2: in the same words is one of its own', () => {
		const { told, rows } = play(
			read(0, at('humanInput', old)),
			answered(1, at('humanInput', old)),
			read(2, at('active', old)),
			read(3, at('humanInput', old, old)),
			answered(4, at('humanInput', old, old)),
			read(5, at('active', old, old)),
		);
		expect(told).toEqual(['waits, open: 0', 'taken', 'waits, open: 0', 'taken']);
		expect(rows.map(({ settledHow }) => settledHow)).toEqual(['answered', 'answered']);
	});
	it('2: of which one has the place and words of an answered one is not judged by that answer', () => {
		const again = at('humanInput', asking(['ours'], 'Old'), saying('step'), old);
		const { told } = play(
			read(0, at('humanInput', next, saying('step'), old)),
			answered(1, at('humanInput', next, saying('step'), old)),
			read(2, again),
		);
		expect(told).toEqual(['waits, open: 0', 'waits, open: 0']);
	});
	it('2: asked after one of which the agent went on closes that for good', () => {
		const events = [waits(0), active(1, [''], 1), active(31, [''], 1), read(32, at('active', saying('cut')))];
		const later = at('humanInput', asking(['x'], 'Next'), asking(['']));
		expect(ends(...events, read(40, later))).toEqual(['closed', 'answered', null]);
	});
	it('that is rewritten from this one is another', () => {
		const { told, rows } = play(
			read(0, at('humanInput', old)),
			read(1, at('humanInput', next)),
			read(2, at('active', next)),
			read(3, at('active', old)),
			read(4, at('active', next)),
			read(5, at('humanInput', old)),
		);
		const isOpen = 'waits, open: 0';
		expect(told).toEqual([isOpen, isOpen, isOpen, 'unconfirmed', 'unconfirmed', isOpen]);
		expect(rows.map(({ settledHow }) => settledHow)).toEqual(['changed', 'changed', null]);
	});
	it('is found when messages before it come and go, with its answer', () => {
		const moved = (status: string, value: string) => at(status, saying('a'), saying('b'), asking([value], 'Old'));
		const { told, rows } = play(
			read(0, at('humanInput', saying('a'), old)),
			answered(1, at('humanInput', saying('a'), old)),
			read(2, moved('humanInput', 'ours')),
			read(3, at('active', old)),
		);
		expect(told).toEqual(['waits, open: 0', 'answered', 'taken']);
		expect(rows).toHaveLength(1);
	});
});

describe('a session that nobody watched', () => {
	const given = (waited: boolean, steps: number | null = 0) =>
		evidenceAt(
			{
				id: 'a1',
				positions: [0],
				before: {
					status: waited ? 'humanInput' : 'active',
					assistantCount: 1,
					sameCount: 0,
					stepsSince: steps,
					sameBefore: 0,
				},
			},
			0,
			1,
		);
	const at = (session: Session, answered = NOTHING_SEEN) =>
		judge(session, { readAt: 2_000, arrival: 1 }, { ...NOBODY, answered });

	it('is judged by what its answer shows', () => {
		expect(at(asked('active', [''], 1)).verdict).toBe('waits');
		expect(at(asked('active', ['']), given(true)).verdict).toBe('taken');
		expect(at(asked('active', ['']), given(false)).verdict).toBe('unconfirmed');
		expect(at(asked('active', [''], 1), given(false)).verdict).toBe('emptied');
		expect(at(asked('active', [''], 9), given(false, null)).verdict).toBe('unconfirmed');
		const { closedItems } = at(asked('humanInput', ['']), given(true));
		expect([closedItems(0), closedItems(1)]).toEqual([new Set([0]), new Set()]);
	});

	it.each<[KnownAsking['settledHow'], Session, string, number[]]>([
		[null, asked('active', [''], 4), 'waits', []],
		[null, asked('humanInput', ['']), 'waits', []],
		['unwatched', asked('active', [''], 4), 'waits', []],
		['answered', asked('active', [''], 4), 'unconfirmed', [0]],
		['answered', asked('humanInput', ['']), 'checking', [0]],
		['answered', asked('active', ['x']), 'answered', []],
		['closed', asked('active', ['']), 'unconfirmed', [0]],
		['closed', asked('humanInput', ['']), 'waits', []],
		['renewed', asked('active', ['']), 'unconfirmed', [0]],
	])('of 1.0.0 is known by its rows: %s', (settledHow, session, verdict, closed) => {
		const same = storedRow({ settledHow });
		const found = judge(session, { readAt: 2_000, arrival: null }, { ...NOBODY, same, newest: same });
		expect([found.verdict, [...found.closedItems(0)]]).toEqual([verdict, closed]);
	});
	it('of 1.0.0 has the answer to an open row, and lets a settled one be asked again', () => {
		const same = storedRow();
		const known = { ...NOBODY, same, newest: same, answered: given(true) };
		const found = judge(asked('active', ['']), { readAt: 2_000, arrival: 1 }, known);
		expect([found.verdict, found.arrived]).toEqual(['taken', [0]]);
		const settled = { ...same, settledHow: 'answered' as const };
		expect(
			judge(asked('active', ['']), { readAt: 2_000, arrival: 1 }, { ...known, same: settled, newest: settled }).verdict,
		).toBe('taken');
		const first = judge(
			asked('humanInput', ['']),
			{ readAt: 0, arrival: 1 },
			{ ...NOBODY, same: settled, newest: settled },
		);
		const next = { ...settled, evidence: first.evidence };
		const read = { readAt: 60_000, arrival: 1 };
		expect(judge(asked('humanInput', ['']), read, { ...NOBODY, same: next, newest: next }).verdict).toBe('lost');
	});
	it('tells which question it is about, and whether there is something to store', () => {
		const session = asked('humanInput', ['']);
		const first = at(session);
		expect(first).toMatchObject({ of: { fingerprint: session.messages[0]?.fingerprint, sameBefore: 0 }, isNews: true });
		const same = storedRow({ evidence: first.evidence });
		expect(judge(session, { readAt: 9_000, arrival: 0 }, { ...NOBODY, same, newest: same }).isNews).toBe(false);
		expect(at(asked('completed', ['']))).toMatchObject({ of: null, verdict: null, evidence: null, isNews: false });
		expect(at(buildSession())).toMatchObject({ of: null, verdict: null });
	});
	it('has where a value had arrived, whatever is asked now', () => {
		const newest = storedRow({ evidence: given(true) });
		const arrivedAt = (session: Session, arrival: number) =>
			judge(session, { readAt: 2_000, arrival }, { ...NOBODY, newest }).arrived;
		expect([arrivedAt(buildSession(), 1), arrivedAt(asked('failed', ['']), 1)]).toEqual([[0], [0]]);
		expect([arrivedAt(buildSession(), 0), arrivedAt(asked('active', ['']), 1)]).toEqual([[], [0]]);
	});
});

describe('a check after a delivery', () => {
	const put = (status: string, steps = 0) =>
		evidenceAt(
			{
				id: 'a1',
				positions: [0],
				before: { status, assistantCount: 9, sameCount: 0, stepsSince: steps, sameBefore: 0 },
			},
			0,
			1,
		);
	const check = (before: typeof NOTHING_SEEN, session: Session, second = 2) => {
		const fingerprint = asked('active', ['']).messages[0]?.fingerprint ?? '';
		return afterRead(
			before,
			session,
			{ messageIndex: 0, fingerprint, sameBefore: null, shownHash: null },
			{ readAt: second * 1_000 },
		);
	};

	it.each<[string, ReturnType<typeof put>, Session, boolean]>([
		['it waited before and is active', put('humanInput'), asked('active', ['']), true],
		['it wrote its first message while the value stood', put('active'), asked('active', ['ours'], 1), true],
		['the field was empty by then', put('active'), asked('active', [''], 1), false],
		['it was at work before', put('active', 2), asked('active', ['ours'], 5), false],
		['it only left', put('humanInput'), asked('paused', ['ours']), false],
		['it waits on', put('humanInput'), asked('humanInput', ['ours']), false],
	])('says whether the agent has it: %s', (_what, before, session, continued) => {
		expect(check(before, session).evidence.continued).toBe(continued);
	});
	it('keeps what is certain', () => {
		const { evidence: found } = check(put('humanInput'), asked('active', ['ours']));
		expect(check(found, asked('humanInput', ['']), 9).evidence.continued).toBe(true);
	});
	it('finds the question where it is now, and says less of one that is gone', () => {
		const moved = buildSession({ status: 'active', messages: [saying('a'), asking([''])] });
		const gone = buildSession({ status: 'active', messages: [saying('a')] });
		const other = buildSession({ status: 'active', messages: [asking([''], 'Other')] });
		const verdicts = (status: string) => [moved, gone, other].map((session) => check(put(status), session).verdict);
		expect(verdicts('active')).toEqual(['unconfirmed', 'unconfirmed', 'taken']);
		expect(verdicts('humanInput')).toEqual(['taken', 'taken', 'taken']);
		expect(check(put('humanInput'), buildSession({ messages: [saying('a')] })).verdict).toBe('taken');
		const newer = buildSession({ status: 'active', messages: [asking(['ours']), asking([''], 'Other')] });
		expect(check(put('active'), newer).verdict).toBe('answered');
		expect(check(put('humanInput'), buildSession({ status: 'active' })).verdict).toBe('taken');
	});
	it('finds an answer lost as the rule does', () => {
		const second = check(put('humanInput'), asked('humanInput', ['']));
		expect(second.verdict).toBe('checking');
		expect(check(second.evidence, asked('humanInput', ['']), 61).verdict).toBe('checking');
		expect(check(second.evidence, asked('humanInput', ['']), 62).verdict).toBe('lost');
	});
});

describe('evidence', () => {
	const AT = { at: 9, steadySince: 0, index: 0 };
	it('says that the agent has our answer when it began to write beside it', () => {
		const ours = { answerId: 'a1', number: 2, at: 5, positions: [1], steps: 0, waited: false };
		const shown = (filled: number[]) =>
			withSighting(withArrival(NOTHING_SEEN, ours), { ...AT, status: 'active', steps: 1, filled }).continued;
		expect([shown([1]), shown([0, 1]), shown([0]), shown([])]).toEqual([true, true, false, false]);
	});
	it('survives JSON', () => {
		const value = { answerId: 'a1', number: 2, at: 5, positions: [0, 2], steps: 1, waited: true };
		const found = withSighting(withArrival(NOTHING_SEEN, value), { ...AT, status: 'paused', steps: 3, filled: [] });
		expect(evidence.parse(JSON.parse(JSON.stringify(found)))).toEqual(found);
	});
	it('of a value beside an answer of ours is about both, and says of ours what the read shows', () => {
		const ours = { answerId: 'a1', number: 2, at: 5, positions: [1], steps: 0, waited: true };
		const found = withSighting(withArrival(NOTHING_SEEN, ours), { ...AT, status: 'active', steps: 4, filled: [0, 1] });
		expect(found).toMatchObject({
			arrived: { answerId: 'a1', number: 2, at: 9, positions: [0, 1], steps: 4, waited: false },
			continued: true,
			wasActive: true,
			grew: false,
			hasLeft: false,
		});
	});
});
