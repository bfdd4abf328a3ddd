import { describe, expect, it } from 'vitest';
import type { AnswerStore } from '../../src/answers/ports.ts';
import { CLOCK_ALLOWANCE_MS, createSystemClock } from '../../src/clock.ts';
import { fingerprintOf } from '../../src/questions/fingerprint.ts';
import type { Session } from '../../src/questions/session.ts';
import { SessionServiceError } from '../../src/session-service/errors.ts';
import { receiptHeadline } from '../../src/slack/words/answers.ts';
import { StoreUnavailableError } from '../../src/store/database.ts';
import { BOB, item, submission, T0, valuesOf } from '../store/support.ts';
import { saying } from '../support/sessions.ts';
import { asking, CALL_TIMEOUT_MS, createSetting } from './delivering.ts';

const HOUR = 3_600_000;
const OPEN = [{ title: 'Which one?', description: '', value: '' }];
const ANSWERED = [{ title: 'Which one?', description: '', value: 'blue' }];
/** After this long a PUT cannot land any more. */
const MAY_LAND_MS = 2_000 + CALL_TIMEOUT_MS + CLOCK_ALLOWANCE_MS;

/** The session with its messages replaced. */
function withMessages(messages: Session['messages'], status = 'active'): Session {
	return { ...asking('s1'), status, messages };
}

function message(
	role: string,
	humanInput: Session['messages'][number]['humanInput'] = [],
): Session['messages'][number] {
	return { ...saying('Words.', role), humanInput };
}

describe('a write that is committed though its confirmation is lost', () => {
	/** Loses the confirmation of the first write that enters `state`. */
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
	])('is the note of a delivery: a %s answer is told as delivered and not sent again', async (_, secret) => {
		await using setting = await createSetting();
		const result = await setting.store.answers.accept(
			submission({
				fingerprint: fingerprintOf(asking('s1').messages[1]?.humanInput ?? []),
				items: [item('blue', { secret })],
			}),
		);
		setting.createWorker(losesOneReply(setting.store.answers, 'delivered')).start();
		await setting.pass(60_000);
		expect((await setting.get(result.answer.id)).state).toMatch(/delivered|resumed/);
		expect(setting.times('put')).toHaveLength(1);
		expect(setting.told.map(({ state }) => state)).not.toContain('conflicted');
	});

	it('is the mark of a PUT that was then not sent: the answer waits until it cannot have been, and is sent once', async () => {
		await using setting = await createSetting();
		const { id } = await setting.accept('s1');
		setting.createWorker(losesOneReply(setting.store.answers, 'delivering')).start();
		await setting.pass(MAY_LAND_MS + 5_000);
		expect((await setting.get(id)).state).toBe('delivered');
		expect(setting.times('put')).toHaveLength(1);
	});
});

describe('when the time to try is over and the outcome is unknown', () => {
	/** The service is down until an hour has passed; then it takes one PUT and answers with a failure. */
	async function lastAttempt(save: (setting: Awaited<ReturnType<typeof createSetting>>) => void) {
		const setting = await createSetting();
		const answer = await setting.accept('s1', T0 + HOUR);
		setting.on.read = () => {
			if (setting.clock.now() < T0 + HOUR) throw new SessionServiceError('unavailable', 'down');
		};
		setting.on.put = () => {
			save(setting);
			throw new SessionServiceError('unavailable', 'reset', { outcomeUnknown: true });
		};
		return { setting, answer };
	}

	it('it looks once more, and tells an answer that arrived as delivered', async () => {
		const { setting, answer } = await lastAttempt((one) => one.save('s1', 1, ANSWERED));
		await using _ = setting;
		setting.createWorker().start();
		await setting.pass(HOUR + 100_000);
		expect((await setting.get(answer.id)).state).toMatch(/delivered|resumed/);
		expect(setting.times('put')).toHaveLength(1);
	});

	it('nobody else can answer until it cannot land any more; then its author is asked', async () => {
		const { setting, answer } = await lastAttempt(() => undefined);
		await using _ = setting;
		setting.createWorker().start();
		await setting.pass(HOUR + 2_000);
		const before = setting.clock.now();
		const second = await setting.store.answers.accept(
			submission({ person: BOB, fingerprint: answer.fingerprint, formReadAt: before, acceptedAt: before }),
		);
		expect(second.kind).toBe('taken');
		await setting.pass(MAY_LAND_MS + 65_000);
		expect(await setting.get(answer.id)).toMatchObject({ state: 'waiting', putStartedAt: null });
		expect(setting.times('put')).toHaveLength(1);
	});

	it('it goes on blocking and saying so while no read succeeds', async () => {
		const { setting, answer } = await lastAttempt(() => undefined);
		await using _ = setting;
		setting.createWorker().start();
		await setting.pass(HOUR + 2_000);
		setting.on.read = () => {
			throw new SessionServiceError('unavailable', 'down');
		};
		await setting.pass(2 * HOUR);
		expect(await setting.get(answer.id)).toMatchObject({ state: 'delivering' });
		const newest = setting.told.at(-1);
		expect(newest === undefined ? '' : receiptHeadline(newest)).toContain('Handraise is checking whether it arrived');
		expect(await setting.store.answers.withdraw(answer.id, answer.person, setting.clock.now())).toBeNull();
	});
});

describe('when a PUT was saved and answered with a failure, and then', () => {
	async function afterwards(session: Session) {
		const setting = await createSetting();
		setting.on.put = () => {
			setting.setSession(session);
			throw new SessionServiceError('unavailable', '500', { outcomeUnknown: true, status: 500 });
		};
		const { id } = await setting.accept('s1');
		setting.createWorker().start();
		await setting.pass(MAY_LAND_MS + 60_000);
		return { setting, answer: await setting.get(id) };
	}

	it('the question was cleared, the answer is said to have perhaps arrived', async () => {
		const { setting, answer } = await afterwards(
			withMessages([message('user'), message('assistant'), message('assistant')]),
		);
		await using _ = setting;
		expect(answer.state).toBe('changed');
		expect(receiptHeadline(answer)).toBe(
			'The agent has gone on or asks something else. Your answer was sent before and may have arrived.',
		);
	});

	it.each([
		['went on', 'active'],
		['asks in the same place again', 'humanInput'],
	])('the agent emptied the field and %s, it is not sent again and said to have perhaps arrived', async (_, status) => {
		const { setting, answer } = await afterwards(
			withMessages([message('user'), message('assistant', OPEN), message('assistant')], status),
		);
		await using _setting = setting;
		expect(setting.times('put')).toHaveLength(1);
		expect(answer.state).toBe('changed');
		expect(receiptHeadline(answer)).toContain('may have arrived');
	});

	it('the same was asked again at its old place, the answer is found at its new one and not sent again', async () => {
		const { setting, answer } = await afterwards(
			withMessages([message('assistant', ANSWERED), message('assistant', OPEN)], 'humanInput'),
		);
		await using _ = setting;
		expect(setting.times('put')).toHaveLength(1);
		expect(answer.state).toMatch(/delivered|resumed/);
	});

	it('a message was put in before it, the answer is found at its new place', async () => {
		const { setting, answer } = await afterwards(
			withMessages([message('user'), message('system'), message('assistant', ANSWERED)]),
		);
		await using _ = setting;
		expect(answer.state).toMatch(/delivered|resumed/);
		expect(setting.times('put')).toHaveLength(1);
	});

	it('the session ended with the question gone, the answer is said to have perhaps arrived', async () => {
		const { setting, answer } = await afterwards(withMessages([message('user')], 'completed'));
		await using _ = setting;
		expect(answer.state).toBe('ended');
		expect(receiptHeadline(answer)).toBe('The session is over. Your answer was sent before and may have arrived.');
	});

	it('somebody else answered over it, that is what is said', async () => {
		const other = [{ title: 'Which one?', description: '', value: 'red' }];
		const { setting, answer } = await afterwards(withMessages([message('user'), message('assistant', other)]));
		await using _ = setting;
		expect(answer.state).toBe('conflicted');
		expect(receiptHeadline(answer)).toContain('may have arrived first');
	});
});

it('the same answer to the same question earlier in the session is not taken for ours', async () => {
	await using setting = await createSetting();
	const again = [
		message('user'),
		message('assistant', asking('s1').messages[1]?.humanInput),
		message('assistant', ANSWERED),
	];
	setting.setSession({ ...asking('s1'), messages: [again[2], again[1]].filter((one) => one !== undefined) });
	setting.on.put = () => {
		setting.setSession(withMessages([message('assistant', ANSWERED), message('assistant')]));
		throw new SessionServiceError('unavailable', 'reset', { outcomeUnknown: true });
	};
	const { id } = await setting.accept('s1');
	setting.createWorker().start();
	await setting.pass(MAY_LAND_MS + 10_000);
	expect(await setting.get(id)).toMatchObject({ state: 'changed' });
});

describe('while a PUT may still land', () => {
	it('nobody else can answer though the service says three times that it knows no such session', async () => {
		await using setting = await createSetting();
		const ann = await setting.accept('s1');
		setting.on.put = () => {
			void setting.clock.sleep(15_000).then(() => setting.save('s1', 1, ANSWERED));
			throw new SessionServiceError('unavailable', 'reset', { outcomeUnknown: true });
		};
		setting.on.read = () => {
			const at = setting.clock.now() - T0;
			if (at > 500 && at < 7_000) throw new SessionServiceError('session_not_found', '404');
		};
		setting.createWorker().start();
		await setting.pass(7_500);
		expect(setting.times('read').filter((at) => at > 500 && at < 7_000)).toHaveLength(3);
		const now = setting.clock.now();
		const bob = await setting.store.answers.accept(
			submission({ person: BOB, fingerprint: ann.fingerprint, formReadAt: now - 100, acceptedAt: now }),
		);
		expect(bob).toMatchObject({ kind: 'taken', by: { id: ann.id } });
		await setting.pass(MAY_LAND_MS);
		expect((await setting.get(ann.id)).state).toMatch(/delivered|resumed/);
		expect(setting.times('put')).toHaveLength(1);
	});

	it('nobody else can answer though its values cannot be read any more; after that its author is asked', async () => {
		await using setting = await createSetting();
		const ann = await setting.accept('s1');
		await setting.store.db.write((db) =>
			db
				.updateTable('answers')
				.set({ state: 'delivering', put_started_at: T0, content: 'v1.garbage' })
				.where('id', '=', ann.id)
				.execute(),
		);
		setting.createWorker().start();
		await setting.pass(1_000);
		const now = setting.clock.now();
		const bob = submission({ person: BOB, fingerprint: ann.fingerprint, formReadAt: now - 100, acceptedAt: now });
		expect((await setting.store.answers.accept(bob)).kind).toBe('taken');
		await setting.pass(MAY_LAND_MS);
		expect(await setting.get(ann.id)).toMatchObject({ state: 'waiting', lastError: 'values_unreadable' });
		expect(setting.times('put')).toEqual([]);
	});
});

it('an edit that comes while the session is read is not told as the very text that stands there', async () => {
	await using setting = await createSetting();
	const given = submission({ fingerprint: fingerprintOf(OPEN), items: [item('blue')] });
	await setting.store.answers.accept(given);
	setting.setSession(withMessages([message('user'), message('assistant', ANSWERED)], 'humanInput'));
	setting.on.read = async () => {
		setting.on.read = () => undefined;
		const again = await setting.store.answers.accept({ ...given, id: 'another', items: [item('red')] });
		expect(again).toMatchObject({ kind: 'repeated', edited: true });
	};
	setting.createWorker().start();
	await setting.pass(5_000);
	const answer = await setting.get(given.id);
	expect(answer).toMatchObject({ state: 'conflicted', content: { other: { values: ['blue'], same: false } } });
	expect(valuesOf(answer)).toEqual(['red']);
});

describe('a repeat', () => {
	/** The first PUT lands late, just within the call's time-out and what comes before it. */
	function landsLate(setting: Awaited<ReturnType<typeof createSetting>>, afterMs: number): number[] {
		const saved: number[] = [];
		let first = true;
		setting.on.put = async () => {
			if (!first) return void saved.push(setting.clock.now() - T0);
			first = false;
			void setting.clock.sleep(afterMs).then(() => {
				setting.save('s1', 1, ANSWERED);
				saved.push(setting.clock.now() - T0);
			});
			throw new SessionServiceError('timed_out', 'no answer', { outcomeUnknown: true });
		};
		return saved;
	}

	it('does not come while the first can land by the clock of any replica', async () => {
		await using setting = await createSetting();
		const saved = landsLate(setting, CALL_TIMEOUT_MS - 500);
		await setting.accept('s1');
		const ahead = 4_000;
		const clock = { now: () => setting.clock.now() + ahead, sleep: setting.clock.sleep };
		const first = setting.createWorker();
		first.start();
		await setting.pass(500);
		// The first replica stops; the second one's clock is ahead.
		await first.stop();
		setting.createWorker(setting.store.answers, clock).start();
		await setting.pass(120_000);
		expect(saved).toHaveLength(1);
	});

	it('waits for a read that begins after the first cannot land any more', async () => {
		await using setting = await createSetting();
		const saved = landsLate(setting, MAY_LAND_MS - CLOCK_ALLOWANCE_MS - 100);
		await setting.accept('s1');
		setting.createWorker().start();
		await setting.pass(1_500);
		// Every further read shows the session as it was when it began, and takes long.
		setting.on.read = () => setting.clock.sleep(8_000);
		await setting.pass(180_000);
		expect(saved).toHaveLength(1);
	});

	it.each([
		['forward', HOUR],
		['back', -HOUR],
	])('does not come earlier, and does come, when the clock is put %s by an hour meanwhile', async (_, step) => {
		await using setting = await createSetting();
		let shift = 0;
		const machine = createSystemClock({
			wall: () => setting.clock.now() + shift,
			monotonic: () => setting.clock.now() - T0,
		});
		const clock = { ...machine, sleep: setting.clock.sleep };
		const saved = landsLate(setting, CALL_TIMEOUT_MS - 500);
		await setting.accept('s1');
		setting.createWorker(setting.store.answers, clock).start();
		await setting.pass(3_000);
		shift = step;
		await setting.pass(120_000);
		expect(saved).toHaveLength(1);
		expect(setting.times('put')).toHaveLength(1);
	});
});

it.each([
	['14 minutes', 14 * 60_000],
	['an hour', HOUR],
])('an answer is tried again soon though the clock was put back by %s', async (_, step) => {
	await using setting = await createSetting();
	let shift = step;
	const machine = createSystemClock({
		wall: () => setting.clock.now() + shift,
		monotonic: () => setting.clock.now() - T0,
	});
	const clock = { ...machine, sleep: setting.clock.sleep };
	const now = clock.now();
	setting.on.read = () => {
		throw new SessionServiceError('timed_out', 'down');
	};
	const { answer } = await setting.store.answers.accept(
		submission({ fingerprint: fingerprintOf(OPEN), acceptedAt: now, giveUpAt: now + 24 * HOUR }),
	);
	setting.createWorker(setting.store.answers, clock).start();
	await setting.pass(5_000);
	setting.on.read = () => undefined;
	shift = 0;
	await setting.pass(20_000);
	expect((await setting.get(answer.id)).state).toMatch(/delivered|resumed/);
	expect(setting.times('put')).toHaveLength(1);
});

it('the looks whether the agent went on do not end because the clock was put forward by an hour', async () => {
	await using setting = await createSetting();
	let shift = 0;
	const machine = createSystemClock({
		wall: () => setting.clock.now() + shift,
		monotonic: () => setting.clock.now() - T0,
	});
	const clock = { ...machine, sleep: setting.clock.sleep };
	const { id } = await setting.accept('s1');
	setting.createWorker(setting.store.answers, clock).start();
	await setting.pass(500);
	shift = HOUR;
	await setting.pass(10_000);
	expect(await setting.get(id)).toMatchObject({ state: 'delivered', aftermath: null });
	const { messages } = setting.session('s1');
	setting.setSession({ ...asking('s1'), status: 'active', messages: [...messages, message('assistant')] });
	await setting.pass(60_000);
	expect(await setting.get(id)).toMatchObject({ state: 'resumed' });
});
