import { OUTSIDE } from '../../src/screens/question-post.ts';
import { describe, expect, line, openSession, type WatchingApp, withApp } from '../kit.ts';
import { asked, emptyNewest, FLIGHT, messagesOf, playedApp, postsOf, receipt, step } from './played-agent.ts';

const CHOICE = { ...FLIGHT, description: 'One of: LH 1173, TP 570' };
const it = withApp(() => playedApp('20m'));

const setStatus = (app: WatchingApp, id: string, status: string) => app.service.sessions.setStatus(id, status);

/** A watched session asks with options, and its post is there. */
const asks = (app: WatchingApp) => asked(app, 'humanInput', [CHOICE]);

/** Ada has pressed an option, and the service has it. */
async function delivered(app: WatchingApp) {
	const { id, post } = await asks(app);
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
	it('is not said to continue when somebody takes control in the dashboard and gives it back', async ({ app }) => {
		const { id, post } = await delivered(app);
		for (const status of ['paused', 'active', 'paused', 'active']) {
			setStatus(app, id, status);
			await app.pass(10_000);
		}
		await app.pass(150_000);
		expect(shown(post).join()).not.toContain('continued');
		expect(receipt(app, id)?.text() ?? '').not.toContain('continued');
		// And what was given is not called the end of it.
		expect(shown(post).join()).not.toContain('paused');
	});
});

describe('an agent that goes on', () => {
	it('is followed by the post of its question, also after a pause', async ({ app }) => {
		const { id, post } = await delivered(app);
		setStatus(app, id, 'paused');
		await app.pass(180_000);
		setStatus(app, id, 'active');
		step(app, id);
		await app.until(() => post.text().includes('continued'));
	});

	it('is followed by the post of its question within one read of the watch', async ({ app }) => {
		const { id, post } = await delivered(app);
		await app.pass(200_000);
		setStatus(app, id, 'active');
		step(app, id);
		const readCount = app.service.log.reads(id).length;
		await app.until(() => app.service.log.reads(id).length > readCount);
		await app.pass(2_000);
		expect(post.text()).toContain('continued');
	});
});

describe('a press that came too late', () => {
	it('does not open the post again when somebody else answered in the dashboard', async ({ app }) => {
		const { id, post } = await asks(app);
		app.service.sessions.answerAsPage(id, ['TP 570']);
		await post.press('LH 1173');
		await app.until(() => post.text().includes(OUTSIDE));
		await app.pass(20_000);
		expect(opensAfter(post, /^⏳/)).toBe(false);
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('shows the new text of a question that changed meanwhile, and not the old one again', async ({ app }) => {
		const { id, post } = await asks(app);
		const messages = messagesOf(app, id);
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

it('asks again what the dashboard erased, and tells the author', async ({ app }) => {
	const { id, post } = await delivered(app);
	setStatus(app, id, 'humanInput');
	emptyNewest(app, id);
	const again = await app.until(() =>
		postsOf(app, id).find(({ ts, buttons }) => ts !== post.ts && buttons().includes('LH 1173')),
	);
	expect(again.text()).toContain("Asked again. Not in the field any more: ada's answer, LH 1173");
	await app.until(() => receipt(app, id)?.text().includes('The agent asks again'));
});

describe('an agent that asks the next question', () => {
	const UNSEEN = line('delivered', { agentOutcome: 'unseen' }).slice(2).toLowerCase();

	/** It takes the answer as soon as that is saved, and asks something else. */
	function asksNext(app: WatchingApp, id: string): void {
		app.service.hooks.onSaved = () => {
			delete app.service.hooks.onSaved;
			setStatus(app, id, 'active');
			step(app, id);
			app.ask(id, ['Which hotel?']);
		};
	}

	it('has continued, also when that is read before the service has confirmed the answer', async ({ app }) => {
		const { id, post } = await asks(app);
		asksNext(app, id);
		const { promise: isRead, resolve: respond } = Promise.withResolvers<void>();
		app.service.hooks.onWorkedOut = ({ method }) => (method === 'PUT' ? isRead : undefined);
		await post.press('LH 1173');
		await app.threadSays(id, 'Which hotel?');
		respond();
		await app.until(() => post.text().includes('· continued'));
		await app.pass(150_000);
		expect(shown(post).join()).not.toContain(UNSEEN);
	});

	it('has continued, also when that is read before the outcome of a request is known', async ({ app }) => {
		const { id, post } = await asks(app);
		asksNext(app, id);
		app.service.faults.add({ kind: 'error', method: 'PUT', sessionId: id, saves: true, times: 1 });
		await post.press('LH 1173');
		await app.until(() => app.service.log.savedPuts(id).length === 1);
		// The read of a person shows the next question.
		await (await openSession(app, id, 'grace')).close(true);
		await app.until(() => post.text().includes('· continued'));
		expect(postsOf(app, id, 'Which hotel?').at(-1)?.text()).toMatch(/^✋/);
	});
});

it('says after two minutes that there is no sign of an agent, by the next read of the watch', async ({ app }) => {
	const { post } = await delivered(app);
	const at = app.clock.now();
	await app.until(() => post.text().includes('no sign of the agent yet'));
	expect(app.clock.now() - at).toBeGreaterThanOrEqual(118_000);
	expect(app.clock.now() - at).toBeLessThan(140_000);
});

describe('of two items, one that is erased', () => {
	const ITEMS = [FLIGHT, { title: 'How many bags?', description: 'One of: 1, 2', value: '' }];
	const LOST = line('delivered', { agentOutcome: 'lost' });

	/** Ada answers in a form what it asks. */
	async function answers(app: WatchingApp, id: string, ...texts: readonly string[]) {
		const form = await openSession(app, id);
		for (const [field, text] of texts.entries())
			await (text.length === 1 ? form.choose(field, text) : form.fill(field, text));
		await form.submit();
		await app.until(() => app.service.log.savedPuts(id).length === 1);
		await form.close();
		await app.pass(10_000);
	}

	/** The second item is empty again. The post that asks for it. */
	async function erased(app: WatchingApp, id: string) {
		const messages = messagesOf(app, id);
		Object.assign(messages.at(-1)?.human_input?.[1] ?? {}, { value: '' });
		app.service.sessions.patch(id, { messages });
		return app.until(() => app.thread(id).find((post) => post.text().includes('How many bags?')));
	}

	it('is not called the loss of the other, which stands', async ({ app }) => {
		const id = await app.watched();
		app.ask(id, ITEMS);
		const post = await app.threadSays(id, 'How many bags?');
		app.service.sessions.answerAsPage(id, ['', '2']);
		await app.until(() => post.text().includes(OUTSIDE));
		await answers(app, id, 'LH 1173');
		const again = await erased(app, id);
		expect(again.text()).not.toContain('Asked again');
		await app.pass(20_000);
		expect(receipt(app, id)?.text() ?? '').not.toContain(LOST);
	});

	it('is asked again with what was given there, and not with the other', async ({ app }) => {
		const id = await app.watched();
		app.ask(id, ITEMS);
		await app.threadSays(id, 'How many bags?');
		await answers(app, id, 'LH 1173', '2');
		const again = await erased(app, id);
		expect(again.text()).toContain("Asked again. Not in the field any more: ada's answer, 2");
		await app.until(() => receipt(app, id)?.text().includes(LOST));
		const form = await openSession(app, id, 'grace');
		expect(form.text()).toContain("Asked again. @ada's answer is not in the field any more.\n> 2");
	});
});
