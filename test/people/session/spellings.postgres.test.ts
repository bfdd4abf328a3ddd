import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { itemsOf } from '../../../fake-session-service/log.ts';
import type { Modal } from '../../../fake-slack/index.ts';
import { expectNothingWrong, USUAL_REQUESTS } from '../../sessions/harness.ts';
import { headline } from '../../support/sentences.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { type AnswererApp, answererApp } from '../answerers/harness.ts';
import { FLIGHT } from '../hand-over/harness.ts';

/* Two replicas on one database. Slack gives each press to either of them, so each is tried several times. */

const TIMES = 8;

let app: AnswererApp;
beforeEach(async () => {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	const key = randomBytes(32).toString('base64');
	app = await answererApp({ ...USUAL_REQUESTS, DATABASE_URL: databaseUrl, ENCRYPTION_KEY: key });
	await app.app.startOther();
});
afterEach(async () => {
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

it('of two people who submit forms of both spellings at the same moment one is sent, and the other is told', async () => {
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
