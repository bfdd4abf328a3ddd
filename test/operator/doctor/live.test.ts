import { describe, expect, it } from 'vitest';
import { ROOT } from '../../../src/operator/doctor/live-blocks.ts';
import { createHarness, type Harness } from './harness.ts';
import { command, fill, introduce, mention, obedient, openHome, operate, PLANTED, press, verdicts } from './live.ts';

/** Types the command, takes this step, and answers. */
const typed = async (harness: Harness, step: (harness: Harness) => Promise<unknown>) => {
	await command(harness);
	await step(harness);
	await answer(harness);
};
const answer = (harness: Harness) => press(harness, 'Press this').then(() => fill(harness));

describe.each(['socket', 'http'] as const)('doctor live over %s', (transport) => {
	it('finds Slack as assumed and leaves nothing behind', async () => {
		await using harness = await createHarness();
		const { slack } = harness;
		// As in the sandbox, which cannot reach other hosts.
		slack.settings.undownloadable = () => true;
		const { exit, lines } = await operate(harness, { transport });
		const { asAssumed, different, notTried } = verdicts(lines);
		expect(different, lines.join('\n')).toEqual([]);
		expect(asAssumed).toHaveLength(33);
		expect(notTried).toEqual([
			'- The event message carries user, channel, ts, text, channel_type: not tried (optional, and nobody wrote a direct message).',
			'- The event member_joined_channel carries user, channel: not tried (optional, and nobody joined the channel).',
			'- The event member_left_channel carries user, channel: not tried (optional, and nobody left the channel).',
			'- The event user_change carries user.id: not tried (optional, and nobody changed their status).',
			'- A limited call says when to try again: not tried (no call was limited, and none is provoked).',
		]);
		expect(lines.filter((line) => line.endsWith(': seen')).sort()).toEqual(
			['Home tab', 'Send', 'command', 'press', 'reply', 'word'].map((step) => `  ${step}: seen`),
		);
		expect(exit).toBe(0);
		// The tombstone stays as long as the operator's reply.
		expect(slack.state.messages.map(({ subtype, user }) => subtype ?? user)).toEqual(['tombstone', 'U0ADA']);
		expect(slack.as('ada').home()?.text()).toContain('This tab fills when you open it while Handraise runs.');
		expect(slack.sockets.count()).toBe(0);
	});
});

it('tries rich text everywhere with all that the screens show, and as much as a message takes', async () => {
	await using harness = await createHarness();
	await operate(harness);
	const sent = (method: string) => harness.slack.traffic.calls(method).map(({ request }) => JSON.stringify(request));
	const shown = [
		['rich_text_quote', 'rich_text_preformatted', '"border":1', '"type":"link"', '"type":"date"', '"user_id":"U0BOT"'],
		['long '.repeat(600)],
	];
	for (const method of ['chat.update', 'views.update', 'views.publish']) {
		for (const parts of shown) {
			const isAll = (request: string) => parts.every((part) => request.replaceAll('\\', '').includes(part));
			expect([method, sent(method).filter(isAll)]).toEqual([method, [expect.anything()]]);
		}
	}
	const sizes = harness.slack.traffic
		.calls('chat.postMessage')
		.map(({ request }) => request.blocks)
		.map((blocks) => (typeof blocks === 'string' ? blocks : JSON.stringify(blocks)).length);
	expect(sizes.filter((size) => size > 3_000)).toEqual([11_999, 11_999]);
	expect(harness.slack.state.messages.flatMap(({ rung = [] }) => rung)).toEqual([]);
});

describe('doctor live names', () => {
	it.each(Object.entries(PLANTED))('%s', async (_, { plant, by = obedient, env, shows }) => {
		await using harness = await createHarness();
		await plant?.(harness);
		const { exit, lines } = await operate(harness, { by, env: (await env?.(harness)) ?? {} });
		expect(verdicts(lines).different, lines.join('\n')).toEqual(shows.map((line) => expect.stringMatching(line)));
		expect(exit).toBe(1);
	});
});

describe('doctor live', () => {
	it('does not read messages back without the optional scopes', async () => {
		await using harness = await createHarness();
		harness.slack.settings.scopes = harness.slack.settings.scopes.filter((scope) => scope !== 'channels:history');
		const { exit, lines } = await operate(harness);
		const why = 'not tried (the optional scope channels:history is not granted).';
		expect(verdicts(lines).notTried.slice(0, 2)).toEqual([
			`- chat.update keeps the thread and the metadata: ${why}`,
			`- replace_original keeps the blocks, the thread and the metadata: ${why}`,
		]);
		expect(exit).toBe(0);
	});

	it('tries the optional steps too', async () => {
		await using harness = await createHarness();
		const by = async () => {
			const ada = harness.slack.as('ada');
			await ada.say('dm', 'hello');
			await ada.leave('#agents');
			await ada.join('#agents');
			await obedient(harness);
		};
		const { exit, lines } = await operate(harness, { by });
		expect(verdicts(lines).different, lines.join('\n')).toEqual([]);
		expect(verdicts(lines).asAssumed).toHaveLength(36);
		expect(exit).toBe(0);
	});

	it.each<[string, (harness: Harness) => Promise<unknown>, RegExp]>([
		['the Home tab is not opened', (harness) => typed(harness, mention), / 6 of 38 .* opening of/],
		['nobody replies', (harness) => typed(harness, openHome), / 7 of 38 .* mention in the thread/],
		[
			'nobody types the command',
			(harness) => openHome(harness).then(() => mention(harness).then(() => answer(harness))),
			/ 6 of 38 .* nobody typed \/session, or the manifest in Slack names another command/,
		],
	])('says which step is missing when %s, and does not call that different', async (_what, by, words) => {
		await using harness = await createHarness();
		const { exit, lines } = await operate(harness, { by });
		expect(verdicts(lines).different).toEqual([expect.stringMatching(words)]);
		expect(exit).toBe(1);
	});

	it('says at once that the window was sent without a word', async () => {
		await using harness = await createHarness();
		const by = async () => {
			await introduce(harness);
			await press(harness, 'Press this');
			await (await harness.slack.as('ada').waitForModal('Type blue')).submit();
			await harness.slack.as('ada').waitForMessage('#agents', (post) => post.text().includes('Replaced.'));
		};
		const { exit, lines } = await operate(harness, { by });
		expect(lines).toContainEqual(expect.stringMatching(/keeps what was typed: not tried \(nothing was typed before/));
		expect(verdicts(lines).different).toEqual([expect.stringMatching(/nothing was typed .* Run it again\.$/)]);
		expect(exit).toBe(1);
	});

	it('fails when nobody helps, and says what was not tried', async () => {
		await using harness = await createHarness();
		const { exit, lines } = await operate(harness, { by: async () => {} });
		expect(verdicts(lines).notTried[0]).toBe(
			'- A button works on a reply that is shown in the channel: not tried (nobody pressed within 5 minutes).',
		);
		expect(verdicts(lines).different).toEqual([
			'✗ Live check: 27 of 38 were not tried: nobody pressed within 5 minutes. Run it again.',
		]);
		expect(lines).toContainEqual(expect.stringMatching(/^✓ Clean-up: /));
		expect(harness.slack.state.messages).toEqual([]);
		expect(exit).toBe(1);
	});

	it('says at once that requests are refused, because the signing secret is another', async () => {
		await using harness = await createHarness();
		const env = { SLACK_SIGNING_SECRET: 'f'.repeat(32) };
		const by = async () => {
			await press(harness, 'Press this').catch(() => {});
			// The clock stands still.
			await new Promise(() => {});
		};
		const { exit, lines } = await operate(harness, { transport: 'http', env, by });
		expect(lines).toContainEqual(expect.stringMatching(/: not tried \(a request was refused: wrong_signature\)\.$/));
		expect(verdicts(lines).different).toEqual([
			expect.stringMatching(/refused: wrong_signature\. Correct SLACK_SIGNING_SECRET .*, and run it again\.$/),
		]);
		expect(exit).toBe(1);
	});

	it('deletes what it made when it is interrupted', async () => {
		await using harness = await createHarness();
		const interrupting = new AbortController();
		const by = async () => {
			await introduce(harness);
			await press(harness, 'Press this');
			await harness.slack.as('ada').waitForModal('Type blue');
			interrupting.abort();
		};
		const { exit, lines } = await operate(harness, { by, signal: interrupting.signal });
		expect(lines).toContain('- An update of a window keeps what was typed: not tried (interrupted).');
		expect(verdicts(lines).different).toEqual([
			expect.stringMatching(/ were not tried: interrupted\. Run it again\.$/),
		]);
		expect(lines).toContainEqual(expect.stringMatching(/^✓ Clean-up: /));
		expect(harness.slack.as('ada').modal()?.text()).toContain('Close this window.');
		expect(harness.slack.state.messages.map(({ user }) => user)).toEqual(['USLACKBOT', 'U0ADA']);
		expect(exit).toBe(1);
	});

	it('names a post to which Slack did not answer', async () => {
		await using harness = await createHarness();
		const isReply = (args: Readonly<Record<string, unknown>>) => args.reply_broadcast !== undefined;
		harness.slack.faults.add({ method: 'chat.postMessage', when: isReply, drop: true, afterEffect: true });
		const { exit, lines } = await operate(harness);
		expect(lines[0]).toMatch(/^- A reply can be shown .*: not tried \(127\.0\.0\.1:\d+: the connection was cut/);
		expect(lines).toContainEqual(expect.stringMatching(/^✗ Clean-up: .* \(no answer, if it is there\)\.$/));
		expect(harness.slack.state.messages.map(({ text }) => text)).not.toContain(ROOT.text);
		expect(exit).toBe(1);
	});

	it.each([
		['#general', 'not_in_channel'],
		['nowhere', 'channel_not_found'],
	])('says that the app cannot post into %s', async (channel, code) => {
		await using harness = await createHarness();
		const { exit, lines } = await operate(harness, { channel });
		expect(lines).toEqual([
			`✗ Live check: the app cannot post into ${channel} (${code}): invite it there, or correct the name.`,
			'1 problem to fix.',
		]);
		expect(exit).toBe(1);
	});

	it('says that the port is taken', async () => {
		await using harness = await createHarness();
		const port = new URL(harness.slack.origin).port;
		const { exit, lines } = await operate(harness, { env: { PORT: port } });
		expect(lines).toEqual([
			`✗ Live check: stop Handraise first, it would get a part of what Slack sends. The port ${port} cannot be used (EADDRINUSE).`,
			'1 problem to fix.',
		]);
		expect(exit).toBe(1);
		expect(harness.slack.traffic.calls('chat.postMessage')).toEqual([]);
	});

	it('says what settings are missing, one line each', async () => {
		await using harness = await createHarness();
		const { exit, lines } = await operate(harness, { env: { SLACK_BOT_TOKEN: '', SESSION_SERVICE_URL: '' } });
		expect(lines).toEqual([
			expect.stringMatching(/^✗ Settings: SLACK_BOT_TOKEN is missing: /),
			expect.stringMatching(/^✗ Settings: SESSION_SERVICE_URL is missing: /),
			'2 problems to fix.',
		]);
		expect(exit).toBe(1);
	});

	it.each([
		[{ SLACK_BOT_TOKEN: 'xoxb-of-somebody-else' }, /^✗ Bot token: Slack does not know this token \(invalid_auth\)/],
		[{ SLACK_APP_TOKEN: 'xapp-of-somebody-else' }, /^✗ Live check: Slack refuses SLACK_APP_TOKEN \(invalid_auth\)/],
	])('says what is wrong with the tokens in %o', async (env, words) => {
		await using harness = await createHarness();
		const { exit, lines } = await operate(harness, { env });
		expect(lines).toEqual([expect.stringMatching(words), '1 problem to fix.']);
		expect(exit).toBe(1);
	});
});
