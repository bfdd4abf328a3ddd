import { afterEach, describe, expect, it } from 'vitest';
import type { Posted } from '../../../fake-slack/index.ts';
import type { AppOptions } from '../../support/app.ts';
import { expectNothingWrong, USUAL_REQUESTS, type WatchingApp, watchingApp } from './harness.ts';

const MINUTE = 60_000;
const COLOURS = [{ title: 'Which colour?', description: 'One of: red, green' }];
let app: WatchingApp;

async function start({ env, service, ...options }: AppOptions = {}): Promise<void> {
	app = await watchingApp({
		...options,
		env: { DISCOVER_SESSIONS: 'true', ...env },
		service: { list: { mode: 'on' }, ...service },
	});
}

afterEach(async () => {
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

/** The posts about a session in a channel. */
const asked = (id: string, channel?: string): Posted[] =>
	app.inChannel(channel).filter((post) => post.text().includes(app.service.sessions.get(id)?.name ?? id));
/** All posts in the channel but the one that tells who began. */
const raised = () => app.inChannel().filter((post) => !post.text().includes('has typed'));
const postOf = (id: string, channel?: string) => app.until(() => asked(id, channel)[0]);
const saysInChannel = (words: string, channel?: string) =>
	app.until(() => app.inChannel(channel).find((post) => post.text().includes(words)));
const listCalls = () => app.service.log.list().filter(({ path }) => path.includes('query')).length;

async function watchAll(flags = '', channel?: string): Promise<Posted> {
	return app.command(`/session watch all ${flags}`.trim(), 'ada', channel);
}

/** A session that nobody watches and that waits for a person. */
function waiting(name = 'Order new chairs'): string {
	const id = app.session({ name });
	app.ask(id, COLOURS);
	return id;
}

/** Somebody answers outside of Handraise, and the agent goes on. */
function answerElsewhere(id: string, index = 2): void {
	app.service.sessions.answerAsPage(id, ['red'], index);
	app.service.sessions.setStatus(id, 'active');
}

/** Listed sessions that ask nothing when they are read. */
function dead(count: number): void {
	for (let number = 0; number < count; number += 1) app.session({ name: `Dead ${number}`, status: 'humanInput' });
}

describe('listed sessions that ask nothing', () => {
	it('do not keep watched sessions from being read', async () => {
		await start({ env: { ...USUAL_REQUESTS, MAX_WATCHES_PER_CHANNEL: '100', REMIND_AFTER: 'off' } });
		const ids = Array.from({ length: 10 }, () => app.session());
		await app.command(`/session watch ${ids.join(' ')}`);
		await app.pass(MINUTE);
		const count = () => ids.reduce((sum, id) => sum + app.service.log.reads(id).length, 0);
		const before = count();
		await app.pass(2 * MINUTE);
		const usual = count() - before;
		dead(150);
		await watchAll();
		await app.pass(5 * MINUTE);
		const then = count();
		await app.pass(2 * MINUTE);
		expect(count() - then).toBeGreaterThan(usual / 2);
	}, 60_000);

	it('do not keep a question out of a full channel, and do not count as watched there', async () => {
		await start({ env: { MAX_WATCHES_PER_CHANNEL: '1' } });
		dead(6);
		await app.pass(20_000);
		const id = waiting('Real');
		await watchAll();
		await app.until(() => asked(id)[0]);
		expect(app.inChannel().filter((post) => post.text().includes('limit'))).toEqual([]);
	});

	it('do not keep their places when they cannot be read', async () => {
		await start({ env: { MAX_WATCHES_PER_CHANNEL: '1' } });
		const odd = app.session({ name: 'Odd', status: 'humanInput' });
		app.service.faults.add({ kind: 'error', sessionId: odd });
		await watchAll();
		await app.pass(20_000);
		const id = waiting('Real');
		await app.until(() => asked(id)[0]);
		expect(app.inChannel().filter((post) => post.text().includes('unavailable'))).toEqual([]);
	});
});

describe('/session watch all', () => {
	it('brings a raised hand into the channel as one post, which says who answered', async () => {
		await start();
		expect((await watchAll()).text()).toContain('from now on');
		const begun = await saysInChannel('has typed `/session watch all`');
		expect(begun.text()).toContain('ada');
		const id = waiting();
		const post = await postOf(id);
		expect(post.text()).toContain('Order new chairs');
		expect(post.buttons()).toEqual(['red', 'green', 'Answer…', 'Hand over']);
		await post.press('green');
		await app.until(() => app.service.log.puts(id).length === 1);
		app.service.sessions.setStatus(id, 'active');
		await app.until(() => post.buttons().length === 0);
		expect(post.text()).toMatch(/chose|Answered by/);
		await app.pass(MINUTE);
		expect(raised()).toHaveLength(1);
		expect(post.thread()).toEqual([]);
		expect((await app.command('/session list')).text()).toContain('No session waits here now');
	});

	it('posts each new question of a session once, and the next one after an answer outside of Slack', async () => {
		await start();
		await watchAll();
		const id = waiting();
		const first = await postOf(id);
		answerElsewhere(id);
		await app.until(() => first.text().includes('Answered outside Slack'));
		await app.pass(15_000);
		app.ask(id, ['Which size?']);
		const second = await app.until(() => asked(id)[1]);
		expect(second.text()).toContain('Which size?');
		expect(second.threadTs()).toBeNull();
		await app.pass(MINUTE);
		expect(asked(id)).toHaveLength(2);
	});

	it('posts at once what the agent asks next after an answer in Handraise, also between two lists', async () => {
		await start();
		await watchAll();
		const id = waiting();
		const first = await postOf(id);
		await first.press('green');
		await app.until(() => app.service.log.puts(id).length === 1);
		const lists = listCalls();
		app.service.list.mode = 'off';
		app.service.sessions.setStatus(id, 'active');
		await app.until(() => first.buttons().length === 0);
		app.ask(id, ['Which size?']);
		const second = await app.until(() => asked(id)[1]);
		expect(second.text()).toContain('Which size?');
		expect(listCalls() - lists).toBeLessThanOrEqual(1);
		answerElsewhere(id, app.service.sessions.askingIndex(id));
		await app.until(() => second.text().includes('Answered outside Slack'));
		await app.pass(MINUTE);
		expect(asked(id)).toHaveLength(2);
		expect((await app.command('/session list')).text()).toContain('No session waits here now');
	});

	it('posts a question that replaces an open one beside it, and reminds in the thread of the newest', async () => {
		await start({ env: { REMIND_AFTER: '40s' } });
		await watchAll();
		const id = waiting();
		const first = await postOf(id);
		app.service.sessions.push(id, {
			role: 'assistant',
			content: 'Another thing.',
			human_input: [{ title: 'Which size?', description: '' }],
		});
		const second = await app.until(() => asked(id)[1]);
		await app.until(() => first.buttons().length === 0);
		const reminder = await app.until(() => second.thread()[0]);
		expect(reminder.text()).toContain('Nobody has answered');
		expect(first.thread()).toEqual([]);
	});

	it('leaves a session alone that the channel watches, and brings it into another channel', async () => {
		await start();
		const id = await app.watched();
		await watchAll();
		await watchAll('', '#secret');
		app.ask(id);
		await app.threadSays(id, 'Which colour?');
		await postOf(id, '#secret');
		await app.pass(30_000);
		expect(app.thread(id).filter((post) => post.text().includes('Which colour?'))).toHaveLength(1);
		expect(asked(id, '#secret')).toHaveLength(1);
	});

	it('says on the post who is answering, and the id of the session', async () => {
		await start();
		await watchAll();
		const id = waiting();
		const post = await postOf(id);
		expect(post.text()).toContain(`session ${id}`);
		const hers = app.slack.as('grace').messages(post.channel, { all: true });
		await hers.find(({ ts }) => ts === post.ts)?.press('Answer…');
		await app.until(() => post.text().includes('@grace is answering this'));
		await app.slack.as('grace').modal()?.close();
		await app.until(() => !post.text().includes('is answering this'));
		expect(asked(id)).toHaveLength(1);
	});

	it('keeps away a question that somebody stopped, also when the list was away, and brings the next one', async () => {
		await start();
		await watchAll();
		const id = waiting();
		await postOf(id);
		await app.command(`/session unwatch ${id}`);
		app.service.list.mode = 'off';
		await saysInChannel('`watch all` is paused');
		app.service.list.mode = 'on';
		await saysInChannel('come into this channel again');
		app.service.sessions.setStatus(id, 'active');
		await app.pass(15_000);
		app.service.sessions.setStatus(id, 'humanInput');
		await app.pass(MINUTE);
		expect(asked(id)).toHaveLength(1);
		app.service.sessions.push(id, {
			role: 'assistant',
			content: 'Else.',
			human_input: [{ title: 'Which size?', description: '' }],
		});
		await app.until(() => asked(id)[1]);
		expect(asked(id)[1]?.text()).toContain('asks for an answer');
	});

	it('finds the list again after an outage in which nothing could be read', async () => {
		await start();
		await watchAll();
		const id = waiting();
		await postOf(id);
		app.service.faults.add({ kind: 'error' });
		await saysInChannel('The session service has been unavailable');
		app.service.sessions.remove(id);
		await app.pass(2 * MINUTE);
		app.service.faults.clear();
		const next = await app.until(() => postOf(waiting('Order a desk')));
		expect(next.text()).toContain('Order a desk');
	});

	it('makes a card of a raised hand when somebody watches its session', async () => {
		await start();
		await watchAll();
		const id = waiting();
		const post = await postOf(id);
		expect((await app.command(`/session watch ${id}`, 'grace')).text()).toContain('is watched in this channel now');
		const card = await app.until(() => asked(id)[1]);
		expect(card.text()).toContain('Waiting');
		answerElsewhere(id);
		await app.until(() => post.buttons().length === 0);
		await app.until(() => card.thread().some((reply) => reply.text().includes('Answered outside Slack')));
		expect((await app.command('/session list')).text()).toContain('This channel watches one session');
	});

	it('believes the read, not the list: a session that asks nothing is looked at every 30 seconds', async () => {
		await start();
		await watchAll();
		const id = app.session({ status: 'humanInput' });
		await app.until(() => app.service.log.reads(id).length === 1);
		await app.pass(2 * MINUTE);
		const reads = app.service.log.reads(id).length;
		expect(reads).toBeGreaterThanOrEqual(3);
		expect(reads).toBeLessThanOrEqual(5);
		expect(raised()).toEqual([]);
		app.ask(id);
		await postOf(id);
	});

	it('does not end what a list leaves out while it waits', async () => {
		await start();
		await watchAll();
		const id = waiting();
		const post = await postOf(id);
		app.service.list.hidden.add(id);
		await app.pass(2 * MINUTE);
		expect(post.buttons()).toContain('red');
		app.service.list.hidden.delete(id);
		await app.pass(MINUTE);
		expect(asked(id)).toHaveLength(1);
		answerElsewhere(id);
		await app.until(() => post.buttons().length === 0);
	});

	it('settles the post when the session ends or is gone', async () => {
		await start();
		await watchAll();
		const [stopped, deleted] = [waiting(), waiting('Order lamps')];
		const posts = [await postOf(stopped), await postOf(deleted)];
		app.service.sessions.setStatus(stopped, 'stopped');
		app.service.sessions.remove(deleted);
		await app.until(() => posts.every((post) => post.buttons().length === 0));
		expect(posts[0]?.text()).toContain('Closed without an answer');
		expect(raised()).toHaveLength(2);
	});

	it('keeps to the cap of the channel, says so once, and brings the longest waiting next', async () => {
		await start({ env: { MAX_WATCHES_PER_CHANNEL: '2' } });
		const first = waiting('First');
		await watchAll();
		await postOf(first);
		const second = waiting('Second');
		await postOf(second);
		const third = waiting('Third');
		await app.pass(20_000);
		const fourth = waiting('Fourth');
		const full = await saysInChannel('This channel watches 2 sessions, and that is the limit');
		await app.pass(MINUTE);
		expect(app.inChannel().filter((post) => post.text().includes('that is the limit'))).toHaveLength(1);
		expect([...asked(third), ...asked(fourth)]).toEqual([]);
		answerElsewhere(first);
		await postOf(third);
		await app.pass(20_000);
		expect(asked(fourth)).toEqual([]);
		expect(full.buttons()).toEqual([]);
	});

	it('shows how it was asked to: discreet, without buttons', async () => {
		await start();
		expect((await watchAll('--discreet --no-buttons')).text()).toContain('from now on');
		expect((await watchAll('--discreet')).text()).toContain('come into this channel already');
		expect((await watchAll('--buttons')).text()).toContain('New ones are posted by `watch all --discreet`.');
		await watchAll('--no-buttons');
		const post = await postOf(waiting());
		expect(post.buttons()).not.toContain('red');
		expect(app.slack.state.messages.find(({ ts }) => ts === post.ts)?.text).not.toContain('Which colour?');
		expect((await watchAll('--thread-only')).text()).toContain('`watch all` takes `--discreet`');
	});

	it('ends with /session unwatch all, and is listed with who began it until then', async () => {
		await start();
		await watchAll();
		const post = await postOf(waiting());
		const listed = (await app.command('/session list', 'grace')).text();
		expect(listed).toContain('This channel watches one session');
		expect(listed).toMatch(/The questions of all sessions come into this channel: `watch all` by @ada/);
		const told = (await app.command('/session unwatch all', 'grace')).text();
		expect(told).toContain('One session is not watched here any more.');
		expect(told).toContain('do not come into this channel any more');
		await app.until(() => post.buttons().length === 0);
		const ended = await saysInChannel('has typed `/session unwatch all`');
		expect(ended.text()).toContain('grace');
		const another = waiting('Another');
		await app.pass(MINUTE);
		expect(asked(another)).toEqual([]);
		expect((await app.command('/session list')).text()).not.toContain('all sessions');
		expect((await app.command('/session unwatch all')).text()).toContain('This channel watches no session');
	});

	it('does not bring back a raised hand that somebody unwatched, until it is raised again', async () => {
		await start();
		await watchAll();
		const id = waiting();
		const post = await postOf(id);
		await app.command(`/session unwatch ${id}`);
		await app.until(() => post.buttons().length === 0);
		expect(post.text()).toContain(`\`/session\` with its id shows its state.`);
		expect(post.text()).toContain(`session ${id}`);
		await app.pass(2 * MINUTE);
		expect(asked(id)).toHaveLength(1);
		answerElsewhere(id);
		await app.pass(30_000);
		app.ask(id, ['Which size?']);
		await app.until(() => asked(id)[1]);
	});
});

describe('/session watch all is refused in words', () => {
	it('when Handraise does not discover sessions', async () => {
		await start({ env: { DISCOVER_SESSIONS: 'false', ADMIN_CONTACT: 'the help desk' } });
		const told = (await watchAll()).text();
		expect(told).toContain('DISCOVER_SESSIONS');
		expect(told).toContain('the help desk');
		waiting();
		await app.pass(MINUTE);
		expect(raised()).toEqual([]);
	});

	it('when the list is not used', async () => {
		await start({ env: { SESSION_SERVICE_LIST: 'off' } });
		expect((await watchAll()).text()).toContain('SESSION_SERVICE_LIST');
		await app.pass(20_000);
		expect(listCalls()).toBe(0);
	});

	it('when the service has no list', async () => {
		await start({ service: { list: { mode: 'off' } } });
		await app.pass(5_000);
		expect((await watchAll()).text()).toContain('cannot get the list of sessions');
	});

	it.each([
		{ what: 'where the bot is not a member', channel: '#general', words: 'I am not in this channel' },
		{ what: 'in a shared channel', channel: '#shared', words: 'shared with another organisation' },
		{ what: 'by a guest', channel: '#agents', words: 'Guests', who: 'gus' },
	])('$what', async ({ channel, words, who = 'ada' }) => {
		await start();
		expect((await app.command('/session watch all', who, channel)).text()).toContain(words);
		waiting();
		await app.pass(MINUTE);
		expect(app.inChannel(channel)).toEqual([]);
	});
});

describe('what ends or pauses it', () => {
	it('ends where the bot was removed, and tells who began it', async () => {
		await start();
		await watchAll();
		const id = waiting();
		await postOf(id);
		await app.slack.remove('#agents', 'handraise');
		const dm = await app.until(() => app.slack.as('ada').dm().at(-1));
		expect(dm.text()).toContain('The watch of all sessions in');
		expect(dm.text()).toContain('use `/session watch all` to start again');
		expect(dm.text()).toContain('I was removed from the channel');
		waiting('Another');
		await app.pass(MINUTE);
		expect(app.slack.as('ada').dm()).toHaveLength(1);
	});

	it('pauses when the list disappears and says so once, and again when it is back', async () => {
		await start();
		await watchAll();
		const post = await postOf(waiting());
		app.service.list.mode = 'off';
		await saysInChannel('`watch all` is paused');
		expect((await app.command('/session list')).text()).toContain('`watch all` is paused');
		expect(post.buttons()).toContain('red');
		const other = waiting('Other');
		await app.pass(10 * MINUTE);
		expect(raised()).toHaveLength(2);
		app.service.list.mode = 'on';
		await app.pass(5 * MINUTE);
		await saysInChannel('come into this channel again');
		await postOf(other);
	});

	it('does not pause for a list that fails for a moment', async () => {
		await start();
		await watchAll();
		await postOf(waiting());
		app.service.list.mode = 'off';
		await app.pass(30_000);
		app.service.list.mode = 'on';
		await postOf(waiting('Other'));
		expect(raised()).toHaveLength(2);
	});

	it('tells the channel once when discovering is switched off, and again when it is on', async () => {
		await start();
		await watchAll();
		const id = waiting();
		const post = await postOf(id);
		await app.restart({ DISCOVER_SESSIONS: 'false' });
		await saysInChannel('DISCOVER_SESSIONS');
		await app.pass(5_000);
		await app.restart({ DISCOVER_SESSIONS: 'false' });
		waiting('Other');
		await app.pass(MINUTE);
		expect(raised()).toHaveLength(2);
		answerElsewhere(id);
		await app.until(() => post.buttons().length === 0);
		await app.restart({ DISCOVER_SESSIONS: 'true' });
		await saysInChannel('come into this channel again');
		await app.until(() => app.inChannel().some((one) => one.text().includes('Other')));
	});

	it('goes on after a restart without posting anything twice', async () => {
		await start();
		await watchAll();
		const id = waiting();
		await postOf(id);
		await app.restart();
		const other = waiting('Other');
		await postOf(other);
		await app.pass(MINUTE);
		expect([asked(id).length, asked(other).length]).toEqual([1, 1]);
	});

	it('goes on after an outage of the service', async () => {
		await start();
		await watchAll();
		await app.pass(15_000);
		await app.service.goDown();
		await app.pass(3 * MINUTE);
		const id = waiting();
		await app.service.comeBack();
		await postOf(id);
	});
});
