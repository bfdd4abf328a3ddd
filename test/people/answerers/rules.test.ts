import { type AnswererApp, answererApp, describe, expect, ONLY, WHO, withApp } from '../../kit.ts';

/* Whose list decides about a session: of the channels that watched it, by whom, in which order, and how long. */

const OWN = '#secret';

const it = withApp(async () => {
	const app = await answererApp();
	await app.slack.invite(OWN, 'cleo');
	await app.slack.invite(OWN, 'bob');
	return app;
});

/** A question of a session that #agents watches, where Ada and Grace are named. */
async function closed(app: AnswererApp) {
	await app.names(['ada', 'grace']);
	return app.asked();
}
/** Which of these people get a form. */
async function allowed(app: AnswererApp, id: string, ...people: readonly string[]): Promise<string[]> {
	const found: string[] = [];
	for (const who of people) if (await app.may(who, id)) found.push(who);
	return found;
}
const watchIn = (app: AnswererApp, id: string, who: string, channel = OWN) =>
	app.command(`/session watch ${id}`, who, channel);

describe('a channel of one’s own', () => {
	it('with a list of oneself opens nothing', async ({ app }) => {
		const { id } = await closed(app);
		await app.names(['cleo'], 'cleo', OWN);
		await watchIn(app, id, 'cleo');
		const copy = await app.until(() => app.thread(id, OWN, 'cleo').find((one) => one.text().includes('Which flight?')));
		expect(copy.text()).toContain(ONLY('ada and grace', '#agents'));
		await copy.press('TP 570');
		await app.refused('cleo', 'Only ada and grace (named in #agents) may answer.', OWN);
		expect(await allowed(app, id, 'cleo', 'grace')).toEqual(['grace']);
		// Another watch of the same session changes nothing.
		await watchIn(app, id, 'cleo');
		expect(await allowed(app, id, 'cleo')).toEqual([]);
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('opens nothing by a list that is made, changed or emptied there after watching', async ({ app }) => {
		const { id } = await closed(app);
		await watchIn(app, id, 'cleo');
		for (const people of [['cleo'], ['bob', 'cleo'], []]) {
			await app.names(people, 'cleo', OWN);
			expect(await allowed(app, id, 'cleo', 'bob', 'ada')).toEqual(['ada']);
		}
	});

	it('opens nothing when somebody unwatches and watches again there', async ({ app }) => {
		const { id } = await closed(app);
		await app.names(['cleo'], 'cleo', OWN);
		await watchIn(app, id, 'cleo');
		await app.command(`/session unwatch ${id}`, 'cleo', OWN);
		await watchIn(app, id, 'cleo');
		expect(await allowed(app, id, 'cleo', 'ada')).toEqual(['ada']);
	});
});

describe('a second channel', () => {
	it('without a list opens nothing, whoever watches there', async ({ app }) => {
		const { id } = await closed(app);
		await watchIn(app, id, 'ada');
		const copy = await app.until(() => app.thread(id, OWN).find((one) => one.text().includes('Which flight?')));
		expect(copy.text()).toContain(ONLY('ada and grace', '#agents'));
		expect(await allowed(app, id, 'cleo', 'bob', 'ada')).toEqual(['ada']);
	});

	it('opens the session for its own people when somebody named watches there', async ({ app }) => {
		const { id, post } = await closed(app);
		await app.names(['cleo'], 'ada', OWN);
		await watchIn(app, id, 'ada');
		await app.until(
			() => post.text().includes(ONLY('ada, grace and cleo')),
			() => post.text(),
		);
		expect(await allowed(app, id, 'cleo', 'bob', 'grace')).toEqual(['cleo', 'grace']);
	});

	it('opens it when somebody named makes a list there after watching', async ({ app }) => {
		const { id } = await closed(app);
		await watchIn(app, id, 'ada');
		await app.names(['bob'], 'ada', OWN);
		expect(await allowed(app, id, 'cleo', 'bob', 'grace')).toEqual(['bob', 'grace']);
	});

	it('closes nothing more, and what it opened is closed, when its list is emptied', async ({ app }) => {
		const { id } = await closed(app);
		await app.names(['cleo'], 'ada', OWN);
		await watchIn(app, id, 'ada');
		expect(await allowed(app, id, 'cleo')).toEqual(['cleo']);
		await app.names([], 'cleo', OWN);
		expect(await allowed(app, id, 'cleo', 'bob', 'grace')).toEqual(['grace']);
	});

	it('decides alone when the first one empties its list', async ({ app }) => {
		const { id } = await closed(app);
		await app.names(['cleo'], 'ada', OWN);
		await watchIn(app, id, 'ada');
		await app.names([], 'grace');
		expect(await allowed(app, id, 'ada', 'grace', 'bob', 'cleo')).toEqual(['cleo']);
	});
});

describe('whoever watches first', () => {
	it('sets the rule, and a later list of another channel decides nothing', async ({ app }) => {
		const id = app.session({ name: 'Book a flight' });
		await app.names(['cleo'], 'cleo', OWN);
		await watchIn(app, id, 'cleo');
		await app.names(['ada', 'grace']);
		await watchIn(app, id, 'ada', '#agents');
		app.ask(id, ['Which seat?']);
		await app.until(() => app.thread(id).some((one) => one.text().includes(ONLY('cleo', OWN))));
		expect(await allowed(app, id, 'ada', 'grace', 'cleo')).toEqual(['cleo']);
	});

	it('sets it with the first list also where nobody was named while it was watched', async ({ app }) => {
		const { id } = await app.asked();
		await app.names(['cleo'], 'cleo');
		expect(await allowed(app, id, 'ada', 'cleo')).toEqual(['cleo']);
	});
});

describe('a list that decided once', () => {
	it.for([
		['was unwatched', (app: AnswererApp, id: string) => app.command(`/session unwatch ${id}`)],
		['removed the app', (app: AnswererApp) => app.slack.remove('#agents', 'handraise')],
		['was archived', (app: AnswererApp) => app.slack.archive('#agents')],
		['was shared', (app: AnswererApp) => app.slack.share('#agents', 'T0OTHER')],
	] as const)('still decides when its channel %s', async ([, act], { app }) => {
		const { id } = await closed(app);
		await act(app, id);
		await app.pass(10_000);
		await app.names(['cleo'], 'cleo', OWN);
		await watchIn(app, id, 'cleo');
		const allowedIn = async (who: string) => app.may(who, id, OWN);
		expect([await allowedIn('cleo'), await allowedIn('bob'), await allowedIn('ada')]).toEqual([false, false, true]);
	});

	it('decides until the session is over', async ({ app }) => {
		const { id } = await closed(app);
		app.service.sessions.setStatus(id, 'completed');
		await app.until(() => app.ends(id).length === 1);
		app.service.sessions.setStatus(id, 'active');
		await app.names(['cleo'], 'cleo', OWN);
		await watchIn(app, id, 'cleo');
		app.ask(id, ['Which seat?']);
		expect(await allowed(app, id, 'ada', 'cleo')).toEqual(['cleo']);
	});
});

describe('two people who save at once', () => {
	it('do not overwrite each other, and the second has to be named by then', async ({ app }) => {
		const { id } = await app.asked();
		const cleos = await app.openSettings({ who: 'cleo' });
		await cleos.choose(WHO, ['cleo']);
		await app.names(['ada', 'grace']);
		expect((await app.submit(cleos)).outcome).toBe('updated');
		const again = await app.windowSays('[Save]', 'cleo');
		expect(again.value(WHO)).toEqual(['U0ADA', 'U0GRACE']);
		await again.choose(WHO, ['cleo']);
		const { errors } = await app.submit(again);
		expect(JSON.stringify(errors)).toContain('This list did not name you, so you cannot change it');
		expect(await allowed(app, id, 'cleo', 'grace')).toEqual(['grace']);
	});

	it('save both at the same moment, and one of them wins', async ({ app }) => {
		const { id } = await app.asked();
		const adas = await app.openSettings();
		const cleos = await app.openSettings({ who: 'cleo' });
		await adas.choose(WHO, ['ada']);
		await cleos.choose(WHO, ['cleo']);
		await Promise.all([app.submit(adas), app.submit(cleos)]);
		await app.told(1);
		await app.pass(5_000);
		expect(app.changes()).toHaveLength(1);
		const winners = await allowed(app, id, 'ada', 'cleo');
		expect(winners).toHaveLength(1);
		expect(app.changes()[0]).toContain(`only ${winners[0]}`);
	});

	it('leave the list alone when they change something else', async ({ app }) => {
		const { id } = await closed(app);
		const { outcome } = await app.save({ 'Remind after': '2 h' }, { who: 'cleo' });
		expect(outcome).toBe('updated');
		expect(await allowed(app, id, 'cleo', 'grace')).toEqual(['grace']);
	});
});
