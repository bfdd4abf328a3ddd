import { describe, expect, it, vi } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { askAbout } from '../../sandbox/gallery/shapes/ask.ts';
import { extremes } from '../../sandbox/gallery/shapes/extremes.ts';
import type { Shape } from '../../sandbox/gallery/shapes/samples.ts';
import { createSlackCall } from '../../src/doctor/check.ts';
import { createHarness, type Env, type Harness, nobody } from './harness.ts';
import { testShapes } from './views.ts';

const ALL = extremes();

describe('doctor views', () => {
	testShapes(ALL, (harness, env) => harness.doctor(env, ['views']));

	it('stops at a Slack that does not know the method, and says so', async () => {
		await using harness = await createHarness();
		harness.slack.faults.add({ method: 'blocks.validate', error: 'unknown_method' });
		const { exit, lines } = await harness.doctor({}, ['views']);
		expect(lines).toContainEqual(
			expect.stringMatching(new RegExp(`^✗ Views: .* Asking stopped at ${ALL[0]?.name}\\.$`)),
		);
		expect(lines).toContainEqual(expect.stringContaining(`asked about 0 of ${ALL.length} shapes`));
		expect(exit).toBe(1);
	});

	it('needs only the bot token of the settings and Slack, says what is wrong with them, and asks nothing', async () => {
		await using harness = await createHarness();
		for (const [env, says] of [
			[{ SLACK_BOT_TOKEN: 'xoxb-of-somebody-else' }, /^✗ Bot token: Slack does not know this token \(invalid_auth\)/],
			[{ SLACK_BOT_TOKEN: '', SESSION_SERVICE_URL: '' }, /^✗ Settings: SLACK_BOT_TOKEN is missing: /],
			[
				{ SLACK_API_URL: `${await nobody()}/api/` },
				/^✗ Bot token: Slack cannot be asked: 127\.0\.0\.1:\d+: nothing listens/,
			],
		] as [Env, RegExp][]) {
			const { exit, lines } = await harness.doctor(env, ['views']);
			expect([exit, ...lines]).toEqual([1, expect.stringMatching(says), '1 problem to fix.']);
		}
		expect(harness.slack.traffic.calls('blocks.validate')).toEqual([]);
	});
});

describe('checkViews while Slack limits the calls or fails', () => {
	const message = { text: '', blocks: [{ type: 'divider' as const }] };
	const shapes: Shape[] = ['one', 'two', 'three'].map((name) => ({ name, message }));

	/** Asks in this process, on a manual clock. */
	async function asking({ slack }: Harness) {
		const clock = createManualClock();
		const said: string[] = [];
		const findings: string[] = [];
		let isDone = false;
		async function ask(): Promise<void> {
			const say = (line: string) => said.push(line);
			const call = createSlackCall(slack.apiUrl, 'xoxb-any');
			for await (const { text } of askAbout(shapes, call, { clock, say })) findings.push(text);
			isDone = true;
		}
		const done = ask();
		return {
			clock,
			said,
			calls: () => slack.traffic.calls('blocks.validate').length,
			/** The length of the current wait in milliseconds. */
			waiting: async () => {
				await vi.waitUntil(() => clock.sleeping === 1, { timeout: 20_000 });
				return (clock.nextWake ?? 0) - clock.now();
			},
			/** Moves the clock until the check ends. */
			finish: async () => {
				while (!isDone) await clock.advance(10_000);
				await done;
				return { findings, summary: said.at(-1)?.replace(' Nothing else was checked: npm run doctor does that.', '') };
			},
		};
	}

	it('waits as long as each Retry-After says', async () => {
		await using harness = await createHarness();
		harness.slack.faults.rateLimit('blocks.validate', { retryAfter: 7, times: 2 });
		const { clock, said, calls, waiting, finish } = await asking(harness);
		expect(await waiting()).toBe(7_000);
		expect(said).toEqual(['Asking Slack about 3 shapes.', 'Slack limits the calls: continuing in 7 s.']);
		await clock.advance(6_999);
		expect(calls()).toBe(1);
		await clock.advance(1);
		expect(await waiting()).toBe(7_000);
		expect(calls()).toBe(2);
		await clock.advance(7_000);
		expect(await waiting()).toBe(50);
		expect(calls()).toBe(3);
		expect(await finish()).toEqual({ findings: [], summary: 'Slack was asked about 3 shapes and refuses none.' });
		expect(calls()).toBe(5);
	});

	it('gives up when every call is limited', async () => {
		await using harness = await createHarness();
		harness.slack.faults.rateLimit('blocks.validate', { retryAfter: 3 });
		const { finish, calls } = await asking(harness);
		const { findings, summary } = await finish();
		expect(findings).toEqual([
			expect.stringMatching(/^Slack cannot be asked: .* limits the calls; try again in 3 s\. Asking stopped at one\.$/),
		]);
		expect(summary).toBe('Slack was asked about 0 of 3 shapes and refuses none.');
		expect(calls()).toBe(11);
	});

	it('continues after a short failure', async () => {
		await using harness = await createHarness();
		harness.slack.faults.add({ method: 'blocks.validate', status: 503, times: 1 });
		harness.slack.faults.add({ method: 'blocks.validate', error: 'internal_error', times: 1 });
		const { finish } = await asking(harness);
		expect((await finish()).findings).toEqual([]);
	});

	it.each([
		[{ drop: true }, /^Slack cannot be asked: .*: the connection was cut.* Asking stopped at one\.$/],
		[
			{ error: 'fatal_error' },
			/^Slack has a failure of its own \(fatal_error\): try again later\. Asking stopped at one\.$/,
		],
		[{ error: 'unknown_method' }, /^This Slack has no blocks\.validate \(unknown_method\)/],
		[{ error: 'token_revoked' }, /^The token was revoked \(token_revoked\): reinstall the app/],
	])('stops with a reason at %o', async (fault, words) => {
		await using harness = await createHarness();
		harness.slack.faults.add({ method: 'blocks.validate', ...fault });
		const { finish } = await asking(harness);
		expect((await finish()).findings).toEqual([expect.stringMatching(words)]);
	});

	it('names a shape that Slack refuses without saying why', async () => {
		await using harness = await createHarness();
		harness.slack.faults.add({ method: 'blocks.validate', error: 'view_too_large', times: 1 });
		const { finish } = await asking(harness);
		const { findings, summary } = await finish();
		expect(findings).toEqual(['one: Slack refuses it (view_too_large): it does not say why.']);
		expect(summary).toBe('Slack was asked about 3 shapes and refuses 1.');
	});
});
