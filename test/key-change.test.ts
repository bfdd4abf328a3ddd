import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { askingSession, DELIVERED, expect, it, openSession, startApp } from './kit.ts';
import { runRekey } from './support/commands.ts';

const KEY = 'a passphrase of an operator';

it('changes from the key file to ENCRYPTION_KEY: open forms and former answers are there, and no key is printed', async () => {
	await using app = await startApp();
	for (const id of ['plan', 'code']) app.service.sessions.put(id, askingSession(['What now?']));
	const answered = await openSession(app, 'plan');
	await answered.fill(0, 'The blue one');
	await answered.submit();
	await app.slack.as('ada').waitForModal(DELIVERED);
	const open = await openSession(app, 'code', 'grace');
	await open.fill(0, '141421');

	const file = join(app.dataDir, 'encryption.key');
	const keys = { DATA_DIR: app.dataDir, ENCRYPTION_KEY: KEY, ENCRYPTION_KEY_FORMER_FILE: file };
	const refused = await runRekey(keys);
	expect([refused.code, refused.stdout]).toEqual([1, '']);
	expect(refused.stderr).toMatch(
		/^Another process is using the database in .* Stop it first; a second Handraise needs a DATA_DIR of its own, or DATABASE_URL\.\n$/,
	);
	await app.stop();
	const rekeyed = await runRekey(keys);
	expect([rekeyed.code, rekeyed.stderr]).toEqual([0, '']);
	expect(rekeyed.stdout).toContain(
		'handraise.db holds nothing that the former key opens. Backups, and handraise.db.before-… of a restore, still need it.',
	);

	await app.restart({ ENCRYPTION_KEY: KEY });
	expect(app.log.join('\n')).not.toContain('encryption_key_mismatch');
	await open.submit();
	await app.slack.as('grace').waitForModal(DELIVERED);
	const person = app.slack.as('ada');
	await person.command('#agents', '/session history plan');
	await person.waitForModal('The blue one');
	const said = [await app.said(), refused.stderr, rekeyed.stdout].join();
	for (const key of [KEY, readFileSync(file, 'utf8').trim()]) expect(said).not.toContain(key);
});
