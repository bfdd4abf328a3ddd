import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOT_JUDGED, NOTHING_SEEN, withArrival } from '../../src/questions/asked.ts';
import { openQuestion, type ReadSession } from '../../src/questions/session.ts';
import { type Change, changesBetween, digestOf } from '../../src/questions/session-snapshot.ts';
import { processorMs } from '../support/processor-ms.ts';
import { buildSession, saying } from '../support/sessions.ts';
import { anySession, asking } from './sessions.ts';

function between(before: Partial<ReadSession>, after: Partial<ReadSession>): Change[] {
	return changesBetween(digestOf(buildSession(before)), buildSession(after));
}

const done = { ...saying('bye'), actions: [{ kind: 'done' as const, text: 'It is 42' }] };

describe('changesBetween', () => {
	it('finds no change between a session and its own digest', () => {
		fc.assert(
			fc.property(anySession, (session) => {
				expect(changesBetween(digestOf(session), session)).toEqual([]);
			}),
		);
	});
	it('finds only the open question and the end of a session that was never announced', () => {
		expect(changesBetween(null, buildSession({ messages: [asking(['', 'x'])] }))).toEqual([
			{ kind: 'questionAsked', messageIndex: 0, items: [0] },
		]);
		expect(changesBetween(null, buildSession({ status: 'failed', messages: [asking([''])] }))).toEqual([
			{ kind: 'ended', status: 'failed' },
		]);
		expect(changesBetween(null, buildSession({ status: 'active', messages: [done] }))).toEqual([]);
	});
	it('finds a new status, new steps and a new question', () => {
		expect(between({ status: 'active', messages: [] }, { messages: [saying('a'), asking(['', ''])] })).toEqual([
			{ kind: 'statusChanged', from: 'active', to: 'humanInput' },
			{ kind: 'stepped' },
			{ kind: 'questionAsked', messageIndex: 1, items: [0, 1] },
		]);
	});
	it('finds a question and its answer on a message of any role but user, without a step', () => {
		const by = (role: string, ...values: string[]) => ({ ...asking(values), role });
		expect(between({ messages: [] }, { messages: [by('critic', '')] })).toEqual([
			{ kind: 'questionAsked', messageIndex: 0, items: [0] },
		]);
		expect(between({ messages: [by('critic', '')] }, { messages: [by('critic', 'x'), by('tool', '')] })).toEqual([
			{ kind: 'questionAnswered', messageIndex: 0, isWhole: true },
			{ kind: 'questionAsked', messageIndex: 1, items: [0] },
		]);
		expect(between({ messages: [] }, { messages: [by('user', '')] })).toEqual([]);
	});
	it('tells an answer to a part from one to the whole question', () => {
		expect(between({ messages: [asking(['', '', ''])] }, { messages: [asking(['', 'x', ''])] })).toEqual([
			{ kind: 'questionAnswered', messageIndex: 0, isWhole: false },
		]);
		expect(between({ messages: [asking(['', 'x'])] }, { messages: [asking(['y', 'x'])] })).toEqual([
			{ kind: 'questionAnswered', messageIndex: 0, isWhole: true },
		]);
	});
	it('finds an answer when the same read shows the next question', () => {
		const changes = between({ messages: [asking([''])] }, { messages: [asking(['x']), asking([''], 'New')] });
		expect(changes).toEqual([
			{ kind: 'stepped' },
			{ kind: 'questionAnswered', messageIndex: 0, isWhole: true },
			{ kind: 'questionAsked', messageIndex: 1, items: [0] },
		]);
	});
	it('finds questions that were asked and answered between two reads', () => {
		const messages = [asking(['x']), asking(['y', '']), asking([]), asking(['z'])];
		expect(between({ status: 'active', messages: [] }, { status: 'active', messages })).toEqual([
			{ kind: 'stepped' },
			{ kind: 'questionAnswered', messageIndex: 0, isWhole: true },
			{ kind: 'questionAnswered', messageIndex: 1, isWhole: true },
			{ kind: 'questionAnswered', messageIndex: 3, isWhole: true },
		]);
	});
	it('finds the newest of thousands', () => {
		const messages = Array.from({ length: 5_000 }, () => asking(['x']));
		const found = between({ status: 'active', messages: [] }, { status: 'active', messages });
		const places = found.flatMap((change) => (change.kind === 'questionAnswered' ? [change.messageIndex] : []));
		expect([places.length, places[0], places.at(-1)]).toEqual([51, 4_949, 4_999]);
	});
	it('closes a question after the agent goes on, the session ends or its message is removed', () => {
		const closed = { kind: 'questionClosed', messageIndex: 0 };
		expect(between({ messages: [asking([''])] }, { messages: [asking(['']), asking([''], 'New')] })).toContainEqual(
			closed,
		);
		expect(between({ messages: [asking([''])] }, { status: 'stopped', messages: [asking([''])] })).toEqual([
			{ kind: 'statusChanged', from: 'humanInput', to: 'stopped' },
			closed,
			{ kind: 'ended', status: 'stopped' },
		]);
		expect(between({ messages: [asking([''])] }, { messages: [] })).toEqual([{ kind: 'stepped' }, closed]);
		const another = [asking(['x'], 'Other'), asking([''], 'New')];
		expect(between({ messages: [asking([''])] }, { messages: another })).toContainEqual(closed);
		expect(
			between({ messages: [asking(['x', ''])] }, { status: 'active', messages: [asking(['x', ''])] }),
		).toContainEqual(closed);
	});
	it('does not repeat an old answer when newer messages were removed', () => {
		const changes = between(
			{ messages: [asking(['x']), asking(['y'])] },
			{ status: 'active', messages: [asking(['x'])] },
		);
		expect(changes.map((change) => change.kind)).toEqual(['statusChanged', 'stepped']);
	});
	it('finds that the same message asks something else', () => {
		expect(between({ messages: [asking([''])] }, { messages: [asking(['', ''], 'New')] })).toEqual([
			{ kind: 'questionChanged', messageIndex: 0, items: [0, 1] },
		]);
		expect(between({ messages: [asking([''])] }, { messages: [asking(['x', ''], 'New')] })).toEqual([
			{ kind: 'questionChanged', messageIndex: 0, items: [1] },
		]);
		expect(between({ messages: [asking([''])] }, { messages: [asking(['x'], 'New')] })).toEqual([
			{ kind: 'questionChanged', messageIndex: 0, items: [] },
			{ kind: 'questionAnswered', messageIndex: 0, isWhole: true },
		]);
	});
	it('finds that an open question has another text, and does not count it as asked again', () => {
		const reworded = { ...asking(['', '']), content: 'Something else' };
		const change = { kind: 'questionReworded', messageIndex: 0 };
		expect(between({ messages: [asking(['', ''])] }, { messages: [reworded] })).toEqual([change]);
		const partly = { ...asking(['x', '']), content: 'Something else' };
		expect(between({ messages: [asking(['', ''])] }, { messages: [partly] })).toEqual([
			change,
			{ kind: 'questionAnswered', messageIndex: 0, isWhole: false },
		]);
		const moved = [saying('a summary', 'system'), reworded];
		expect(between({ messages: [asking(['', ''])] }, { messages: moved })).toEqual([
			{ kind: 'questionMoved', messageIndex: 1 },
			{ ...change, messageIndex: 1 },
		]);
		expect(between({ messages: [asking([''])] }, { messages: [asking(['x'], 'New'), asking([''])] })).toContainEqual({
			kind: 'questionMoved',
			messageIndex: 1,
		});
	});
	it('finds no other text in a settled question, or in white space', () => {
		const again = (values: string[], content: string) => ({ messages: [{ ...asking(values), content }] });
		expect(between(again([''], 'One  text'), again([''], '\nOne text'))).toEqual([]);
		expect(between(again(['x'], 'One text'), { ...again(['x'], 'Two'), status: 'humanInput' })).toEqual([]);
		expect(between(again(['x'], 'One text'), again([''], 'Two')).map(({ kind }) => kind)).toEqual(['questionAsked']);
		expect(between(again([''], 'One text'), again(['x'], 'Two')).map(({ kind }) => kind)).toEqual(['questionAnswered']);
	});

	it('finds that an item which became empty again is asked again, if it is judged to be open', () => {
		const before = digestOf(buildSession({ messages: [asking(['x'])] }));
		const since = (closed: number[]) =>
			changesBetween(before, buildSession({ messages: [asking([''])] }), {
				...NOT_JUDGED,
				closedItems: () => new Set(closed),
			});
		expect(since([])).toEqual([{ kind: 'questionAsked', messageIndex: 0, items: [0] }]);
		expect(since([0])).toEqual([]);
	});
	it('finds that the agent went on without an answer, and that it waits again', () => {
		const session = buildSession({ messages: [asking([''])] });
		const wentOn = { ...NOT_JUDGED, verdict: 'wentOn', closedItems: () => new Set([0]) } as const;
		expect(changesBetween(digestOf(session), session, wentOn)).toEqual([
			{ kind: 'questionClosed', messageIndex: 0, wentOn: true },
		]);
		const after = digestOf(session, wentOn.closedItems);
		expect(changesBetween(after, session, wentOn)).toEqual([]);
		expect(changesBetween(after, session, { ...NOT_JUDGED, isReopened: true })).toEqual([
			{ kind: 'questionReopened', messageIndex: 0, items: [0] },
		]);
	});
	it('finds that an answer in the newest question was taken when no read had shown it', () => {
		const session = buildSession({ messages: [asking([''])] });
		const arrived = { answerId: 'a1', number: 1, at: 0, positions: [0], steps: 0, waited: true };
		const evidence = withArrival(NOTHING_SEEN, arrived);
		const taken = { ...NOT_JUDGED, verdict: 'taken', closedItems: () => new Set([0]) } as const;
		expect(changesBetween(digestOf(session), session, { ...taken, evidence })).toEqual([
			{ kind: 'questionAnswered', messageIndex: 0, isWhole: true, taken: true },
		]);
		expect(changesBetween(digestOf(session), session, { ...taken, evidence: NOTHING_SEEN })).toEqual([
			{ kind: 'questionClosed', messageIndex: 0 },
		]);
	});
	it('counts what is asked after an answer that no read showed as asked again, and an answer that is there once', () => {
		const before = digestOf(buildSession({ messages: [asking(['', '', 'z'])] }));
		const since = (messages: ReadSession['messages'], arrived: number[]) =>
			changesBetween(before, buildSession({ messages }), { ...NOT_JUDGED, arrived });
		const answer = { kind: 'questionAnswered', messageIndex: 0, taken: true };
		expect(since([asking(['', '', 'z'])], [0, 1])).toEqual([
			{ ...answer, isWhole: true },
			{ kind: 'questionAsked', messageIndex: 0, items: [0, 1] },
		]);
		expect(since([asking(['', '', 'z'])], [1])).toEqual([
			{ ...answer, isWhole: false },
			{ kind: 'questionAsked', messageIndex: 0, items: [1] },
		]);
		expect(since([done], [0, 1])).toContainEqual({ ...answer, isWhole: true });
		expect(since([done], [0, 1]).map(({ kind }) => kind)).not.toContain('questionClosed');
		expect(since([asking(['x', '', 'z'])], [0])).toEqual(since([asking(['x', '', 'z'])], []));
		expect(since([asking(['x', '', 'z'])], [0, 1])).toEqual(since([asking(['x', '', 'z'])], []));
	});
	it('finds the end once', () => {
		const ended = { kind: 'ended', status: 'completed' };
		expect(between({ status: 'active' }, { status: 'completed' })).toContainEqual(ended);
		expect(between({ status: 'stopped' }, { status: 'completed' })).not.toContainEqual(ended);
	});
	it('finds a new result or file, and ignores a new screenshot and renewed links', () => {
		const file = { filename: 'a', signedUrl: 'https://one' };
		const renewed = { ...file, signedUrl: 'https://two' };
		expect(between({ files: [file] }, { files: [renewed], lastScreenshotUrl: 'https://x' })).toEqual([]);
		const other = { ...file, filename: 'b' };
		for (const files of [[file, file], [other], []]) {
			expect(between({ files: [file] }, { files })).toEqual([{ kind: 'filesChanged' }]);
		}
		expect(between({ files: [file, other] }, { files: [other, file] })).toEqual([{ kind: 'filesChanged' }]);
		expect(between({}, { messages: [done] })).toEqual([{ kind: 'stepped' }, { kind: 'resultChanged' }]);
		const corrected = { ...done, actions: [{ kind: 'done' as const, text: 'It is 43' }] };
		expect(between({ messages: [done] }, { messages: [corrected] })).toEqual([{ kind: 'resultChanged' }]);
	});
	it('takes linear time for the items of a question', () => {
		const values = (first: string) =>
			Array.from({ length: 100_000 }, (_, at) => (at === 0 ? first : at % 2 === 0 ? 'x' : ''));
		const before = digestOf(buildSession({ messages: [asking(values(''))] }));
		const after = buildSession({ messages: [asking(values('x'))] });
		const start = processorMs();
		expect(changesBetween(before, after)).toEqual([{ kind: 'questionAnswered', messageIndex: 0, isWhole: false }]);
		// Quadratic work takes 5 s.
		expect(processorMs() - start).toBeLessThan(1_000);
	});
	it('ignores items that are not open although they are empty', () => {
		const session = buildSession({ messages: [asking(['x', ''])] });
		expect(changesBetween(null, session, { ...NOT_JUDGED, closedItems: () => new Set([1]) })).toEqual([]);
	});
	it('finds every open question that was not announced', () => {
		fc.assert(
			fc.property(anySession, anySession, (before, after) => {
				const announced = digestOf(before);
				const open = openQuestion(after);
				const changes = changesBetween(announced, after);
				if (open === null) return;
				const isFound = changes.some(
					(change) =>
						(change.kind === 'questionAsked' ||
							change.kind === 'questionChanged' ||
							// It was announced with another index.
							change.kind === 'questionMoved') &&
						change.messageIndex === open.messageIndex,
				);
				const isAnnounced =
					announced.question?.messageIndex === open.messageIndex &&
					announced.question.fingerprint === open.fingerprint &&
					open.openItems.every((position) => announced.question?.open.includes(position));
				expect(isFound).toBe(!isAnnounced);
			}),
			{ numRuns: 1_000 },
		);
	});
});

describe('digestOf', () => {
	it('survives JSON and holds no text of a person or an agent', () => {
		const secret = 'S3cr3t';
		const messages = [
			{ ...asking([secret], secret), content: secret, actions: [{ kind: 'done' as const, text: secret }] },
		];
		const digest = digestOf(buildSession({ messages, sessionVariables: [secret] }));
		expect(JSON.parse(JSON.stringify(digest))).toEqual(digest);
		expect(JSON.stringify(digest)).not.toContain(secret);
	});
	it('does not depend on the value, so nobody can find a short code by trying', () => {
		expect(digestOf(buildSession({ messages: [asking(['1234'])] }))).toEqual(
			digestOf(buildSession({ messages: [asking(['9'])] })),
		);
	});
});
