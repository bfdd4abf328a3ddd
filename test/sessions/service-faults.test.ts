import { afterAll, expect, it } from 'vitest';
import type { Fault } from '../../fake-session-service/faults.ts';
import { createHarness as createServiceHarness } from '../service/harness.ts';
import { passFor, watchRequests } from '../support/pass-time.ts';
import { addWatch, createPollerHarness, SERVICE } from './support.ts';

/** The poller, with the client, on a service over HTTP. */

const MINUTE = 60_000;
const HTML: Fault = { kind: 'html', status: 404 };
const JSON_404: Fault = { kind: 'error', status: 404, body: '{"message":"no Route matched with those values"}' };

const unwatch = watchRequests();
afterAll(unwatch);

/** Two sessions, `s1` and `s2`, that are watched and have been read. */
async function watched() {
	const harness = await createPollerHarness();
	const { clock, store } = harness;
	const { service, client } = await createServiceHarness({ service: { clock }, client: { clock } });
	const messages = [
		{ role: 'user', content: 'Do it.' },
		{ role: 'assistant', content: 'Looking.' },
	];
	for (const sessionId of ['s1', 's2']) {
		service.sessions.put(sessionId, { status: 'active', messages });
		await addWatch(store.watches, { sessionId });
	}
	harness.start({ sessionService: client });
	/** What is announced in so much time. */
	async function told(ms: number) {
		await passFor({ service }, clock, ms);
		return (await harness.announced()).map((content) => ({ ...content, ...('code' in content ? {} : { code: null }) }));
	}
	await told(10_000);
	return {
		service,
		told,
		kinds: async (ms: number) => (await told(ms)).map(({ kind }) => kind),
		/** They go on, so that a read of them has a body. */
		ask() {
			const human_input = [{ title: 'Which one?', description: '', value: '' }];
			const asks = { role: 'assistant', content: 'Long. '.repeat(700), human_input };
			for (const id of ['s1', 's2'])
				service.sessions.patch(id, { status: 'humanInput', messages: [...messages, asks] });
		},
		unread: async () => (await store.sessions.watched({ service: SERVICE, sessionId: 's1' }))?.reads.unread?.code,
	};
}

it.each<[string, Fault, string]>([
	['coded in a way that nobody knows', { kind: 'coded', coding: 'x-own' }, 'coded_other'],
	['not JSON', { kind: 'garbage' }, 'unreadable_answer'],
	['a redirect to its front page', { kind: 'redirect', location: '/' }, 'redirected'],
	['refused', { kind: 'error', status: 400 }, 'refused'],
	['404 in JSON', JSON_404, 'service_missing'],
])(
	'tells once that nothing can be read, and why, and watches on: what the service sends is %s',
	async (_, fault, code) => {
		const { service, ask, told, kinds } = await watched();
		service.faults.add(fault);
		ask();
		expect(await told(3 * MINUTE)).toEqual([expect.objectContaining({ kind: 'serviceDown', code })]);
		service.faults.clear();
		expect((await kinds(MINUTE)).toSorted()).toEqual(['question', 'question', 'serviceBack']);
	},
);

it.each([10_000, 25_000])('says nothing of %i ms in which all is 404, and watches on', async (ms) => {
	const { service, ask, kinds } = await watched();
	service.faults.add(HTML);
	ask();
	expect(await kinds(ms)).toEqual([]);
	service.faults.clear();
	expect(await kinds(2 * MINUTE)).toEqual(['question', 'question']);
});

it.each<[string, Fault, string]>([
	['whose body is not JSON', { kind: 'garbage' }, 'unreadable_answer'],
	['of too many bytes', { kind: 'huge' }, 'body_too_large'],
	['that is refused', { kind: 'error', status: 410 }, 'refused'],
	['that gets 500', { kind: 'error' }, 'unavailable'],
	['that is not found', JSON_404, 'session_missing'],
])('keeps why one session cannot be read, beside others, and reads it again: %s', async (_, fault, code) => {
	const { service, ask, kinds, unread } = await watched();
	service.faults.add({ ...fault, sessionId: 's1' });
	ask();
	expect(await kinds(2 * MINUTE)).toEqual(['question']);
	expect(await unread()).toBe(code);
	service.faults.clear();
	expect(await kinds(2 * MINUTE)).toEqual(['question']);
	expect(await unread()).toBeUndefined();
});
