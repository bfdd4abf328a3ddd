import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OUTSIDE } from '../../../src/features/watch/post-view.ts';
import type { WatchingApp } from './harness.ts';
import { emptyNewest, FLIGHT, flightsOf, leavePlayed, playedApp } from './played-agent.ts';

const CHOICE = { ...FLIGHT, description: 'One of: LH 1173, TP 570' };
let app: WatchingApp;
beforeAll(async () => {
	app = await playedApp('20m');
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(() => leavePlayed(app));

const { messagesOf, postsOf, receipt, step } = flightsOf(() => app);
const setStatus = (id: string, status: string) => app.service.sessions.setStatus(id, status);

/** A watched session asks with options, and its post is there. */
async function asks(items = [CHOICE]) {
	const id = await app.watched();
	app.ask(id, items);
	return { id, post: await app.threadSays(id, FLIGHT.title) };
}

/** Ada has pressed an option, and the service has it. */
async function delivered(items = [CHOICE]) {
	const { id, post } = await asks(items);
	await post.press('LH 1173');
	await app.until(() => app.service.log.savedPuts(id).length === 1);
	return { id, post };
}

/** All that the post has shown. */
const shown = (post: { text(): string; editHistory(): readonly string[] }) => [...post.editHistory(), post.text()];
/** Whether it asked again after it had shown these words. */
const opensAfter = (post: Parameters<typeof shown>[0], words: RegExp) => {
	const texts = shown(post);
	return texts.slice(texts.findIndex((text) => words.test(text))).some((text) => text.startsWith('✋'));
};

describe('an agent that is dead', () => {
	it('is not said to continue when somebody takes control in the dashboard and gives it back', async () => {
		const { id, post } = await delivered();
		for (const status of ['paused', 'active', 'paused', 'active']) {
			setStatus(id, status);
			await app.pass(10_000);
		}
		await app.pass(150_000);
		expect(shown(post).join()).not.toContain('continued');
		expect(receipt(id)?.text() ?? '').not.toContain('continued');
		// And what was given is not called the end of it.
		expect(shown(post).join()).not.toContain('paused');
	});
});

describe('an agent that goes on', () => {
	it('is followed by the post of its question, also after a pause', async () => {
		const { id, post } = await delivered();
		setStatus(id, 'paused');
		await app.pass(180_000);
		setStatus(id, 'active');
		step(id);
		await app.until(() => post.text().includes('continued'));
	});

	it('is followed by the post of its question within one read of the watch', async () => {
		const { id, post } = await delivered();
		await app.pass(200_000);
		setStatus(id, 'active');
		step(id);
		const readCount = app.service.log.reads(id).length;
		await app.until(() => app.service.log.reads(id).length > readCount);
		await app.pass(2_000);
		expect(post.text()).toContain('continued');
	});
});

describe('a press that came too late', () => {
	it('does not open the post again when somebody else answered in the dashboard', async () => {
		const { id, post } = await asks();
		app.service.sessions.answerAsPage(id, ['TP 570']);
		await post.press('LH 1173');
		await app.until(() => post.text().includes(OUTSIDE));
		await app.pass(20_000);
		expect(opensAfter(post, /^⏳/)).toBe(false);
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('shows the new text of a question that changed meanwhile, and not the old one again', async () => {
		const { id, post } = await asks();
		const messages = messagesOf(id);
		Object.assign(messages.at(-1) ?? {}, { content: 'Only two seats are left.' });
		app.service.sessions.patch(id, { messages });
		await post.press('LH 1173');
		await app.until(() => post.text().includes('Only two seats are left.'));
		const texts = shown(post);
		const pressed = texts.findIndex((text) => text.startsWith('⏳'));
		const opened = texts.slice(pressed).filter((text) => text.startsWith('✋'));
		expect(opened.every((text) => text.includes('Only two seats are left.'))).toBe(true);
		expect(app.service.log.puts(id)).toEqual([]);
	});
});

it('asks again what the dashboard erased, and tells the author', async () => {
	const { id, post } = await delivered();
	setStatus(id, 'humanInput');
	emptyNewest(app, id);
	const again = await app.until(() =>
		postsOf(id).find(({ ts, buttons }) => ts !== post.ts && buttons().includes('LH 1173')),
	);
	expect(again.text()).toContain('not in the field any more');
	await app.until(() => receipt(id)?.text().includes('asked again'));
});
