import { describe, expect, it } from 'vitest';
import { CLOCK_ALLOWANCE_MS } from '../../../src/core/clock.ts';
import { StoreUnavailableError } from '../../../src/database/database.ts';
import type { AnswerStore } from '../../../src/features/answer/answer-store.ts';
import { stateLine } from '../../../src/features/answer/view.ts';
import type { ReadSession } from '../../../src/questions/gate.ts';
import { SessionServiceError } from '../../../src/session-service/errors.ts';
import { BOB, item, submission, T0, valuesOf } from '../../database/support.ts';
import { line } from '../../support/sentences.ts';
import { fingerprintOf, saying } from '../../support/sessions.ts';
import { settableClock } from '../../support/settable-clock.ts';
import { asking, CALL_TIMEOUT_MS, createHarness } from './delivering.ts';

const HOUR = 3_600_000;
const OPEN = [{ title: 'Which one?', description: '', value: '' }];
const ANSWERED = [{ title: 'Which one?', description: '', value: 'blue' }];
/** After this long a PUT cannot land any more. */
const MAY_LAND_MS = 2_000 + CALL_TIMEOUT_MS + CLOCK_ALLOWANCE_MS;

function withMessages(messages: ReadSession['messages'], status = 'active'): ReadSession {
	return { ...asking('s1'), status, messages };
}

function message(
	role: string,
	humanInput: ReadSession['messages'][number]['humanInput'] = [],
): ReadSession['messages'][number] {
	return { ...saying(humanInput.length > 0 ? 'I ask.' : 'Words.', role), humanInput };
}

describe('a committed write with a lost reply', () => {
	/** Loses the reply to the first write that enters `state`. */
	function losesOneReply(store: AnswerStore, state: string): AnswerStore {
		let left = 1;
		return {
			...store,
			async update(answer, token, patch, options) {
				const written = await store.update(answer, token, patch, options);
				if (patch.state === state && left-- > 0) throw new StoreUnavailableError('lost', { commitUnknown: true });
				return written;
			},
		};
	}

	it.each([
		['plain', false],
		['secret', true],
	])('that records a delivery: a %s answer is reported as delivered and sent once', async (_, secret) => {
		await using harness = await createHarness();
		const result = await harness.store.answers.accept(
			submission({
				fingerprint: fingerprintOf(asking('s1').messages[1]?.humanInput ?? []),
				items: [item('blue', { secret })],
			}),
		);
		harness.createWorker(losesOneReply(harness.store.answers, 'delivered')).start();
		await harness.pass(60_000);
		expect((await harness.get(result.answer.id)).state).toMatch(/delivered|resumed/);
		expect(harness.times('put')).toHaveLength(1);
		expect(harness.told.map(({ state }) => state)).not.toContain('conflicted');
	});

	it('that marks a PUT: the answer waits until the PUT cannot land, and is sent once', async () => {
		await using harness = await createHarness();
		const { id } = await harness.accept('s1');
		harness.createWorker(losesOneReply(harness.store.answers, 'delivering')).start();
		await harness.pass(MAY_LAND_MS + 5_000);
		expect((await harness.get(id)).state).toBe('delivered');
		expect(harness.times('put')).toHaveLength(1);
	});
});

describe('an answer with an unknown outcome after the time to give up', () => {
	/** The service is down for an hour. Then it takes one PUT and responds with a failure. */
	async function lastAttempt(save: (harness: Awaited<ReturnType<typeof createHarness>>) => void) {
		const harness = await createHarness();
		const answer = await harness.accept('s1', T0 + HOUR);
		harness.on.read = () => {
			if (harness.clock.now() < T0 + HOUR) throw new SessionServiceError('unavailable', 'down');
		};
		harness.on.put = () => {
			save(harness);
			throw new SessionServiceError('unavailable', 'reset', { outcomeUnknown: true });
		};
		return { harness, answer };
	}

	it('is reported as delivered when a read finds it', async () => {
		const { harness, answer } = await lastAttempt((service) => service.save('s1', 1, ANSWERED));
		await using _ = harness;
		harness.createWorker().start();
		await harness.pass(HOUR + 100_000);
		expect((await harness.get(answer.id)).state).toMatch(/delivered|resumed/);
		expect(harness.times('put')).toHaveLength(1);
	});

	it('blocks other answers until it cannot land any more, then waits for its author', async () => {
		const { harness, answer } = await lastAttempt(() => undefined);
		await using _ = harness;
		harness.createWorker().start();
		await harness.pass(HOUR + 2_000);
		const before = harness.clock.now();
		const second = await harness.store.answers.accept(
			submission({ person: BOB, fingerprint: answer.fingerprint, formReadAt: before, acceptedAt: before }),
		);
		expect(second.kind).toBe('taken');
		await harness.pass(MAY_LAND_MS + 65_000);
		expect(await harness.get(answer.id)).toMatchObject({ state: 'waiting', putStartedAt: null });
		expect(harness.times('put')).toHaveLength(1);
	});

	it('keeps blocking and says so while every read fails', async () => {
		const { harness, answer } = await lastAttempt(() => undefined);
		await using _ = harness;
		harness.createWorker().start();
		await harness.pass(HOUR + 2_000);
		harness.on.read = () => {
			throw new SessionServiceError('unavailable', 'down');
		};
		await harness.pass(2 * HOUR);
		expect(await harness.get(answer.id)).toMatchObject({ state: 'delivering' });
		const newest = harness.told.at(-1);
		expect(newest === undefined ? '' : stateLine(newest)).toBe(line('delivering', { lastError: 'timed_out' }));
		expect(await harness.store.answers.withdraw(answer.id, answer.person, harness.clock.now())).toBeNull();
	});
});

describe('an answer whose PUT was saved and reported as failed', () => {
	async function afterwards(session: ReadSession) {
		const harness = await createHarness();
		harness.on.put = () => {
			harness.setSession(session);
			throw new SessionServiceError('unavailable', '500', { outcomeUnknown: true, status: 500 });
		};
		const { id } = await harness.accept('s1');
		harness.createWorker().start();
		await harness.pass(MAY_LAND_MS + 60_000);
		return { harness, answer: await harness.get(id) };
	}

	it('may have arrived when the question is gone', async () => {
		const { harness, answer } = await afterwards(
			withMessages([message('user'), message('assistant'), message('assistant')]),
		);
		await using _ = harness;
		expect(answer.state).toBe('changed');
		expect(stateLine(answer)).toBe(line('changed', { putStartedAt: 1 }));
	});

	it.each([
		['went on', 'active', [message('assistant', OPEN), message('assistant')]],
		['asks in the same place again', 'humanInput', [message('assistant', OPEN), message('assistant')]],
		['replaced the text above it', 'humanInput', [{ ...message('assistant', OPEN), content: 'Something else' }]],
	])('is not sent again and may have arrived when the agent emptied the field and %s', async (_, status, messages) => {
		const { harness, answer } = await afterwards(withMessages([message('user'), ...messages], status));
		await using _harness = harness;
		expect(harness.times('put')).toHaveLength(1);
		expect(answer.state).toBe('changed');
		expect(stateLine(answer)).toBe(line('changed', { putStartedAt: 1 }));
	});

	it('is found at its new index and not sent again when the same question is asked at the old index', async () => {
		const { harness, answer } = await afterwards(
			withMessages([message('assistant', ANSWERED), message('assistant', OPEN)], 'humanInput'),
		);
		await using _ = harness;
		expect(harness.times('put')).toHaveLength(1);
		expect(answer.state).toMatch(/delivered|resumed/);
	});

	it('is found at its new index after a message was inserted before it', async () => {
		const { harness, answer } = await afterwards(
			withMessages([message('user'), message('system'), message('assistant', ANSWERED)]),
		);
		await using _ = harness;
		expect(answer.state).toMatch(/delivered|resumed/);
		expect(harness.times('put')).toHaveLength(1);
	});

	it('may have arrived when the session ended without the question', async () => {
		const { harness, answer } = await afterwards(withMessages([message('user')], 'completed'));
		await using _ = harness;
		expect(answer.state).toBe('ended');
		expect(stateLine(answer)).toBe(line('ended', { putStartedAt: 1 }));
	});

	it('may have arrived first when somebody else replaced it', async () => {
		const other = [{ title: 'Which one?', description: '', value: 'red' }];
		const { harness, answer } = await afterwards(withMessages([message('user'), message('assistant', other)]));
		await using _ = harness;
		expect(answer.state).toBe('conflicted');
		expect(stateLine(answer)).toBe(line('conflicted', { putStartedAt: 1 }));
	});
});

it('does not take an older equal answer to the same question for ours', async () => {
	await using harness = await createHarness();
	const again = [
		message('user'),
		message('assistant', asking('s1').messages[1]?.humanInput),
		message('assistant', ANSWERED),
	];
	harness.setSession({ ...asking('s1'), messages: [again[2], again[1]].filter((moved) => moved !== undefined) });
	harness.on.put = () => {
		harness.setSession(withMessages([message('assistant', ANSWERED), message('assistant')]));
		throw new SessionServiceError('unavailable', 'reset', { outcomeUnknown: true });
	};
	const { id } = await harness.accept('s1');
	harness.createWorker().start();
	await harness.pass(MAY_LAND_MS + 10_000);
	expect(await harness.get(id)).toMatchObject({ state: 'changed' });
});

describe('an answer whose PUT may still land', () => {
	it('blocks other answers when the service does not find the session three times', async () => {
		await using harness = await createHarness();
		const ann = await harness.accept('s1');
		harness.on.put = () => {
			void harness.clock.sleep(15_000).then(() => harness.save('s1', 1, ANSWERED));
			throw new SessionServiceError('unavailable', 'reset', { outcomeUnknown: true });
		};
		harness.on.read = () => {
			const at = harness.clock.now() - T0;
			if (at > 500 && at < 7_000) throw new SessionServiceError('session_not_found', '404');
		};
		harness.createWorker().start();
		await harness.pass(7_500);
		expect(harness.times('read').filter((at) => at > 500 && at < 7_000)).toHaveLength(3);
		const now = harness.clock.now();
		const bob = await harness.store.answers.accept(
			submission({ person: BOB, fingerprint: ann.fingerprint, formReadAt: now - 100, acceptedAt: now }),
		);
		expect(bob).toMatchObject({ kind: 'taken', by: { id: ann.id } });
		await harness.pass(MAY_LAND_MS);
		expect((await harness.get(ann.id)).state).toMatch(/delivered|resumed/);
		expect(harness.times('put')).toHaveLength(1);
	});

	it.each(['body_too_large', 'body_too_complex', 'session_not_found'] as const)(
		'blocks other answers while reads fail with %s, then ends and may have arrived',
		async (code) => {
			await using harness = await createHarness();
			const ann = await harness.accept('s1');
			harness.on.put = () => {
				harness.on.read = () => {
					throw new SessionServiceError(code, 'of a read');
				};
				throw new SessionServiceError('unavailable', 'reset', { outcomeUnknown: true });
			};
			harness.createWorker().start();
			await harness.pass(MAY_LAND_MS - 2_000);
			const now = harness.clock.now();
			const bob = submission({ person: BOB, fingerprint: ann.fingerprint, formReadAt: now - 100, acceptedAt: now });
			expect((await harness.store.answers.accept(bob)).kind).toBe('taken');
			await harness.pass(65_000);
			const answer = await harness.get(ann.id);
			expect(answer).toMatchObject({ state: 'refused', lastError: code });
			expect(stateLine(answer)).toBe(line('refused', { lastError: code, putStartedAt: 1 }));
			expect(await harness.store.answers.accept({ ...bob, submissionKey: 'again', id: 'again' })).toMatchObject({
				kind: 'accepted',
			});
			expect(harness.times('put')).toHaveLength(1);
		},
	);

	it('blocks other answers when its values are unreadable, then waits for its author', async () => {
		await using harness = await createHarness();
		const ann = await harness.accept('s1');
		await harness.store.db.write((db) =>
			db
				.updateTable('answers')
				.set({ state: 'delivering', putStartedAt: T0, content: 'v1.garbage' })
				.where('id', '=', ann.id)
				.execute(),
		);
		harness.createWorker().start();
		await harness.pass(1_000);
		const now = harness.clock.now();
		const bob = submission({ person: BOB, fingerprint: ann.fingerprint, formReadAt: now - 100, acceptedAt: now });
		expect((await harness.store.answers.accept(bob)).kind).toBe('taken');
		await harness.pass(MAY_LAND_MS);
		expect(await harness.get(ann.id)).toMatchObject({ state: 'waiting', lastError: 'values_unreadable' });
		expect(harness.times('put')).toEqual([]);
	});
});

it('compares an edit during the read with its new text', async () => {
	await using harness = await createHarness();
	const given = submission({ fingerprint: fingerprintOf(OPEN), items: [item('blue')] });
	await harness.store.answers.accept(given);
	harness.setSession(withMessages([message('user'), message('assistant', ANSWERED)], 'humanInput'));
	harness.on.read = async () => {
		harness.on.read = () => undefined;
		const again = await harness.store.answers.accept({ ...given, id: 'another', items: [item('red')] });
		expect(again).toMatchObject({ kind: 'repeated', edited: true });
	};
	harness.createWorker().start();
	await harness.pass(5_000);
	const answer = await harness.get(given.id);
	expect(answer).toMatchObject({ state: 'conflicted', content: { other: { values: ['blue'], same: false } } });
	expect(valuesOf(answer)).toEqual(['red']);
});

describe('an edit during the read of an answer whose PUT has an unknown outcome', () => {
	const answeredWith = (value: string) => message('assistant', [{ title: 'Which one?', description: '', value }]);

	/** The agent asks again what was answered with `before`. The author gives "blue", then "red". `fail`: during the first PUT. */
	async function editedTo(before: string, fail: (harness: Awaited<ReturnType<typeof createHarness>>) => void) {
		const harness = await createHarness();
		const given = submission({ fingerprint: fingerprintOf(OPEN), items: [item('blue')] });
		await harness.store.answers.accept(given);
		harness.setSession(withMessages([answeredWith(before), message('assistant', OPEN)], 'humanInput'));
		harness.on.read = async () => {
			harness.on.read = () => undefined;
			const again = await harness.store.answers.accept({ ...given, id: 'another', items: [item('red')] });
			expect(again).toMatchObject({ kind: 'repeated', edited: true });
		};
		harness.on.put = () => {
			harness.on.put = () => undefined;
			fail(harness);
			throw new SessionServiceError('unavailable', 'reset', { outcomeUnknown: true });
		};
		harness.createWorker().start();
		await harness.pass(MAY_LAND_MS + 60_000);
		return { harness, answer: await harness.get(given.id) };
	}

	it('is not taken for an older answer with the same text: it is sent again', async () => {
		const { harness, answer } = await editedTo('red', () => undefined);
		await using _ = harness;
		expect(harness.times('put')).toHaveLength(2);
		expect(harness.session('s1').messages[1]?.humanInput).toMatchObject([{ value: 'red' }]);
		expect(answer.state).toMatch(/delivered|resumed/);
	});

	it('is found at its new index though an older answer has the former text', async () => {
		const { harness, answer } = await editedTo('blue', ({ setSession }) =>
			setSession(withMessages([message('user'), answeredWith('blue'), answeredWith('red')])),
		);
		await using _ = harness;
		expect(harness.times('put')).toHaveLength(1);
		expect(answer.state).toMatch(/delivered|resumed/);
	});
});

describe('a repeated PUT', () => {
	/** The first PUT lands `afterMs` after it was sent. Returns when PUTs were saved. */
	function landsLate(harness: Awaited<ReturnType<typeof createHarness>>, afterMs: number): number[] {
		const saved: number[] = [];
		let first = true;
		harness.on.put = async () => {
			if (!first) return void saved.push(harness.clock.now() - T0);
			first = false;
			void harness.clock.sleep(afterMs).then(() => {
				harness.save('s1', 1, ANSWERED);
				saved.push(harness.clock.now() - T0);
			});
			throw new SessionServiceError('timed_out', 'no answer', { outcomeUnknown: true });
		};
		return saved;
	}

	it('is not sent while the first can land by the clock of any replica', async () => {
		await using harness = await createHarness();
		const saved = landsLate(harness, CALL_TIMEOUT_MS - 500);
		await harness.accept('s1');
		const ahead = 4_000;
		const clock = { now: () => harness.clock.now() + ahead, sleep: harness.clock.sleep };
		const first = harness.createWorker();
		first.start();
		await harness.pass(500);
		// The first replica stops. The clock of the second one is ahead.
		await first.stop();
		harness.createWorker(harness.store.answers, clock).start();
		await harness.pass(120_000);
		expect(saved).toHaveLength(1);
	});

	it('waits for a read that begins after the first cannot land any more', async () => {
		await using harness = await createHarness();
		const saved = landsLate(harness, MAY_LAND_MS - CLOCK_ALLOWANCE_MS - 100);
		await harness.accept('s1');
		harness.createWorker().start();
		await harness.pass(1_500);
		// Every further read shows the session as it was when it began, and takes long.
		harness.on.read = () => harness.clock.sleep(8_000);
		await harness.pass(180_000);
		expect(saved).toHaveLength(1);
	});

	it.each([
		['forward', HOUR],
		['back', -HOUR],
	])('is neither early nor skipped when the clock is put %s by an hour', async (_, step) => {
		await using harness = await createHarness();
		const clock = await settableClock(harness.clock, harness.store);
		const saved = landsLate(harness, CALL_TIMEOUT_MS - 500);
		await harness.accept('s1');
		harness.createWorker(harness.store.answers, clock).start();
		await harness.pass(3_000);
		clock.set(step);
		await harness.pass(120_000);
		expect(saved).toHaveLength(1);
		expect(harness.times('put')).toHaveLength(1);
	});
});

it.each([
	['14 minutes', 14 * 60_000],
	['an hour', HOUR],
])('tries an answer again soon after the clock was put back by %s', async (_, step) => {
	await using harness = await createHarness();
	const clock = await settableClock(harness.clock, harness.store, step);
	const now = clock.now();
	harness.on.read = () => {
		throw new SessionServiceError('timed_out', 'down');
	};
	const { answer } = await harness.store.answers.accept(
		submission({ fingerprint: fingerprintOf(OPEN), acceptedAt: now, giveUpAt: now + 24 * HOUR }),
	);
	harness.createWorker(harness.store.answers, clock).start();
	await harness.pass(5_000);
	harness.on.read = () => undefined;
	clock.set(0);
	await harness.pass(20_000);
	expect((await harness.get(answer.id)).state).toMatch(/delivered|resumed/);
	expect(harness.times('put')).toHaveLength(1);
});

it('continues the confirmation checks after the clock was put forward by an hour', async () => {
	await using harness = await createHarness();
	const clock = await settableClock(harness.clock, harness.store);
	const { id } = await harness.accept('s1');
	harness.createWorker(harness.store.answers, clock).start();
	await harness.pass(500);
	clock.set(HOUR);
	await harness.pass(10_000);
	expect(await harness.get(id)).toMatchObject({ state: 'delivered', agentOutcome: null });
	const { messages } = harness.session('s1');
	harness.setSession({ ...asking('s1'), status: 'active', messages: [...messages, message('assistant')] });
	await harness.pass(60_000);
	expect(await harness.get(id)).toMatchObject({ state: 'resumed' });
});
