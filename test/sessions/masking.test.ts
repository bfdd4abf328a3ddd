import { MASK } from '../../src/domain/masking.ts';
import { HIDES } from '../../src/screens/form.ts';
import { QUESTION_HIDES } from '../../src/screens/question.ts';
import {
	answerFields,
	describe,
	done,
	expect,
	FEWEST_REQUESTS,
	forCase,
	headline,
	type InboxApp,
	inboxApp,
	item,
	openSession,
	REMINDER,
	withApp,
} from '../kit.ts';
import { auditLines } from '../support/audit-lines.ts';

/** One of no service. */
const KEY = `ghp_${'aB3dE5gH7j'.repeat(3)}fake12`;
const SECRET = KEY.slice(4);
const PASSWORD = 'Xq7-fake-9';

const it = withApp(() => inboxApp({ env: { ...FEWEST_REQUESTS, REMIND_AFTER: '40s' } }));

/** What was sent to Slack so far, all of it. */
const sentToSlack = (app: InboxApp) =>
	JSON.stringify(
		app.slack.traffic
			.all()
			.filter(({ direction }) => direction !== 'delivery')
			.map(({ request }) => request),
	);
const shows = (text: string) => [KEY, SECRET, PASSWORD].some((secret) => text.includes(secret));

/** "Yes" and "No" would be buttons without it. */
const leak = (app: InboxApp, id: string) =>
	app.ask(id, [item('Use it? (yes/no)', `I found ${KEY} here.`)], `I cloned https://bot:${PASSWORD}@git.example/shop.`);

describe('a credential in what an agent writes', () => {
	it('stands in nothing that Slack gets: names, steps, questions, reminders, Home, the end', async ({ app }) => {
		const id = await app.watched({ name: `Try ${KEY}`, sessionDetails: `token=${KEY}` });
		app.step(id, `The token: ${KEY}`);
		await app.cardSays(id, `The token: ${MASK}`);
		await app.openHome();
		leak(app, id);
		const post = await app.threadSays(id, 'Use it?');
		expect(post.text()).toContain(`bot:${MASK}@git.example`);
		expect(post.text()).toContain(`I found ghp_${MASK} here.`);
		expect(post.text()).toContain(QUESTION_HIDES);
		expect(post.buttons()).toContain('Answer…');
		expect(post.buttons()).not.toContain('Yes');
		await app.threadSays(id, REMINDER);
		app.service.sessions.push(id, done('', { done: { text: `All is done with password ${PASSWORD}.` } }));
		app.service.sessions.setStatus(id, 'completed');
		await app.until(() => app.ends(id)[0]);
		await app.pass(20_000);
		expect(sentToSlack(app)).toContain(MASK);
		expect(shows(sentToSlack(app))).toBe(false);
	});

	it('is shown in the window of whoever presses *Show*, with what they typed; the agent gets its own text back', async ({
		app,
	}) => {
		const id = await app.watched();
		const index = leak(app, id);
		const modal = await openSession(app, id);
		expect(shows(JSON.stringify(modal.view()))).toBe(false);
		expect(modal.text()).toContain(HIDES);
		await modal.choose(0, ['Yes']);
		await modal.press('Show');
		await app.until(() => modal.text().includes(KEY));
		expect(modal.text()).toContain(PASSWORD);
		expect(modal.text()).not.toContain(HIDES);
		expect(answerFields(modal)[0]?.value).toBe('Yes');
		await app.until(() => auditLines(app.log).some(({ about, session }) => about === 'show' && session === id));
		expect(shows(app.log.join('\n'))).toBe(false);
		await modal.submit();
		await app.until(() => app.service.sessions.values(id, index)[0] === 'Yes');
		expect(JSON.stringify(app.service.log.savedPuts(id))).toContain(`I found ${KEY} here.`);
		for (const post of [...app.thread(id), ...app.slack.as('grace').messages('#agents')])
			expect(shows(JSON.stringify(post.blocks()))).toBe(false);
	});

	it.for([
		['below the title', `One of: ${KEY}, none`, ''],
		['in lines', `Options:\n- ${KEY}\n- none`, ''],
	] as const)(
		'is one option of a form, of a list %s: the agent gets all of it, and nobody sees it before *Show*',
		async ([, below, above], { app }) => {
			const id = await app.watched();
			const index = app.ask(id, [item('Which key?', below)], above);
			const modal = await openSession(app, id);
			expect(answerFields(modal)[0]?.options).toEqual([`ghp_${MASK}`, 'none', 'None of these (write below)']);
			// The list stands in the options alone.
			expect(modal.text()).not.toMatch(/One of|[•-] none/);
			await modal.choose(0, [`ghp_${MASK}`]);
			await modal.submit();
			await app.until(() => app.service.sessions.values(id, index)[0] === KEY);
		},
	);

	it.for([
		['auto', KEY, `ghp_${MASK}`, ''],
		['always', KEY, `ghp_${MASK}`, ''],
		['always', PASSWORD, MASK, `The login failed. The new password is: ${PASSWORD}`],
	] as const)(
		'is an option that somebody chose: it is kept as a secret (SHOW_ANSWERS=%s, %s)',
		async ([shown, secret, option, context]) => {
			const app = await forCase(inboxApp({ env: { ...FEWEST_REQUESTS, SHOW_ANSWERS: shown } }));
			const id = await app.watched();
			const index = app.ask(id, [item('Which one?', `One of: ${secret}, none`)], context);
			await app.threadSays(id, 'Which one?');
			const modal = await openSession(app, id);
			await modal.choose(0, [option]);
			await modal.submit();
			await app.until(() => app.service.sessions.values(id, index)[0] === secret);
			await app.pass(10_000);
			await app.slack.as('grace').command('#agents', `/session history ${id}`);
			const history = await app.slack.as('grace').waitForModal('newest first');
			expect(history.text()).toContain('(hidden');
			expect(shows(history.text())).toBe(false);
			for (const post of [...app.inChannel(), ...app.thread(id)])
				expect(shows(JSON.stringify([post.text(), post.blocks()]))).toBe(false);
		},
	);

	const NAMED = `The login failed. The new password is: ${PASSWORD}`;
	const channelShows = (app: InboxApp) =>
		[...app.inChannel(), ...app.slack.as('grace').messages('#agents')].some((post) =>
			shows(JSON.stringify([post.text(), post.blocks()])),
		);

	it.for([
		['details', { sessionDetails: NAMED }],
		['name', { name: `password: ${PASSWORD}` }],
	] as const)('is named in the %s of the session: no post offers it as a button', async ([, session], { app }) => {
		const id = await app.watched(session);
		app.ask(id, [item('Which one?', `One of: ${PASSWORD}, none`)], 'Hm.');
		const post = await app.threadSays(id, 'Which one?');
		expect(post.buttons()).not.toContain('none');
		expect(shows((await openSession(app, id)).text())).toBe(false);
		expect(channelShows(app)).toBe(false);
	});

	it('stays masked while many steps follow the one that names it, in the question and the name', async ({ app }) => {
		const id = await app.watched({ name: `Log in with ${PASSWORD}` });
		app.step(id, NAMED);
		const index = app.ask(id, [item(`Shall I try ${PASSWORD} once more?`, 'How often?')], 'Hm.');
		await app.threadSays(id, 'once more?');
		const from = app.slack.traffic.all().at(-1)?.seq ?? 0;
		for (let count = 0; count < 8; count++) app.step(id, `Step ${count}`);
		await app.cardSays(id, 'Step 7');
		await app.openHome();
		await app.pass(20_000);
		const modal = await openSession(app, id);
		await modal.fill(0, 'twice');
		await modal.submit();
		await app.until(() => app.service.sessions.values(id, index)[0] === 'twice');
		await app.pass(10_000);
		await app.slack.as('grace').command('#agents', `/session history ${id}`);
		await app.slack.as('grace').waitForModal('newest first');
		const sent = app.slack.traffic.all().filter(({ direction, seq }) => direction !== 'delivery' && seq > from);
		expect(shows(JSON.stringify(sent.map(({ request }) => request)))).toBe(false);
	});

	it('becomes one while a form is open: what is typed there stays, and what is chosen after that is secret', async ({
		app,
	}) => {
		const id = await app.watched();
		const index = app.ask(id, [item('Which one?', `One of: ${PASSWORD}, none`)], 'Hm.');
		await app.threadSays(id, 'Which one?');
		const modal = await openSession(app, id);
		await modal.choose(0, ['None of these (write below)']);
		await modal.fill(1, 'half a thought');
		await app.pass(2_000);
		await modal.close();
		app.step(id, NAMED);
		await app.openHome();
		await app.homeSays('half a thought');
		await app.home().press('Continue');
		const again = await app.slack.as('ada').waitForModal('[Send answer]');
		expect(answerFields(again)[1]?.value).toBe('half a thought');
		await again.choose(0, [MASK]);
		await again.fill(1, '');
		await again.submit();
		await app.until(() => app.service.sessions.values(id, index)[0] === PASSWORD);
		await app.pass(10_000);
		for (const post of app.thread(id)) expect(post.text()).not.toContain(PASSWORD);
	});

	it('was shown to somebody in a title: the history does not have it', async ({ app }) => {
		const id = await app.watched();
		app.ask(id, [item(`What else than ${PASSWORD}?`)], NAMED);
		await app.threadSays(id, 'What else');
		const theirs = await openSession(app, id, 'grace');
		await theirs.press('Show');
		await app.until(() => theirs.text().includes(PASSWORD));
		const modal = await openSession(app, id);
		await modal.press('Show');
		await app.until(() => modal.text().includes(PASSWORD));
		await modal.fill(0, 'first');
		await modal.submit();
		await app.pass(1_000);
		await theirs.fill(0, 'second');
		await theirs.submit();
		await app.until(() => theirs.text().includes(headline('conflicted')));
		await app.slack.as('ada').command('#agents', `/session history ${id}`);
		const history = await app.slack.as('ada').waitForModal('newest first');
		expect(shows(history.text())).toBe(false);
		expect(channelShows(app)).toBe(false);
	});

	it('is part of a name in the list of sessions', async () => {
		const env = { ...FEWEST_REQUESTS, DISCOVER_SESSIONS: 'true' };
		const app = await forCase(inboxApp({ env, service: { list: { mode: 'on' } } }));
		const id = app.session({ name: `Deploy with ${KEY}` });
		app.ask(id, ['Which colour?']);
		await app.openHome();
		await app.homeSays('Deploy with');
		await app.command('/session watch');
		expect(shows(sentToSlack(app))).toBe(false);
	});
});
