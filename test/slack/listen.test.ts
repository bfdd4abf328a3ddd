import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { HandraiseError } from '../../src/kernel/errors.ts';
import { ANYWHERE } from '../../src/slack/access-policy.ts';
import { textMessage } from '../../src/slack/blocks.ts';
import { rateLimitError } from '../../src/slack/calls.ts';
import { errorWords } from '../../src/slack/error-view.ts';
import { createListen } from '../../src/slack/listen.ts';
import { logFailure } from '../../src/slack/request.ts';
import { createRecordingLog } from '../store/support.ts';
import { coreOf } from '../support/core.ts';

/** Takes presses, each with its work that stores them. Each act is noted when it happens. */
function listening() {
	const acts: string[] = [];
	const clock = createManualClock();
	const log = createRecordingLog();
	let press: (given: object) => Promise<void> = async () => {};
	const eventHandlers: ((given: object) => Promise<void>)[] = [];
	const app = {
		action(_id: string, handler: typeof press) {
			press = handler;
		},
		event: (_name: string, handler: (given: object) => Promise<void>) => void eventHandlers.push(handler),
	};
	const core = coreOf({ clock, log, metrics: { acknowledged() {}, answers: { submitted() {} } } });
	const listen = createListen(core, {
		app,
		installation: { identity: () => ({ teamId: 'T1' }) },
		accessPolicy: { check: async () => ({ refusal: null }) },
		whyNotThere: async () => null,
		reply: {
			withoutTurn: async (_: unknown, { text }: { text: string }) => void acts.push(text),
			errorContext: () => ({}),
		},
	} as unknown as Parameters<typeof createListen>[1]);
	const stores = new Map<string, () => Promise<unknown>>();
	listen.storingAction('question.choose_1', (_, { value = '' }) => ({
		place: ANYWHERE,
		run: async () => {
			await stores.get(value)?.();
			return async () => void acts.push(`${value}told`);
		},
		failure: () => textMessage(`${value}told that it failed`),
		late: textMessage(`${value}told that it comes later`),
	}));
	/** `name` stands before each act. Resolves when the press is handled. */
	function pressed(run: () => Promise<unknown>, name = ''): Promise<void> {
		stores.set(name, run);
		return press({
			body: { user: { id: 'U1', team_id: 'T1' }, trigger_id: `1.${name}` },
			action: { action_id: 'question.choose_1', value: name },
			ack: async () => void acts.push(`${name}acknowledged`),
		});
	}
	/** Slack delivers an event, which Bolt gives to every handler of its name. */
	const happened = (id: string) =>
		Promise.all(eventHandlers.map((handle) => handle({ event: {}, body: { event_id: id } })));
	return { acts, clock, listen, pressed, happened, press: (given: object) => press(given) };
}

/** Enough for a message that waits for nothing. */
async function someTurns(): Promise<void> {
	for (let turn = 0; turn < 5; turn++) await nextTurn();
}

it('tells nobody that a press is stored before the others are acknowledged', async () => {
	const { acts, clock, pressed } = listening();
	const { promise, resolve } = Promise.withResolvers<void>();
	const second = pressed(() => promise, 'second ');
	const first = pressed(async () => {}, 'first ');
	await clock.advance(10);
	await someTurns();
	expect(acts).toEqual(['first acknowledged']);
	resolve();
	await Promise.all([first, second]);
	expect(acts.slice(0, 2)).toEqual(['first acknowledged', 'second acknowledged']);
	expect(acts.slice(2).sort()).toEqual(['first told', 'second told']);
});

it('tells that a press is stored after 50 ms, also if others are not acknowledged', async () => {
	const { acts, clock, pressed } = listening();
	void pressed(() => new Promise(() => {}), 'second ');
	const first = pressed(async () => {}, 'first ');
	await clock.advance(49);
	await someTurns();
	expect(acts).toEqual(['first acknowledged']);
	await clock.advance(1);
	await first;
	expect(acts).toEqual(['first acknowledged', 'first told']);
});

it('acknowledges a press that is not stored after 2.5 s when the person was told so', async () => {
	const { promise: stored, resolve: store } = Promise.withResolvers<() => Promise<void>>();
	const { acts, clock, pressed } = listening();
	const handled = pressed(() => stored);
	await clock.advance(2_499);
	expect(acts).toEqual([]);
	await clock.advance(10_000);
	expect(acts).toEqual(['told that it comes later', 'acknowledged']);
	store(async () => {});
	await handled;
	expect(acts.at(-1)).toBe('told');
});

it('acknowledges a press before it tells that it is stored, and after it told that it could not be', async () => {
	const { acts, pressed } = listening();
	await pressed(async () => {});
	expect(acts).toEqual(['acknowledged', 'told']);
	await pressed(() => Promise.reject(new Error('the database is away')), 'second ');
	expect(acts.slice(2)).toEqual(['second told that it failed', 'second acknowledged']);
});

it('gives an event once to each of its handlers, however often Slack delivers it', async () => {
	const { acts, listen, happened } = listening();
	for (const name of ['first', 'second']) listen.event('user_change', async () => void acts.push(name));
	await happened('Ev1');
	await happened('Ev1');
	expect(acts).toEqual(['first', 'second']);
	await happened('Ev2');
	expect(acts).toEqual(['first', 'second', 'first', 'second']);
});

it.each([
	['view', { view: { id: 7 } }, {}],
	['action', {}, { block_id: 7 }],
])(
	'tells the person that a press with an unreadable %s is outdated, and acknowledges it',
	async (_, odd, oddAction) => {
		const { acts, press } = listening();
		await press({
			body: { user: { id: 'U1', team_id: 'T1' }, trigger_id: '1.1', ...odd },
			action: { action_id: 'question.choose_1', value: '', ...oddAction },
			ack: async () => void acts.push('acknowledged'),
		});
		expect(acts).toEqual([`⚠️ ${errorWords('older_version').plain}`, 'acknowledged']);
	},
);

it('logs a refusal as information, a limit of Slack as a warning, and else an error', () => {
	const levelOf = (error: unknown) => {
		const log = createRecordingLog();
		logFailure({ log }, error, 'request_failed');
		return log.lines.map(({ level }) => level);
	};
	const thrown = (code: string) => new HandraiseError('a test', { code });
	for (const code of ['too_fast', 'not_named', 'not_there', 'nobody_left'])
		expect(levelOf(thrown(code))).toEqual(['info']);
	expect(levelOf(rateLimitError('users.info', 1_000, 0))).toEqual(['warn']);
	expect(levelOf(Object.assign(new Error('429'), { retryAfter: 30 }))).toEqual(['warn']);
	for (const code of ['could_not_check', 'internal', 'slack_unavailable'])
		expect(levelOf(thrown(code))).toEqual(['error']);
});
