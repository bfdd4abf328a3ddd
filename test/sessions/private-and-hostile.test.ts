import { OUTSIDE } from '../../src/screens/question-post.ts';
import {
	asking,
	done,
	expect,
	item,
	type Modal,
	openSession,
	task,
	type WatchingApp,
	watchingApp,
	withApp,
} from '../kit.ts';

const it = withApp(() => watchingApp({ service: { resumeAfterMs: 50 } }));

/** A session with a file and a screenshot behind signed links. */
function withFiles(app: WatchingApp): string {
	const id = app.session();
	app.service.sessions.run(id, {
		id,
		summary: '',
		seed: { status: 'active', name: 'Has files', maxSteps: 9, messages: [task('Make a list.')], files: [] },
		async play(agent) {
			agent.step('I write the list.');
			agent.change((session) => {
				session.files = [{ filename: 'list.csv', timestamp: '2026-01-05T09:00:00Z', signedUrl: signed('list.csv') }];
			});
		},
	});
	return id;
}

const signed = (name: string) => `https://bucket.example/${name}?X-Amz-Signature=0123456789abcdef&X-Amz-Expires=604800`;

/** Presses *Open session* on the card, and waits for the window with the screenshot. */
async function windowOf(app: WatchingApp, id: string): Promise<Modal> {
	const card = await app.until(() => app.card(id));
	await card.press('Open session');
	return app.until(() => {
		const modal = app.slack.as('ada').modal();
		return modal?.text().includes('I write the list.') === true && modal;
	});
}

/** Of its screenshot. */
function linkOf(modal: Modal): string {
	const link = /"image_url":"([^"]*)"/.exec(JSON.stringify(modal.blocks()))?.[1] ?? '';
	expect(link).toContain('X-Amz-Signature');
	return link;
}

it('shows the screenshot in the window and the files with fresh links only to the person who presses', async ({
	app,
}) => {
	const id = withFiles(app);
	await app.command(`/session watch ${id}`);
	const card = await app.until(() => app.card(id));
	expect(card.buttons()).toEqual(['Open session', 'Files (1)', 'Open in the dashboard', 'Stop watching']);
	const files = await app.toldAfter(() => card.press('Files (1)'));
	expect(files.isEphemeral()).toBe(true);
	expect(files.text()).toContain('list.csv');
	expect(files.link('Open')).toBe(signed('list.csv'));
	expect(files.text()).toContain('Only you see this.');
	const opened = await windowOf(app, id);
	expect(opened.text()).toContain('Latest screenshot\n[image: ');
	const first = linkOf(opened);
	const graces = app.slack.as('grace').messages('#agents', { all: true });
	expect(graces.filter((one) => one.text().includes('list.csv'))).toEqual([]);
	app.service.sessions.renewLinks(id);
	app.step(id, 'I go on.');
	await opened.close();
	expect(linkOf(await windowOf(app, id))).not.toBe(first);
	// The window of one person, and no message.
	expect(
		app.slack
			.as('ada')
			.messages('#agents', { all: true })
			.filter((one) => /screenshot/i.test(one.text())),
	).toEqual([]);
	expect(card.text()).not.toMatch(/https?:/);
});

it('shows a name as it is written, with its quotation marks and what looks like the code of an emoji', async ({
	app,
}) => {
	const id = app.session({ name: 'O’Brien⁗ says ʼʼ🙷 and :x: failed' });
	await app.watch(id);
	expect(app.card(id)?.text()).toContain('⚙️ O’Brien⁗ says ʼʼ🙷 and :x: failed · working');
});

it('keeps signed links out of a channel whatever the agent writes', async ({ app }) => {
	const link = signed('secret.pdf');
	const id = app.session({
		name: `Has ${link}`,
		messages: [task(`Fetch ${link}`), done(`I opened ${link} and [the list](${link}).`, { go_to_url: { url: link } })],
	});
	await app.watch(id);
	app.ask(id, [item(`Is ${link} right?`, `See ${link}`)], `Look at ${link}`);
	await app.until(() => app.thread(id)[0]);
	app.service.sessions.answerAsPage(id, [`No, ${link}`]);
	await app.until(() => app.thread(id)[0]?.text().includes(OUTSIDE));
	app.service.sessions.push(id, done('', { done: { text: `Result at [here](${link}) and ${link}` } }));
	app.service.sessions.setStatus(id, 'completed');
	await app.cardSays(id, '· done');
});

it("neutralises a session's texts in the card and in the thread", async ({ app }) => {
	const nasty =
		'<!channel> <@U0ADA> <#C0AGENTS|x> <https://evil.example|https://bank.example> [bank](https://evil.example)';
	const id = app.session({
		name: nasty,
		maxSteps: 9,
		messages: [task(nasty), done(nasty.repeat(40), { go_to_url: { url: 'javascript:alert(1)' } }), asking(nasty, [])],
	});
	await app.watch(id);
	app.ask(id, [item(nasty, nasty), item('', '```'), item('\u202Eevil', 'x'.repeat(30_000))], nasty.repeat(100));
	await app.until(() => app.thread(id)[0]);
	const form = await openSession(app, id);
	await form.fill(0, nasty);
	await form.fill(1, '<!here>');
	await form.fill(2, '```');
	expect((await form.submit()).outcome).toBe('updated');
	await app.answered(id);
	app.service.sessions.push(id, done('', { done: { text: `# ${nasty}\n${'a long result '.repeat(2_000)}` } }));
	app.service.sessions.setStatus(id, `<!everyone> ${nasty}`);
	await app.cardSays(id, '<!everyone>');
	app.service.sessions.setStatus(id, 'completed');
	await app.cardSays(id, '· done');
	await app.command('/session list');
	expectDisarmed(app);
});

/** Nothing that everybody reads calls anybody, and no link shows another address than its own. */
function expectDisarmed(app: WatchingApp): void {
	for (const { request } of [...app.calls('chat.postMessage'), ...app.calls('chat.update')]) {
		for (const { type, text, url } of partsOf(request)) {
			if (type === 'mrkdwn' || type === '') expect(text.replace(OURS, '')).not.toContain('<');
			expect(['broadcast', 'emoji', 'markdown']).not.toContain(type);
			if (type === 'link') expect(`<${url}|${text}>`.replace(OURS, '')).toBe('');
		}
	}
}

/** The app's own marks in angle brackets: people who answered, times, a channel, a link to a post. */
const OURS =
	/<@U0(?:ADA|GRACE)>|<!date\^\d+\^[^<>]*>|<#C0[A-Z]+>|<https:\/\/[\w.-]+\/archives\/[^<>|]+\|Go to (?:question|result)>/g;

/** Every text of a message with what Slack takes it for; the one that notifications use has no type. */
function* partsOf(value: unknown): Generator<Record<'type' | 'text' | 'url', string>> {
	if (typeof value === 'string') {
		yield* partsOf(parsed(value));
	} else if (typeof value === 'object' && value !== null) {
		const { type = '', text, url = '' } = value as { type?: unknown; text?: unknown; url?: unknown };
		if (typeof text === 'string' || type === 'broadcast' || type === 'emoji')
			yield { type: String(type), text: String(text), url: String(url) };
		for (const child of Object.values(value)) yield* partsOf(child);
	}
}

/** Blocks travel as JSON in a form's field. */
function parsed(value: string): unknown {
	try {
		return /^[[{]/.test(value) ? JSON.parse(value) : null;
	} catch {
		return null;
	}
}

it('links no bare name, channel or address of an agent in posts, updates and modals', async ({ app }) => {
	const bare = 'ask @here, @grace and @ops in #agents, see https://evil.example/x';
	const id = app.session({ name: bare, messages: [task(bare), done(bare), asking(bare, [])] });
	await app.command(`/session watch ${id}`);
	const card = await app.until(() => app.card(id));
	app.ask(id, [item(bare, bare)], bare);
	await app.threadSays(id, '@here');
	const form = await openSession(app, id);
	expect(JSON.stringify(form.blocks())).toContain('@here');
	expect(JSON.stringify(form.blocks())).not.toMatch(/<[!@#h](?!date)/);
	await form.close(true);
	app.service.sessions.answerAsPage(id, [bare]);
	await app.until(() => app.calls('chat.update').some(({ request }) => request.ts === card.ts));
	await app.threadSays(id, OUTSIDE);
	const list = await app.command('/session list');
	for (const message of [card, ...app.thread(id), list]) {
		expect(message.text()).toContain('@here');
		expect(message.links()).toEqual([]);
		expect(message.rung()).toEqual([]);
	}
	const stored = app.slack.state.messages.filter(({ ts, threadTs }) => ts === card.ts || threadTs === card.ts);
	for (const { text, history } of stored) {
		for (const version of [text, ...history.map((one) => one.text)]) expect(version).not.toMatch(/<[!@#]/);
	}
});
