import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from '../operator/doctor/harness.ts';
import { type OwnPostgres, startPostgres } from '../support/postgres.ts';
import { accepted, createRecordingLog, KEY, open, submission, valuesOf } from './support.ts';

const away = expect.objectContaining({ code: 'store_unavailable', retryable: true });

describe('when PostgreSQL goes away', () => {
	let server: OwnPostgres;
	let databaseUrl: string;
	beforeAll(async () => {
		server = await startPostgres();
		databaseUrl = await server.createDatabase();
	});
	afterAll(() => server.close());

	it('fails with a code while PostgreSQL is unreachable, loses no commit and keeps running', async () => {
		const log = createRecordingLog();
		const store = await open({ databaseUrl, dataDir: '/nonexistent', encryptionKey: KEY, log });
		const before = await accepted(store, submission());
		await store.db.ping();

		await server.stop();
		await expect(store.db.ping()).rejects.toEqual(away);
		await expect(store.answers.accept(submission({ sessionId: 's2' }))).rejects.toEqual(away);
		await expect(store.answers.get(before.id)).rejects.toEqual(away);
		await expect(store.views.claims(before.question, 0)).rejects.toEqual(away);
		await expect(open({ databaseUrl, dataDir: '/nonexistent', encryptionKey: KEY })).rejects.toEqual(away);

		await server.start();
		await store.db.ping();
		expect(valuesOf(await store.answers.get(before.id))).toEqual(['blue']);
		await accepted(store, submission({ sessionId: 's3' }));
		expect(JSON.stringify(log.lines)).not.toContain('for-tests-only');
		await store.close();
		await expect(store.db.ping()).rejects.toEqual(away);
	});

	it('refuses a server without TLS where sslmode asks for it, in words', async () => {
		const encrypted = `${databaseUrl}?sslmode=require`;
		const words =
			'PostgreSQL cannot be reached: it offers no TLS, which sslmode in DATABASE_URL asks for: turn ssl on there, or use sslmode=disable.';
		await expect(open({ databaseUrl: encrypted, dataDir: '/nonexistent', encryptionKey: KEY })).rejects.toThrow(words);
		await using harness = await createHarness();
		const { lines } = await harness.doctor({ DATABASE_URL: encrypted, ENCRYPTION_KEY: KEY });
		expect(lines).toContain(`✗ Database: ${words}`);
	});

	it('rolls back a transaction whose connection is cut', async () => {
		const store = await open({ databaseUrl, dataDir: '/nonexistent', encryptionKey: KEY });
		const cut = store.db.write(async (db) => {
			await db.insertInto('meta').values({ name: 'half', value: 'done' }).execute();
			await server.stop();
			await db.insertInto('meta').values({ name: 'rest', value: 'done' }).execute();
		});
		await expect(cut).rejects.toEqual(away);
		await server.start();
		expect(await store.db.read.selectFrom('meta').selectAll().where('name', 'in', ['half', 'rest']).execute()).toEqual(
			[],
		);
		await store.close();
	});
});

it('gives up on a server that accepts connections and does not respond', async () => {
	const sockets = new Set<Socket>();
	const silent = createServer((socket) => sockets.add(socket));
	await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
	const { port } = silent.address() as { port: number };
	const databaseUrl = `postgres://nobody:for-tests-only@127.0.0.1:${port}/none`;
	await expect(open({ databaseUrl, dataDir: '/nonexistent', encryptionKey: KEY })).rejects.toEqual(away);
	for (const socket of sockets) socket.destroy();
	await new Promise((resolve) => silent.close(resolve));
});
