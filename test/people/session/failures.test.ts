import type { Fault } from '../../../fake-session-service/faults.ts';
import { errorWords } from '../../../src/slack/error-view.ts';
import { describe, expect, said, startTimedApp, withApp } from '../../kit.ts';

const it = withApp(() => startTimedApp({ env: { ADMIN_CONTACT: 'ops@example.com' } }));
/** What a person is told for a code, up to the time of the next try. */
function wordsFor(code: string): string {
	const retryAt = code === 'rate_limited' ? 1 : null;
	return said(errorWords(code, { kept: 'nothing', adminContact: 'ops@example.com', retryAt }).text).trim();
}

/** Some faults. `test/service/failures.test.ts` has all, with their codes, `test/slack/words.test.ts` the words. */
const failures: readonly { what: string; fault: Fault | 'down'; code: string; retry?: false }[] = [
	{ what: '404', fault: { kind: 'error', status: 404 }, code: 'session_not_found', retry: false },
	{ what: '429', fault: { kind: 'rate-limited', retryAfterSeconds: 28 }, code: 'rate_limited' },
	{ what: 'no answer', fault: { kind: 'hang' }, code: 'timed_out' },
	{ what: '33 MB', fault: { kind: 'huge' }, code: 'body_too_large', retry: false },
	{ what: 'no connection', fault: 'down', code: 'unavailable' },
];

it.each(['unauthorized', 'refused', 'unreadable_answer', 'redirected'])('offers to try again after %s', (code) => {
	expect(errorWords(code, { kept: 'nothing', adminContact: null }).retry).toBe(true);
});

describe('when the service answers a read with', () => {
	it.for(failures)(
		'tells the person in the modal when the service responds with $what',
		async ({ fault, code, retry = true }, { app }) => {
			const ada = app.slack.as('ada');
			if (fault === 'down') await app.service.goDown();
			else app.service.faults.add({ ...fault, method: 'GET' });
			expect(await ada.command('#agents', '/session choices')).toEqual({ ok: true, error: null });
			await app.shows(wordsFor(code));
			const modal = ada.modal();
			expect(modal?.text()).toContain('choices');
			expect(modal?.submitText()).toBeNull();
			expect(modal?.buttons()).toEqual(retry ? ['Try again'] : []);
			expect(await app.said()).not.toContain(app.service.apiKey);

			app.service.faults.clear();
			await app.service.comeBack();
			if (!retry) return;
			// The time that the 429 named.
			await app.clock.advance(30_000);
			await modal?.press('Try again');
			await app.shows('Which colour?');
			expect(ada.modal()?.submitText()).toBe('Send answer');
		},
	);

	it.for([
		['a session of another account', 'foreign', 'session_not_found'],
		['an id with a question mark and spaces encoded', 'a?b=%20', 'session_not_found'],
		['an id that is a path', '..', 'invalid_session_id'],
	] as const)('tells the person when the service responds with %s', async ([, id, code], { app }) => {
		app.service.sessions.put('foreign', { status: 'active', messages: [] }, { foreign: true });
		await app.slack.as('ada').command('#agents', `/session ${id}`);
		await app.shows(wordsFor(code));
		expect(app.service.log.list({ kind: 'other' })).toEqual([]);
	});
});

describe('when Slack fails', () => {
	it('tells the person in the modal when Slack refuses the content', async ({ app }) => {
		app.slack.faults.add({
			method: 'views.update',
			error: 'internal_error',
			times: 4,
			when: ({ view }) => JSON.stringify(view).includes('Which colour'),
		});
		await app.slack.as('ada').command('#agents', '/session choices');
		await app.shows(wordsFor('slack_unavailable'));
	});

	it('ends the request when Slack does not know the view any more', async ({ app }) => {
		app.slack.faults.add({ method: 'views.update', error: 'not_found', times: 1 });
		await app.slack.as('ada').command('#agents', '/session choices');
		await app.until(() => app.slack.traffic.calls('views.update').at(-1)?.doneAt !== null);
		expect(app.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
	});
});

it("says when to try again when the service's budget is used up, and works then", async ({ app }) => {
	app.service.useBudget(260);
	await app.slack.as('ada').command('#agents', '/session choices');
	await app.shows(wordsFor('rate_limited'));
	await app.clock.advance(61_000);
	await app.slack.as('ada').modal()?.press('Try again');
	await app.shows('Which colour?');
});
