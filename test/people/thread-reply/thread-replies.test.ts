import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { itemsOf } from '../../../fake-session-service/log.ts';
import {
	type AppOptions,
	describe,
	digestText,
	ESCALATION,
	expect,
	FEWEST_REQUESTS,
	openButtons,
	type Posted,
	REMINDER,
	settingsOf,
	settledDigestText,
	type WatchingApp,
	watchingApp,
	withApp,
} from '../../kit.ts';

/** Said in the channel without a mention of the app: it must leave no trace. */
const CHATTER = 'the-chatter-of-colleagues';
const SEND_IT = 'Send this to the agent as the answer?';

/** Slack sends the messages of channels, as the manifest of 2.0.0 could ask for. What nobody meant for the agent is nowhere in the end. */
async function repliesApp(options: AppOptions = {}) {
	const app = await watchingApp({ realRates: true, ...options });
	app.slack.settings.events.push('message.channels', 'message.groups');
	return {
		...app,
		async [Symbol.asyncDispose]() {
			expect(await app.said()).not.toContain(CHATTER);
			await app[Symbol.asyncDispose]();
		},
	};
}
const it = withApp(repliesApp);
const overHttp = withApp(() => repliesApp({ transport: 'http' }));

const as = (app: WatchingApp, who: string) => app.slack.as(who);
const saidBy = (app: WatchingApp, who: string, text: string) =>
	as(app, who)
		.messages('#agents', { all: true })
		.find((message) => message.text().endsWith(text));
const answersTo = (app: WatchingApp, id: string) =>
	app.service.log.effectivePuts(id).map((put) => itemsOf(put)[0]?.value);

/** A watched session with a question, and the post of that. */
async function asked(app: WatchingApp, ...titles: string[]): Promise<{ id: string; post: Posted }> {
	const id = await app.watched();
	app.ask(id, titles);
	const post = await app.threadSays(id, titles[0] ?? '');
	// The program knows a moment later than Slack where it stands.
	await app.pass(500);
	return { id, post };
}

/** What only this person is asked after they mentioned the app in the thread. */
const offered = (app: WatchingApp, thread: Posted, text: string, who = 'ada') =>
	app.toldAfter(() => as(app, who).mention('#agents', text, { thread }), who);

/** Whether what only Ada saw is deleted. */
const isGone = ({ slack }: WatchingApp, { ts }: Posted) =>
	slack
		.as('ada')
		.messages('#agents', { all: true })
		.every((message) => message.ts !== ts);

/** What Slack is asked to show to single people, and to tell, while `act` runs and after it. */
async function callsOf(app: WatchingApp, act: () => Promise<unknown>): Promise<string[]> {
	const from = app.now();
	await act();
	await app.pass(2_000);
	return ['chat.postEphemeral', 'users.info', 'conversations.replies'].filter(
		(name) => app.calls(name, from).length > 0,
	);
}

overHttp(
	'offers a mention to its author, and sends it when they press Send: over HTTP, and after a restart',
	async ({ app }) => {
		const ada = app.slack.as('ada');
		const { id, post: thread } = await asked(app, 'Which colour?');
		const offer = await app.toldAfter(() => ada.mention('#agents', 'Sand & <stone>', { thread }));
		const [said] = offer.text().split('\nWhich colour? · ');
		expect([offer.threadTs(), said]).toEqual([thread.ts, `${SEND_IT}\n> Sand & <stone>`]);
		expect(JSON.stringify(offer.blocks())).not.toMatch(/"value":"[^}]*(?:Sand|stone)/);
		await app.toldAfter(() => app.slack.as('grace').mention('#agents', 'Forest', { thread }), 'grace');
		// Nothing of the session is in memory after the restart to compare an answer with.
		app.service.faults.add({ kind: 'slow', ms: 10_000, method: 'GET' });
		await app.restart();
		await Promise.all([offer.press('Send'), offer.press('Send')]);
		await app.until(() => thread.buttons().includes('Undo') && isGone(app, offer));
		expect(thread.text()).toContain('ada answered');
		app.service.faults.clear();
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		await app.pass(20_000);
		expect(thread.text()).toContain('ada: Sand & <stone> · ');
		expect(app.service.log.puts(id).map((put) => itemsOf(put)[0]?.value)).toEqual(['Sand & <stone>']);
		expect(app.log.join('\n')).not.toMatch(/stone|Forest/);
	},
);

it('sends a message as it is when Send is pressed: edited, one of the options, or not at all when it was deleted', async ({
	app,
}) => {
	const { id, post } = await asked(app, 'Which colour? One of: Sand, Forest');
	const offer = await offered(app, post, 'I would say');
	await saidBy(app, 'ada', 'I would say')?.edit('FOREST ');
	await offer.press('Send');
	await app.until(() => post.text().includes(': Forest') && isGone(app, offer));
	await post.press('Undo');
	await app.until(() => post.buttons().includes('Other answer…'));

	const hers = await offered(app, post, 'sand', 'grace');
	saidBy(app, 'grace', 'sand')?.remove();
	await hers.press('Send');
	await app.until(() => hers.text().includes('You have deleted that message'));
	await app.pass(15_000);
	expect(app.service.log.puts(id)).toEqual([]);

	// Without the scope, what was offered is sent.
	app.slack.faults.add({ method: 'conversations.replies', error: 'missing_scope', times: 1 });
	await (await offered(app, post, 'sand', 'grace')).press('Send');
	await app.until(() => answersTo(app, id).length === 1);
	expect(answersTo(app, id)).toEqual(['Sand']);
});

/** Ada presses Send, and the process dies when the answer is stored and sent or undone: the offer and its text stay. */
async function sentBeforeCrash(app: WatchingApp, offer: Posted, sent: () => unknown): Promise<void> {
	using database = new DatabaseSync(join(app.dataDir, 'handraise.db'));
	const drafts = database.prepare('select form_id as id, content from drafts').all();
	app.slack.faults.add({ method: 'response_url', status: 500, times: 1 });
	await offer.press('Send');
	await app.until(sent);
	await app.pass(1_000);
	const restore = database.prepare('update drafts set content = ? where form_id = ?');
	for (const { id = null, content = null } of drafts) restore.run(content, id);
}

it('says after a crash that a message which was edited since was sent as it was', async ({ app }) => {
	const { id, post } = await asked(app, 'Which colour?');
	const offer = await offered(app, post, 'I would take Rose');
	await sentBeforeCrash(app, offer, () => answersTo(app, id).length === 1);
	await saidBy(app, 'ada', 'I would take Rose')?.edit('I would take Sand');
	await offer.press('Send');
	await app.until(() => offer.text().includes('Your change came too late'));
	expect(offer.text()).toContain('> I would take Sand');
	expect(answersTo(app, id)).toEqual(['I would take Rose']);
});

it('says after a crash that a message which was undone since is not sent again', async ({ app }) => {
	const { id, post } = await asked(app, 'Which colour?');
	const offer = await offered(app, post, 'I would take Sky');
	await sentBeforeCrash(app, offer, () => post.buttons().includes('Undo'));
	await post.press('Undo');
	await app.until(() => post.buttons().includes('Answer…'));
	await offer.press('Send');
	await app.until(() =>
		offer.text().includes('Nothing was sent. To send another message of this thread, mention Handraise'),
	);
	await app.pass(15_000);
	expect(answersTo(app, id)).toEqual([]);
});

it('shows a message in a form that nothing in it leaves, and offers one that mentions somebody of a similar id', async ({
	app,
}) => {
	const { id, post } = await asked(app, 'Which colour?');
	const text = 'Sand* · Grace · continued';
	await (await offered(app, post, text)).press('Send');
	await app.until(() => answersTo(app, id).length === 1);
	await app.until(() => !post.buttons().includes('Undo'));
	expect(answersTo(app, id)).toEqual([text]);
	expect(post.text().split('\n')[1]).toMatch(/^ada: Sand\* · Grace · continued · (?:delivered|continued)$/);

	const other = await asked(app, 'Which size?');
	await offered(app, other.post, 'Ask <@U0BOTANY>');
});

type Fault = Omit<Parameters<WatchingApp['slack']['faults']['add']>[0], 'method'>;
const UNTOLD: readonly (readonly [string, Fault])[] = [
	['limits the calls', { status: 429, retryAfter: 30 }],
	['fails', { error: 'internal_error' }],
	['refuses with another code', { error: 'channel_not_found' }],
	['does not respond', { drop: true }],
	['leaves the messages out', { answer: {} }],
];

it.for(UNTOLD)('sends no text that its author may have corrected while Slack %s', async ([, fault], { app }) => {
	const { id, post } = await asked(app, 'Which colour?');
	const offer = await offered(app, post, 'I would say Rose');
	await saidBy(app, 'ada', 'I would say Rose')?.edit('I would say Sand');
	const lift = app.slack.faults.add({ method: 'conversations.replies', ...fault });
	const told = await app.toldAfter(() => offer.press('Send'));
	lift();
	expect(told.text()).toBe('⚠️ Could not check your message. Nothing was sent. Press again.');
	await app.pass(15_000);
	expect(app.service.log.puts(id)).toEqual([]);
	await offer.press('Send');
	await app.until(() => answersTo(app, id).length === 1);
	expect(answersTo(app, id)).toEqual(['I would say Sand']);
});

it('sends nothing after No, to somebody who may not answer any more, and when somebody else was first', async ({
	app,
}) => {
	const { id, post } = await asked(app, 'Which colour?');
	const [no, late] = [await offered(app, post, 'Rose'), await offered(app, post, 'Sand', 'grace')];
	await no.press('No');
	await app.until(() => no.text().includes('Nothing was sent'));
	const grace = app.slack.state.people.find(({ name }) => name === 'grace');
	Object.assign(grace ?? {}, { isRestricted: true });
	await app.pass(31_000);
	const told = await app.toldAfter(() => late.press('Send'), 'grace');
	expect(told.text()).toContain('Guests');
	Object.assign(grace ?? {}, { isRestricted: false });
	await app.pass(31_000);
	expect(app.service.log.puts(id)).toEqual([]);
	const mention = await app.toldAfter(() => as(app, 'ada').mention('#agents', 'Stone', { thread: post }));
	await mention.press('Send');
	await app.until(() => post.buttons().includes('Undo'));
	await late.press('Send');
	await app.until(() => late.text().includes('@ada answered Stone before you.'));
	await app.until(() => answersTo(app, id).length === 1);
	expect(answersTo(app, id)).toEqual(['Stone']);
});

it('asks for nothing and keeps nothing where nobody mentions the app', async ({ app }) => {
	const { post } = await asked(app, 'Which colour?');
	const elsewhere = await as(app, 'ada').say('#agents', CHATTER);
	const lines = app.log.length;
	expect(
		await callsOf(app, async () => {
			for (const thread of [post, elsewhere]) {
				const said = await as(app, 'grace').say('#agents', CHATTER, { thread, broadcast: true });
				await as(app, 'grace').say('#agents', '', { thread, files: ['a.pdf'] });
				await said.edit(`${CHATTER}, edited`);
				said.remove();
			}
		}),
	).toEqual([]);
	expect(app.log.slice(lines).filter((line) => line.includes('"what":"message"'))).toEqual([]);
});

it('refuses a text for a secret question, opens the form for several items, and knows the thread of a card', async ({
	app,
}) => {
	const secret = await asked(app, 'Your password');
	const refused = await offered(app, secret.post, 'hunter2-in-public');
	expect(refused.text()).toContain('Not in the thread');
	expect(openButtons(refused)).toEqual([]);

	const several = await asked(app, 'First?', 'Second?');
	const offer = await offered(app, several.post, 'The second');
	expect(offer.buttons()).toEqual(['Use as answer', 'No']);
	await offer.press('Use as answer');
	await as(app, 'ada').waitForModal('Which question does it answer?');

	const id = await app.watched({}, { questionsInThread: true });
	app.ask(id);
	await app.threadSays(id, 'Which colour?');
	await app.pass(500);
	const card = app.card(id);
	if (card === undefined) throw new Error('there is no card');
	expect((await offered(app, card, 'Sand')).text()).toContain(SEND_IT);
});

describe('a mention with a file', () => {
	const ONLY_TEXT = 'Only this text goes to the agent, not the file.';
	const NOT_SENT = 'Files and voice messages are not sent to the agent.';

	it('is offered with the word that only its text is sent', async ({ app }) => {
		const { id, post } = await asked(app, 'Which colour?');
		const offer = await app.toldAfter(() =>
			as(app, 'ada').mention('#agents', 'See the file', { thread: post, files: ['rose.pdf'] }),
		);
		expect(offer.text()).toContain(`${SEND_IT}\n> See the file`);
		expect(offer.text()).toContain(ONLY_TEXT);
		await offer.press('Send');
		await app.until(() => answersTo(app, id).length === 1);
		expect(answersTo(app, id)).toEqual(['See the file']);
		const several = await asked(app, 'First?', 'Second?');
		const form = await app.toldAfter(() =>
			as(app, 'ada').mention('#agents', 'See it', { thread: several.post, files: ['rose.pdf'] }),
		);
		expect(form.text()).toContain(ONLY_TEXT);
	});

	it('is told what to do where it has no text, and a text after it is offered', async ({ app }) => {
		const { post } = await asked(app, 'Which colour?');
		const voice = { thread: post, files: ['voice message.m4a'] };
		const told = await app.toldAfter(() => as(app, 'ada').mention('#agents', '', voice));
		expect([told.threadTs(), told.text()]).toEqual([post.ts, expect.stringContaining(NOT_SENT)]);
		expect(told.buttons()).toEqual(['Open in the dashboard']);
		expect((await offered(app, post, 'Rose')).text()).toContain(SEND_IT);
		const secret = await asked(app, 'Your password');
		const refused = await app.toldAfter(() =>
			as(app, 'ada').mention('#agents', '', { thread: secret.post, files: ['key.pem'] }),
		);
		expect(refused.text()).toContain(NOT_SENT);
		expect(refused.text()).not.toContain('in this thread');
	});

	it('is told so by a shortcut too, and in the window that the shortcut opens', async ({ app }) => {
		const { post } = await asked(app, 'Which colour?');
		const attached = { thread: post, files: ['rose.pdf'] };
		const [alone, said] = [
			await as(app, 'gus').say('#agents', '', attached),
			await as(app, 'gus').say('#agents', 'Rose', attached),
		];
		const told = await app.toldAfter(() => as(app, 'ada').shortcut(alone, 'use_as_answer'));
		expect(told.text()).toContain(NOT_SENT);
		await as(app, 'ada').shortcut(said, 'use_as_answer');
		const form = await as(app, 'ada').waitForModal('[Send answer]');
		expect(form.value(0)).toBe('Rose');
		expect(form.text()).toContain(ONLY_TEXT);
	});
});

describe('the thread of a reminder', () => {
	const it = withApp(() => repliesApp({ env: { ...FEWEST_REQUESTS, REMIND_AFTER: '40s' } }));

	it('takes a mention as one about its question, also that of an escalation', async ({ app }) => {
		await settingsOf(app, '5 min').save({ Mention: ['grace'] });
		const [ada, grace] = [app.slack.as('ada'), app.slack.as('grace')];
		const id = await app.watchedAsking(['Which colour? One of: Sand, Forest']);
		const reminder = await app.threadSays(id, REMINDER);
		await app.pass(500);
		const offer = await app.toldAfter(() => ada.mention('#agents', 'FOREST', { thread: reminder }));
		const [thread, ...lines] = [offer.threadTs(), ...offer.text().split('\n')];
		expect(thread).toBe(reminder.ts);
		expect(lines).toEqual([
			SEND_IT,
			'> FOREST',
			expect.stringMatching(/^Which colour\?.* · Order \d+ chairs$/),
			'[Send] [No]',
		]);
		const escalation = await app.threadSays(id, ESCALATION);
		await app.pass(500);
		const hers = await app.toldAfter(() => grace.mention('#agents', 'sand', { thread: escalation }), 'grace');
		expect([hers.threadTs(), hers.buttons()]).toEqual([escalation.ts, ['Send', 'No']]);
		await offer.press('Send');
		await app.until(() => reminder.text().includes('ada: Forest') && answersTo(app, id).length === 1);
		expect(answersTo(app, id)).toEqual(['Forest']);
	});

	it('of several questions says where an answer belongs, and takes it when one is left', async ({ app }) => {
		const ada = app.slack.as('ada');
		const ids = [await app.watched(), await app.watched()];
		const [answered = '', left = ''] = ids;
		app.ask(answered, ['Which colour?']);
		app.ask(left, ['Which name stands on the invoice?']);
		const list = await app.until(() => app.inChannel().find((post) => post.text().includes(digestText(2))));
		await app.pass(500);
		const told = await app.toldAfter(() => ada.mention('#agents', 'Sand', { thread: list }));
		expect([told.threadTs(), told.text()]).toEqual([
			list.ts,
			'Handraise cannot tell which question you answer: write in its thread, or press Answer beside it.',
		]);
		const again = await ada.say('#agents', 'Forest', { thread: list });
		expect((await app.toldAfter(() => ada.shortcut(again, 'use_as_answer'))).text()).toBe(told.text());
		expect(ada.modal()).toBeNull();

		app.service.sessions.answerAsPage(answered, ['Stone']);
		await app.until(() => list.text().includes(digestText(1)));
		// Its author may mean the other one.
		const offer = await app.toldAfter(() => ada.mention('#agents', 'Rose', { thread: list }));
		expect([offer.threadTs(), offer.text()]).toEqual([
			list.ts,
			expect.stringMatching(/\n> Rose\nWhich name stands on the invoice\? · Order \d+ chairs\n/),
		]);
		await offer.press('Send');
		await app.until(() => answersTo(app, left).length === 1);
		expect(answersTo(app, left)).toEqual(['Rose']);
		await app.until(() => list.text().includes(settledDigestText(2)));
		const late = await app.toldAfter(() => ada.mention('#agents', 'Sand', { thread: list }));
		expect(late.text()).toContain('so there is nothing to answer');
	});
});
