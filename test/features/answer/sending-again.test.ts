import { describe, expect, it } from 'vitest';
import { mayLandForMs } from '../../../src/features/answer/put.ts';
import { SessionServiceError } from '../../../src/session-service/errors.ts';
import { ANN, BOB, item, submission } from '../../database/support.ts';
import { asking, CALL_TIMEOUT_MS, createHarness } from './delivering.ts';

const ANSWERED = [{ title: 'Which one?', description: '', value: 'blue' }];
/** After the last confirmation check. */
const CHECKS_OVER_MS = 11 * 60_000;

/** Ann's answer is saved, and the service has said that it could not start the agent. */
async function startFailed() {
	const harness = await createHarness();
	const ann = await harness.accept('s1');
	harness.on.put = () => {
		harness.save('s1', 1, ANSWERED);
		throw new SessionServiceError('unavailable', '500', { outcomeUnknown: true, status: 500 });
	};
	const worker = harness.createWorker();
	worker.start();
	await harness.pass(5_000);
	expect(await harness.get(ann.id)).toMatchObject({ state: 'delivered', startFailed: true });
	const { promise, resolve } = Promise.withResolvers<void>();
	const firstPuts = harness.times('put').length;
	return {
		harness,
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

describe('sending an answer again', () => {
	it('happens once when its author presses twice', async () => {
		const { harness, press, hold, sentAgain, land, ann } = await startFailed();
		await using _ = harness;
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
		const { harness, press, hold, sentAgain, land, bobAnswers } = await startFailed();
		await using _ = harness;
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
		const { harness, press, sentAgain } = await startFailed();
		await using _ = harness;
		harness.on.put = () => undefined;
		harness.on.read = () => {
			harness.on.read = () => undefined;
			return harness.clock.sleep(3_000);
		};
		const before = harness.times('read').length;
		await harness.pass(1_500);
		expect(harness.times('read')).toHaveLength(before + 1);
		expect(await press()).not.toBeNull();
		expect(sentAgain()).toBe(0);
		await harness.pass(2_000);
		expect(sentAgain()).toBe(1);
	});

	it('is forgotten when pressed during the check that finds that the agent went on', async () => {
		const { harness, ann, press, sentAgain } = await startFailed();
		await using _ = harness;
		harness.on.read = () => {
			harness.on.read = () => undefined;
			return harness.clock.sleep(3_000);
		};
		harness.setSession({ ...harness.session('s1'), status: 'active' });
		await harness.pass(1_500);
		expect(await press()).not.toBeNull();
		await harness.pass(5_000);
		expect(sentAgain()).toBe(0);
		expect(await harness.get(ann.id)).toMatchObject({ state: 'resumed', restartAskedAt: null, nextAttemptAt: null });
	});

	it('finds what became of the answer when the agent went on after the last check', async () => {
		const { harness, ann, press, sentAgain } = await startFailed();
		await using _ = harness;
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
		const { harness, press, hold, sentAgain, ann, worker } = await startFailed();
		await using _ = harness;
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
		const { harness, press, sentAgain, bobAnswers } = await startFailed();
		await using _ = harness;
		harness.on.put = () => {
			harness.on.put = () => undefined;
			void harness.clock.sleep(15_000).then(() => harness.save('s1', 1, ANSWERED));
			throw new SessionServiceError('unavailable', 'reset', { outcomeUnknown: true });
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
		const { harness, press, sentAgain, ann } = await startFailed();
		await using _ = harness;
		harness.on.check = async () => refusal;
		harness.on.read = () => {
			harness.on.read = () => undefined;
			return harness.clock.sleep(61_000);
		};
		expect(await press()).not.toBeNull();
		await harness.pass(CHECKS_OVER_MS);
		expect(sentAgain()).toBe(0);
		expect(await harness.get(ann.id)).toMatchObject({ state: 'delivered', startFailed: true, restartAskedAt: null });
		expect(harness.told.map(({ lastError }) => lastError)).toContain(code);
	});

	it('happens a minute after the press when its author may still answer, as the session is then', async () => {
		const { harness, press, sentAgain } = await startFailed();
		await using _ = harness;
		harness.on.check = async () => {
			harness.setSession(asking('s1'));
			return null;
		};
		harness.on.read = () => {
			harness.on.read = () => undefined;
			return harness.clock.sleep(61_000);
		};
		await press();
		await harness.pass(CHECKS_OVER_MS);
		expect(sentAgain()).toBe(0);
	});
});
