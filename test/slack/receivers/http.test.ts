import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signedHeaders } from '../../../fake-slack/index.ts';
import { startApp } from '../../support/app.ts';
import type { App } from '../support/open-session.ts';

let app: App;
beforeAll(async () => {
	app = await startApp({ transport: 'http' });
});
afterAll(() => app[Symbol.asyncDispose]());

const BODY = new URLSearchParams({
	command: '/session',
	text: 'help',
	user_id: 'U0ADA',
	team_id: 'T0ACME',
	channel_id: 'C0AGENTS',
	trigger_id: '1.1.1',
}).toString();

const post = (headers: Record<string, string>, path = '/slack/events', body = BODY) =>
	fetch(`${app.url}${path}`, {
		method: 'POST',
		body,
		headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
	});

const calls = () => app.slack.traffic.calls().length;

describe('signed HTTP', () => {
	it("passes Slack's check of the request URL", async () => {
		expect(await app.slack.verifyRequestUrl()).toBe(true);
	});

	it.each([
		['no signature', () => ({})],
		['a signature of another secret', () => signedHeaders('another-secret', BODY, Date.now())],
		['a signature of another body', () => signedHeaders(app.slack.tokens.signingSecret, `${BODY}&x=1`, Date.now())],
		['a signature six minutes old', () => signedHeaders(app.slack.tokens.signingSecret, BODY, Date.now() - 360_000)],
	])('refuses %s and does nothing', async (_, headers) => {
		const before = calls();
		const answer = await post(headers());
		expect(answer.status).toBeGreaterThanOrEqual(400);
		expect(answer.status).toBeLessThan(500);
		expect(calls()).toBe(before);
	});

	it('serves nothing else on other paths', async () => {
		expect((await post(signedHeaders(app.slack.tokens.signingSecret, BODY, Date.now()), '/elsewhere')).status).toBe(
			404,
		);
		expect((await fetch(`${app.url}/slack/events`)).status).toBe(404);
	});

	it('survives a signed body that is nothing of Slack', async () => {
		for (const body of ['payload=%7B', '{}', 'command=%2Fsession']) {
			const answer = await post(signedHeaders(app.slack.tokens.signingSecret, body, Date.now()), '/slack/events', body);
			expect(answer.ok && (await answer.text()) !== '').toBe(false);
		}
		await app.slack.as('ada').command('#agents', '/session help');
		expect(await (await fetch(`${app.url}/readyz`)).text()).toBe('ready\n');
	});
});
