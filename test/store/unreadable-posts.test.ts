import { afterEach, expect, it } from 'vitest';
import type { Store } from '../../src/store/open.ts';
import { addWatch, newWatch, SERVICE } from '../watches/support.ts';
import { createRecordingLog, KEY, LEASE, makeDataDir, OTHER_KEY, OTHER_LEASE, open, T0 } from './support.ts';

const directory = makeDataDir();
let store: Store;
afterEach(async () => {
	await store.close();
	await directory.remove();
});

it('sends unreadable posts and cards at the first start with the right key', async () => {
	const take = () => store.watches.takeAnnouncements(LEASE, 10, T0 + 1_000);
	store = await open({ dataDir: directory.path, encryptionKey: KEY });
	const watch = await addWatch(store.watches);
	const [card] = await take();
	const sent = { kind: 'posted', ts: '1.1', cardKey: 'k' } as const;
	await store.watches.endAttempt(card?.announcement.id ?? '', LEASE.token, sent, T0 + 1_000);
	await store.watches.add(newWatch({ sessionId: 's2' }));
	await store.watches.refresh({ service: SERVICE, sessionId: 's1' }, { now: T0, earlyReadAt: null });
	await store.close();

	const log = createRecordingLog();
	store = await open({ dataDir: directory.path, encryptionKey: OTHER_KEY, log });
	expect(await take()).toEqual([]);
	expect(await store.watches.takeCards(LEASE, 10, { now: T0 + 1_000, urgency: 'any' })).toEqual([]);
	const skipped = () => log.lines.filter(({ message }) => message.includes('is skipped'));
	expect(skipped()).toHaveLength(2);
	expect(await store.watches.takeAnnouncements(OTHER_LEASE, 10, T0 + 900_000)).toEqual([]);
	expect(skipped()).toHaveLength(2);
	await store.close();

	store = await open({ dataDir: directory.path, encryptionKey: KEY });
	expect((await take()).map(({ announcement }) => announcement.content.kind)).toEqual(['card']);
	const cards = await store.watches.takeCards(LEASE, 10, { now: T0 + 1_000, urgency: 'any' });
	expect(cards.map((due) => due.watch.id)).toEqual([watch.id]);
});
