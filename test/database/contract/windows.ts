import type { ModalView } from '@slack/types';
import { describe, expect, it } from 'vitest';
import { buildSession } from '../../support/sessions.ts';
import type { Subject } from '../contract.ts';
import { ANN, LEASE, OTHER_LEASE, T0, windowsDue } from '../support.ts';

const MINUTE_MS = 60_000;
const QUESTION = { service: 'https://service.example', sessionId: 's1', messageIndex: 3 };
const VIEW = { type: 'modal', blocks: [{ type: 'divider' }] } as unknown as ModalView;
const SHOWN = { ...ANN, ...QUESTION, fingerprint: 'f', shownHash: 'h', hash: 'hash-1' };

export function describeWindows(subject: Subject): void {
	const windows = () => subject.store.windows;
	const replica = () => subject.replica.windows;

	describe('open windows', () => {
		it('are due when a read finds something else or an answer comes, for one replica, and again when marked meanwhile', async () => {
			await windows().shown('V1', SHOWN, VIEW, T0);
			expect(await replica().nextDueAt(T0)).toBeNull();
			const asksOther = buildSession({ sessionId: 's1', messages: [] });
			await windows().learn(QUESTION, asksOther, T0 + 1);
			await windows().learn(QUESTION, asksOther, T0 + 2);
			expect(await replica().nextDueAt(T0 + 2)).toBe(T0 + 1);
			const [window] = await replica().takeDue(LEASE, 5, T0 + 2);
			expect(window).toMatchObject({ ...SHOWN, view: VIEW, learned: 'changed', notice: '' });
			expect(await windows().takeDue(OTHER_LEASE, 5, T0 + 2)).toEqual([]);
			await windowsDue(subject.store, QUESTION, T0 + 3);
			if (window !== undefined) await replica().end(window, LEASE.token, { notice: 'n', hash: 'hash-2' });
			const [again] = await windows().takeDue(LEASE, 5, T0 + 3);
			expect(again).toMatchObject({ notice: 'n', hash: 'hash-2', dueAt: T0 + 3 });
			if (again !== undefined) await windows().end(again, LEASE.token, {}, T0 + 9);
			expect(await windows().nextDueAt(T0 + 3)).toBe(T0 + 9);
		});

		it('are due again when somebody types in one with another hash, and never 15 minutes after that', async () => {
			await windows().shown('V1', SHOWN, VIEW, T0);
			await windows().touched('V1', 'hash-1', T0 + 10 * MINUTE_MS);
			expect(await windows().nextDueAt(T0 + 10 * MINUTE_MS)).toBeNull();
			await windows().touched('V1', 'hash-2', T0 + 12 * MINUTE_MS);
			expect(await windows().takeDue(LEASE, 5, T0 + 26 * MINUTE_MS)).toMatchObject([{ hash: 'hash-2' }]);
			await windows().release([LEASE.token]);
			expect(await windows().takeDue(LEASE, 5, T0 + 27 * MINUTE_MS)).toEqual([]);
			await windowsDue(subject.store, QUESTION, T0 + 27 * MINUTE_MS);
			expect(await windows().nextDueAt(T0 + 27 * MINUTE_MS)).toBeNull();
		});

		it('are told of nothing while they are taken over, also after a notice, which is not disturbed', async () => {
			await windows().shown('V1', SHOWN, VIEW, T0);
			await windowsDue(subject.store, QUESTION, T0);
			const [window] = await replica().takeDue(LEASE, 5, T0);
			expect(await windows().takeOver('V1', T0)).toBe(false);
			if (window !== undefined) await replica().end(window, LEASE.token, { notice: 'n', hash: 'hash-2' });
			expect(await windows().takeOver('V1', T0)).toBe('hash-2');
			await windowsDue(subject.store, QUESTION, T0 + 1);
			expect(await replica().takeDue(LEASE, 5, T0 + 29_999)).toEqual([]);
			expect(await replica().takeDue(LEASE, 5, T0 + 30_000)).toHaveLength(1);
			await windows().shown('V1', SHOWN, VIEW, T0);
			expect(await windows().takeOver('V1', T0)).toBeNull();
			expect(await windows().takeOver('other', T0)).toBeNull();
		});

		it('are forgotten when they close, are old, or a text in them becomes secret', async () => {
			const isThere = async () => {
				await windowsDue(subject.store, QUESTION, T0);
				return (await windows().nextDueAt(T0)) !== null;
			};
			for (const forget of [
				() => windows().forget('V1'),
				() => windows().removeOld(T0 + 15 * MINUTE_MS),
				() => subject.store.drafts.forget(ANN, QUESTION, [0]),
			]) {
				await windows().shown('V1', SHOWN, VIEW, T0);
				expect(await isThere()).toBe(true);
				await forget();
				expect(await isThere()).toBe(false);
			}
		});
	});
}
