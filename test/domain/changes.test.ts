import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReadSession } from '../../src/domain/gate.ts';
import { changesBetween, digestOf, type SessionChange } from '../../src/domain/session-digest.ts';
import { runs } from '../support/runs.ts';
import { buildSession, saying } from '../support/sessions.ts';
import { anySession, asking } from './sessions.ts';

const between = (before: Partial<ReadSession>, after: Partial<ReadSession>): SessionChange[] =>
	changesBetween(digestOf(buildSession(before)), digestOf(buildSession(after)));

const done = { ...saying('bye'), actions: [{ kind: 'done' as const, text: 'It is 42' }] };

describe('changesBetween', () => {
	it('finds no change between a session and its own digest', () => {
		fc.assert(
			fc.property(anySession, (session) => {
				expect(changesBetween(digestOf(session), digestOf(session))).toEqual([]);
			}),
			{ numRuns: runs(100) },
		);
	});
	it('finds only the end of a session that was never announced', () => {
		const first = (fields: Partial<ReadSession>) => changesBetween(null, digestOf(buildSession(fields)));
		expect(first({ messages: [asking(['', 'x']), done] })).toEqual([]);
		expect(first({ status: 'failed', messages: [done] })).toEqual([{ kind: 'ended', status: 'failed' }]);
	});
	it('finds a new status and new steps', () => {
		expect(between({ status: 'active', messages: [] }, { messages: [saying('a'), asking([''])] })).toEqual([
			{ kind: 'statusChanged', from: 'active', to: 'humanInput' },
			{ kind: 'stepped' },
		]);
		expect(between({ messages: [saying('a')] }, { messages: [] })).toEqual([{ kind: 'stepped' }]);
		expect(between({ messages: [] }, { messages: [saying('a', 'user'), saying('b', 'critic')] })).toEqual([]);
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
});

describe('digestOf', () => {
	it('survives JSON and holds no text of a person or an agent', () => {
		const secret = 'S3cr3t';
		const messages = [
			{ ...asking([secret], secret), content: secret, actions: [{ kind: 'done' as const, text: secret }] },
		];
		const digest = digestOf(buildSession({ messages }));
		expect(JSON.parse(JSON.stringify(digest))).toEqual(digest);
		expect(JSON.stringify(digest)).not.toContain(secret);
	});
	it('does not depend on the value, so nobody can find a short code by trying', () => {
		expect(digestOf(buildSession({ messages: [asking(['1234'])] }))).toEqual(
			digestOf(buildSession({ messages: [asking(['9'])] })),
		);
	});
});
