import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../../sandbox/session-service/faults.ts';
import type { App } from '../support/open-session.ts';
import { startTimedApp } from '../support/timed-app.ts';

let timed: Awaited<ReturnType<typeof startTimedApp>>;
let app: App;
beforeAll(async () => {
	timed = await startTimedApp({ env: { ADMIN_CONTACT: 'ops@example.com' } });
	app = timed.app;
	app.service.sessions.put('foreign', { status: 'active', messages: [] }, { foreign: true });
});
afterAll(() => timed[Symbol.asyncDispose]());
afterEach(async () => {
	app.service.faults.clear();
	app.slack.faults.clear();
	await app.service.comeBack();
	await app.slack.as('ada').modal()?.close(true);
	expect(app.slack.violations()).toEqual([]);
});

const UNREADABLE = 'Handraise cannot read what the session service sent. Please try again';
const UNAVAILABLE = 'The session service cannot be reached or reports an error. Please try again';
const OPERATOR = 'tell ops@example.com';

/** The fault, the words that the person sees, and whether they are offered to try again. */
const failures: readonly { what: string; fault: Fault | 'down'; words: string; retry?: false }[] = [
	{
		what: 'a wrong key',
		fault: { kind: 'unauthorized' },
		words: "does not accept Handraise's key. If this continues, tell ops@example.com",
	},
	{ what: 'a forbidden key', fault: { kind: 'error', status: 403 }, words: "does not accept Handraise's key" },
	{
		what: '404',
		fault: { kind: 'error', status: 404 },
		words: 'has no session with this id. Check the id.',
		retry: false,
	},
	{
		what: '429',
		fault: { kind: 'rate-limited', retryAfterSeconds: 28 },
		words: 'too many requests right now. Please try again after',
	},
	{ what: '500', fault: { kind: 'error' }, words: UNAVAILABLE },
	{ what: '500 in plain text', fault: { kind: 'error', body: 'Something went wrong!' }, words: UNAVAILABLE },
	{ what: '503', fault: { kind: 'error', status: 503 }, words: UNAVAILABLE },
	{
		what: '418',
		fault: { kind: 'error', status: 418 },
		words: `The session service refused the request. If this continues, ${OPERATOR}`,
	},
	{ what: "a proxy's page with 502", fault: { kind: 'html' }, words: UNAVAILABLE },
	{ what: "a proxy's page with 200", fault: { kind: 'html', status: 200 }, words: UNREADABLE },
	{ what: 'a reset', fault: { kind: 'reset' }, words: UNAVAILABLE },
	{
		what: 'no answer',
		fault: { kind: 'hang' },
		words: 'The session service took too long to respond. Please try again',
	},
	{
		what: 'an answer after a minute',
		fault: { kind: 'slow', ms: 60_000 },
		words: 'The session service took too long to respond. Please try again',
	},
	{ what: 'bytes that are no JSON', fault: { kind: 'garbage' }, words: UNREADABLE },
	{ what: 'bytes that are no HTTP', fault: { kind: 'broken-http' }, words: UNAVAILABLE },
	{ what: 'half a JSON', fault: { kind: 'truncated' }, words: UNREADABLE },
	{ what: 'half an answer and a reset', fault: { kind: 'cut-off' }, words: UNAVAILABLE },
	{ what: 'JSON of another service', fault: { kind: 'foreign-json' }, words: UNREADABLE },
	{ what: 'the right keys with wrong types', fault: { kind: 'wrong-types' }, words: UNREADABLE },
	{
		what: '33 MB',
		fault: { kind: 'huge' },
		words: 'This session is too large to show here. Open it in the dashboard.',
		retry: false,
	},
	{
		what: '33 MB without a length',
		fault: { kind: 'huge', chunked: true },
		words: 'too large to show here',
		retry: false,
	},
	{
		what: 'a redirect to elsewhere',
		fault: { kind: 'redirect', location: 'https://evil.example/' },
		words: `Handraise does not follow redirects. If this continues, ${OPERATOR}`,
	},
	{ what: 'no connection', fault: 'down', words: UNAVAILABLE },
];

describe('when the service answers a read with', () => {
	it.each(failures)(
		'tells the person in the modal when the service responds with $what',
		async ({ fault, words, retry = true }) => {
			const ada = app.slack.as('ada');
			if (fault === 'down') await app.service.goDown();
			else app.service.faults.add({ ...fault, method: 'GET' });
			expect(await ada.command('#agents', '/session choices')).toEqual({ ok: true, error: null });
			await timed.shows(words);
			const modal = ada.modal();
			expect(modal?.text()).toContain('choices');
			expect(modal?.submitText()).toBeNull();
			expect(modal?.buttons()).toEqual(retry ? ['Try again'] : []);
			expect(await app.said()).not.toContain(app.service.apiKey);

			app.service.faults.clear();
			await app.service.comeBack();
			if (!retry) return;
			// The time that the 429 named.
			await timed.clock.advance(30_000);
			await modal?.press('Try again');
			await timed.shows('Which colour?');
			expect(ada.modal()?.submitText()).toBe('Send answer');
		},
	);

	it.each([
		['a session of another account', 'foreign', 'has no session with this id'],
		['an id nobody knows', '00000000', 'has no session with this id'],
		['an id with a slash', 'a/b', 'has no session with this id'],
		['an id with a question mark and spaces encoded', 'a?b=%20', 'has no session with this id'],
		['an id of other scripts', 'сессия-会话', 'has no session with this id'],
		['an id that is a path', '..', 'That is not a session id.'],
	])('tells the person when the service responds with %s', async (_, id, words) => {
		await app.slack.as('ada').command('#agents', `/session ${id}`);
		await timed.shows(words);
		expect(app.service.log.list({ kind: 'other' })).toEqual([]);
	});
});

describe('when Slack fails', () => {
	it('tells the person in the modal when Slack refuses the content', async () => {
		app.slack.faults.add({
			method: 'views.update',
			error: 'internal_error',
			times: 4,
			when: ({ view }) => JSON.stringify(view).includes('Which colour'),
		});
		await app.slack.as('ada').command('#agents', '/session choices');
		await timed.shows('Slack did not let Handraise finish this.');
	});

	it('ends the request when Slack does not know the view any more', async () => {
		app.slack.faults.add({ method: 'views.update', error: 'not_found', times: 1 });
		await app.slack.as('ada').command('#agents', '/session choices');
		await timed.until(() => app.slack.traffic.calls('views.update').at(-1)?.doneAt !== null);
		expect(app.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
	});
});

describe("when the service's budget", () => {
	it("says when to try again when the service's budget is used up, and works then", async () => {
		await timed.clock.advance(120_000);
		app.service.useBudget(260);
		await app.slack.as('ada').command('#agents', '/session choices');
		await timed.shows('too many requests right now. Please try again after');
		await timed.clock.advance(61_000);
		await app.slack.as('ada').modal()?.press('Try again');
		await timed.shows('Which colour?');
	});
});
