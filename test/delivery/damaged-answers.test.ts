import { itemsOf } from '../../fake-session-service/log.ts';
import { errorWords } from '../../src/slack/error-view.ts';
import { expect, forCase, it, openSession, watchingApp } from '../kit.ts';
import { damage, KEY, open } from '../store/support.ts';

it('a second person reads why nothing was sent while the first answer is damaged, and keeps their text', async () => {
	const app = await forCase(watchingApp({ env: { ENCRYPTION_KEY: KEY }, mayFail: true }));
	const id = await app.watchedAsking(['Which door?']);
	const [mine, hers] = [await openSession(app, id), await openSession(app, id, 'grace')];
	app.service.faults.add({ kind: 'slow', ms: 8_000, sessionId: id, method: 'GET' });
	await mine.fill(0, 'green');
	expect((await mine.submit()).outcome).toBe('updated');
	await app.stop();
	const store = await open({ dataDir: app.dataDir, encryptionKey: KEY });
	const answers = await store.db.read.selectFrom('answers').selectAll().where('sessionId', '=', id).execute();
	expect(answers).toMatchObject([{ state: 'accepted' }]);
	for (const answer of answers) await damage(store, answer.id, 'submission');
	await store.close();
	app.service.faults.clear();
	await app.restart();
	await hers.fill(0, 'red');
	const words = errorWords('internal', { kept: 'text' }).plain;
	expect(await hers.submit()).toMatchObject({ outcome: 'fieldErrors', errors: { 'Which door?': words } });
	expect(hers.value(0)).toBe('red');
	expect(app.service.log.puts(id).map(itemsOf)).toEqual([]);
});
