import { expect, item, type WatchingApp, watchingApp, withApp } from '../kit.ts';

const it = withApp(watchingApp);

const unclear = (app: WatchingApp) =>
	app.log.flatMap((line) => (line.includes('asking_unclear') ? [JSON.parse(line)] : []));

it('logs once for a question why its options are not offered, and nothing of the question', async ({ app }) => {
	const id = await app.watched();
	app.ask(id, [item('Plan', 'Options: Sunflower, Marigold or Poppy'), item('Nights (number)')], '');
	await app.threadSays(id, 'Plan');
	await app.until(() => unclear(app).length > 0);
	// More reads find the same question.
	const reads = app.service.log.reads(id).length;
	await app.until(() => app.service.log.reads(id).length > reads + 2);
	const [line, another] = unclear(app);
	expect(another).toBeUndefined();
	expect(line).toMatchObject({ sessionId: id, item: 1, why: 'no options: the last entry has an "or"' });
	expect(JSON.stringify(line)).not.toContain('Sunflower');
});

it('logs what is almost a mark or a list, and nothing of the question', async ({ app }) => {
	const id = await app.watched();
	app.ask(id, [item('Which month (date)?'), item('Colour', 'Options = Crimson | Indigo')], '');
	await app.threadSays(id, 'Which month');
	await app.until(() => unclear(app).length > 1);
	const lines = unclear(app);
	expect(lines.map(({ item: position, why }) => [position, why])).toEqual([
		[1, expect.stringContaining('a mark counts only')],
		[2, expect.stringContaining('options have a form of their own')],
	]);
	expect(JSON.stringify(lines)).not.toMatch(/month|Crimson/);
});

it('logs nothing for a question that keeps the contract, and for one that does not try', async ({ app }) => {
	const id = await app.watched();
	app.ask(id, [item('Which flower?', 'Options: Rose | Tulip')], '');
	await app.threadSays(id, 'Which flower?');
	app.ask(id, [item('Anything else? The options are open.', 'Say what.')], '');
	await app.threadSays(id, 'Anything else?');
	expect(unclear(app)).toEqual([]);
});
