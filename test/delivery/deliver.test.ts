import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LeaseLost } from '../../src/delivery/put.ts';
import { CLOCK_ALLOWANCE_MS } from '../../src/kernel/clock.ts';
import { createServiceHealth } from '../../src/service/health.ts';
import { SessionServiceError } from '../../src/service/service.ts';
import { ANN, BOB, item, SERVICE, submission, T0 } from '../store/support.ts';
import { fingerprintOf } from '../support/sessions.ts';
import { settableClock } from '../support/settable-clock.ts';
import { asking, CALL_TIMEOUT_MS, createHarness, failing, type Harness, RESET } from './delivering.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DOWN = failing('unavailable', 'down');
const GONE = failing('session_not_found', '404');
const SAVED = [{ title: 'Which one?', description: '', value: 'blue' }];

let harness: Harness;
beforeEach(async () => {
	harness = await createHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

describe('a delivery', () => {
	it('is tried again after 1 s, doubled up to a minute', async () => {
		harness.on.read = DOWN;
		const { id } = await harness.deliverOne();
		await harness.pass(400_000);
		const times = harness.times('read');
		const pauses = times.slice(1).map((at, n) => Math.round((at - (times[n] ?? 0)) / 1000));
		expect(pauses.slice(0, 10)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
		expect(await harness.get(id)).toMatchObject({
			state: 'accepted',
			lastError: 'unavailable',
			attempts: times.length,
		});
		harness.on.read = () => undefined;
		await harness.pass(300_000);
		expect(harness.times('put')).toHaveLength(1);
	});

	it.each([
		['90 s', 90_000, 90_000],
		['a day', 24 * HOUR, 300_000],
	])('waits as long as the service asks, at most five minutes: %s', async (_, askedMs, waitMs) => {
		harness.on.read = () => {
			harness.on.read = () => undefined;
			throw new SessionServiceError('rate_limited', '429', { retryAt: T0 + askedMs });
		};
		await harness.deliverOne();
		await harness.pass(waitMs - 1_000);
		expect(harness.times('read')).toEqual([0]);
		await harness.pass(2_000);
		expect(harness.times('read')[1]).toBe(waitMs);
		expect(harness.times('put')).toHaveLength(1);
	});

	it('with an unknown outcome is looked for after a second, and repeated only when it cannot land any more', async () => {
		harness.on.put = () => {
			harness.on.put = () => undefined;
			throw new SessionServiceError(...RESET);
		};
		const { id } = await harness.deliverOne();
		await harness.pass(CALL_TIMEOUT_MS + 1_500);
		expect(harness.times('put')).toHaveLength(1);
		expect(harness.times('read')).toHaveLength(2);
		expect(await harness.get(id)).toMatchObject({ state: 'delivering' });
		await harness.pass(CLOCK_ALLOWANCE_MS + 2_000);
		const [first = 0, second = 0, ...later] = harness.times('put');
		expect(second - first).toBeGreaterThanOrEqual(CALL_TIMEOUT_MS + 2_000 + CLOCK_ALLOWANCE_MS);
		expect(later).toEqual([]);
		expect(await harness.get(id)).toMatchObject({ state: 'delivered' });
	});

	it('is logged as an error when the store fails', async () => {
		const { id } = await harness.accept('s1');
		const update = () => Promise.reject(new Error('broken'));
		harness.createWorker({ ...harness.store.answers, update }).start();
		await harness.pass(1_000);
		const errors = harness.log.lines.filter(({ level }) => level === 'error');
		expect(errors).toMatchObject([{ fields: { answer: id, code: 'internal' } }]);
	});

	it('of a session that is not found is tried again after 1 s and 4 s, and then as after other failures', async () => {
		const failures = [GONE, GONE, DOWN, GONE];
		let reads = 0;
		harness.on.read = () => failures[reads++]?.();
		const { id } = await harness.deliverOne();
		await harness.pass(60_000);
		expect(harness.times('read').slice(0, 4)).toEqual([0, 1_000, 5_000, 9_000]);
		expect(harness.times('put')).toHaveLength(1);
		expect(await harness.get(id)).toMatchObject({ state: 'delivered', missingCount: 0 });
	});

	/** Lets time pass in which other sessions can be read. */
	async function passReadable(ms: number, { health } = harness): Promise<void> {
		for (let passed = 0; passed < ms; passed += 30_000) {
			health.succeeded();
			await harness.pass(30_000);
		}
	}

	it('of a session that is not found, while others can be read, ends after ten minutes', async () => {
		await passReadable(10 * MINUTE);
		harness.on.read = GONE;
		const { id } = await harness.deliverOne();
		await passReadable(10 * MINUTE - 30_000);
		expect(await harness.get(id)).toMatchObject({ state: 'accepted', lastError: 'session_missing' });
		const pauses = harness.times('read').map((at, n, all) => Math.round((at - (all[n - 1] ?? at)) / 1_000));
		expect(pauses.slice(1, 10)).toEqual([1, 4, 4, 8, 16, 32, 60, 60, 60]);
		await passReadable(2 * MINUTE);
		expect(await harness.get(id)).toMatchObject({ state: 'refused', lastError: 'session_not_found' });
	});

	it.each([
		['nothing else can be read', 1, 'service_missing'],
		['others could be read again a moment ago', 2, 'session_missing'],
	])('of a session that is not found waits while %s', async (_, from, lastError) => {
		harness.on.read = GONE;
		const { id } = await harness.deliverOne();
		await harness.pass(HOUR);
		if (from === 2) await passReadable(9 * MINUTE);
		expect(await harness.get(id)).toMatchObject({ state: 'accepted', lastError });
		harness.on.read = () => undefined;
		await harness.pass(MINUTE);
		expect(await harness.get(id)).toMatchObject({ state: 'delivered' });
		expect(harness.times('put')).toHaveLength(1);
	});

	it.each([
		['404', GONE, { lastError: 'service_missing', missingCount: 3 }],
		['an outage', DOWN, { lastError: 'unavailable', missingCount: 0 }],
	])('without a permit keeps what was found before: %s', async (_, read, found) => {
		harness.on.read = read;
		const { id } = await harness.deliverOne();
		await harness.pass(8_000);
		expect(await harness.get(id)).toMatchObject(found);
		harness.on.read = failing('no_permit', 'no permit');
		await harness.pass(2 * MINUTE);
		expect(await harness.get(id)).toMatchObject({ state: 'accepted', ...found });
	});

	it('whose PUT is refused each time is tried until its time is over, then waits for its author', async () => {
		harness.on.put = failing('refused', 'of a PUT');
		const { id } = await harness.deliverOne({ giveUpAt: T0 + HOUR });
		await passReadable(HOUR - MINUTE);
		expect(await harness.get(id)).toMatchObject({ state: 'accepted', lastError: 'refused' });
		const puts = harness.times('put').length;
		expect(puts).toBeGreaterThan(50);
		expect(puts).toBeLessThan(75);
		await harness.pass(2 * MINUTE);
		expect(await harness.get(id)).toMatchObject({ state: 'waiting', lastError: 'refused', putStartedAt: null });
	});

	it('of a session that only the second read does not find, after a slow store, goes on with its run of 404s', async () => {
		const { answers } = harness.store;
		harness.on.read = GONE;
		const { id } = await harness.deliverOne({
			answers: {
				...answers,
				async beginPut(...given) {
					const begun = await answers.beginPut(...given);
					harness.on.read = GONE;
					await harness.clock.sleep(500);
					return begun;
				},
			},
		});
		await harness.settle();
		expect(await harness.get(id)).toMatchObject({ missingCount: 1, missingSince: T0 });
		harness.on.read = () => undefined;
		await harness.pass(1_600);
		expect(harness.times('read')).toEqual([0, 1_000, 1_500]);
		expect(await harness.get(id)).toMatchObject({ lastError: 'service_missing', missingCount: 2, missingSince: T0 });
		expect(harness.times('put')).toEqual([]);
	});

	it.each([
		['forward', 25 * HOUR],
		['back', -HOUR],
	])('of a session that is not found does not end early when the clock is set %s', async (_, shift) => {
		const machine = await settableClock(harness.clock, harness.store);
		const health = createServiceHealth({ clock: machine });
		await passReadable(10 * MINUTE, { ...harness, health });
		harness.on.read = GONE;
		const { id } = await harness.accept('s1', T0 + 20 * 24 * HOUR);
		harness.createWorker(harness.store.answers, machine, health).start();
		await passReadable(9 * MINUTE, { ...harness, health });
		machine.set(shift);
		await passReadable(9 * MINUTE, { ...harness, health });
		expect(await harness.get(id)).toMatchObject({ state: 'accepted', lastError: 'session_missing' });
		await passReadable(4 * MINUTE, { ...harness, health });
		expect(await harness.get(id)).toMatchObject({ state: 'refused' });
	});

	it('goes only to its own service', async () => {
		const elsewhere = { service: 'https://other.example', sessionId: 's1', messageIndex: 1 };
		await harness.store.answers.accept(submission({ question: elsewhere }));
		harness.createWorker().start();
		await harness.pass(5_000);
		expect(harness.calls).toEqual([]);
	});

	it('that conflicts with a delivered answer names the colleague who gave it', async () => {
		const first = await harness.deliverOne();
		await harness.pass(1_000);
		const late = submission({
			sessionId: 's1',
			person: BOB,
			fingerprint: first.fingerprint,
			items: [item('red')],
			formReadAt: harness.clock.now(),
			acceptedAt: harness.clock.now(),
		});
		await harness.store.answers.accept(late);
		await harness.pass(2_000);
		const { state, content } = await harness.get(late.id);
		expect(state).toBe('conflicted');
		expect(content).toMatchObject({ other: { person: ANN, values: ['blue'] } });
	});

	it.each(['humanInput', 'paused', 'active'])(
		'fills only the open items of a partly answered question while the session is %s',
		async (status) => {
			const items = [
				{ title: 'A', description: '', value: 'seen by everybody' },
				{ title: 'B', description: '', value: '' },
			];
			harness.setSession({ ...asking('s1'), status });
			harness.save('s1', 1, items);
			const { answer } = await harness.store.answers.accept(
				submission({ sessionId: 's1', fingerprint: fingerprintOf(items), items: [item(null), item('mine')] }),
			);
			harness.createWorker().start();
			await harness.pass(1_000);
			expect(await harness.get(answer.id)).toMatchObject({ state: 'delivered' });
			expect(harness.times('put')).toHaveLength(1);
			expect(harness.session('s1').messages[1]?.humanInput).toEqual([items[0], { ...items[1], value: 'mine' }]);
		},
	);

	it('reads again when the read is older than 50 ms before the PUT, once', async () => {
		harness.on.read = () => harness.clock.sleep(60);
		await harness.deliverOne();
		await harness.pass(1_000);
		expect(harness.times('read')).toEqual([0, 60]);
		expect(harness.times('put')).toEqual([120]);
	});

	it.each([
		[2_000, 2_000],
		[2_001, 3_001],
	])('leaves within 2 s after its PUT was noted, else is tried again: a connection after %i ms', async (ms, sentAt) => {
		harness.on.connect = () => {
			harness.on.connect = () => undefined;
			return harness.clock.sleep(ms);
		};
		await harness.deliverOne();
		await harness.pass(5_000);
		expect(harness.times('put')).toEqual([sentAt]);
	});

	it('is not sent by a program that stops, and another replica sends it at once', async () => {
		const { promise, resolve } = Promise.withResolvers<void>();
		harness.on.read = () => promise;
		const { id } = await harness.accept('s1');
		const first = harness.createWorker();
		first.start();
		await harness.settle();
		expect(harness.times('read')).toHaveLength(1);
		const stopped = first.stop();
		harness.on.read = () => undefined;
		resolve();
		await stopped;
		expect(harness.times('put')).toEqual([]);
		expect(await harness.get(id)).toMatchObject({ state: 'accepted', putStartedAt: null });
		harness.createWorker().start();
		await harness.settle();
		expect(harness.times('put')).toHaveLength(1);
		expect(await harness.get(id)).toMatchObject({ state: 'delivered' });
	});

	it.each([
		['and knows it', false],
		['and does not know it', true],
	])('is not sent by a replica that lost the lease %s', async (_, renewed) => {
		const { promise, resolve } = Promise.withResolvers<void>();
		harness.on.read = () => promise;
		const { id } = await harness.accept('s1');
		const { answers } = harness.store;
		let takes = 0;
		const cutOff: typeof answers = {
			...answers,
			renew: async () => renewed,
			takeDue: async (...args) => (takes++ === 0 ? answers.takeDue(...args) : []),
		};
		harness.createWorker(cutOff).start();
		await harness.settle();
		// The lease of the first replica lapses and the second one takes the answer.
		await harness.pass(21_000);
		harness.on.read = () => undefined;
		harness.createWorker().start();
		await harness.pass(1_000);
		expect(harness.times('put')).toHaveLength(1);
		resolve();
		await harness.pass(1_000);
		expect(harness.times('put')).toHaveLength(1);
		expect(await harness.get(id)).toMatchObject({ state: 'delivered' });
	});

	it('is not sent when another replica has the lease', async () => {
		const given = await harness.accept('s1');
		await harness.store.answers.takeDue(SERVICE, { token: 'w2', ms: 20_000 }, 1, harness.clock.now());
		await expect(harness.deliver(given, 'w1')).rejects.toThrow(LeaseLost);
		expect(harness.times('read')).toHaveLength(1);
		expect(harness.times('put')).toEqual([]);
	});

	it('keeps its lease during a long attempt', async () => {
		const { promise, resolve } = Promise.withResolvers<void>();
		harness.on.read = () => promise;
		await harness.deliverOne();
		await harness.settle();
		harness.createWorker().start();
		await harness.pass(90_000);
		expect(harness.times('read')).toHaveLength(1);
		resolve();
		await harness.pass(1_000);
		expect(harness.times('put')).toHaveLength(1);
	});

	it.each([
		['unauthorized', failing('unauthorized', '401')],
		['service_missing', GONE],
	])('waits for its author after the time to give up, and is sent when they try again: %s', async (lastError, fail) => {
		harness.on.read = fail;
		const { id } = await harness.accept('s1', T0 + 600_000);
		const worker = harness.createWorker();
		worker.start();
		await harness.pass(599_000);
		expect(await harness.get(id)).toMatchObject({ state: 'accepted', lastError });
		await harness.pass(2_000);
		expect(await harness.get(id)).toMatchObject({ state: 'waiting', lastError, nextAttemptAt: null });
		const reads = harness.times('read').length;
		await harness.pass(60_000);
		expect(harness.times('read')).toHaveLength(reads);

		harness.on.read = () => undefined;
		const retried = await harness.store.answers.retry(id, ANN, harness.clock.now(), harness.clock.now() + HOUR);
		expect(retried?.kind).toBe('queued');
		worker.wake();
		await harness.pass(1_000);
		expect(await harness.get(id)).toMatchObject({ state: 'delivered' });
	});

	it('of one session does not block those of other sessions', async () => {
		const { promise, resolve } = Promise.withResolvers<void>();
		harness.on.read = (sessionId) => (sessionId === 's0' ? promise : undefined);
		for (let n = 0; n < 40; n++) await harness.accept(`s${n}`);
		harness.createWorker().start();
		await harness.pass(1_000);
		expect(harness.times('put', 's0')).toEqual([]);
		for (let n = 1; n < 40; n++) expect(harness.times('put', `s${n}`)).toHaveLength(1);
		resolve();
		await harness.pass(1_000);
		expect(harness.times('put', 's0')).toHaveLength(1);
	});
});

describe('a PUT of unknown outcome whose author may not answer any more', () => {
	it.each([
		['is not repeated', false, { state: 'refused', lastError: 'deactivated', putStartedAt: null }],
		['is found to have arrived, and nobody is asked', true, { state: 'delivered', lastError: null }],
	])('%s', async (_, saves, found) => {
		let askedCount = 0;
		harness.on.check = async () => {
			askedCount += 1;
			return 'deactivated';
		};
		harness.on.put = () => {
			if (saves) harness.save('s1', 1, SAVED);
			harness.on.read = DOWN;
			throw new SessionServiceError(...RESET);
		};
		const { id } = await harness.deliverOne();
		await harness.pass(2 * MINUTE);
		expect(await harness.get(id)).toMatchObject({ state: 'delivering' });
		harness.on.read = () => undefined;
		await harness.pass(2 * MINUTE);
		expect(await harness.get(id)).toMatchObject(found);
		expect(askedCount === 0).toBe(saves);
		expect(harness.times('put')).toHaveLength(1);
	});
});

describe('an answer whose author is asked about', () => {
	it('is compared with a read that begins after the check', async () => {
		harness.on.check = async () => {
			harness.save('s1', 1, [{ title: 'Which one?', description: '', value: 'red' }]);
			return null;
		};
		const ann = await harness.accept('s1');
		await harness.clock.advance(MINUTE);
		harness.createWorker().start();
		await harness.pass(1_000);
		expect(await harness.get(ann.id)).toMatchObject({ state: 'conflicted' });
		expect(harness.times('put')).toEqual([]);
	});

	it('is sent after two reads that take a minute each', async () => {
		harness.on.read = () => harness.clock.sleep(MINUTE);
		const { id } = await harness.deliverOne();
		await harness.pass(2 * MINUTE);
		expect(harness.times('put')).toEqual([2 * MINUTE]);
		expect(await harness.get(id)).toMatchObject({ state: 'delivered' });
	});

	it('waits for its author after the time to give up when each read takes longer than a check holds', async () => {
		let askedCount = 0;
		harness.on.check = async () => {
			askedCount += 1;
			return null;
		};
		harness.on.read = () => harness.clock.sleep(5 * MINUTE);
		const { id } = await harness.deliverOne({ giveUpAt: T0 + HOUR });
		await harness.pass(30 * MINUTE);
		expect(await harness.get(id)).toMatchObject({ state: 'accepted', lastError: 'timed_out' });
		expect(askedCount).toBeGreaterThan(2);
		await harness.pass(HOUR);
		expect(await harness.get(id)).toMatchObject({ state: 'waiting', lastError: 'timed_out', putStartedAt: null });
		expect(harness.times('put')).toEqual([]);
	});

	it.each([
		['C1', 'C1'],
		// A list of allowed channels excludes what came from none of them.
		[null, ''],
	])('is checked in the channel that it came from: %s', async (channelId, asked) => {
		const places: string[] = [];
		harness.on.check = async (_person, place) => {
			places.push(place);
			return null;
		};
		const fingerprint = (await harness.accept('other')).fingerprint;
		await harness.store.answers.accept(submission({ fingerprint, origin: { channelId, threadTs: null } }));
		await harness.clock.advance(MINUTE);
		harness.createWorker().start();
		await harness.pass(1_000);
		expect(places).toContain(asked);
		expect(harness.times('put')).toHaveLength(1);
	});

	it('takes no place from a fresh answer while Slack hangs for hundreds of others', async () => {
		const hang = () => harness.clock.sleep(10_000).then(() => null);
		harness.on.check = async () => (await hang()) ?? 'could_not_check';
		const { fingerprint } = await harness.accept('late');
		for (let count = 1; count < 200; count++) await harness.accept(`late${count}`);
		await harness.clock.advance(2 * MINUTE);
		harness.createWorker().start();
		for (const sessionId of ['first', 'second', 'third']) {
			await harness.pass(2_000);
			const now = harness.clock.now();
			await harness.store.answers.accept(submission({ sessionId, fingerprint, acceptedAt: now }));
			await harness.pass(2_000);
			expect(harness.times('put', sessionId)).toHaveLength(1);
		}
	});

	it('waits for the normal back-off while Slack does not tell, and then for its author', async () => {
		let askedCount = 0;
		harness.on.check = async () => {
			askedCount += 1;
			return 'could_not_check';
		};
		const { id } = await harness.accept('s1', T0 + HOUR);
		await harness.clock.advance(MINUTE);
		harness.createWorker().start();
		await harness.pass(10 * MINUTE);
		expect(await harness.get(id)).toMatchObject({ state: 'accepted', lastError: 'not_checked' });
		expect(askedCount).toBeLessThan(20);
		await harness.pass(HOUR);
		expect(await harness.get(id)).toMatchObject({ state: 'waiting', lastError: 'not_checked' });
		expect(harness.times('put')).toEqual([]);
	});
});
