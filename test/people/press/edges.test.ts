import { OUTSIDE } from '../../../src/screens/question-post.ts';
import {
	ASKS,
	answeredBy,
	asking,
	describe,
	expect,
	headline,
	item,
	openButtons,
	openSession,
	type Posted,
	type WatchingApp,
	watchingApp,
	withApp,
} from '../../kit.ts';
import { asked, dmOf, FLIGHT, UNDO_MS, value } from './harness.ts';

const it = withApp(() => watchingApp({ realRates: true }));

/** The agent asks something else in the place of its question, which somebody's window finds. Resolves to the new post. */
async function replaced(app: WatchingApp, id: string): Promise<Posted> {
	const train = asking('', [item('Which train should I book?', 'One of: ICE 5, TGV 9')]);
	app.service.sessions.patch(id, { messages: [...(app.service.sessions.get(id).messages ?? []).slice(0, -1), train] });
	await (await openSession(app, id, 'grace')).close(true);
	return app.threadSays(id, 'Which train');
}

describe('what happens to a question while a choice can be taken back', () => {
	it('says who answered when somebody in the dashboard is faster', async ({ app }) => {
		const { id, index, post } = await asked(app);
		await app.choose(post, 'LH 1173');
		app.service.sessions.answerAsPage(id, ['TP 570']);
		await app.threadSays(id, OUTSIDE);
		await app.until(() => dmOf(app, 'ada').some((dm) => dm.text().includes(headline('conflicted'))));
		await app.pass(10_000);
		expect(value(app, id, index)).toBe('TP 570');
		expect(app.service.log.puts(id)).toHaveLength(0);
		expect(post.text()).not.toMatch(/\bada\b/);
		expect(post.text()).toContain(OUTSIDE);
	});

	it('says nothing to a second press of the same option, and to another, and in the history, what was chosen', async ({
		app,
	}) => {
		const { id, index, post } = await asked(app);
		// As for a quick double click.
		app.freezePosts();
		const before = app.onlyFor('ada', '#agents').length;
		const logged = app.log.length;
		const handled = () => app.log.slice(logged).filter((line) => /"what":"[^"]*choose/.test(line)).length;
		await post.press('LH 1173');
		await post.press('LH 1173');
		await app.until(() => handled() === 2);
		expect(app.onlyFor('ada', '#agents')).toHaveLength(before);
		const told = await app.toldAfter(() => post.press('TP 570'));
		expect(told.text()).toContain('You have already answered LH 1173.');
		await app.until(() => value(app, id, index) === 'LH 1173');
		expect(app.service.log.effectivePuts(id)).toHaveLength(1);
		const ada = app.slack.as('ada');
		await ada.command('#agents', `/session history ${id}`);
		const history = await ada.waitForModal((modal) => modal.text().includes('newest first'));
		expect(history.text()).not.toContain('somebody else');
		expect(history.text()).toContain('another answer of the same person counts');
	});

	it('keeps an answer as a draft that lost to one for an older question', async ({ app }) => {
		const { id, index, post } = await asked(app);
		await app.choose(post, 'LH 1173');
		const next = await replaced(app, id);
		const told = await app.toldAfter(() => app.seenBy('grace', next).press('ICE 5'), 'grace');
		expect(told.text()).toMatch(/before you/);
		await app.until(() => dmOf(app, 'ada').some((dm) => dm.text().includes(headline('changed'))));
		const offer = await app.until(() =>
			dmOf(app, 'grace').findLast((dm) => dm.buttons().includes('Open the question')),
		);
		expect(offer.text()).toContain(headline('conflicted', { lastError: 'first_failed' }));
		expect(offer.text()).toContain('ICE 5');
		await offer.press('Open the question');
		const again = await app.slack.as('grace').waitForModal((modal) => modal.submitText() !== null);
		await again.submit();
		await app.until(() => value(app, id, index) === 'ICE 5');
	});

	it.for([
		['the agent', { ...item('And pay the 5,000 dollars from:'), value: 'savings' }, 'savings'],
		['an agent that hides a secret', { ...item('Password of the bank'), value: 'swordfish' }, '(hidden)'],
	] as const)(
		'asks by the form, which shows the whole question, when %s filled an item',
		async ([, filled, shown], { app }) => {
			const { id, index, post } = await asked(app, [filled, FLIGHT]);
			expect(post.buttons()).toEqual(['Answer…', ...app.MENU]);
			const form = await openSession(app, id);
			expect(form.text()).toContain(filled.title);
			expect(form.text()).toContain(shown);
			expect(form.text()).not.toContain('swordfish');
			await form.choose(0, 'TP 570');
			await form.submit();
			await app.until(() => app.service.sessions.values(id, index)[1] === 'TP 570');
			expect(app.service.sessions.values(id, index)).toEqual([filled.value, 'TP 570']);
		},
	);

	it('sends the choice after the channel stopped watching, and can take one back', async ({ app }) => {
		const { id, index, post } = await asked(app);
		await app.choose(post, 'LH 1173');
		await app.command(`/session unwatch ${id}`);
		await app.until(() => value(app, id, index) === 'LH 1173');
		await app.until(() => post.text().includes('✅'));

		const second = await asked(app);
		await app.choose(second.post, 'LH 1173');
		await app.command(`/session unwatch ${second.id}`);
		await app.command(`/session watch ${second.id}`);
		await second.post.press('Undo');
		const again = await app.until(() => app.thread(second.id).findLast((one) => one.buttons().includes('LH 1173')));
		await app.pass(UNDO_MS + 5_000);
		expect(app.service.log.puts(second.id)).toHaveLength(0);
		await again.press('TP 570');
		await app.until(() => value(app, second.id, second.index) === 'TP 570');
	});
});

describe('what people are told about a choice', () => {
	it.for(['chat.update', 'response_url'])(
		'shows what is so when Slack applied %s without saying so',
		async (method, { app }) => {
			const { id, post } = await asked(app);
			if (method === 'chat.update') app.slack.settings.replaceOriginal = 'refused';
			app.slack.faults.add({ method, drop: true, afterEffect: true, times: 1 });
			await app.choose(post, 'LH 1173');
			await post.press('Undo');
			await app.until(() => post.buttons().includes('LH 1173'), undefined, 60_000);
			await app.pass(UNDO_MS + 5_000);
			expect(post.buttons()).toContain('LH 1173');
			expect(app.service.log.puts(id)).toHaveLength(0);
		},
	);

	it('offers their form again to whoever took their own choice back', async ({ app }) => {
		const { id, index, post } = await asked(app);
		const form = await openSession(app, id, 'ada');
		await form.choose(0, 'TP 570');
		await app.choose(post, 'LH 1173');
		await form.submit();
		expect(form.text()).toContain('🔀 Not sent: another answer of the same person counts');
		await form.close();
		await post.press('Undo');
		const offer = await app.until(() => dmOf(app, 'ada').findLast((dm) => dm.buttons().includes('Open the question')));
		expect(offer.text()).toContain('You had answered before. That answer was not delivered. Your text is a draft now');
		await offer.press('Open the question');
		const again = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
		await again.submit();
		await app.until(() => value(app, id, index) === 'TP 570');
	});

	it('shows marks of an option as they are, and offers no options that have lost one', async ({ app }) => {
		const { id, index, post } = await asked(app, [item('Which tag?', 'One of: A*B & <b, x_y ~z~, @here 👍')]);
		expect(post.buttons()).toEqual(['A*B & <b', 'x_y ~z~', '@here 👍', 'Other answer…', ...app.MENU]);
		await app.choose(post, '@here 👍');
		expect(post.text()).toContain('\nada: @here 👍\n[Undo]');
		await post.press('Undo');
		await app.until(() => post.buttons().includes('x_y ~z~'));
		await app.choose(post, 'x_y ~z~');
		expect(post.text()).toContain('x_y ~z~');
		await app.until(() => value(app, id, index) === 'x_y ~z~');
		const other = await asked(app, [item('Which search?', 'One of: *A* search, breadth first')]);
		expect(other.post.buttons()).toEqual(['Answer…', ...app.MENU]);
	});

	it('counts the time to the delivery from the end of the time for Undo', async ({ app }) => {
		const { id, index, post } = await asked(app);
		const sum = async () => {
			const text = await fetch(`${app.app.url}/metrics`).then((response) => response.text());
			return Number(/^handraise_delivery_seconds_sum (\S+)$/m.exec(text)?.[1]);
		};
		const before = await sum();
		await app.choose(post, 'LH 1173');
		await app.until(() => value(app, id, index) === 'LH 1173');
		await app.answered(id);
		expect((await sum()) - before).toBeLessThan(5);
	});

	it('leaves the options out where the channel wants no buttons, and offers them on posts that stand when it does', async ({
		app,
	}) => {
		const { post } = await asked(app, [FLIGHT], { buttons: false });
		expect(post.buttons()).toEqual(['Answer…', ...app.MENU]);
		await app.setPosts({});
		await app.until(() => post.buttons().includes('LH 1173'));
		await app.setPosts({ buttons: false });
		await app.until(() => post.buttons().join() === ['Answer…', ...app.MENU].join());
	});

	it('tells neither question nor choice in a discreet channel', async ({ app }) => {
		const { id, index, post } = await asked(app, [FLIGHT], { discreet: true });
		expect(post.notification()).toBe(ASKS);
		await app.choose(post, 'LH 1173');
		expect(post.text()).toContain('\nada answered\n[Undo]');
		await app.until(() => value(app, id, index) === 'LH 1173');
		await app.answered(id);
		expect(post.text()).toMatch(answeredBy('ada'));
		expect(post.text().split('One of:')[0]).not.toContain('LH 1173');
		await app.setPosts({});
		app.ask(id, [item('Which seat?', 'One of: aisle, window')], '');
		const next = await app.threadSays(id, 'Which seat?');
		expect(next.notification()).toContain('An agent asks: Which seat? One of: aisle, window');
	});

	it('offers no options for a question that looks secret, and does not tell it in the notification', async ({
		app,
	}) => {
		const { post } = await asked(app, [item('Which password should I use?', 'One of: hunter1, hunter2')]);
		expect(post.buttons()).toEqual(['Answer…', ...app.MENU]);
		expect(post.notification()).toBe(ASKS);
	});

	it('counts a press that Slack delivers twice as one', async ({ app }) => {
		const { id, index, post } = await asked(app);
		app.slack.faults.duplicateNext('block_actions');
		await app.choose(post, 'TP 570');
		await app.until(() => value(app, id, index) === 'TP 570');
		expect(app.service.log.effectivePuts(id)).toHaveLength(1);
	});

	it('is right in the end on the post when Slack makes the replacement only after the delivery', async ({ app }) => {
		const { post } = await asked(app);
		app.slack.faults.add({ method: 'response_url', drop: true, times: 1, when: (body) => 'replace_original' in body });
		await app.choose(post, 'LH 1173');
		await app.until(() => post.text().includes('· continued'));
		const traffic = app.slack.traffic.all();
		const press = traffic.findLast(({ direction, name }) => direction === 'delivery' && name === 'block_actions');
		const lost = traffic.findLast(({ direction }) => direction === 'response_url');
		const { response_url: url = '' } = (press?.request ?? {}) as { response_url?: string };
		const headers = { 'content-type': 'application/json' };
		await fetch(url, { method: 'POST', headers, body: JSON.stringify(lost?.request) });
		expect(post.buttons()).toEqual(['Undo']);
		await app.until(() => openButtons(post)?.length === 0);
		expect(post.text()).toMatch(/^ada: LH 1173 · continued$/m);
	});
});
