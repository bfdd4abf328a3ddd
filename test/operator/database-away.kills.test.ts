import { DELIVERED, expect, it, openSession, startApp } from '../kit.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { createCuttableProxy } from '../support/tcp-proxy.ts';

it('is alive but not ready without the database, keeps the form of a submission and accepts it later', async () => {
	const postgres = await sharedPostgres();
	const databaseUrl = await postgres.createDatabase();
	await using proxy = await createCuttableProxy(databaseUrl);
	await using app = await startApp({ env: { DATABASE_URL: proxy.url, ENCRYPTION_KEY: 'ab'.repeat(32) } });
	const get = async (path: string) => {
		const response = await fetch(`${app.url}${path}`);
		return { status: response.status, text: await response.text() };
	};
	const modal = await openSession(app, 'three');
	for (const field of [0, 1, 2]) await modal.fill(field, `text ${field}`);

	proxy.cut();
	expect(await get('/healthz')).toMatchObject({ status: 200 });
	expect(await get('/readyz')).toMatchObject({ status: 503, text: 'the database does not answer\n' });
	const metrics = await get('/metrics');
	expect(metrics.status).toBe(200);
	expect(metrics.text).toMatch(/^handraise_database_up 0$/m);
	expect(metrics.text).not.toMatch(/^handraise_answers\{/m);
	const refused = await modal.submit();
	expect(refused.outcome).toBe('fieldErrors');
	expect(Object.values(refused.errors).join()).toContain(
		'Handraise cannot reach its own database. Nothing was sent; your text is still here.',
	);
	expect(modal.value(1)).toBe('text 1');
	expect(app.service.log.puts('three')).toEqual([]);

	proxy.mend();
	expect((await modal.submit()).outcome).toBe('updated');
	await app.slack.as('ada').waitForModal(DELIVERED);
	expect(app.service.log.savedPuts('three')).toHaveLength(1);
	expect(await get('/readyz')).toMatchObject({ status: 200 });
	expect(app.log.join()).not.toContain(new URL(databaseUrl).password || 'no password');
	expect(app.slack.violations()).toEqual([]);
});
