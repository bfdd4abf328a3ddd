import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { askingSession } from '../sandbox/session-service/builders.ts';
import { openSession } from './slack/support/open-session.ts';
import { startApp } from './support/app.ts';
import { DELIVERED } from './support/sentences.ts';

const KEY = 'a passphrase of an operator';

it('changes from the key file to ENCRYPTION_KEY while people answer, and prints no key', async () => {
	await using app = await startApp();
	for (const id of ['plan', 'code']) app.service.sessions.put(id, askingSession(['What now?']));
	const answered = await openSession(app, 'plan');
	await answered.fill(0, 'The blue one');
	await answered.submit();
	await app.slack.as('ada').waitForModal(DELIVERED);
	const open = await openSession(app, 'code', 'grace');
	await open.fill(0, '141421');

	const file = join(app.dataDir, 'encryption.key');
	await app.restart({ ENCRYPTION_KEY: KEY, ENCRYPTION_KEY_FORMER_FILE: file });
	await open.submit();
	await app.slack.as('grace').waitForModal(DELIVERED);
	const metric = async () =>
		/^handraise_values_under_former_keys (.*)$/m.exec(await (await fetch(`${app.url}/metrics`)).text())?.[1];
	await expect.poll(metric).toBe('0');
	expect(app.log.filter((line) => line.includes('remove ENCRYPTION_KEY_FORMER'))).toHaveLength(1);

	await app.restart({ ENCRYPTION_KEY: KEY });
	expect(app.log.join('\n')).not.toContain('encryption_key_mismatch');
	const person = app.slack.as('ada');
	await person.command('#agents', '/session history plan');
	await person.waitForModal('The blue one');
	const said = await app.said();
	for (const key of [KEY, readFileSync(file, 'utf8').trim()]) expect(said).not.toContain(key);
});
