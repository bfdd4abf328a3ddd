import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SessionJson } from '../fake-session-service/json.ts';
import { itemsOf } from '../fake-session-service/log.ts';
import type { Posted } from '../fake-slack/index.ts';
import { cutQuestionWords } from '../src/screens/form.ts';
import { openSession } from './slack/support/open-session.ts';
import { startApp } from './support/app.ts';
import { HOSTILE_TEXTS, says } from './support/hostile-texts.ts';
import { processorMs } from './support/processor-ms.ts';

/**
 * Watches the longest turn of this thread's event loop, in milliseconds of the processor: other work on the machine does not
 * count. Ends with `using`.
 */
function watchTurns() {
	let longest = 0;
	let before = processorMs();
	const timer = setInterval(() => {
		const now = processorMs();
		longest = Math.max(longest, now - before);
		before = now;
	}, 1);
	return {
		longest: () => longest,
		[Symbol.dispose]: () => clearInterval(timer),
	};
}

/**
 * Processor time of the program, the fake Slack and the fake service together, on a busy machine. It tells work that grows faster
 * than its text: 1.0.0 took up to 100 s. `npm run bench -- attack --only texts` measures the time.
 */
const MOST_MS = 1_000;

const isOf = (post: Posted, id: string) => JSON.stringify(post.blocks()).includes(id);

describe('a watched session whose texts are made to take long', () => {
	let app: Awaited<ReturnType<typeof startApp>>;
	let count = 0;
	beforeAll(async () => {
		app = await startApp({ env: { UNDO_SECONDS: '0' }, service: { startOnRead: false, resumeAfterMs: 600_000 } });
	});
	afterAll(() => app[Symbol.asyncDispose]());

	/**
	 * Watches a session, and waits for the post of its question; for its card, where the question counts as answered,
	 * because some of its items have values.
	 */
	async function watch(json: SessionJson) {
		const isAnswered = json.messages?.at(-1)?.human_input?.some(({ value }) => value) === true;
		const id = `session${++count}x`;
		// In turn: a channel gets one message a second.
		const channel = count % 2 === 0 ? '#agents' : '#secret';
		const before = new Set(app.slack.state.messages.map(({ ts }) => ts));
		app.service.sessions.put(id, json);
		const ada = app.slack.as('ada');
		expect((await ada.command(channel, `/session watch ${id}`)).ok).toBe(true);
		const post = await ada.waitForMessage(
			channel,
			// Of another session that was watched, a post may come late.
			(one) => !before.has(one.ts) && (isAnswered || one.notification().startsWith('An agent asks')) && isOf(one, id),
		);
		return { id, channel, post };
	}

	it.each(Object.entries(HOSTILE_TEXTS))('stops nothing else for long: %s', async (_, make) => {
		const json = make();
		using turns = watchTurns();
		const { id, channel, post } = await watch(json);
		await openSession(app, id);
		if (post.buttons().includes('Yes')) {
			await post.press('Yes');
			await app.slack.changes.until(
				() => app.service.log.savedPuts(id).length > 0,
				() => 'nothing was sent',
			);
		}
		await app.slack.as('ada').command(channel, `/session unwatch ${id}`);
		expect(turns.longest()).toBeLessThan(MOST_MS);
	});

	it.each([
		[40, HOSTILE_TEXTS['30 items of harmless words']?.()],
		[8_000, says('', [{ title: 'Go on?', description: '' }])],
	])('stops nothing else for long: %i questions that are asked and answered between two reads', async (count, json) => {
		const { id, channel } = await watch(says('Decide.'));
		const [, hostile] = json?.messages ?? [];
		const answered = (at: number) => ({
			...hostile,
			human_input: (hostile?.human_input ?? []).map((one) => ({ ...one, title: `${one.title} ${at}`, value: 'blue' })),
		});
		const { messages } = says('Decide.', [{ title: 'Which hall?' }]);
		using turns = watchTurns();
		app.service.sessions.patch(id, {
			messages: [...Array.from({ length: count }, (_, at) => answered(at)), ...(messages ?? [])],
		});
		await app.slack
			.as('ada')
			.waitForMessage(channel, (one) => one.notification().includes('Which hall?') && isOf(one, id));
		await app.slack.as('ada').command(channel, `/session unwatch ${id}`);
		expect(turns.longest()).toBeLessThan(MOST_MS);
	});

	it('stops nothing else for long: a question that has moved, and another that asks the same', async () => {
		const filled = (length: number) => 'ⅷⅷⅷ 1ё '.repeat(length / 7);
		const asking = (value: string) => {
			const items = Array.from({ length: 30 }, (_, at) => ({
				title: `Which ${at}?`,
				description: filled(3_250),
				value,
			}));
			return says(filled(15_000), items).messages?.at(-1) ?? {};
		};
		const { id, channel, post } = await watch({
			...says(''),
			messages: [{ role: 'user', content: 'Work.' }, asking('')],
		});
		using turns = watchTurns();
		app.service.sessions.patch(id, {
			messages: [{ role: 'user', content: 'Work.' }, { role: 'assistant', content: 'x' }, asking('blue'), asking('')],
		});
		const readBefore = app.service.log.reads(id).length;
		await vi.waitUntil(() => app.service.log.reads(id).length >= readBefore + 2, { timeout: 45_000 });
		// It counts as the same question, which has moved.
		expect(post.buttons()).toContain('Answer…');
		await app.slack.as('ada').command(channel, `/session unwatch ${id}`);
		expect(turns.longest()).toBeLessThan(MOST_MS);
	}, 120_000);

	it('tells nothing of a question that it has not read, shows how much is missing, and sends all of it back', async () => {
		const rest = `\n${'e\u0301'.repeat(5_000)}${'\u0301'.repeat(50)}\ud800`;
		const items = Array.from({ length: 4 }, (_, at) => ({
			title: `Question ${at}`,
			description: at === 0 ? `One of: red, blue${rest}` : `${at}${rest}`,
			value: at === 0 ? '' : `${at}`,
		}));
		const { id, post } = await watch(says('Decide.', items));
		expect(post.buttons()).not.toContain('red');
		const modal = await openSession(app, id);
		expect(modal.text()).toMatch(/\(\d,\d{3} more characters\)/);
		expect(modal.text()).toContain(cutQuestionWords(true));
		await modal.fill(0, 'green');
		await modal.submit();
		await app.slack.changes.until(
			() => app.service.log.savedPuts(id).length > 0,
			() => 'nothing was sent',
		);
		const [put] = app.service.log.savedPuts(id);
		expect(put === undefined ? [] : itemsOf(put)).toEqual([{ ...items[0], value: 'green' }, ...items.slice(1)]);
	});
});
