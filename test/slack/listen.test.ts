import { expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { createListen, createRush } from '../../src/slack/listen.ts';

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

/** Takes presses with `run` as the work that stores them. Each act is noted when it happens. */
function pressing(run: () => Promise<() => Promise<void>>) {
	const acts: string[] = [];
	const clock = createManualClock();
	const log = { child: () => log, info() {}, error() {}, warn() {} };
	let press: (given: object) => Promise<void> = async () => {};
	const app = {
		action(_id: string, handler: typeof press) {
			press = handler;
		},
	};
	const listen = createListen({
		app,
		teamId: 'T1',
		accessPolicy: { check: async () => ({ refusal: null }) },
		clock,
		log,
		onAcknowledged() {},
	} as unknown as Parameters<typeof createListen>[0]);
	const tell = (what: string) => async () => void acts.push(what);
	listen.storingAction('question.choose_1', () => ({
		place: 'anyChannel',
		run: async () => {
			await run();
			return tell('told');
		},
		refused: () => tell('told that it was refused'),
		failed: () => tell('told that it failed'),
		late: tell('told that it comes later'),
	}));
	const pressed = press({
		body: { user: { id: 'U1', team_id: 'T1' }, trigger_id: '1.2' },
		action: { action_id: 'question.choose_1', value: '' },
		ack: async () => void acts.push('acknowledged'),
	});
	return { acts, clock, pressed };
}

it('acknowledges a press that is not stored after 2.5 s when the person was told so', async () => {
	const { promise: stored, resolve: store } = Promise.withResolvers<() => Promise<void>>();
	const { acts, clock, pressed } = pressing(() => stored);
	await clock.advance(2_499);
	expect(acts).toEqual([]);
	await clock.advance(10_000);
	expect(acts).toEqual(['told that it comes later', 'acknowledged']);
	store(async () => {});
	await pressed;
	expect(acts.at(-1)).toBe('told');
});

it('acknowledges a press that is stored before it tells the person', async () => {
	const { acts, pressed } = pressing(async () => async () => {});
	await pressed;
	expect(acts).toEqual(['acknowledged', 'told']);
});

it('tells the person that a press could not be stored before it acknowledges the press', async () => {
	const { acts, pressed } = pressing(() => Promise.reject(new Error('the database is away')));
	await pressed;
	expect(acts).toEqual(['told that it failed', 'acknowledged']);
});
