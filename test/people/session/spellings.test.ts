import { itemsOf } from '../../../fake-session-service/log.ts';
import { WATCHED_AGAIN } from '../../../src/screens/question-post.ts';
import {
	type AnswererApp,
	answererApp,
	asking,
	DELIVERED,
	describe,
	expect,
	headline,
	type Modal,
	type Posted,
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

describe('what is stored under other letters than the session has', () => {
	const CAPITALS = '3F9A2C1D';
	const id = CAPITALS.toLowerCase();
	const question = asking('I need to know.', [{ title: 'Which flight?', description: 'One of: LH 1173, TP 570' }]);
	const session = { status: 'humanInput', name: 'Book a flight', messages: [task('Book it.'), question] };

	/** From now on the service gives the session in small letters, and finds it by any. */
	function respell(app: AnswererApp): void {
		app.service.sessions.put(id, app.service.sessions.get(CAPITALS));
		app.service.sessions.remove(CAPITALS);
	}

	/** A session in capitals; its question stands in these channels. */
	async function inCapitals(app: AnswererApp, ...channels: string[]) {
		app.service.sessions.put(CAPITALS, session);
		for (const channel of channels) await app.watch(CAPITALS, { channel });
		const posts = () =>
			channels.map((channel) => app.thread(CAPITALS, channel).find((one) => one.buttons().includes('LH 1173')));
		return app.until(() => posts().every((post) => post !== undefined) && (posts() as Posted[]));
	}

	it('is the list that still decides when nobody watches any more', async ({ app }) => {
		await app.names(['ada', 'grace']);
		await inCapitals(app, '#agents');
		await app.command(`/session unwatch ${CAPITALS}`);
		respell(app);
		expect(await app.may('cleo', id)).toBe(false);
		expect(await app.may('grace', id)).toBe(true);
	});

	it('is the watch that goes on: its buttons answer, and the session is read by its own id', async ({ app }) => {
		const [post] = await inCapitals(app, '#agents');
		respell(app);
		await app.until(() => app.service.log.reads(id).length > 1);
		await post?.press('LH 1173');
		await app.until(() => sent(app, id).length === 1);
		await app.until(() => post?.text().includes('✅'));
		expect(sent(app, CAPITALS)).toEqual([]);
		const [put] = puts(app, id);
		expect(put?.body).toMatchObject({ sessionId: id });
		await app.until(() => app.card(id));
	});

	// Which of them is sent depends on whose next attempt comes first: only that attempt's read shows that they are two.
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
			await app.until(() => sent(app, id).length === 1);
			const winner = loser === windows.ada ? windows.grace : windows.ada;
			expect(sent(app, CAPITALS, id)).toEqual([[winner === windows.ada ? 'LH 1173' : 'TP 570']]);
			for (const text of ['LH 1173', 'TP 570']) expect(loser.text()).toContain(text);
			await app.until(
				() => says(winner.text(), DELIVERED) || says(winner.text(), headline('resumed')),
				() => winner.text(),
			);
		},
	);

	it('is no way round a list by a post that shows its old buttons still', async ({ app }) => {
		await app.names(['ada', 'grace']);
		const [post] = await inCapitals(app, '#agents');
		if (post === undefined) throw new Error('no post');
		app.keepOld(post);
		respell(app);
		await app.until(() => app.service.log.reads(id).length > 1);
		await app.press(post, 'cleo', 'TP 570');
		await app.newestDm('cleo', 'may no longer answer');
		await app.press(post, 'grace', 'LH 1173');
		await app.until(() => sent(app, id).length === 1);
		expect(sent(app, CAPITALS, id)).toEqual([['LH 1173']]);
	});

	it('is a list that decides about an answer whose own read is the first to find it', async ({ app }) => {
		await app.names(['ada', 'bob']);
		await inCapitals(app, '#agents');
		await app.command(`/session unwatch ${CAPITALS}`);
		await app.slack.invite('#secret', 'grace');
		app.service.ids.ignoreCase = false;
		app.service.sessions.put(id, structuredClone(session));
		await app.watch(id, { channel: '#secret' });
		const post = await app.until(() => app.thread(id, '#secret').find((one) => one.buttons().includes('LH 1173')));
		app.service.sessions.remove(CAPITALS);
		app.service.ids.ignoreCase = true;
		app.service.faults.add({ kind: 'error', status: 503, method: 'GET' });
		const readCount = app.service.log.reads(id).length;
		await app.restart();
		await app.until(() => app.service.log.reads(id).length > readCount);
		app.service.faults.clear();
		await app.press(post, 'grace', 'TP 570');
		const isRefused = () => app.dms('grace').some((dm) => dm.text().includes('may no longer answer'));
		await app.until(() => isRefused() || sent(app, CAPITALS, id).length > 0);
		expect(sent(app, CAPITALS, id)).toEqual([]);
	});

	it('joins what channels watch by both: each post shows the answer, and a channel has one watch', async ({ app }) => {
		const [inAgents] = await inCapitals(app, '#agents');
		app.service.ids.ignoreCase = false;
		app.service.sessions.put(id, structuredClone(session));
		const isAsked = (one: Posted) => one.buttons().includes('LH 1173');
		for (const channel of ['#agents', '#secret']) await app.watch(id, { channel });
		const inSecret = await app.until(() => app.thread(id, '#secret').find(isAsked));
		app.service.sessions.remove(CAPITALS);
		app.service.ids.ignoreCase = true;
		await app.until(() => inAgents?.text().includes(WATCHED_AGAIN));
		const newer = await app.until(() => app.thread(id).findLast(isAsked));
		expect(newer.ts).not.toBe(inAgents?.ts);
		await newer.press('TP 570');
		await app.until(() => sent(app, id).length === 1);
		for (const post of [newer, inSecret]) await app.until(() => post.text().includes('✅'));
		expect(sent(app, CAPITALS, id)).toEqual([['TP 570']]);
		expect((await app.command('/session list')).text().match(/Book a flight/g)).toHaveLength(1);
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
