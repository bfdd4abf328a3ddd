import { describe, done, expect, FEWEST_REQUESTS, type Json, type WatchingApp, watchingApp, withApp } from '../kit.ts';

const it = withApp(() => watchingApp({ realRates: true, env: FEWEST_REQUESTS }));

const RESULT = Array.from({ length: 9 }, (_, line) => `Chair ${line + 1}`).join('\n');

function end(app: WatchingApp, id: string, status = 'completed', result = 'Six chairs are ordered.'): void {
	app.service.sessions.push(id, done('', { done: { text: result } }));
	app.service.sessions.setStatus(id, status);
}
const ended = (app: WatchingApp, id: string, channel = '#agents') => app.until(() => app.ends(id, channel)[0]);
const isLed = (app: WatchingApp, id: string) => app.cardSays(id, /^✅ Order \d+ chairs · done · .*Go to result$/m);

describe('the end of a session', () => {
	it('is one message in each channel that watches it, to which the card leads', async ({ app }) => {
		const id = await app.watched();
		await app.watch(id, { channel: '#secret' });
		end(app, id, 'completed', RESULT);
		for (const channel of ['#agents', '#secret']) {
			const news = await ended(app, id, channel);
			expect(news.threadTs()).toBeNull();
			const lines = news.text().split('\n');
			expect(lines[0]).toMatch(/^✅ Order \d+ chairs is done$/);
			expect(lines.slice(1, -1)).toEqual(['[…]', ...Array.from({ length: 8 }, (_, at) => `> Chair ${at + 1}`), '> …']);
			expect(news.buttons()).toEqual(['Open session', 'Open in the dashboard', 'Show all']);
		}
		const card = await isLed(app, id);
		const at = (await ended(app, id)).ts.replace('.', '');
		expect(card.links()).toContainEqual(expect.stringMatching(new RegExp(`p${at}$`)));
		expect(card.text()).not.toContain('Chair 1');
		await (await ended(app, id)).press('Show all');
		await app.slack.as('ada').waitForModal('Chair 9');
		await app.pass(60_000);
		for (const channel of ['#agents', '#secret']) expect(app.ends(id, channel)).toHaveLength(1);
	});

	it('shows a table of the result as a table, at its end, and whether there is more', async ({ app }) => {
		const row = (line: number) => `| Chair ${line} | **${line}0 €** |`;
		const shows = async (rows: number) => {
			const id = await app.watched();
			const table = ['| Chair | Price |', '|---|--:|', ...Array.from({ length: rows }, (_, line) => row(line))];
			end(app, id, 'completed', `Prices:\n\n${table.join('\n')}\n\nAll are in stock.`);
			return ended(app, id);
		};
		const few = await shows(10);
		expect(few.buttons()).toEqual(['Open session', 'Open in the dashboard']);
		expect(few.text()).toContain(
			'is done\n[…]\n> Prices:\n> \n> (table below)\n> \n> All are in stock.\nChair | Price\nChair 0 | 00 €\n',
		);
		expect(few.blocks().map(({ type }) => type)).toEqual(['section', 'rich_text', 'table']);
		// More than the table of a message takes.
		const many = await shows(90);
		expect(many.buttons()).toEqual(['Open session', 'Open in the dashboard', 'Show all']);
		expect(many.blocks().map(({ type }) => type)).toEqual(['section', 'rich_text', 'actions']);
		expect(many.text()).toContain('| Chair 1 |');
		expect(many.text()).not.toContain('Chair 9');
		await many.press('Show all');
		await app.slack.as('ada').waitForModal('| Chair 5 |');
	});

	it('says that there is more of a result that is cut within its table', async ({ app }) => {
		const id = await app.watched();
		const row = `| ${'x'.repeat(45)} | ${'x'.repeat(45)} |`;
		end(app, id, 'completed', ['Prices:', '', '| A | B |', '|---|---|', ...Array(29).fill(row)].join('\n'));
		const news = await ended(app, id);
		expect(news.blocks().at(-1)?.type).toBe('table');
		expect(news.buttons()).toEqual(['Open session', 'Open in the dashboard', 'Show more']);
	});

	it('is told without a table where Slack refuses that', async ({ app }) => {
		const id = await app.watched();
		const when = ({ blocks }: Json) => JSON.stringify(blocks).includes('"type":"table"');
		app.slack.faults.add({ method: 'chat.postMessage', when, error: 'invalid_blocks' });
		end(app, id, 'completed', 'Prices:\n\n| Chair | Price |\n|---|--:|\n| Oak | 90 € |');
		const news = await ended(app, id);
		expect(news.text()).toContain('Oak');
		expect(news.blocks().map(({ type }) => type)).not.toContain('table');
		await isLed(app, id);
	});

	it('is told once after a restart, when Slack was away before, and the card waits for it', async ({ app }) => {
		const id = await app.watched();
		const lift = app.slack.faults.add({ method: 'chat.postMessage', status: 503 });
		end(app, id);
		await app.pass(30_000);
		expect(app.card(id)?.text()).not.toContain('done');
		await app.restart();
		lift();
		await ended(app, id);
		await isLed(app, id);
		await app.pass(60_000);
		expect(app.ends(id)).toHaveLength(1);
	});

	it('is shown by the card when Slack refuses its message', async ({ app }) => {
		const id = await app.watched();
		app.slack.faults.add({ method: 'chat.postMessage', error: 'restricted_action' });
		end(app, id);
		await app.cardSays(id, 'Six chairs are ordered.');
		expect(app.ends(id)).toEqual([]);
	});

	it('is told by an old card as the past when the session went on before Slack took the change', async ({ app }) => {
		const id = await app.watched();
		const lift = app.slack.faults.add({ method: 'chat.update', status: 503 });
		end(app, id);
		await ended(app, id);
		app.service.sessions.setStatus(id, 'active');
		await app.watch(id, { channel: '#secret' });
		lift();
		await app.cardSays(id, 'Handraise stopped watching when the session was over.');
	});

	it('has a notification and labels without the name where the channel watches discreetly', async ({ app }) => {
		const spoken = (blocks: unknown) => JSON.stringify(blocks).match(/(?<="accessibility_label":")[^"]*/g);
		const shown = await app.watched({ name: 'Order a ring' });
		end(app, shown, 'completed', RESULT);
		expect(spoken((await ended(app, shown)).blocks())).toEqual(['Show all: Order a ring']);
		const id = await app.watched({ name: 'Order a ring' }, { discreet: true });
		end(app, id, 'completed', RESULT);
		const news = await ended(app, id);
		expect(news.notification()).toBe('✅ A session is done');
		expect(spoken(news.blocks())).toEqual([`Show all: session ${id}`]);
	});
});

it('a question takes three calls of Slack until it stands, and an end three', async ({ app }) => {
	const id = await app.watched();
	await app.pass(10_000);
	const calls = (from: number) =>
		app.slack.traffic
			.all()
			.filter(({ seq, direction }) => seq > from && direction === 'call')
			.map(({ name }) => name)
			.toSorted();
	let from = app.now();
	app.ask(id);
	await app.cardSays(id, 'Go to question');
	await app.pass(30_000);
	expect(calls(from)).toEqual(['chat.getPermalink', 'chat.postMessage', 'chat.update']);
	app.service.sessions.answerAsPage(id, ['Sand']);
	await app.cardSays(id, 'working');
	await app.pass(30_000);
	from = app.now();
	end(app, id);
	await isLed(app, id);
	await app.pass(30_000);
	expect(calls(from)).toEqual(['chat.getPermalink', 'chat.postMessage', 'chat.update']);
});

it('has its table and its link when Slack takes the message and tells the link only later', async ({ app }) => {
	const id = await app.watched();
	await app.pass(2_000);
	app.slack.faults.add({ method: 'chat.postMessage', error: 'ratelimited', status: 429, retryAfter: 1, times: 1 });
	app.slack.faults.add({ method: 'chat.getPermalink', error: 'internal_error', times: 1 });
	end(app, id, 'completed', 'Prices:\n\n| Chair | Price |\n|---|--:|\n| Oak | 90 € |');
	const news = await ended(app, id);
	expect(news.blocks().map(({ type }) => type)).toContain('table');
	await app.cardSays(id, '· done');
	expect(app.card(id)?.text()).not.toContain('Go to result');
	await isLed(app, id);
});

it('asks Slack for no link that the card does not show, and again for one that failed only some minutes later', async ({
	app,
}) => {
	const links = () => app.calls('chat.getPermalink');
	const inThread = await app.watched({}, { questionsInThread: true });
	app.ask(inThread);
	await app.threadSays(inThread, 'Which colour?');
	app.step(inThread, 'I look for more.');
	await app.pass(30_000);
	expect(links()).toEqual([]);

	await app.command(`/session unwatch ${inThread}`);
	await app.setPosts({});
	const lift = app.slack.faults.add({ method: 'chat.getPermalink', error: 'internal_error' });
	const id = await app.watched();
	app.ask(id);
	await app.cardSays(id, ' asks');
	for (const step of ['One.', 'Two.', 'Three.']) {
		app.step(id, step);
		await app.pass(20_000);
	}
	expect(links()).toHaveLength(1);
	lift();
	await app.pass(3 * 60_000);
	await app.cardSays(id, 'Go to question');
	expect(links()).toHaveLength(2);
});
