import type { SessionJson } from '../fake-session-service/json.ts';
import { itemsOf } from '../fake-session-service/log.ts';
import { cutQuestionWords } from '../src/screens/form.ts';
import { type App, describe, expect, openSession, type Posted, startApp, vi, withApp } from './kit.ts';
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
	return { longest: () => longest, [Symbol.dispose]: () => clearInterval(timer) };
}

/**
 * Processor time of the program, the fake Slack and the fake service together, on a busy machine. It tells work that grows faster
 * than its text: 1.0.0 took up to 100 s. `npm run bench -- attack --only texts` measures the time.
 */
const MOST_MS = 1_000;

const isOf = (post: Posted, id: string) => JSON.stringify(post.blocks()).includes(id);

describe('a watched session whose texts are made to take long', () => {
	const it = withApp(() =>
		startApp({ env: { UNDO_SECONDS: '0' }, service: { startOnRead: false, resumeAfterMs: 600_000 } }),
	);

	/**
	 * Watches a session, and waits for the post of its question; for its card, where the question counts as answered,
	 * because some of its items have values.
	 */
	async function watch(app: App, json: SessionJson) {
		const isAnswered = json.messages?.at(-1)?.human_input?.some(({ value }) => value) === true;
		const id = 'session1x';
		app.service.sessions.put(id, json);
		const ada = app.slack.as('ada');
		expect((await ada.command('#agents', `/session watch ${id}`)).ok).toBe(true);
		const post = await ada.waitForMessage(
			'#agents',
			(one) => (isAnswered || one.notification().startsWith('An agent asks')) && isOf(one, id),
		);
		return { id, post };
	}

	it.for(Object.entries(HOSTILE_TEXTS))('stops nothing else for long: %s', async ([, make], { app }) => {
		const json = make();
		using turns = watchTurns();
		const { id, post } = await watch(app, json);
		await openSession(app, id);
		if (post.buttons().includes('Yes')) {
			await post.press('Yes');
			await app.slack.changes.until(
				() => app.service.log.savedPuts(id).length > 0,
				() => 'nothing was sent',
			);
		}
		await app.slack.as('ada').command('#agents', `/session unwatch ${id}`);
		expect(turns.longest()).toBeLessThan(MOST_MS);
	});

	it.for([
		[40, HOSTILE_TEXTS['30 items of harmless words']?.()],
		[8_000, says('', [{ title: 'Go on?', description: '' }])],
	] as const)(
		'stops nothing else for long: %i questions that are asked and answered between two reads',
		async ([count, json], { app }) => {
			const { id } = await watch(app, says('Decide.'));
			const [, hostile] = json?.messages ?? [];
			const answered = (at: number) => ({
				...hostile,
				human_input: (hostile?.human_input ?? []).map((one) => ({
					...one,
					title: `${one.title} ${at}`,
					value: 'blue',
				})),
			});
			const { messages } = says('Decide.', [{ title: 'Which hall?' }]);
			using turns = watchTurns();
			app.service.sessions.patch(id, {
				messages: [...Array.from({ length: count }, (_, at) => answered(at)), ...(messages ?? [])],
			});
			await app.slack
				.as('ada')
				.waitForMessage('#agents', (one) => one.notification().includes('Which hall?') && isOf(one, id));
			await app.slack.as('ada').command('#agents', `/session unwatch ${id}`);
			expect(turns.longest()).toBeLessThan(MOST_MS);
		},
	);

	it('stops nothing else for long: a question that has moved, and another that asks the same', async ({ app }) => {
		const filled = (length: number) => 'ⅷⅷⅷ 1ё '.repeat(length / 7);
		const asking = (value: string) => {
			const items = Array.from({ length: 30 }, (_, at) => ({
				title: `Which ${at}?`,
				description: filled(3_250),
				value,
			}));
			return says(filled(15_000), items).messages?.at(-1) ?? {};
		};
		const { id, post } = await watch(app, {
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
		await app.slack.as('ada').command('#agents', `/session unwatch ${id}`);
		expect(turns.longest()).toBeLessThan(MOST_MS);
	}, 120_000);

	it('tells nothing of a question that it has not read, shows how much is missing, and sends all of it back', async ({
		app,
	}) => {
		const rest = `\n${'e\u0301'.repeat(5_000)}${'\u0301'.repeat(50)}\ud800`;
		const items = Array.from({ length: 4 }, (_, at) => ({
			title: `Question ${at}`,
			description: at === 0 ? `One of: red, blue${rest}` : `${at}${rest}`,
			value: at === 0 ? '' : `${at}`,
		}));
		const { id, post } = await watch(app, says('Decide.', items));
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
