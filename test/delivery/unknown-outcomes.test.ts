import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AnswerStore } from '../../src/delivery/answer-store.ts';
import type { Answer, AnswerState } from '../../src/domain/answer.ts';
import type { ReadItem, ReadMessage, ReadSession } from '../../src/domain/gate.ts';
import { CLOCK_ALLOWANCE_MS } from '../../src/kernel/clock.ts';
import { StoreUnavailableError } from '../../src/kernel/errors.ts';
import { stateLine } from '../../src/screens/answer.ts';
import { SessionServiceError } from '../../src/service/service.ts';
import { BOB, item, submission, T0, valuesOf } from '../store/support.ts';
import { line } from '../support/sentences.ts';
import { fingerprintOf, saying } from '../support/sessions.ts';
import { settableClock } from '../support/settable-clock.ts';
import { asking, CALL_TIMEOUT_MS, createHarness, failing, type Harness, RESET, STATUS_500 } from './delivering.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const OPEN = [{ title: 'Which one?', description: '', value: '' }];
const ANSWERED = [{ title: 'Which one?', description: '', value: 'blue' }];
/** After this long a PUT cannot land any more. */
const MAY_LAND_MS = 2_000 + CALL_TIMEOUT_MS + CLOCK_ALLOWANCE_MS;

let harness: Harness;
beforeEach(async () => {
	harness = await createHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

function withMessages(messages: ReadSession['messages'], status = 'active'): ReadSession {
	return { ...asking('s1'), status, messages };
}

function message(role: string, humanInput: readonly ReadItem[] = []): ReadMessage {
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
		const result = await harness.store.answers.accept(
			submission({
				fingerprint: fingerprintOf(asking('s1').messages[1]?.humanInput ?? []),
				items: [item('blue', { secret })],
			}),
		);
		harness.createWorker(losesOneReply(harness.store.answers, 'delivered')).start();
		await harness.pass(60_000);
		const { state, timeline } = await harness.get(result.answer.id);
		expect(state).toMatch(/delivered|resumed/);
		expect(harness.times('put')).toHaveLength(1);
		expect(timeline.map((entry) => entry.state)).not.toContain('conflicted');
	});

	it('that marks a PUT: the answer waits until the PUT cannot land, and is sent once', async () => {
		const { id } = await harness.deliverOne({ answers: losesOneReply(harness.store.answers, 'delivering') });
		await harness.pass(MAY_LAND_MS + 5_000);
		expect((await harness.get(id)).state).toBe('delivered');
		expect(harness.times('put')).toHaveLength(1);
	});
});

describe('an answer with an unknown outcome after the time to give up', () => {
	const GIVE_UP_MS = 10 * MINUTE;

	/** The service is down until then. Then it takes one PUT, does `save` and responds with a failure. */
	async function lastAttempt(save: () => void = () => undefined): Promise<Answer> {
		const answer = await harness.accept('s1', T0 + GIVE_UP_MS);
		harness.on.read = () => {
			if (harness.clock.now() < T0 + GIVE_UP_MS) throw new SessionServiceError('unavailable', 'down');
		};
		harness.on.put = () => {
			save();
			throw new SessionServiceError(...RESET);
		};
		harness.createWorker().start();
		await harness.pass(GIVE_UP_MS + 2_000);
		return answer;
	}

	it('is reported as delivered when a read finds it', async () => {
		const { id } = await lastAttempt(() => harness.save('s1', 1, ANSWERED));
		await harness.pass(100_000);
		expect((await harness.get(id)).state).toMatch(/delivered|resumed/);
		expect(harness.times('put')).toHaveLength(1);
	});

	it('blocks other answers until it cannot land any more, then waits for its author', async () => {
		const { id, fingerprint } = await lastAttempt();
		const before = harness.clock.now();
		const second = submission({ person: BOB, fingerprint, formReadAt: before, acceptedAt: before });
		expect((await harness.store.answers.accept(second)).kind).toBe('taken');
		await harness.pass(MAY_LAND_MS + 65_000);
		expect(await harness.get(id)).toMatchObject({ state: 'waiting', putStartedAt: null });
		expect(harness.times('put')).toHaveLength(1);
	});

	it('keeps blocking and says so while every read fails', async () => {
		const { id, person } = await lastAttempt();
		harness.on.read = failing('unavailable', 'down');
		await harness.pass(2 * GIVE_UP_MS);
		expect(await harness.get(id)).toMatchObject({ state: 'delivering' });
		expect(stateLine(await harness.get(id))).toBe(line('delivering', { lastError: 'timed_out' }));
		expect(await harness.store.answers.withdraw(id, person, harness.clock.now())).toBeNull();
	});
});

describe('an answer whose PUT was saved and reported as failed', () => {
	const [USER, SAID, ASKS] = [message('user'), message('assistant'), message('assistant', OPEN)];
	const TAKEN = message('assistant', ANSWERED);
	const OTHER = message('assistant', [{ title: 'Which one?', description: '', value: 'red' }]);

	it.each<[what: string, state: AnswerState, messages: ReadSession['messages'], status?: string]>([
		['may have arrived when the question is gone', 'changed', [USER, SAID, SAID]],
		['may have arrived when the agent emptied the field and went on', 'changed', [USER, ASKS, SAID]],
		['may have arrived when the agent emptied it and asks there again', 'changed', [USER, ASKS, SAID], 'humanInput'],
		[
			'may have arrived when the agent emptied it and replaced the text above it',
			'changed',
			[USER, { ...ASKS, content: 'Something else' }],
			'humanInput',
		],
		['is found at its new index when the same is asked at the old one', 'delivered', [TAKEN, ASKS], 'humanInput'],
		['is found at its new index after a message was inserted before it', 'delivered', [USER, message('system'), TAKEN]],
		['may have arrived when the session ended without the question', 'ended', [USER], 'completed'],
		['may have arrived first when somebody else replaced it', 'conflicted', [USER, OTHER]],
	])('%s, and is not sent again', async (_, state, messages, status) => {
		harness.on.put = () => {
			harness.setSession(withMessages(messages, status));
			throw new SessionServiceError(...STATUS_500);
		};
		const { id } = await harness.deliverOne();
		await harness.pass(MAY_LAND_MS + 60_000);
		const answer = await harness.get(id);
		const rest = state === 'delivered' ? { startFailed: true } : { putStartedAt: 1 };
		expect([answer.state, stateLine(answer)]).toEqual([state, line(state, rest)]);
		expect(harness.times('put')).toHaveLength(1);
	});
});

it('does not take an older equal answer to the same question for ours', async () => {
	harness.setSession(withMessages([message('assistant', ANSWERED), message('assistant', OPEN)], 'humanInput'));
	harness.on.put = () => {
		harness.setSession(withMessages([message('assistant', ANSWERED), message('assistant')]));
		throw new SessionServiceError(...RESET);
	};
	const { id } = await harness.deliverOne();
	await harness.pass(MAY_LAND_MS + 10_000);
	expect(await harness.get(id)).toMatchObject({ state: 'changed' });
});

describe('an answer whose PUT may still land', () => {
	/** Bob's answer to the same question, given now. */
	function bobs({ fingerprint }: Answer) {
		const now = harness.clock.now();
		return submission({ person: BOB, fingerprint, formReadAt: now - 100, acceptedAt: now });
	}

	it('blocks other answers when the service does not find the session three times', async () => {
		const ann = await harness.accept('s1');
		harness.on.put = () => {
			void harness.clock.sleep(15_000).then(() => harness.save('s1', 1, ANSWERED));
			throw new SessionServiceError(...RESET);
		};
		harness.on.read = () => {
			const at = harness.clock.now() - T0;
			if (at > 500 && at < 7_000) throw new SessionServiceError('session_not_found', '404');
		};
		harness.createWorker().start();
		await harness.pass(7_500);
		expect(harness.times('read').filter((at) => at > 500 && at < 7_000)).toHaveLength(3);
		expect(await harness.store.answers.accept(bobs(ann))).toMatchObject({ kind: 'taken', by: { id: ann.id } });
		await harness.pass(MAY_LAND_MS);
		expect((await harness.get(ann.id)).state).toMatch(/delivered|resumed/);
		expect(harness.times('put')).toHaveLength(1);
	});

	it.each(['body_too_large', 'body_too_complex'] as const)(
		'blocks other answers while reads fail with %s, then ends and may have arrived',
		async (code) => {
			const ann = await harness.accept('s1');
			harness.on.put = () => {
				harness.on.read = failing(code, 'of a read');
				throw new SessionServiceError(...RESET);
			};
			harness.createWorker().start();
			await harness.pass(MAY_LAND_MS - 2_000);
			const bob = bobs(ann);
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

	it('blocks other answers while nobody finds the session, then ends and may have arrived', async () => {
		const ann = await harness.accept('s1', T0 + HOUR);
		harness.on.put = () => {
			harness.on.read = failing('session_not_found', 'of a read');
			throw new SessionServiceError(...RESET);
		};
		harness.createWorker().start();
		await harness.pass(23 * HOUR);
		expect((await harness.store.answers.accept(bobs(ann))).kind).toBe('taken');
		await harness.pass(HOUR + 2 * MINUTE);
		const answer = await harness.get(ann.id);
		expect(answer).toMatchObject({ state: 'refused', lastError: 'session_not_found' });
		expect(stateLine(answer)).toBe(line('refused', { putStartedAt: 1 }));
		expect(harness.times('put')).toHaveLength(1);
	});

	it('blocks other answers when its values are unreadable, then waits for its author', async () => {
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
		expect((await harness.store.answers.accept(bobs(ann))).kind).toBe('taken');
		await harness.pass(MAY_LAND_MS);
		expect(await harness.get(ann.id)).toMatchObject({ state: 'waiting', lastError: 'values_unreadable' });
		expect(harness.times('put')).toEqual([]);
	});
});

/** An answer "blue", which its author changes to "red" during the first read. */
async function edited(messages: ReadSession['messages']) {
	const given = submission({ fingerprint: fingerprintOf(OPEN), items: [item('blue')] });
	await harness.store.answers.accept(given);
	harness.setSession(withMessages(messages, 'humanInput'));
	harness.on.read = async () => {
		harness.on.read = () => undefined;
		const again = await harness.store.answers.accept({ ...given, id: 'another', items: [item('red')] });
		expect(again).toMatchObject({ kind: 'repeated', edited: true });
	};
	return given;
}

it('compares an edit during the read with its new text', async () => {
	const given = await edited([message('user'), message('assistant', ANSWERED)]);
	harness.createWorker().start();
	await harness.pass(5_000);
	const answer = await harness.get(given.id);
	expect(answer).toMatchObject({ state: 'conflicted', content: { other: { values: ['blue'], same: false } } });
	expect(valuesOf(answer)).toEqual(['red']);
	expect(harness.times('put')).toEqual([]);
});

describe('an edit during the read of an answer whose PUT has an unknown outcome', () => {
	const answeredWith = (value: string) => message('assistant', [{ title: 'Which one?', description: '', value }]);

	/** The agent asks again what was answered with `before`. The author gives "blue", then "red". `fail`: during the first PUT. */
	async function editedTo(before: string, fail = () => {}): Promise<void> {
		const given = await edited([answeredWith(before), message('assistant', OPEN)]);
		harness.on.put = () => {
			harness.on.put = () => undefined;
			fail();
			throw new SessionServiceError(...RESET);
		};
		harness.createWorker().start();
		await harness.pass(MAY_LAND_MS + 60_000);
		expect((await harness.get(given.id)).state).toMatch(/delivered|resumed/);
	}

	it('is not taken for an older answer with the same text: it is sent again', async () => {
		await editedTo('red');
		expect(harness.times('put')).toHaveLength(2);
		expect(harness.session('s1').messages[1]?.humanInput).toMatchObject([{ value: 'red' }]);
	});

	it('is found at its new index though an older answer has the former text', async () => {
		const moved = withMessages([message('user'), answeredWith('blue'), answeredWith('red')]);
		await editedTo('blue', () => harness.setSession(moved));
		expect(harness.times('put')).toHaveLength(1);
	});
});

describe('a repeated PUT', () => {
	/** The first PUT lands `afterMs` after it was sent. Returns when PUTs were saved. */
	function landsLate(afterMs: number): number[] {
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
		const saved = landsLate(CALL_TIMEOUT_MS - 500);
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

	it.each([
		['one before it was quick', 1_500, 8_000],
		['one before it was still under way then', 500, MAY_LAND_MS],
	])('waits for a read that begins after the first cannot land any more: %s', async (_, from, readMs) => {
		const saved = landsLate(MAY_LAND_MS - CLOCK_ALLOWANCE_MS - 100);
		const { id } = await harness.deliverOne();
		await harness.pass(from);
		// Every further read shows the session as it was when it began, and takes long.
		harness.on.read = () => harness.clock.sleep(readMs);
		await harness.pass(180_000);
		expect(saved).toHaveLength(1);
		expect((await harness.get(id)).state).toBe('delivered');
	});

	it.each([
		['forward', HOUR],
		['back', -HOUR],
	])('is neither early nor skipped when the clock is put %s by an hour', async (_, step) => {
		const clock = await settableClock(harness.clock, harness.store);
		const saved = landsLate(CALL_TIMEOUT_MS - 500);
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
	const clock = await settableClock(harness.clock, harness.store, step);
	const now = clock.now();
	harness.on.read = failing('timed_out', 'down');
	const { answer } = await harness.store.answers.accept(
		submission({ fingerprint: fingerprintOf(OPEN), acceptedAt: now, giveUpAt: now + 24 * HOUR }),
	);
	harness.createWorker(harness.store.answers, clock).start();
	await harness.pass(5_000);
	harness.on.read = () => undefined;
	clock.set(0);
	// The clock looks once a minute whether it was set.
	await harness.pass(80_000);
	expect((await harness.get(answer.id)).state).toMatch(/delivered|resumed/);
	expect(harness.times('put')).toHaveLength(1);
});

it('continues the confirmation checks after the clock was put forward by an hour', async () => {
	const clock = await settableClock(harness.clock, harness.store);
	const { id } = await harness.accept('s1');
	harness.createWorker(harness.store.answers, clock).start();
	await harness.pass(500);
	clock.set(HOUR);
	await harness.pass(70_000);
	expect(await harness.get(id)).toMatchObject({ state: 'delivered', agentOutcome: null });
	const { messages } = harness.session('s1');
	harness.setSession({ ...asking('s1'), status: 'active', messages: [...messages, message('assistant')] });
	await harness.pass(60_000);
	expect(await harness.get(id)).toMatchObject({ state: 'resumed' });
});
