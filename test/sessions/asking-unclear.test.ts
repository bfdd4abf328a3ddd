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
