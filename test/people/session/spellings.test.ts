import { itemsOf } from '../../../fake-session-service/log.ts';
import {
	type AnswererApp,
	answererApp,
	asking,
	DELIVERED,
	describe,
	expect,
	headline,
	type Modal,
	says,
	task,
	whatHappened,
	withApp,
} from '../../kit.ts';

/* A service may find an id in any letter case, such as in a UUID column. Its response says the id that the session has. */

const it = withApp(() => answererApp({}, { service: { ignoreCase: true } }));

const other = (id: string) => id.toUpperCase();
const puts = (app: AnswererApp, ...ids: string[]) => ids.flatMap((id) => app.service.log.savedPuts(id));
const sent = (app: AnswererApp, ...ids: string[]) =>
	puts(app, ...ids).map((put) => itemsOf(put).map(({ value }) => value));

/** A form of this session, filled in. */
async function filled(app: AnswererApp, who: string, id: string, text: string) {
	await app.slack.as(who).command('#agents', `/session ${id}`);
	const modal = await app.until(() => {
		const shown = app.slack.as(who).modal();
		return shown?.submitText() === 'Send answer' && shown;
	});
	await modal.choose(0, text);
	return modal;
}

describe('an id in other letters than the session has', () => {
	it('shows a form only to whom the list of the session names', async ({ app }) => {
		await app.names(['ada', 'grace']);
		const { id } = await app.asked();
		expect(await app.may('cleo', other(id))).toBe(false);
		expect(await app.may('cleo', `https://dashboard.example.com/sessions/session?id=${other(id)}`)).toBe(false);
		expect(await app.may('grace', other(id))).toBe(true);
	});

	it('opens the same form: of two people the second reads the answer of the first', async ({ app }) => {
		const { id } = await app.asked();
		const first = await filled(app, 'ada', id, 'LH 1173');
		const second = await filled(app, 'grace', other(id), 'TP 570');
		await first.submit();
		await second.submit();
		await app.until(() => second.text().includes(headline('conflicted')));
		expect(second.text()).toContain('LH 1173');
		await app.until(() => sent(app, id).length === 1);
		expect(sent(app, id, other(id))).toEqual([['LH 1173']]);
	});

	it('is the session that a channel watches already, and stops being watched', async ({ app }) => {
		const { id } = await app.asked();
		expect((await app.command(`/session watch ${other(id)}`)).text()).toContain('is already watched here');
		expect((await app.command(`/session unwatch ${other(id)}`)).text()).toContain('is not watched here any more');
		expect((await app.command(`/session unwatch ${other(id)}`)).text()).toContain('is not watched here.');
	});
});

describe('what 2.0.0 stored under other letters than the session has', () => {
	const CAPITALS = '3F9A2C1D';
	const id = CAPITALS.toLowerCase();
	const question = asking('I need to know.', [{ title: 'Which flight?', description: 'One of: LH 1173, TP 570' }]);
	const session = { status: 'humanInput', name: 'Book a flight', messages: [task('Book it.'), question] };

	/** From now on the service gives the session in small letters, and finds it by any. */
	function respell(app: AnswererApp): void {
		app.service.sessions.put(id, app.service.sessions.get(CAPITALS));
		app.service.sessions.remove(CAPITALS);
	}

	/** A session in capitals; its question stands in #agents. */
	async function inCapitals(app: AnswererApp) {
		app.service.sessions.put(CAPITALS, session);
		await app.watch(CAPITALS, { channel: '#agents' });
		return app.until(() => app.thread(CAPITALS, '#agents').find((one) => one.buttons().includes('LH 1173')));
	}

	it('stays a watch under its id: it is read on, and its buttons answer', async ({ app }) => {
		const post = await inCapitals(app);
		respell(app);
		const readCount = app.service.log.reads(CAPITALS).length;
		await app.until(() => app.service.log.reads(CAPITALS).length > readCount);
		await post.press('LH 1173');
		await app.until(() => post.text().includes('✅'));
		expect(sent(app, CAPITALS, id)).toEqual([['LH 1173']]);
		app.ask(id, ['Which seat?'], '');
		await app.threadSays(CAPITALS, 'Which seat?');
	});

	it.for([
		['capitals', ['ada', 'grace']],
		['small letters', ['grace', 'ada']],
	] as const)(
		'is one of two answers that wait, the first in %s: one is sent, and the other person is told',
		async ([, [first, second]], { app }) => {
			app.service.sessions.put(CAPITALS, session);
			const windows = { ada: await filled(app, 'ada', CAPITALS, 'LH 1173') } as Record<'ada' | 'grace', Modal>;
			respell(app);
			windows.grace = await filled(app, 'grace', id, 'TP 570');
			app.service.faults.add({ kind: 'error', method: 'GET', status: 503 });
			await windows[first].submit();
			await app.pass(1_000);
			await windows[second].submit();
			await app.pass(5_000);
			app.service.faults.clear();
			const loser = await app.until(() =>
				Object.values(windows).find((window) => window.text().includes(headline('conflicted'))),
			);
			const winner = loser === windows.ada ? windows.grace : windows.ada;
			await app.until(
				() => says(winner.text(), DELIVERED) || says(winner.text(), headline('resumed')),
				() => winner.text(),
			);
			expect(sent(app, CAPITALS, id)).toEqual([[winner === windows.ada ? 'LH 1173' : 'TP 570']]);
			for (const text of ['LH 1173', 'TP 570']) expect(loser.text()).toContain(text);
		},
	);

	it('is another watch than the one of its id in the response, and `unwatch` finds both', async ({ app }) => {
		await inCapitals(app);
		respell(app);
		expect((await app.command(`/session watch ${CAPITALS}`)).text()).toContain('Book a flight');
		await app.until(() => app.service.log.reads(id).length > 0);
		expect((await app.command('/session list')).text().match(/Book a flight/g)).toHaveLength(2);
		for (const left of [1, 0]) {
			expect((await app.command(`/session unwatch ${CAPITALS}`)).text()).toContain('is not watched here any more');
			const list = (await app.command('/session list')).text();
			expect(list.match(/Book a flight/g) ?? []).toHaveLength(left);
		}
		expect((await app.command(`/session unwatch ${CAPITALS}`)).text()).toContain('is not watched here.');
	});
});

describe('a service that distinguishes letter case', () => {
	it('has two sessions: each keeps its list, its watch and its answers', async ({ app }) => {
		app.service.ids.ignoreCase = false;
		await app.names(['ada', 'grace']);
		const { id, post } = await app.asked();
		app.service.sessions.put(other(id), structuredClone(app.service.sessions.get(id)));
		expect(await app.may('cleo', other(id))).toBe(true);
		expect(await app.may('cleo', id)).toBe(false);
		const form = await filled(app, 'cleo', other(id), 'TP 570');
		await form.submit();
		await post.press('LH 1173');
		await app.until(() => sent(app, id).length === 1 && sent(app, other(id)).length === 1);
		expect([sent(app, id), sent(app, other(id))]).toEqual([[['LH 1173']], [['TP 570']]]);
	});

	it('has an answer sent though the other session cannot be read', async ({ app }) => {
		app.service.ids.ignoreCase = false;
		const { id, post } = await app.asked();
		app.service.sessions.put(other(id), structuredClone(app.service.sessions.get(id)));
		await app.watch(other(id), { channel: '#secret' });
		app.service.faults.add({ kind: 'error', status: 422, sessionId: other(id), method: 'GET' });
		await app.restart();
		await post.press('LH 1173');
		await app.until(() => sent(app, id).length === 1);
		app.service.faults.clear();
		app.service.faults.add({ kind: 'huge', sessionId: other(id), method: 'GET' });
		await app.restart();
		app.ask(id, ['Which seat?'], '');
		await app.threadSays(id, 'Which seat?');
	});
});

describe('a response with another session', () => {
	const shown = (app: AnswererApp, words: string) =>
		app.until(() => {
			const modal = app.slack.as('ada').modal();
			return modal?.text().includes(words) && modal;
		});

	it('is refused with words, and logged; one without an id is that of the asked one', async ({ app }) => {
		const { id } = await app.asked();
		const body = (sessionId?: string) =>
			JSON.stringify({ session: { sessionId, status: 'active', name: 'Not this', messages: [] } });
		app.service.faults.add({ kind: 'body', body: body('another'), sessionId: id, method: 'GET' });
		await app.slack.as('ada').command('#agents', `/session ${id}`);
		const modal = await shown(app, whatHappened('other_session'));
		expect(modal.text()).not.toContain('Not this');
		expect(app.log.join('')).toContain('"event":"other_session"');
		app.service.faults.clear();
		app.service.faults.add({ kind: 'body', body: body(), sessionId: id, method: 'GET' });
		await modal.press('Try again');
		await shown(app, 'Not this');
	});
});
