import type { FakeSessionService } from '../../../fake-session-service/fake-session-service.ts';
import { type AppOptions, asking, expect, forCase, it, type WatchingApp, watchingApp } from '../../kit.ts';

/** Reading so many in turn takes 24 s. */
const WATCHED = 100;
/** So many questions, each long after the one before. */
const QUESTIONS = 3;

const start = ({ env = {}, service }: AppOptions = {}) =>
	forCase(watchingApp({ env, service: { list: { mode: 'on' }, ...service } }));

/** Watches `count` sessions at work; each was read when this resolves. */
async function watchedCrowd(app: WatchingApp, count = WATCHED): Promise<string[]> {
	const ids = Array.from({ length: count }, () => app.session());
	for (let at = 0; at < count; at += 20) {
		await app.command(`/session watch ${ids.slice(at, at + 20).join(' ')}`);
		// The reads of those who watch are limited too.
		await app.pass(10_000);
	}
	const unread = new Set(ids);
	let seq = 0;
	await app.until(
		() => {
			for (const read of app.service.log.list({ since: seq })) {
				seq = read.seq;
				if (read.kind === 'read') unread.delete(read.sessionId ?? '');
			}
			return unread.size === 0;
		},
		() => `not read: ${[...unread]}`,
		count * 400,
	);
	return ids;
}

/** Milliseconds from a question of this session to the end of the read that finds it. */
async function seenAfter(app: WatchingApp, id: string, words = wordsOf(id)): Promise<number> {
	const askedAt = app.clock.now();
	app.service.sessions.push(id, asking('I need to know something.', [words]));
	app.service.sessions.setStatus(id, 'humanInput');
	const { seq } = app.service.log.list().at(-1) ?? { seq: 0 };
	await app.until(() =>
		app.service.log.list({ since: seq, sessionId: id }).some(({ answeredAt }) => answeredAt !== null),
	);
	return app.clock.now() - askedAt;
}

const wordsOf = (id: string) => `What about ${id}?`;

/** The posts of a question that were sent. */
const postsOf = (app: WatchingApp, id: string, words = wordsOf(id)) =>
	app
		.calls('chat.postMessage')
		.map(({ request }) => request as { readonly text: string })
		.filter(({ text }) => text.startsWith('An agent asks') && text.includes(words));

const metric = async (app: WatchingApp, name: string) => {
	const text = await fetch(`${app.app.url}/metrics`).then((response) => response.text());
	return Number(new RegExp(`^handraise_${name} (\\S+)$`, 'm').exec(text)?.[1]);
};

it('sees a question within 5 s although 100 sessions are watched', async () => {
	const app = await start();
	const ids = await watchedCrowd(app);
	const delays: number[] = [];
	for (const id of ids.slice(0, QUESTIONS)) {
		await app.pass(7_300);
		delays.push(await seenAfter(app, id));
	}
	expect(Math.max(...delays)).toBeLessThanOrEqual(5_000);
	for (const id of ids.slice(0, QUESTIONS)) await app.until(() => postsOf(app, id).length > 0);
});

/** What can become of the list while everything else works. */
const TROUBLES: readonly (readonly [name: string, begin: (service: FakeSessionService) => void])[] = [
	['fails', ({ faults }) => void faults.add({ kind: 'error', onlyLists: true })],
	['is cut off', ({ faults }) => void faults.add({ kind: 'cut-off', onlyLists: true })],
	['never answers', ({ faults }) => void faults.add({ kind: 'hang', onlyLists: true })],
	['is slow', ({ faults }) => void faults.add({ kind: 'late', ms: 1_500, onlyLists: true })],
	['has more than 10 MB', ({ list }) => void Object.assign(list, { bytes: 11_000_000 })],
	['has vanished', ({ list }) => void Object.assign(list, { mode: 'off' })],
	['is a web page now', ({ list }) => void Object.assign(list, { mode: 'page' })],
	['ignores the status', ({ list }) => void Object.assign(list, { ignoresStatus: true })],
	['is a minute late', ({ list }) => void Object.assign(list, { lateMs: 60_000 })],
	['lacks sessions', ({ list, sessions }) => void sessions.ids().map((id) => list.hidden.add(id))],
];

it('finds every question once within a minute whatever becomes of the list, and uses it again', async () => {
	const app = await start({ env: { REMIND_AFTER: 'off', SESSION_SERVICE_RPM: '125' } });
	const { service } = app;
	const ids = await watchedCrowd(app, 24);
	expect(await seenAfter(app, ids[0] ?? '')).toBeLessThanOrEqual(8_000);
	for (const [index, [name, begin]] of TROUBLES.entries()) {
		const id = ids[index + 1] ?? '';
		begin(service);
		await app.pass(10_000);
		expect(await seenAfter(app, id), name).toBeLessThanOrEqual(60_000);
		await app.until(() => postsOf(app, id).length > 0);
		service.sessions.answerAsPage(id, ['Blue']);
		service.faults.clear();
		service.list.hidden.clear();
		Object.assign(service.list, { mode: 'on', bytes: 0, lateMs: 0, ignoresStatus: false });
		const lists = service.log.lists().length;
		await app.until(() =>
			service.log
				.lists()
				.slice(lists)
				.some(({ status }) => status === 200 || status === 304),
		);
	}
	await app.pass(5_000);
	expect(await seenAfter(app, ids[20] ?? '')).toBeLessThanOrEqual(8_000);
	await app.pass(60_000);
	for (const id of [ids[0] ?? '', ...ids.slice(1, TROUBLES.length + 1), ids[20] ?? '']) {
		expect(postsOf(app, id), id).toHaveLength(1);
	}
});

it('sees the next question of a session that was answered elsewhere and asks again before it was read', async () => {
	const app = await start();
	const [id = ''] = await watchedCrowd(app, 30);
	await seenAfter(app, id);
	app.service.sessions.answerAsPage(id, ['Blue']);
	app.service.sessions.setStatus(id, 'active');
	await app.pass(2_200);
	expect(await seenAfter(app, id, 'And which size?')).toBeLessThanOrEqual(5_000);
	await app.until(() => postsOf(app, id, 'And which size?').length === 1);
});

it('uses a list whose pages have more than 10 MB in smaller pages', async () => {
	const app = await start({ env: { REMIND_AFTER: 'off' } });
	const ids = await watchedCrowd(app, 24);
	const [id = '', ...others] = ids;
	for (const other of others.slice(0, 12)) app.ask(other);
	app.service.list.bytesEach = 1_000_000;
	await app.pass(8_000);
	expect(await metric(app, 'list_available')).toBe(1);
	expect(await seenAfter(app, id)).toBeLessThanOrEqual(10_000);
	expect(app.log.filter((line) => line.includes('list fails') || line.includes('has no list'))).toEqual([]);
});
