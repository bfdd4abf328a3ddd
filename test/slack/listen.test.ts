import { expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { createRush } from '../../src/slack/listen.ts';

it('delays the work after a submission until the last one is acknowledged', async () => {
	const rush = createRush(createManualClock());
	const [first, second] = [rush.enter(), rush.enter()];
	let isOver = false;
	const waiting = rush.over().then(() => {
		isOver = true;
	});
	first();
	await Promise.resolve();
	expect(isOver).toBe(false);
	second();
	await waiting;
	await rush.over();
});

it('delays the work after a submission by no more than 50 ms', async () => {
	const clock = createManualClock();
	const rush = createRush(clock);
	rush.enter();
	const waiting = rush.over();
	await clock.advance(50);
	await waiting;
});
