import { type AnswererApp, answererApp, expect, ONLY, withApp } from '../../kit.ts';

/* Whose list decides about a session; `test/store/contract/answerers.ts` has by whom, in which order, and how long. */

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

it('a channel of one’s own with a list of oneself opens nothing', async ({ app }) => {
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

it('a second channel opens a session for its own people when somebody named watches there, and alone once the first has no list', async ({
	app,
}) => {
	const { id, post } = await closed(app);
	await app.names(['cleo'], 'ada', OWN);
	await watchIn(app, id, 'ada');
	await app.until(() => post.text().includes(ONLY('ada, grace and cleo')));
	expect(await allowed(app, id, 'cleo', 'bob', 'grace')).toEqual(['cleo', 'grace']);
	await app.names([], 'grace');
	expect(await allowed(app, id, 'ada', 'grace', 'bob', 'cleo')).toEqual(['cleo']);
});
