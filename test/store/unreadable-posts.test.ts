import { afterEach, expect, it } from 'vitest';
import type { Store } from '../../src/stores.ts';
import { addWatch, newWatch, SERVICE } from '../sessions/support.ts';
import { shownAt } from './contract/watch-acts.ts';
import { createRecordingLog, KEY, LEASE, makeDataDir, OTHER_KEY, OTHER_LEASE, open, refreshed, T0 } from './support.ts';

const directory = makeDataDir();
let store: Store;
afterEach(async () => {
	await store.close();
	await directory.remove();
});

it('sends unreadable posts and cards at the first start with the right key', async () => {
	const take = () => store.posts.takeDue(LEASE, 10, T0 + 1_000);
	store = await open({ dataDir: directory.path, encryptionKey: KEY });
	const watch = await addWatch(store.watches);
	const [card] = await take();
	if (card === undefined) throw new Error('no card is due');
	await store.posts.endAttempt(card.post, LEASE.token, shownAt(card.post, '1.1'), T0 + 1_000);
	await store.watches.add(newWatch({ sessionId: 's2' }));
	await refreshed(store, { service: SERVICE, sessionId: 's1' }, { now: T0, earlyReadAt: null });
	await store.close();

	const log = createRecordingLog();
	store = await open({ dataDir: directory.path, encryptionKey: OTHER_KEY, log });
	expect(await take()).toEqual([]);
	const skipped = () => log.lines.filter(({ message }) => message.includes('is skipped'));
	expect(skipped()).toMatchObject([{ fields: { posts: [expect.any(String), expect.any(String)] } }]);
	expect(await store.posts.takeDue(OTHER_LEASE, 10, T0 + 900_000)).toEqual([]);
	expect(skipped()).toHaveLength(1);
	await store.close();

	store = await open({ dataDir: directory.path, encryptionKey: KEY });
	const due = await take();
	const taken = due.map((one) => [one.post.content.kind, one.post.ts, one.watch?.id === watch.id]);
	expect(taken).toHaveLength(2);
	expect(taken).toEqual(
		expect.arrayContaining([
			['card', '1.1', true],
			['card', null, false],
		]),
	);
});
