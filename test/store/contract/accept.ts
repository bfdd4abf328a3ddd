import { describe, expect, it } from 'vitest';
import { arrivalOf } from '../../../src/domain/answer.ts';
import { OWN_SCHEMA } from '../../../src/store/migrate.ts';
import type { Subject } from '../contract.ts';
import { ANN, BOB, EVE, item, LEASE, LIVE, SERVICE, storeActs, submission, T0, valuesOf } from '../support.ts';

export function describeAccept(subject: Subject): void {
	const { accepted, current, damage, leased, patched, receiptOf, rowsOf, setRows } = storeActs(subject);
	const answers = () => subject.store.answers;
	const replica = () => subject.replica.answers;
	describe('accept', () => {
		it('stores a submission word for word and queues it at once', async () => {
			const given = submission({
				items: [item('  naïve 🙂\n"x" \\ \u0000 \ud800 '), item(''), item(null)],
				leftEmpty: [1],
				shownHash: 'shown-1',
			});
			const result = await answers().accept(given);
			expect(result).toMatchObject({ kind: 'accepted' });
			const stored = await answers().get(given.id);
			const { items, sessionName, boxed: _, ...same } = given;
			expect(stored).toEqual({
				...same,
				content: { kind: 'readable', items, other: null, sessionName },
				secretPositions: [],
				positions: [0, 1],
				state: 'accepted',
				attempts: 0,
				checkedAt: T0,
				editCount: 0,
				nextAttemptAt: T0,
				putStartedAt: null,
				beforePut: null,
				deliveredAt: null,
				agentOutcome: null,
				endedAt: null,
				lastError: null,
				timeline: [{ state: 'accepted', at: T0 }],
				notBefore: null,
				missingCount: 0,
				missingSince: null,
				startFailed: false,
				questionId: expect.any(String),
			});
			expect(result.kind === 'accepted' && result.answer).toEqual(stored);
		});

		it('stores nothing beside a newer schema: no new answer, no other one, no change, and takes none', async () => {
			const { db, answers } = subject.store;
			const live = submission();
			await accepted(live);
			const waiting = await accepted(submission({ sessionId: 's2' }), 'waiting');
			const stored = async () => (await rowsOf('answers')).toSorted((one, other) => (one.id < other.id ? -1 : 1));
			const before = await stored();
			const newer = { number: OWN_SCHEMA + 1, name: 'newer', appliedAt: T0 };
			await db.write((trx) => trx.insertInto('migrations').values(newer).execute());
			try {
				for (const attempt of [
					() => answers.accept(submission({ sessionId: 's3' })),
					() => answers.accept(submission({ person: BOB })),
					() => answers.accept(submission({ sessionId: 's2', person: BOB })),
					() => answers.accept({ ...live, items: [item('red')] }),
					() => answers.retry(waiting.id, ANN, T0, T0 + 1_000),
					() => answers.withdraw(waiting.id, ANN, T0),
					() => answers.withdraw(live.id, ANN, T0, { onlyUnsent: true }),
				]) {
					await expect(attempt()).rejects.toMatchObject({ code: 'database_newer', retryable: false });
				}
				expect(await answers.takeDue(SERVICE, LEASE, 10, T0)).toEqual([]);
				expect(await stored()).toEqual(before);
				expect(await subject.store.replaced).toBe('database_newer');
			} finally {
				await db.write((trx) => trx.deleteFrom('migrations').where('number', '=', newer.number).execute());
			}
			expect(await answers.accept(submission({ sessionId: 's2', person: BOB }))).toMatchObject({ kind: 'accepted' });
		});

		it.each([
			['accepted', []],
			['delivered', ['delivering', 'delivered']],
		] as const)('changes nothing when one that is %s is submitted again with another id', async (state, states) => {
			const origin = { channelId: null, threadTs: null };
			const given = submission({ items: [item('blue'), item('hunter2', { secret: true })], origin });
			const first = await accepted(given, ...states);
			expect(first).toMatchObject({ state, origin });
			const again = await replica().accept({ ...given, id: 'another-id', acceptedAt: T0 + 5 });
			expect(again).toEqual({ kind: 'repeated', answer: first, edited: false });
			expect(await answers().get('another-id')).toBeNull();
		});

		it('replaces the text when the same form is submitted again before it is sent', async () => {
			const given = submission();
			await accepted(given);
			const changed = { items: [item('red'), item('')], leftEmpty: [1], acceptedAt: T0 + 5 };
			const edited = await answers().accept({ ...given, ...changed });
			expect(edited).toMatchObject({ kind: 'repeated', edited: true, answer: { id: given.id, leftEmpty: [1] } });
			const stored = await answers().get(given.id);
			expect(valuesOf(stored)).toEqual(['red', '']);
			// The press was checked again.
			const timeline = [{ state: 'accepted', at: T0 }];
			expect(stored).toMatchObject({ checkedAt: T0 + 5, acceptedAt: T0, nextAttemptAt: T0, timeline });
		});

		it('replaces the text of a leased answer before its PUT, and again after a PUT that saved nothing', async () => {
			const given = submission();
			expect(valuesOf(await leased(given))).toEqual(['blue']);
			expect(await answers().accept({ ...given, items: [item('red')] })).toMatchObject({ edited: true });
			const begun = await patched(given.id, { state: 'delivering', putStartedAt: T0 });
			expect(valuesOf(begun)).toEqual(['red']);
			await patched(given.id, { state: 'accepted', putStartedAt: null }, { release: true });
			expect(await answers().accept({ ...given, items: [item('green')] })).toMatchObject({ edited: true });
		});

		it.each([
			['the PUT may have begun', { state: 'delivering', putStartedAt: T0 }],
			['a PUT was marked though the state says accepted', { putStartedAt: T0 }],
			['it waits for its author', { state: 'waiting' }],
			['it was delivered', { state: 'delivered', deliveredAt: T0 }],
			['it was refused', { state: 'refused' }],
		] as const)('keeps the first text when %s', async (_when, patch) => {
			const given = submission();
			await leased(given);
			await patched(given.id, patch, { release: true });
			const late = await answers().accept({ ...given, items: [item('red')] });
			expect(late.kind).toBe('tooLate');
			expect(valuesOf(late.answer)).toEqual(['blue']);
			expect(valuesOf(await answers().get(given.id))).toEqual(['blue']);
		});

		it.each([
			['before', [], { kind: 'repeated', edited: true }, { values: [null] }],
			['after', ['delivering', 'delivered'], { kind: 'tooLate' }, { boxed: true }],
		] as const)('hides an item that its author marks as secret %s sending began', async (_, states, result, mark) => {
			const given = submission();
			await accepted(given, ...states);
			const again = await answers().accept({ ...given, items: [item('blue', { secret: true })] });
			expect(again).toMatchObject({ ...result, answer: { content: { items: [{ secret: true }] } } });
			// What was sent as a secret stays one, whatever its author ticks later.
			if (states.length > 0) await answers().accept({ ...given, items: [item('green')] });
			const { secrecy } = await replica().toQuestions(given.question, [given.fingerprint], []);
			expect(secrecy).toMatchObject([{ secret: [0], ...mark }]);
		});

		it.each(LIVE)(
			'stores a second answer as conflicted while the first is %s, from any team',
			async (_state, states) => {
				const first = submission({ items: [item('blue'), item('hunter2', { secret: true })] });
				await accepted(first, ...states);
				const second = submission({
					person: EVE,
					items: [item('red'), item('s3cret', { secret: true })],
					acceptedAt: T0 + 9,
				});
				const result = await replica().accept(second);
				expect(result).toMatchObject({ kind: 'taken', by: { id: first.id, person: ANN } });
				const kept = await answers().get(second.id);
				const lost = { state: 'conflicted', person: EVE, nextAttemptAt: null, endedAt: T0 + 9 };
				const other = { person: ANN, values: ['blue', null], at: T0, same: false };
				const timeline = [{ state: 'conflicted', at: T0 + 9 }];
				expect(kept).toMatchObject({ ...lost, timeline, content: { other } });
				expect(valuesOf(kept)).toEqual(['red', null]);
				expect(result.answer).toEqual(kept);
			},
		);

		it('tells that the conflicting answer has the same words, and compares secrets without revealing them', async () => {
			const secret = item('hunter2', { secret: true });
			await accepted(submission({ items: [item('blue'), item('four'), secret] }));
			for (const second of [null, 'five']) {
				const items = [item('blue'), item(second), secret];
				const { answer } = await answers().accept(submission({ person: BOB, items }));
				const other = { same: second === null, values: ['blue', 'four', null] };
				expect(answer.content).toMatchObject({ other });
			}
		});

		it('accepts answers to other messages, sessions and services at the same time', async () => {
			await accepted(submission());
			for (const other of [{ messageIndex: 2 }, { sessionId: 's2' }, { service: 'https://other.example' }])
				expect((await answers().accept(submission(other))).kind).toBe('accepted');
		});

		it.each(['delivered', 'resumed'] as const)('rejects one whose form was read before one was %s', async (state) => {
			const first = submission();
			await accepted(first, 'delivering', 'delivered', ...(state === 'resumed' ? [state] : []));
			const result = await answers().accept(submission({ person: BOB, formReadAt: T0 + 1 }));
			const answer = { content: { other: { person: ANN, at: T0 + 2, values: ['blue'] } } };
			expect(result).toMatchObject({ kind: 'taken', by: { id: first.id, state }, answer });
		});

		it('compares what arrived, and times, with what the form saw, and times alone for a form that knows no arrival', async () => {
			const [first, other] = [submission(), submission({ messageIndex: 2 })];
			await accepted(other, 'delivering', 'delivered');
			const tried = submission({ person: BOB, formReadAt: T0 + 1e9, arrivalSeen: 1 });
			await accepted(tried, 'refused');
			await accepted(first, 'delivering', 'delivered');
			expect(arrivalOf((await current(other.id)).timeline)?.arrival).toBe(1);
			expect(arrivalOf((await current(first.id)).timeline)?.arrival).toBe(2);
			const kindOf = async (overrides: object) =>
				(await answers().accept(submission({ person: BOB, ...overrides }))).kind;
			// The clock was set back after the form was read, or forward.
			expect(await kindOf({ formReadAt: T0 + 1e9, arrivalSeen: 1 })).toBe('taken');
			expect(await kindOf({ formReadAt: T0 - 1e9, arrivalSeen: null })).toBe('taken');
			expect(await replica().retry(tried.id, BOB, T0 + 9, T0 + 1e6)).toMatchObject({ kind: 'taken' });
			// The form is of the time before a backup was restored: what it counted was something else.
			expect(await kindOf({ formReadAt: T0 + 1, arrivalSeen: 2 })).toBe('taken');
			expect(await kindOf({ formReadAt: T0 + 2, arrivalSeen: 2 })).toBe('accepted');
		});

		it('accepts an answer whose form was read after another arrived, and before that one was sent again', async () => {
			const first = submission();
			await accepted(first, 'delivering', 'delivered');
			await setRows('answers', { deliveredAt: T0 + 27_000 });
			const form = { formReadAt: T0 + 10, arrivalSeen: 1 };
			expect((await answers().accept(submission({ person: BOB, ...form }))).kind).toBe('accepted');
		});

		it.each([
			['accepts an answer whose form was read after', {}, { person: ANN, formReadAt: T0 + 2 }, 'accepted'],
			['accepts an answer to another question than', { fingerprint: 'fingerprint-2' }, {}, 'accepted'],
			[
				'accepts an answer to items left open by',
				{ items: [item('blue'), item(null), item('')], leftEmpty: [2] },
				{ items: [item(null), item('four'), item(null)] },
				'accepted',
			],
			[
				'refuses an answer to an item left empty on purpose by',
				{ items: [item('blue'), item('')], leftEmpty: [1] },
				{ items: [item(null), item('four')] },
				'taken',
			],
		])('%s one that was delivered', async (_, first, second, kind) => {
			await accepted(submission(first), 'delivering', 'delivered');
			expect((await answers().accept(submission({ person: BOB, ...second }))).kind).toBe(kind);
		});

		it.each(['conflicted', 'changed', 'refused', 'ended'] as const)(
			'accepts an answer when another one is %s',
			async (state) => {
				await accepted(submission(), state);
				expect((await answers().accept(submission({ person: BOB }))).kind).toBe('accepted');
			},
		);

		it('replaces an answer that waits for its author and tells the author', async () => {
			const first = submission({ items: [item('blue'), item('hunter2', { secret: true })] });
			await leased(first);
			const waiting = { state: 'waiting', nextAttemptAt: null } as const;
			await patched(first.id, waiting, { now: T0 + 1, release: true });
			await subject.store.views.remove({ id: first.viewId });
			const second = submission({ person: BOB, items: [item('blue'), item('x')], acceptedAt: T0 + 50 });
			const result = await answers().accept(second);
			if (result.kind !== 'accepted') throw new Error(result.kind);
			expect(result.answer.id).toBe(second.id);
			const replaced = await answers().get(first.id);
			const content = { other: { person: BOB, values: ['blue', 'x'], at: T0 + 50, same: false } };
			expect(replaced).toMatchObject({ state: 'conflicted', nextAttemptAt: null, endedAt: T0 + 50, content });
			expect(replaced?.timeline.map((entry) => entry.state)).toEqual(['accepted', 'waiting', 'conflicted']);
			expect(valuesOf(replaced)).toEqual(['blue', null]);
			expect(await receiptOf(first.id)).toMatchObject({ viewId: null, dueAt: T0 + 50 });
		});

		it.each([
			['timeline', 'conflicted'],
			['submission', 'waiting'],
		] as const)('accepts one beside a waiting one whose "%s" is damaged, which is then %s', async (column, state) => {
			const waiting = await accepted(submission(), 'waiting');
			await damage(waiting.id, column);
			expect((await answers().accept(submission({ person: BOB }))).kind).toBe('accepted');
			expect((await answers().stats()).byState).toMatchObject({ [state]: 1, accepted: 1 });
		});

		it.each([['submission'], ['content'], ['beforePut'], ['agentOutcome'], ['secretPositions']] as const)(
			'accepts an answer to items that a delivered one left open whose "%s" is damaged, and refuses one to the same items',
			async (column) => {
				const first = submission({ items: [item('blue'), item(null), item('small', { secret: true })] });
				await accepted(first, 'delivering', 'delivered');
				await damage(first.id, column);
				const second = submission({ person: BOB, items: [item(null), item('four'), item(null)] });
				for (const position of [0, 2]) {
					const items = [0, 1, 2].map((at) => item(at === position ? 'red' : null));
					const same = submission({ person: BOB, items });
					if (column === 'content') expect((await answers().accept(same)).kind).toBe('taken');
					else await expect(answers().accept(same)).rejects.toThrow();
				}
				expect((await answers().accept(second)).kind).toBe('accepted');
			},
		);

		it('refuses an answer when nobody knows what a delivered one filled, until its form is read again', async () => {
			const first = submission({ items: [item('blue'), item(null)] });
			await accepted(first, 'delivering', 'delivered');
			await damage(first.id, 'submission', 'content');
			const items = [item(null), item('four')];
			await expect(answers().accept(submission({ person: BOB, items }))).rejects.toThrow();
			const later = submission({ person: BOB, items, formReadAt: T0 + 9 });
			expect((await answers().accept(later)).kind).toBe('accepted');
		});

		it.each(LIVE)(
			'refuses an answer while one that cannot be read is %s, and leaves it alone',
			async (state, states) => {
				const first = await accepted(submission(), ...states);
				await damage(first.id, 'submission', 'content');
				const rows = () => rowsOf('answers');
				const before = await rows();
				expect(before).toMatchObject([{ state }]);
				const second = submission({ person: BOB, items: [item(null), item('four')], formReadAt: T0 + 9 });
				await expect(answers().accept(second)).rejects.toThrow();
				expect(await rows()).toEqual(before);
			},
		);

		it('keeps a waiting answer when the new one is rejected', async () => {
			const waiting = submission({ formReadAt: T0 });
			const { questionId } = await accepted(waiting, 'waiting');
			const delivered = submission({ person: BOB, messageIndex: 9 });
			await accepted(delivered, 'delivering', 'delivered');
			await setRows('answers', { messageIndex: 1, questionId }, { id: delivered.id });
			expect((await answers().accept(submission({ person: EVE }))).kind).toBe('taken');
			expect((await answers().get(waiting.id))?.state).toBe('waiting');
		});

		it('replaces a waiting answer that a worker still has', async () => {
			const first = await leased(submission());
			await patched(first.id, { state: 'waiting' }, { now: T0 + 1 });
			await accepted(submission({ person: BOB }));
			const lost = await patched(first.id, { nextAttemptAt: null }, { now: T0 + 2, release: true });
			expect(lost).toBeNull();
			expect(await current(first.id)).toMatchObject({ state: 'conflicted', endedAt: T0 });
		});
	});
}
