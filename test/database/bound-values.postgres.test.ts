import { expect, it } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { describeBoundValues } from './contract/bound-values.ts';
import { startsAt, storeAnswers } from './contract/former-keys.ts';
import { asVersion1 } from './key-values.ts';
import { KEY } from './support.ts';

const where = async () => ({
	dataDir: '/nonexistent',
	databaseUrl: await (await sharedPostgres()).createDatabase(),
});

describeBoundValues('PostgreSQL', where);

it('values of 1.0.0 that are put back are read by no replica, whichever brought them over', async () => {
	const place = await where();
	const { first } = startsAt(place);
	const before = await first();
	const { read, texts } = await storeAnswers(before.store, 3);
	await before.close();
	const putBack = await asVersion1(place.databaseUrl, KEY);
	const replicas = [await first(), await first()];
	for (const { store } of replicas) store.reencryption?.start();
	const isDone = () => replicas.some(({ messages }) => messages().some((line) => line.includes('bound to its row')));
	await expect.poll(isDone, { timeout: 10_000 }).toBe(true);
	for (const { store } of replicas) expect(await read(store)).toEqual(texts);
	await putBack();
	for (const { store } of replicas)
		await expect.poll(() => read(store), { timeout: 10_000 }).toEqual(texts.map(() => 'unreadable'));
});
