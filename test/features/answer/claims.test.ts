import { expect, it } from 'vitest';
import { createManualClock } from '../../../fake-slack/index.ts';
import { createClaims } from '../../../src/features/answer/drafts.ts';
import type { Answer } from '../../../src/questions/answer.ts';
import { ANN, BOB, T0 } from '../../database/support.ts';
import { coreOf } from '../../support/core.ts';
import { createHarness } from './delivering.ts';

const QUESTION: Answer['question'] = { service: 'https://service.example', sessionId: 's1', messageIndex: 1 };

it('a claim lapses five minutes after the last action, ends with a release, and is shown to others only', async () => {
	await using harness = await createHarness();
	const clock = createManualClock(T0);
	const updates: (string | null)[] = [];
	harness.store.inboxes.onNews((by) => void updates.push(by));
	const claims = createClaims(coreOf({ store: harness.store, clock, log: harness.log }));
	await claims.release(QUESTION, ANN);
	expect(updates).toEqual([]);
	await claims.take(QUESTION, ANN);
	await clock.advance(200_000);
	await claims.take(QUESTION, ANN);
	expect(updates).toEqual([ANN.userId]);
	expect(await claims.others(QUESTION, ANN)).toEqual([]);
	await clock.advance(299_999);
	expect(await claims.others(QUESTION, BOB)).toMatchObject([{ person: ANN }]);
	await clock.advance(1);
	expect(await claims.others(QUESTION, BOB)).toEqual([]);
	await claims.take(QUESTION, ANN);
	const before = updates.length;
	await claims.release(QUESTION, ANN);
	expect(updates).toHaveLength(before + 1);
	expect(await claims.others(QUESTION, BOB)).toEqual([]);
});
