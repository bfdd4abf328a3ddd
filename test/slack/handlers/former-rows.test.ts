import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { PRESS_NOTES } from '../../../src/slack/words/answers.ts';
import { startApp } from '../../support/app.ts';
import { openSession } from '../support/open-session.ts';

it('lets somebody of another organisation act on an answer that a former version stored under their own workspace', async () => {
	await using app = await startApp({ env: { ALLOW_EXTERNAL: 'true' } });
	const form = await openSession(app, 'yesno', 'eve', '#shared');
	await form.choose(0, 'Yes');
	app.service.sessions.answerAsPage('yesno', ['No']);
	await form.submit();
	const eve = app.slack.as('eve');
	await eve.waitForModal('Post my text');
	await app.stop();
	const db = new DatabaseSync(join(app.dataDir, 'handraise.db'));
	expect(db.prepare("update answers set team_id = 'T0OTHER' where user_id = 'U0EVE'").run().changes).toBe(1);
	db.close();
	await app.restart();
	await eve.modal()?.press('Post my text in the channel');
	await eve.waitForModal(PRESS_NOTES.posted);
});
