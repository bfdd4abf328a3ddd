import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Change, changesBetween, digestOf } from '../../src/questions/changes.ts';
import { openQuestion } from '../../src/questions/open-question.ts';
import type { Session } from '../../src/questions/session.ts';
import { buildSession, saying } from '../support/sessions.ts';
import { anySession, asking } from './sessions.ts';

function between(before: Partial<Session>, after: Partial<Session>): Change[] {
	return changesBetween(digestOf(buildSession(before)), buildSession(after));
}

const done = { ...saying('bye'), actions: [{ kind: 'done' as const, text: 'It is 42' }] };

describe('changes', () => {
	it('are none between a session and its own digest', () => {
		fc.assert(
			fc.property(anySession, (session) => {
				expect(changesBetween(digestOf(session), session)).toEqual([]);
			}),
		);
	});
	it('of a session never announced are its open question and its end', () => {
		expect(changesBetween(null, buildSession({ messages: [asking(['', 'x'])] }))).toEqual([
			{ kind: 'questionAsked', messageIndex: 0, items: [0] },
		]);
		expect(changesBetween(null, buildSession({ status: 'failed', messages: [asking([''])] }))).toEqual([
			{ kind: 'ended', status: 'failed' },
		]);
		expect(changesBetween(null, buildSession({ status: 'active', messages: [done] }))).toEqual([]);
	});
	it('name the status, the steps and a new question', () => {
		expect(between({ status: 'active', messages: [] }, { messages: [saying('a'), asking(['', ''])] })).toEqual([
			{ kind: 'statusChanged', from: 'active', to: 'humanInput' },
			{ kind: 'stepped', count: 2 },
			{ kind: 'questionAsked', messageIndex: 1, items: [0, 1] },
		]);
	});
	it('name a question and its answer on a message of any role but user, which is no step', () => {
		const by = (role: string, ...values: string[]) => ({ ...asking(values), role });
		expect(between({ messages: [] }, { messages: [by('critic', '')] })).toEqual([
			{ kind: 'questionAsked', messageIndex: 0, items: [0] },
		]);
		expect(between({ messages: [by('critic', '')] }, { messages: [by('critic', 'x'), by('tool', '')] })).toEqual([
			{ kind: 'questionAnswered', messageIndex: 0, items: [0], stillOpen: [] },
			{ kind: 'questionAsked', messageIndex: 1, items: [0] },
		]);
		expect(between({ messages: [] }, { messages: [by('user', '')] })).toEqual([]);
	});
	it('name the items that were answered and those still open', () => {
		expect(between({ messages: [asking(['', '', ''])] }, { messages: [asking(['', 'x', ''])] })).toEqual([
			{ kind: 'questionAnswered', messageIndex: 0, items: [1], stillOpen: [0, 2] },
		]);
		expect(between({ messages: [asking(['', 'x'])] }, { messages: [asking(['y', 'x'])] })).toEqual([
			{ kind: 'questionAnswered', messageIndex: 0, items: [0], stillOpen: [] },
		]);
	});
	it('tell of an answer though the agent asks the next question by the same read', () => {
		const changes = between({ messages: [asking([''])] }, { messages: [asking(['x']), asking([''], 'New')] });
		expect(changes).toEqual([
			{ kind: 'stepped', count: 1 },
			{ kind: 'questionAnswered', messageIndex: 0, items: [0], stillOpen: [] },
			{ kind: 'questionAsked', messageIndex: 1, items: [0] },
		]);
	});
	it('tell of questions that came and were answered between two reads', () => {
		const messages = [asking(['x']), asking(['y', '']), asking([]), asking(['z'])];
		expect(between({ status: 'active', messages: [] }, { status: 'active', messages })).toEqual([
			{ kind: 'stepped', count: 4 },
			{ kind: 'questionAnswered', messageIndex: 0, items: [0], stillOpen: [] },
			{ kind: 'questionAnswered', messageIndex: 1, items: [0], stillOpen: [] },
			{ kind: 'questionAnswered', messageIndex: 3, items: [0], stillOpen: [] },
		]);
	});
	it('close a question that the agent, the end or a shrinking session made moot', () => {
		const closed = { kind: 'questionClosed', messageIndex: 0 };
		expect(between({ messages: [asking([''])] }, { messages: [asking(['']), asking([''], 'New')] })).toContainEqual(
			closed,
		);
		expect(between({ messages: [asking([''])] }, { status: 'stopped', messages: [asking([''])] })).toEqual([
			{ kind: 'statusChanged', from: 'humanInput', to: 'stopped' },
			closed,
			{ kind: 'ended', status: 'stopped' },
		]);
		expect(between({ messages: [asking([''])] }, { messages: [] })).toEqual([
			{ kind: 'rewound', from: 1, to: 0 },
			closed,
		]);
		expect(
			between({ messages: [asking(['x', ''])] }, { status: 'active', messages: [asking(['x', ''])] }),
		).toContainEqual(closed);
	});
	it('do not tell an old answer again when the session shrank to it', () => {
		const changes = between(
			{ messages: [asking(['x']), asking(['y'])] },
			{ status: 'active', messages: [asking(['x'])] },
		);
		expect(changes.map((change) => change.kind)).toEqual(['statusChanged', 'rewound']);
	});
	it('close a question whose digest alone is known to be followed by another', () => {
		const after = digestOf(buildSession({ messages: [asking(['x']), asking([''], 'New')] }));
		expect(
			changesBetween(digestOf(buildSession({ messages: [asking([''])] })), after).map((change) => change.kind),
		).toEqual(['stepped', 'questionClosed', 'questionAsked']);
	});
	it('say that the same message asks something else', () => {
		expect(between({ messages: [asking([''])] }, { messages: [asking(['', ''], 'New')] })).toEqual([
			{ kind: 'questionChanged', messageIndex: 0, items: [0, 1] },
		]);
	});
	it('say that items wait again', () => {
		expect(between({ messages: [asking(['x'])] }, { messages: [asking([''])] })).toEqual([
			{ kind: 'questionAsked', messageIndex: 0, items: [0] },
		]);
	});
	it('name the end once', () => {
		const ended = { kind: 'ended', status: 'completed' };
		expect(between({ status: 'active' }, { status: 'completed' })).toContainEqual(ended);
		expect(between({ status: 'stopped' }, { status: 'completed' })).not.toContainEqual(ended);
	});
	it('name result, files and screenshot, but not renewed links', () => {
		const file = { filename: 'a', signedUrl: 'https://one', timestamp: '2026-11-13T10:00:00Z' };
		const renewed = { ...file, signedUrl: 'https://two', timestamp: '2026-11-20T10:00:00Z' };
		expect(between({ files: [file] }, { files: [renewed], lastScreenshotUrl: 'https://x' })).toEqual([]);
		const other = { ...file, filename: 'b' };
		for (const files of [[file, file], [other], []]) {
			expect(between({ files: [file] }, { files })).toEqual([{ kind: 'filesChanged' }]);
		}
		expect(between({ files: [file, other] }, { files: [other, file] })).toEqual([{ kind: 'filesChanged' }]);
		expect(between({}, { lastScreenshotTimestamp: '2026-11-20T10:00:00Z' })).toEqual([{ kind: 'screenshotChanged' }]);
		expect(between({}, { messages: [done] })).toEqual([{ kind: 'stepped', count: 1 }, { kind: 'resultChanged' }]);
	});
	it('respect what an answer of ours left empty', () => {
		const session = buildSession({ messages: [asking(['x', ''])] });
		expect(changesBetween(null, session, () => new Set([1]))).toEqual([]);
	});
	it('miss no open question, whatever was known before', () => {
		fc.assert(
			fc.property(anySession, anySession, (before, after) => {
				const known = digestOf(before);
				const open = openQuestion(after);
				for (const now of [after, digestOf(after)]) {
					const changes = changesBetween(known, now);
					if (open === null) continue;
					const told = changes.some(
						(change) =>
							(change.kind === 'questionAsked' ||
								change.kind === 'questionChanged' ||
								// Told before, at another place.
								change.kind === 'questionMoved') &&
							change.messageIndex === open.messageIndex,
					);
					const knownOpen =
						known.question?.messageIndex === open.messageIndex &&
						known.question.fingerprint === open.fingerprint &&
						open.openItems.every((position) => known.question?.open.includes(position));
					expect(told).toBe(!knownOpen);
				}
			}),
			{ numRuns: 1_000 },
		);
	});
});

describe('the digest', () => {
	it('survives JSON and holds nothing that a person or an agent said', () => {
		const secret = 'S3cr3t';
		const messages = [
			{ ...asking([secret], secret), content: secret, actions: [{ kind: 'done' as const, text: secret }] },
		];
		const digest = digestOf(buildSession({ messages, sessionVariables: [{ name: secret, value: secret }] }));
		expect(JSON.parse(JSON.stringify(digest))).toEqual(digest);
		expect(JSON.stringify(digest)).not.toContain(secret);
	});
	it('does not depend on the value given, so that a short code cannot be found by trying', () => {
		expect(digestOf(buildSession({ messages: [asking(['1234'])] }))).toEqual(
			digestOf(buildSession({ messages: [asking(['9'])] })),
		);
	});
});
