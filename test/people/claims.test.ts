import { expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import type { Answer } from '../../src/domain/answer.ts';
import { createClaims } from '../../src/people/drafts.ts';
import { createHarness } from '../delivery/delivering.ts';
import { expectNothingWrong, watchingApp } from '../sessions/harness.ts';
import { ANN, BOB, T0 } from '../store/support.ts';
import { coreOf } from '../support/core.ts';

const QUESTION: Answer['question'] = { service: 'https://service.example', sessionId: 's1', messageIndex: 1 };

it('a claim lapses five minutes after the last action, ends with a release, and is shown to others only', async () => {
	await using harness = await createHarness();
	const clock = createManualClock(T0);
	const news = async () => [...(await harness.store.marks.spread(clock.now()))];
	const claims = createClaims(coreOf({ store: harness.store, clock, log: harness.log }));
	await claims.release(QUESTION, ANN);
	expect(await news()).toEqual([]);
	await claims.take(QUESTION, ANN);
	await clock.advance(200_000);
	await claims.take(QUESTION, ANN);
	expect(await news()).toEqual([ANN.userId]);
	expect(await claims.others(QUESTION, ANN)).toEqual([]);
	await clock.advance(299_999);
	expect(await claims.others(QUESTION, BOB)).toMatchObject([{ person: ANN }]);
	await clock.advance(1);
	expect(await claims.others(QUESTION, BOB)).toEqual([]);
	await claims.take(QUESTION, ANN);
	await news();
	await claims.release(QUESTION, ANN);
	expect(await news()).toEqual([ANN.userId]);
	expect(await claims.others(QUESTION, BOB)).toEqual([]);
});

it('a window that is closed right after typing leaves no claim, and its text as a draft', async () => {
	await using app = await watchingApp();
	const id = await app.watchedAsking(['Which colour?']);
	const post = await app.threadSays(id, 'Which colour?');
	await post.press('Answer…');
	const form = await app.slack.as('ada').waitForModal('[Send answer]');
	await app.until(() => post.text().includes('is answering'));
	// Slack is asked about her again, for the typing and for the closing, which go on in the same moment.
	await app.pass(6 * 60_000);
	await app.until(() => !post.text().includes('is answering'));
	const release = app.slack.faults.hold('users.info');
	await form.fill(0, 'Blue');
	await form.close();
	release();
	await app.pass(10_000);
	expect(post.text()).not.toContain('is answering');
	await post.press('Answer…');
	const again = await app.slack.as('ada').waitForModal('[Send answer]');
	expect(again.value(0)).toBe('Blue');
	expectNothingWrong(app);
});

it('a window that is closed before Slack responds to its content leaves no claim', async () => {
	await using app = await watchingApp();
	const id = await app.watchedAsking(['Which colour?']);
	const post = await app.threadSays(id, 'Which colour?');
	const { promise: hold, resolve: release } = Promise.withResolvers<void>();
	app.slack.faults.add({ method: 'views.update', afterEffect: true, hold });
	await post.press('Answer…');
	const form = await app.slack.as('ada').waitForModal('[Send answer]');
	await app.handled('close handraise.session', () => form.close());
	app.slack.faults.clear();
	release();
	await app.pass(10_000);
	expect(post.text()).not.toContain('is answering');
	expectNothingWrong(app);
});
