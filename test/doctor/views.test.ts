import { describe, expect, it, vi } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { createSlackCall } from '../../src/doctor/request.ts';
import { type AskedShape, checkViews, createProgress, type Progress } from '../../src/doctor/views.ts';
import { allShapes } from '../../src/slack/shapes/all.ts';
import { createHarness, type Env, type Harness, nobody } from './harness.ts';

const ALL = allShapes();

function askingOf(harness: Harness, changed: Env = {}) {
	return harness.doctor(changed, ['--views']);
}

/** Starts the program and makes a call per shape, which takes long on a busy machine. */
const SLOW = { timeout: 180_000 };

describe.concurrent('doctor --views', () => {
	it('asks Slack only about every shape, shows its progress and exits with 0', SLOW, async () => {
		await using harness = await createHarness();
		const { exit, lines } = await askingOf(harness);
		const report = lines.join('\n');
		expect(ALL.length).toBeGreaterThanOrEqual(60);
		expect(report).toContain(
			`Slack was asked about ${ALL.length} shapes and refuses none. Nothing else was checked: npm run doctor does that.\nAll is well.`,
		);
		expect(lines).toContain(`Asked Slack about 50 of ${ALL.length} shapes.`);
		expect(exit).toBe(0);
		const calls = harness.slack.traffic.calls();
		expect(calls.map(({ name }) => name)).toEqual(['auth.test', ...ALL.map(() => 'blocks.validate')]);
		expect(harness.service.log.list()).toEqual([]);
		// It sends nothing of the set-up.
		const sent = JSON.stringify(calls.map(({ request }) => request));
		for (const own of [harness.service.url, harness.dataDir, 'the platform team']) expect(sent).not.toContain(own);
	});

	it('names every shape that breaks one of 20 planted rules, with the words and the pointer', SLOW, async () => {
		await using harness = await createHarness();
		const env = await harness.slackBehind({
			answer: (path, form) => {
				if (!path.includes('blocks.validate')) return null;
				const errors = differencesIn(JSON.parse(form.get('view') ?? form.get('message') ?? ''));
				const error = form.has('view') ? 'invalid_view' : 'invalid_message';
				return errors.length === 0 ? null : { ok: false, error, errors };
			},
		});
		const { exit, lines } = await askingOf(harness, env);
		const broken = ALL.map(({ name, view, message }) => ({
			name,
			errors: differencesIn({ ...(view ?? { blocks: message.blocks }) }),
		})).filter(({ errors }) => errors.length > 0);
		const refusals = lines.filter((line) => line.includes('Slack refuses it'));
		expect(refusals).toHaveLength(broken.length);
		for (const { name, errors } of broken) {
			const line = refusals.find((refusal) => refusal.startsWith(`✗ Views: ${name}: Slack refuses it (invalid_`)) ?? '';
			for (const { message } of errors) {
				const pointer = errors.find((error) => error.message === message)?.pointer ?? '';
				expect(line).toContain(pointer === '' ? message : `${message} at ${pointer}`);
			}
		}
		expect(PLANTED).toHaveLength(20);
		for (const { words } of PLANTED) expect(refusals.join('\n'), words).toContain(words);
		expect(lines.join('\n')).toContain(`Slack was asked about ${ALL.length} shapes and refuses ${broken.length}.`);
		expect(lines).toContain(`${broken.length} problems to fix.`);
		expect(exit).toBe(1);
	});

	it('says what is wrong with the token and asks nothing', async () => {
		await using harness = await createHarness();
		const { exit, lines } = await askingOf(harness, { SLACK_BOT_TOKEN: 'xoxb-of-somebody-else' });
		expect(lines).toEqual([
			expect.stringMatching(/^✗ Bot token: Slack does not know this token \(invalid_auth\)/),
			'1 problem to fix.',
		]);
		expect(exit).toBe(1);
		expect(harness.slack.traffic.calls('blocks.validate')).toEqual([]);
	});

	it('needs only the bot token of the settings', async () => {
		await using harness = await createHarness();
		const { exit, lines } = await askingOf(harness, { SLACK_BOT_TOKEN: '', SESSION_SERVICE_URL: '' });
		expect(lines).toEqual([expect.stringMatching(/^✗ Settings: SLACK_BOT_TOKEN is missing: /), '1 problem to fix.']);
		expect(exit).toBe(1);
	});

	it('says that Slack cannot be reached', async () => {
		await using harness = await createHarness();
		const { exit, lines } = await askingOf(harness, { SLACK_API_URL: `${await nobody()}/api/` });
		expect(lines[0]).toMatch(/^✗ Bot token: Slack cannot be asked: 127\.0\.0\.1:\d+: nothing listens/);
		expect(exit).toBe(1);
	});

	it.each([['--veiws'], ['--views', '--views'], ['views']])('prints the usage for %s', async (...args) => {
		await using harness = await createHarness();
		const { exit, lines } = await harness.doctor({}, args);
		expect(lines[0]).toMatch(/^Usage: npm run doctor/);
		expect(exit).toBe(2);
		expect(harness.slack.traffic.calls()).toEqual([]);
	});
});

describe('checkViews while Slack limits the calls or fails', () => {
	const divider = { type: 'divider' };
	const shapes: AskedShape[] = ['one', 'two', 'three'].map((name) => ({ name, message: { blocks: [divider] } }));

	/** Asks in this process, on a manual clock. */
	async function asking({ slack }: Harness) {
		const clock = createManualClock();
		const shown: Progress[] = [];
		const call = createSlackCall(slack.apiUrl);
		let result: Awaited<ReturnType<typeof checkViews>> | null = null;
		const done = checkViews({ shapes, call, token: 'xoxb-any', clock, show: (progress) => shown.push(progress) }).then(
			(value) => {
				result = value;
			},
		);
		return {
			clock,
			shown,
			calls: () => slack.traffic.calls('blocks.validate').length,
			/** The length of the current wait in milliseconds. */
			waiting: async () => {
				await vi.waitUntil(() => clock.sleeping === 1, { timeout: 20_000 });
				return (clock.nextWake ?? 0) - clock.now();
			},
			/** Moves the clock until the check ends. */
			finish: async () => {
				while (result === null) await clock.advance(10_000);
				await done;
				return result;
			},
		};
	}

	it('waits as long as each Retry-After says and then asks more slowly', async () => {
		await using harness = await createHarness();
		harness.slack.faults.rateLimit('blocks.validate', { retryAfter: 7, times: 2 });
		const { clock, shown, calls, waiting, finish } = await asking(harness);
		expect(await waiting()).toBe(7_000);
		expect(shown.at(-1)).toEqual({ asked: 0, total: 3, pausedSec: 7 });
		await clock.advance(6_999);
		expect(calls()).toBe(1);
		await clock.advance(1);
		expect(await waiting()).toBe(7_000);
		expect(calls()).toBe(2);
		await clock.advance(7_000);
		expect(await waiting()).toBe(1_000);
		expect(calls()).toBe(3);
		expect(await finish()).toEqual({ findings: [], summary: 'Slack was asked about 3 shapes and refuses none.' });
		expect(calls()).toBe(5);
	});

	it('gives up when every call is limited', async () => {
		await using harness = await createHarness();
		harness.slack.faults.rateLimit('blocks.validate', { retryAfter: 3 });
		const { finish, calls } = await asking(harness);
		const { findings, summary } = await finish();
		expect(findings.map(({ text }) => text)).toEqual([
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
		expect((await finish()).findings.map(({ text }) => text)).toEqual([expect.stringMatching(words)]);
	});

	it('names a shape that Slack refuses without saying why', async () => {
		await using harness = await createHarness();
		harness.slack.faults.add({ method: 'blocks.validate', error: 'view_too_large', times: 1 });
		const { finish } = await asking(harness);
		const { findings, summary } = await finish();
		expect(findings.map(({ text }) => text)).toEqual(['one: Slack refuses it (view_too_large): it does not say why.']);
		expect(summary).toBe('Slack was asked about 3 shapes and refuses 1.');
	});
});

it('shows one changing line on a terminal and removes it at the end', () => {
	const written: string[] = [];
	const progress = createProgress({ isTTY: true, write: (text) => written.push(text) });
	progress.show({ asked: 1, total: 2, pausedSec: null });
	progress.show({ asked: 1, total: 2, pausedSec: 9 });
	progress.end();
	expect(written).toEqual([
		'\r\u001b[KAsked Slack about 1 of 2 shapes.',
		'\r\u001b[KAsked Slack about 1 of 2 shapes. Slack limits the calls: continuing in 9 s.',
		'\r\u001b[K',
	]);
});

type Json = Readonly<Record<string, unknown>>;

interface Difference {
	readonly words: string;
	/** Whether a Slack with this difference refuses the object. `root` is the view or message. */
	readonly refuses: (part: Json, root: Json) => boolean;
}

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0);
const sizeOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

/** 20 ways in which Slack could differ from our assumptions about modals, inputs, buttons, messages and texts. */
const PLANTED: readonly Difference[] = [
	{ words: 'radio buttons are closed', refuses: ({ type }) => type === 'radio_buttons' },
	{ words: 'no more than 50 options', refuses: ({ options }) => sizeOf(options) > 50 },
	{ words: 'no decimals', refuses: ({ is_decimal_allowed: decimals }) => decimals === true },
	{
		words: 'no initial e-mail',
		refuses: ({ type, initial_value: value }) => type === 'email_text_input' && value !== undefined,
	},
	{
		words: 'no initial address',
		refuses: ({ type, initial_value: value }) => type === 'url_text_input' && value !== undefined,
	},
	{ words: 'no initial date', refuses: ({ initial_date: date }) => date !== undefined },
	{ words: 'no initial time', refuses: ({ initial_time: time }) => time !== undefined },
	{
		words: 'no initial option in a select',
		refuses: ({ type, initial_option: option }) => type === 'static_select' && option !== undefined,
	},
	{
		words: 'no more than 90 blocks in a modal',
		refuses: ({ type, blocks }) => type === 'modal' && sizeOf(blocks) > 90,
	},
	{ words: 'private_metadata below 500', refuses: ({ private_metadata: kept }) => lengthOf(kept) > 500 },
	{ words: 'no submit beside 60 inputs', refuses: ({ submit, blocks }) => submit !== undefined && sizeOf(blocks) > 60 },
	{ words: 'no history here', refuses: ({ callback_id: id }) => id === 'handraise.history' },
	{ words: 'no choice in actions', refuses: ({ callback_id: id }) => id === 'handraise.choose_item' },
	{
		words: 'no more than 20 blocks in a message',
		refuses: ({ type, blocks }) => type === undefined && sizeOf(blocks) > 20,
	},
	{ words: 'no hint', refuses: ({ hint }) => hint !== undefined },
	{ words: 'no image without a title', refuses: ({ type, title }) => type === 'image' && title === undefined },
	{ words: 'no text of 2,800', refuses: ({ type, text }) => type === 'mrkdwn' && lengthOf(text) >= 2_800 },
	{ words: 'no value of 400', refuses: ({ type, value }) => type === 'button' && lengthOf(value) >= 400 },
	{ words: 'four buttons at most', refuses: ({ type, elements }) => type === 'actions' && sizeOf(elements) > 4 },
	{ words: 'no send again', refuses: ({ action_id: id }) => id === 'answer.send_again' },
];

/** In the format of `blocks.validate`. */
function differencesIn(root: Json): { code: string; message: string; pointer: string }[] {
	const errors = [];
	for (const [pointer, part] of partsOf(root, '')) {
		for (const { words, refuses } of PLANTED) {
			if (refuses(part, root)) errors.push({ code: 'failed_constraint', message: words, pointer });
		}
	}
	return errors;
}

function* partsOf(value: unknown, pointer: string): Generator<[string, Json]> {
	if (typeof value !== 'object' || value === null) return;
	if (!Array.isArray(value)) yield [pointer, value as Json];
	for (const [name, child] of Object.entries(value)) yield* partsOf(child, `${pointer}/${name}`);
}
