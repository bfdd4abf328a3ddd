import { afterAll, expect, it } from 'vitest';
import type { Fault } from '../../fake-session-service/faults.ts';
import { createManualClock } from '../../fake-slack/index.ts';
import { createHarness as createServiceHarness } from '../service/harness.ts';
import { T0 } from '../store/support.ts';
import { passFor, watchRequests } from '../support/pass-time.ts';
import { asking, createHarness } from './delivering.ts';

/** The worker, with the client, on a service over HTTP. */

const MINUTE = 60_000;
const CANNOT_PUT = '<!DOCTYPE html><pre>Cannot PUT /sessions</pre>';

const unwatch = watchRequests();
afterAll(unwatch);

/** An answer to the question of `s1`. `after`: the answer as stored after so much time. */
async function accepted() {
	const clock = createManualClock(T0);
	const { service, client } = await createServiceHarness({ service: { clock }, client: { clock } });
	const human_input = [{ title: 'Which one?', description: '', value: '' }];
	const messages = [
		{ role: 'user', content: 'Do it.' },
		{ role: 'assistant', content: 'I ask.', human_input },
	];
	service.sessions.put('s1', { status: asking('s1').status, messages });
	const harness = await createHarness({ clock, client });
	const { id } = await harness.accept('s1');
	return {
		service,
		messages,
		start: () => harness.createWorker().start(),
		async after(ms: number) {
			await passFor({ service }, clock, ms);
			return harness.get(id);
		},
		[Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
	};
}

it.each<[string, Fault, number]>([
	['500 after saving', { kind: 'error', saves: true }, 1],
	['500 in plain text', { kind: 'error', body: 'Something went wrong!' }, 2],
	['its "failed to update"', { kind: 'error', body: '{"error":"Failed to update human input"}' }, 2],
	['a reset without saving', { kind: 'reset' }, 2],
	['a reset after saving', { kind: 'reset', saves: true }, 1],
	['nothing after saving', { kind: 'hang', saves: true }, 1],
	['nothing without saving', { kind: 'hang' }, 2],
	['so late that we have given up, but saves', { kind: 'late', ms: 20_500 }, 1],
	['500, and saves a moment later', { kind: 'error', saves: true, saveAfterMs: 1_900 }, 1],
	['garbage after saving', { kind: 'garbage' }, 1],
	['half an answer after saving', { kind: 'cut-off' }, 1],
	['JSON of something else without saving', { kind: 'foreign-json' }, 2],
	["a proxy's page", { kind: 'html' }, 2],
	['429', { kind: 'rate-limited', retryAfterSeconds: 28 }, 2],
	['401', { kind: 'unauthorized' }, 2],
	['a redirect to its front page', { kind: 'redirect', location: '/' }, 2],
	['403', { kind: 'error', status: 403 }, 2],
	['503', { kind: 'error', status: 503 }, 2],
	['400', { kind: 'error', status: 400, body: '{"error":"bad request"}' }, 2],
	['404 in HTML', { kind: 'error', status: 404, body: CANNOT_PUT }, 2],
])('delivers once when the service responds to the PUT with %s', async (_, fault, puts) => {
	await using given = await accepted();
	const { log, faults } = given.service;
	faults.add({ ...fault, method: 'PUT', sessionId: 's1', times: 1 });
	given.start();
	const { state } = await given.after(MINUTE);
	expect(state).toMatch(/delivered|resumed/);
	expect(given.service.sessions.values('s1', 1)).toEqual(['blue']);
	expect(log.effectivePuts('s1')).toHaveLength(1);
	expect(log.puts('s1')).toHaveLength(puts);
});

it.each([
	['null for its messages', { messages: null }],
	['no messages at all', { messages: undefined }],
])('delivers once when the service responds to the first reads with %s', async (_, patch) => {
	await using given = await accepted();
	const { sessions, log } = given.service;
	sessions.patch('s1', patch as { messages: null });
	given.start();
	expect(await given.after(10_000)).toMatchObject({ state: 'accepted', lastError: 'unreadable_answer' });
	sessions.patch('s1', { messages: given.messages });
	expect((await given.after(MINUTE)).state).toMatch(/delivered|resumed/);
	expect(log.effectivePuts('s1')).toHaveLength(1);
});
