import { expect, it } from 'vitest';
import { itemsOf } from '../../fake-session-service/log.ts';
import { errorWords } from '../../src/slack/error-view.ts';
import { watchingApp } from '../sessions/harness.ts';
import { openSession } from '../slack/support/open-session.ts';
import { damage, KEY, open } from '../store/support.ts';

it('a second person reads why nothing was sent while the first answer is damaged, and keeps their text', async () => {
	await using app = await watchingApp({ env: { ENCRYPTION_KEY: KEY } });
	const id = await app.watchedAsking(['Which door?']);
	const [mine, hers] = [await openSession(app.app, id), await openSession(app.app, id, 'grace')];
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
