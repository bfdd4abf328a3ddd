import { describe, expect, it } from 'vitest';
import { SessionServiceError } from '../../../src/session-service/errors.ts';
import { submission } from '../../database/support.ts';
import { createHarness } from './delivering.ts';

const MINUTE_MS = 60_000;
const SAVED = [{ title: 'Which one?', description: '', value: 'blue' }];

/** The outcome of the PUT is unknown, the service then fails for two minutes, and Ann may not answer any more. */
async function unknown({ saves }: { saves: boolean }) {
	const harness = await createHarness();
	const ann = await harness.accept('s1');
	harness.on.put = () => {
		if (saves) harness.save('s1', 1, SAVED);
		harness.on.read = () => {
			throw new SessionServiceError('unavailable', 'reset');
		};
		throw new SessionServiceError('unavailable', 'reset', { outcomeUnknown: true });
	};
	const asked: number[] = [];
	harness.on.check = async () => {
		asked.push(harness.times('read').length);
		return 'deactivated';
	};
	harness.createWorker().start();
	await harness.pass(2 * MINUTE_MS);
	expect(await harness.get(ann.id)).toMatchObject({ state: 'delivering' });
	harness.on.read = () => undefined;
	await harness.pass(2 * MINUTE_MS);
	return { harness, asked, answer: await harness.get(ann.id) };
}

describe('a PUT of unknown outcome whose author may not answer any more', () => {
	it('is not repeated', async () => {
		const { harness, answer } = await unknown({ saves: false });
		await using _ = harness;
		expect(answer).toMatchObject({ state: 'refused', lastError: 'deactivated', putStartedAt: null });
		expect(harness.times('put')).toHaveLength(1);
	});

	it('is found to have arrived, and nobody is asked', async () => {
		const { harness, answer, asked } = await unknown({ saves: true });
		await using _ = harness;
		expect(answer).toMatchObject({ state: 'delivered', lastError: null });
		expect(asked).toEqual([]);
		expect(harness.times('put')).toHaveLength(1);
	});
});

describe('an answer whose author is asked about', () => {
	it('is compared with a read that begins after the check', async () => {
		const harness = await createHarness();
		await using _ = harness;
		harness.on.check = async () => {
			harness.save('s1', 1, [{ ...SAVED[0], title: 'Which one?', description: '', value: 'red' }]);
			return null;
		};
		const ann = await harness.accept('s1');
		await harness.clock.advance(MINUTE_MS);
		harness.createWorker().start();
		await harness.pass(1_000);
		expect(await harness.get(ann.id)).toMatchObject({ state: 'conflicted' });
		expect(harness.times('put')).toEqual([]);
	});

	it.each([
		['C1', 'C1'],
		// A list of allowed channels excludes what came from none of them.
		[null, ''],
	])('is checked in the channel that it came from: %s', async (channelId, asked) => {
		const harness = await createHarness();
		await using _ = harness;
		const places: string[] = [];
		harness.on.check = async (_person, place) => {
			places.push(place);
			return null;
		};
		const fingerprint = (await harness.accept('other')).fingerprint;
		await harness.store.answers.accept(submission({ fingerprint, origin: { channelId, threadTs: null } }));
		await harness.clock.advance(MINUTE_MS);
		harness.createWorker().start();
		await harness.pass(1_000);
		expect(places).toContain(asked);
		expect(harness.times('put')).toHaveLength(1);
	});

	it('takes no place from a fresh answer while Slack hangs for hundreds of others', async () => {
		const harness = await createHarness();
		await using _ = harness;
		const hang = () => harness.clock.sleep(10_000).then(() => null);
		harness.on.check = async () => (await hang()) ?? 'could_not_check';
		harness.on.tell = ({ lastError }) => (lastError === 'not_checked' ? hang() : null);
		const { fingerprint } = await harness.accept('late');
		for (let count = 1; count < 200; count++) await harness.accept(`late${count}`);
		await harness.clock.advance(2 * MINUTE_MS);
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
		const harness = await createHarness();
		await using _ = harness;
		let askedCount = 0;
		harness.on.check = async () => {
			askedCount += 1;
			return 'could_not_check';
		};
		const ann = await harness.accept('s1');
		await harness.clock.advance(MINUTE_MS);
		harness.createWorker().start();
		await harness.pass(10 * MINUTE_MS);
		expect(await harness.get(ann.id)).toMatchObject({ state: 'accepted', lastError: 'not_checked' });
		expect(askedCount).toBeLessThan(20);
		await harness.pass(24 * 60 * MINUTE_MS);
		expect(await harness.get(ann.id)).toMatchObject({ state: 'waiting', lastError: 'not_checked' });
		expect(harness.times('put')).toEqual([]);
	});
});
