import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mayLandForMs } from '../../../src/questions/answer.ts';
import { SessionServiceError } from '../../../src/session-service/service.ts';
import { ANN, BOB, item, submission } from '../../database/support.ts';
import { saying } from '../../support/sessions.ts';
import { asking, CALL_TIMEOUT_MS, createHarness, failing, type Harness, RESET, STATUS_500 } from './delivering.ts';

const ANSWERED = [{ title: 'Which one?', description: '', value: 'blue' }];
/** After the last confirmation check. */
const CHECKS_OVER_MS = 11 * 60_000;

let harness: Harness;
beforeEach(async () => {
	harness = await createHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

/** Ann's answer is saved, and the service has said that it could not start the agent. */
async function startFailed() {
	harness.on.put = () => {
		harness.save('s1', 1, ANSWERED);
		throw new SessionServiceError(...STATUS_500);
	};
	const ann = await harness.accept('s1');
	const worker = harness.createWorker();
	worker.start();
	await harness.pass(5_000);
	expect(await harness.get(ann.id)).toMatchObject({ state: 'delivered', startFailed: true });
	const { promise, resolve } = Promise.withResolvers<void>();
	const firstPuts = harness.times('put').length;
	return {
		ann,
		worker,
		/** How often it was sent again. */
		sentAgain: () => harness.times('put').length - firstPuts,
		/** From now on PUTs stay under way until `land` is called. */
		hold(): void {
			harness.on.put = () => promise;
		},
		land: resolve,
		async press() {
			const now = harness.clock.now();
			const pressed = await harness.store.answers.askRestart(ann.id, ANN, now, now - mayLandForMs(CALL_TIMEOUT_MS));
			worker.wake();
			await harness.pass(500);
			return pressed;
		},
		/** Its author presses while the program is down, and a minute later it is there again. */
		async pressAndWait() {
			await Promise.all([worker.stop(), harness.pass(10_000)]);
			const now = harness.clock.now();
			const pressed = await harness.store.answers.askRestart(ann.id, ANN, now, now - mayLandForMs(CALL_TIMEOUT_MS));
			expect(pressed).not.toBeNull();
			await harness.pass(61_000);
			harness.createWorker().start();
		},
		/** The agent took Ann's answer, emptied the field and asks the same again. Bob answers that. */
		async bobAnswers() {
			harness.setSession(asking('s1'));
			const now = harness.clock.now();
			const given = submission({
				person: BOB,
				fingerprint: ann.fingerprint,
				items: [item('red')],
				formReadAt: now,
				acceptedAt: now,
			});
			const { kind } = await harness.store.answers.accept(given);
			expect(kind).toBe('accepted');
			worker.wake();
			await harness.pass(2_000);
			return given;
		},
	};
}

/** The next read takes so long. */
function slowRead(ms: number): void {
	harness.on.read = () => {
		harness.on.read = () => undefined;
		return harness.clock.sleep(ms);
	};
}

describe('sending an answer again', () => {
	it('happens once when its author presses twice', async () => {
		const { press, hold, sentAgain, land, ann } = await startFailed();
		hold();
		expect(await press()).not.toBeNull();
		expect(await press()).toBeNull();
		expect(sentAgain()).toBe(1);
		land();
		await harness.pass(60_000);
		expect(sentAgain()).toBe(1);
		expect(await harness.get(ann.id)).toMatchObject({ state: 'delivered', startFailed: false });
	});

	it('holds back the answer of a colleague, which then conflicts', async () => {
		const { press, hold, sentAgain, land, bobAnswers } = await startFailed();
		hold();
		await press();
		const bob = await bobAnswers();
		expect(sentAgain()).toBe(1);
		expect(await harness.get(bob.id)).toMatchObject({ state: 'accepted', putStartedAt: null });
		land();
		await harness.pass(15_000);
		expect(sentAgain()).toBe(1);
		expect(harness.session('s1').messages[1]?.humanInput).toEqual(ANSWERED);
		expect(await harness.get(bob.id)).toMatchObject({ state: 'conflicted', content: { other: { person: ANN } } });
	});

	it('follows a confirmation check at once when pressed during it', async () => {
		const { press, sentAgain } = await startFailed();
		harness.on.put = () => undefined;
		slowRead(3_000);
		const before = harness.times('read').length;
		await harness.pass(1_500);
		expect(harness.times('read')).toHaveLength(before + 1);
		expect(await press()).not.toBeNull();
		expect(sentAgain()).toBe(0);
		await harness.pass(2_000);
		expect(sentAgain()).toBe(1);
	});

	it('is forgotten when pressed during the check that finds that the agent went on', async () => {
		const { ann, press, sentAgain } = await startFailed();
		slowRead(3_000);
		harness.setSession({ ...harness.session('s1'), status: 'active' });
		await harness.pass(1_500);
		expect(await press()).not.toBeNull();
		await harness.pass(5_000);
		expect(sentAgain()).toBe(0);
		expect(await harness.get(ann.id)).toMatchObject({ state: 'resumed', restartAskedAt: null, nextAttemptAt: null });
	});

	it('finds what became of the answer when the agent went on after the last check', async () => {
		const { ann, press, sentAgain } = await startFailed();
		await harness.pass(CHECKS_OVER_MS);
		expect(await harness.get(ann.id)).toMatchObject({ state: 'delivered', agentOutcome: 'unseen' });
		const { messages, ...session } = harness.session('s1');
		const said = messages.slice(-1).map((message) => ({ ...message, content: 'On it.', humanInput: [] }));
		harness.setSession({ ...session, messages: [...messages, ...said] });
		expect(await press()).not.toBeNull();
		await harness.pass(5_000);
		expect(sentAgain()).toBe(0);
		expect(await harness.get(ann.id)).toMatchObject({ state: 'resumed', agentOutcome: 'resumed', startFailed: false });
	});

	it('is reported and not repeated after the program ends during it', async () => {
		const { press, hold, sentAgain, ann, worker } = await startFailed();
		await harness.pass(CHECKS_OVER_MS);
		expect(await harness.get(ann.id)).toMatchObject({ agentOutcome: 'unseen', nextAttemptAt: null });
		hold();
		await press();
		expect(sentAgain()).toBe(1);
		await Promise.all([worker.stop(), harness.pass(10_000)]);
		const told = harness.told.length;
		harness.createWorker().start();
		await harness.pass(CHECKS_OVER_MS);
		expect(harness.told.length).toBeGreaterThan(told);
		expect(sentAgain()).toBe(1);
		expect(await harness.get(ann.id)).toMatchObject({ state: 'delivered', agentOutcome: 'unseen' });
	});

	it('blocks a second try and a colleague while it may still land', async () => {
		const { press, sentAgain, bobAnswers } = await startFailed();
		harness.on.put = () => {
			harness.on.put = () => undefined;
			void harness.clock.sleep(15_000).then(() => harness.save('s1', 1, ANSWERED));
			throw new SessionServiceError(...RESET);
		};
		expect(await press()).not.toBeNull();
		expect.soft(await press()).toBeNull();
		const bob = await bobAnswers();
		await harness.pass(mayLandForMs(CALL_TIMEOUT_MS));
		expect.soft(sentAgain()).toBe(1);
		expect((await harness.get(bob.id)).state).toBe('conflicted');
	});

	it.each([
		['deactivated', 'deactivated'],
		['could_not_check', 'not_checked'],
	] as const)('does not happen a minute after the press when the access policy says %s', async (refusal, code) => {
		const { pressAndWait, sentAgain, ann } = await startFailed();
		harness.on.check = async () => refusal;
		await pressAndWait();
		await harness.pass(CHECKS_OVER_MS);
		expect(sentAgain()).toBe(0);
		expect(await harness.get(ann.id)).toMatchObject({ state: 'delivered', startFailed: true, restartAskedAt: null });
		expect(harness.told.map(({ lastError }) => lastError)).toContain(code);
	});

	it('is decided a minute after the press by a read that follows the check of its author', async () => {
		const { pressAndWait, sentAgain } = await startFailed();
		harness.on.check = async () => {
			harness.setSession(asking('s1'));
			return null;
		};
		await pressAndWait();
		await harness.pass(CHECKS_OVER_MS);
		expect(sentAgain()).toBe(0);
	});
});

describe('the confirmation', () => {
	it('checks after 2, 5, 15, 60 and 75 s and 10 minutes, then reports unseen', async () => {
		const { id } = await harness.deliverOne();
		await harness.pass(700_000);
		const [put = 0] = harness.times('put');
		const checks = harness.times('read').slice(1);
		expect(checks.map((at) => at - put)).toEqual([2_000, 5_000, 15_000, 60_000, 75_000, 600_000]);
		expect(await harness.get(id)).toMatchObject({ state: 'delivered', agentOutcome: 'unseen', nextAttemptAt: null });
	});

	it('reports that the agent resumed at the first check that shows it, and checks no more', async () => {
		const { id } = await harness.deliverOne();
		await harness.pass(6_000);
		const session = harness.session('s1');
		harness.setSession({ ...session, messages: [...session.messages, saying('On I go.')] });
		await harness.pass(600_000);
		expect(harness.times('read')).toHaveLength(4);
		expect(await harness.get(id)).toMatchObject({ state: 'resumed', agentOutcome: 'resumed' });
	});

	it('checks again after a failed check', async () => {
		const { id } = await harness.deliverOne();
		await harness.pass(1_000);
		harness.on.read = failing('unavailable', 'down');
		await harness.pass(10_000);
		expect(await harness.get(id)).toMatchObject({ state: 'delivered', agentOutcome: null });
		harness.on.read = () => undefined;
		harness.setSession({ ...asking('s1'), status: 'failed' });
		await harness.pass(60_000);
		expect((await harness.get(id)).agentOutcome).toMatch(/failed|overwritten/);
	});
});
