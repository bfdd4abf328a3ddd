import { randomBytes } from 'node:crypto';
import { itemsOf } from '../../../fake-session-service/log.ts';
import { answererApp, expect, FLIGHT, headline, type Modal, withApp } from '../../kit.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';

/* Two replicas on one database. Slack gives each press to either of them, so each is tried several times. */

const TIMES = 8;

const it = withApp(async () => {
	const DATABASE_URL = await (await sharedPostgres()).createDatabase();
	const ENCRYPTION_KEY = randomBytes(32).toString('base64');
	const app = await answererApp({ DATABASE_URL, ENCRYPTION_KEY });
	await app.startOther();
	return app;
});

it('of two people who submit forms of both spellings at the same moment one is sent, and the other is told', async ({
	app,
}) => {
	for (let time = 0; time < TIMES; time += 1) {
		const former = `3F9A2C${time}D`;
		const id = former.toLowerCase();
		app.service.ids.ignoreCase = false;
		const like = app.session({ name: 'Book a flight' });
		app.ask(like, [FLIGHT], '');
		app.service.sessions.put(former, structuredClone(app.service.sessions.get(like)));
		const forms: Modal[] = [];
		for (const [who, sessionId, text] of [
			['ada', former, 'LH 1173'],
			['grace', id, 'TP 570'],
		] as const) {
			await app.slack.as(who).modal()?.close(true);
			await app.slack.as(who).command('#agents', `/session ${sessionId}`);
			const form = await app.until(() => {
				const modal = app.slack.as(who).modal();
				return modal?.submitText() === 'Send answer' && modal;
			});
			await form.choose(0, text);
			forms.push(form);
			if (sessionId === id) continue;
			// From now on the service gives the session in small letters, and finds it by any.
			app.service.sessions.put(id, app.service.sessions.get(former));
			app.service.sessions.remove(former);
			app.service.ids.ignoreCase = true;
		}
		await Promise.all(forms.map((form) => form.submit()));
		const isTold = (form: Modal) => form.text().includes(headline('conflicted'));
		await app.until(
			() => forms.some(isTold) && app.service.log.savedPuts(id).length === 1,
			() => forms.map((form) => form.text()).join('\n--\n'),
		);
		await app.pass(10_000);
		expect(forms.filter(isTold)).toHaveLength(1);
		const puts = [former, id].flatMap((one) => app.service.log.savedPuts(one));
		expect(puts).toHaveLength(1);
		const [sent] = puts.flatMap((put) => itemsOf(put).map(({ value }) => value));
		expect(forms.find((form) => !isTold(form))?.text()).toContain(sent);
	}
});
