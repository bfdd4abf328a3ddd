import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Judgement, NOT_JUDGED, type SettledHow } from '../../src/questions/asked.ts';
import { occurrenceChanges } from '../../src/questions/occurrences.ts';
import type { QuestionDigest, ReadSession, Session } from '../../src/questions/session.ts';
import { changesBetween, type Digest, digestOf } from '../../src/questions/session-snapshot.ts';
import { buildSession, fingerprintOf, saying } from '../support/sessions.ts';
import { anyHistory, createHistory } from './histories.ts';
import { anySession, asking } from './sessions.ts';

/** A stored occurrence: open while `how` is null. */
interface Occurrence {
	question: QuestionDigest;
	how: SettledHow | null;
}

/**
 * The occurrences after these reads, as the store keeps them, oldest first. Throws when two would be open. `judgedAt`: what a
 * read means, and the positions to which answers of ours had arrived before it.
 */
function occurrencesOf(reads: readonly Session[], judgedAt: (read: number) => Partial<Judgement> = () => ({})) {
	const rows: Occurrence[] = [];
	let before: Digest | null = null;
	for (const [index, session] of reads.entries()) {
		const judged = { ...NOT_JUDGED, ...judgedAt(index) };
		const current = digestOf(session, judged.closedItems);
		const changes = changesBetween(before, session, judged);
		// Snapshots of so many reads take minutes.
		for (const change of occurrenceChanges(before, changes, session, {
			...judged,
			digest: digestOf(session, judged.closedItems),
			itemsAt: () => undefined,
		})) {
			const open = rows.find(({ how }) => how === null);
			if (change.kind === 'asked') {
				if (open !== undefined) throw new Error('two are open');
				rows.push({ question: change.question, how: change.settled });
				continue;
			}
			if (change.kind === 'reopened') {
				const newest = rows.at(-1);
				if (open !== undefined || newest?.how !== 'wentOn') throw new Error('nothing waits again');
				Object.assign(newest, { question: change.question, how: null });
				continue;
			}
			if (open === undefined) throw new Error(`nothing is open: ${JSON.stringify(change)}`);
			if (change.kind === 'settled') open.how = change.how;
			else open.question = change.question;
		}
		before = current;
		expect(rows.filter(({ how }) => how === null).map(({ question }) => question)).toEqual(
			current.question !== null && current.question.open.length > 0 ? [current.question] : [],
		);
	}
	return rows;
}

const told = (...reads: readonly Partial<ReadSession>[]) =>
	occurrencesOf(reads.map((read) => buildSession(read))).map(({ question, how }) => [question.messageIndex, how]);

describe('the occurrences of a question', () => {
	it('are one open row for the open question, whatever a session does between two reads', () => {
		fc.assert(
			fc.property(fc.array(anySession, { maxLength: 6 }), fc.subarray([0, 1, 2, 3]), (reads, arrived) => {
				occurrencesOf(reads, () => ({ arrived }));
			}),
			{ numRuns: 1_250 },
		);
	});
	it('are each time that the agent asks, and end as they did, in any history', () => {
		fc.assert(
			fc.property(anyHistory, (acts) => {
				const history = createHistory('s1');
				const reads = [history.read(), ...acts.flatMap((act) => history.play(act) ?? [])];
				const found = occurrencesOf(
					reads.map(({ session }) => session),
					(read) => ({ arrived: reads[read]?.arrived?.positions ?? [] }),
				);
				expect(found.map(({ question, how }) => [question.fingerprint, how])).toEqual(
					history.told.map(({ title, count, how }) => [
						fingerprintOf(asking(Array(count).fill(''), title).humanInput),
						how,
					]),
				);
				const open = found.find(({ how }) => how === null);
				expect(open?.question.messageIndex ?? null).toBe(history.openIndex());
			}),
			{ numRuns: 1_250 },
		);
	});
	it.each<[string, Partial<ReadSession>[], [number, SettledHow | null][]]>([
		['asked', [{ messages: [asking([''])] }], [[0, null]]],
		['answered', [{ messages: [asking([''])] }, { messages: [asking(['x'])] }], [[0, 'answered']]],
		['answered in part', [{ messages: [asking(['', ''])] }, { messages: [asking(['x', ''])] }], [[0, null]]],
		[
			'closed',
			[{ messages: [asking([''])] }, { messages: [asking(['']), saying('on')], status: 'stopped' }],
			[[0, 'closed']],
		],
		[
			'changed',
			[{ messages: [asking([''])] }, { messages: [asking([''], 'Other')] }],
			[
				[0, 'changed'],
				[0, null],
			],
		],
		[
			'changed and answered',
			[{ messages: [asking([''])] }, { messages: [asking(['x'], 'Other')] }],
			[
				[0, 'changed'],
				[0, 'answered'],
			],
		],
		['moved', [{ messages: [asking([''])] }, { messages: [saying('before'), asking([''])] }], [[1, null]]],
		[
			'emptied',
			[{ messages: [asking([''])] }, { messages: [asking(['x'])] }, { messages: [asking([''])] }],
			[
				[0, 'answered'],
				[0, null],
			],
		],
		[
			'emptied in part',
			[{ messages: [asking(['x', ''])] }, { messages: [asking(['', ''])] }],
			[
				[0, 'renewed'],
				[0, null],
			],
		],
		[
			'asked and answered between two reads',
			[{ messages: [] }, { messages: [asking(['x']), asking([''], 'New')] }],
			[
				[0, 'answered'],
				[1, null],
			],
		],
		[
			'rewound',
			[{ messages: [asking(['']), asking([''], 'New')] }, { messages: [asking([''])] }],
			[
				[1, 'closed'],
				[0, null],
			],
		],
		[
			'two equal ones',
			[{ messages: [asking([''])] }, { messages: [asking(['x']), asking([''])] }],
			[
				[0, 'answered'],
				[1, null],
			],
		],
	])('%s', (_what, reads, expected) => {
		expect(told(...reads)).toEqual(expected);
	});
	it('is one when the agent went on without an answer and waits again, and two when it asks something else', () => {
		const asked = buildSession({ messages: [asking([''])] });
		const wentOn = { verdict: 'wentOn', closedItems: (index: number) => new Set(index === 0 ? [0] : []) } as const;
		const occurrences = (last: Session, judged: Partial<Judgement>) =>
			occurrencesOf([asked, asked, last], (read) => (read === 1 ? wentOn : read === 2 ? judged : {})).map(
				({ question, how }) => [question.messageIndex, how],
			);
		expect(occurrences(asked, wentOn)).toEqual([[0, 'wentOn']]);
		expect(occurrences(asked, { isReopened: true })).toEqual([[0, null]]);
		const reworded = buildSession({ messages: [{ ...asking(['']), content: 'Another text' }] });
		expect(occurrences(reworded, { isReopened: true })).toEqual([[0, null]]);
		expect(occurrences(buildSession({ messages: [asking(['x'])] }), {})).toEqual([[0, 'wentOn']]);
		expect(occurrences(buildSession({ messages: [asking(['']), asking([''], 'New')] }), {})).toEqual([
			[0, 'wentOn'],
			[1, null],
		]);
	});
});
