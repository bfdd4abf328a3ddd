import {
	askingSession,
	expect,
	headline,
	openSession,
	startTimedApp,
	type TimedApp,
	whatHappened,
	withApp,
} from '../kit.ts';
import { tooComplex } from '../support/too-complex.ts';

const it = withApp(startTimedApp);

/** Grace sends the newest press again as her own. */
async function forge(app: TimedApp): Promise<void> {
	const press = structuredClone(app.slack.traffic.deliveries('block_actions').at(-1)?.request ?? {}) as {
		user: { id: string };
		trigger_id: string;
		response_url?: string;
	};
	delete press.response_url;
	press.user.id = 'U0GRACE';
	// Slack sends none twice.
	const id = `forged-${press.trigger_id}`;
	press.trigger_id = id;
	const trigger = { id, window: 'main', at: Date.now(), used: false, view: null };
	app.slack.state.triggers[id] = { ...trigger, user: press.user.id };
	await app.slack.deliver({
		kind: 'interactive',
		name: 'block_actions',
		payload: press as never,
		acceptsPayload: false,
	});
}

/** The same. Resolves when she was told whose it is. */
async function graceForges(app: TimedApp): Promise<void> {
	const grace = app.slack.as('grace');
	const seen = () => grace.messages('#agents', { all: true }).flatMap((post) => [post, ...post.thread()]);
	const told = () =>
		[...grace.dm(), ...seen()].filter((one) => one.text().includes(whatHappened('answer_not_yours'))).length;
	const before = told();
	await forge(app);
	await app.until(() => told() > before);
}

it('refuses a button on the answer of another person, and says so', async ({ app }) => {
	app.service.sessions.put('refused', askingSession(['First', 'Second']));
	const modal = await openSession(app, 'refused');
	for (const [field, text] of ['blue', 'small'].entries()) await modal.fill(field, text);
	// A person needs time to type.
	await app.clock.advance(1);
	app.service.faults.add(tooComplex('refused'));
	await modal.submit();
	await app.shows(headline('refused'));
	const reads = app.service.log.reads('refused').length;
	await modal.press('Try again');
	await app.until(() => app.service.log.reads('refused').length > reads);
	await app.shows(headline('refused'));
	const before = app.service.log.reads('refused').length;
	await graceForges(app);
	expect(app.service.log.reads('refused')).toHaveLength(before);
});

it("puts the text of an answer into the new question's form only for its author", async ({ app }) => {
	app.service.sessions.put('carried', askingSession(['Which aisle?']));
	const modal = await openSession(app, 'carried');
	await modal.fill(0, 'Aisle 7');
	await app.clock.advance(1);
	app.service.sessions.put('carried', askingSession(['Which aisle now?']));
	await modal.submit();
	await modal.close();
	const offer = () => app.slack.as('ada').dm('Aisle 7')[0];
	await app.until(() => offer() !== undefined);
	await offer()?.press('Answer the new question');
	await app.shows('Which aisle now?');
	expect(app.slack.as('ada').modal()?.value('Which aisle now?')).toBe('Aisle 7');
	await forge(app);
	await app.shows('Which aisle now?', 'grace');
	expect(app.slack.as('grace').modal()?.value('Which aisle now?')).toBeNull();
	expect(app.slack.as('grace').modal()?.text()).not.toContain('Aisle 7');
});
