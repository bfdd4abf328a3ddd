import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { type FakeSlack, sampleWorkspace } from '../../../fake-slack/index.ts';
import { openSession } from '../../slack/support/open-session.ts';
import { startApp } from '../../support/app.ts';
import { watchRequests } from '../../support/pass-time.ts';
import { DELIVERED, says } from '../../support/sentences.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { expectNothingWrong, SOME_REQUESTS, watchingApp } from './harness.ts';

const BOTH = ['here', 'there'] as const;
const ROUNDS = 4;

it('posts and tells each workspace only what is its own, with two programs on one database', async () => {
	const store = {
		...SOME_REQUESTS,
		DATABASE_URL: await (await sharedPostgres()).createDatabase(),
		ENCRYPTION_KEY: randomBytes(32).toString('base64'),
	};
	// Of the other program's calls time knows by this only, and a lease must not end during one.
	onTestFinished(watchRequests());
	const app = await watchingApp({ env: store });
	onTestFinished(() => app[Symbol.asyncDispose]());
	const { team, people, ...places } = sampleWorkspace();
	// The ids of channels and people are the same, so that only the workspace tells the rows apart.
	const elsewhere = { team: { ...team, id: 'T0ELSE' }, people: people.map((one) => ({ ...one, teamId: 'T0ELSE' })) };
	const other = await startApp({
		env: {
			...store,
			SESSION_SERVICE_URL: app.service.url,
			SESSION_SERVICE_API_KEY: app.service.apiKey,
		},
		slack: { workspace: { ...places, ...elsewhere } },
		clock: app.clock,
	});
	onTestFinished(() => other[Symbol.asyncDispose]());
	const slacks: Record<(typeof BOTH)[number], FakeSlack> = { here: app.slack, there: other.slack };
	const ids = Array.from({ length: ROUNDS }, (_, round) => app.session({ name: `Chair no ${round}.` }));
	for (const where of BOTH) await slacks[where].as('ada').command('#agents', `/session watch ${ids.join(' ')}`);
	const posts = (where: (typeof BOTH)[number], id: string) =>
		slacks[where].traffic
			.calls('chat.postMessage')
			.filter(({ request }) => request.channel === 'C0AGENTS' && String(request.text).includes(`colour ${id}`));
	await app.until(() => BOTH.every((where) => slacks[where].state.messages.length > ROUNDS));
	for (const id of ids) app.ask(id, [`Which colour ${id}?`]);
	await app.until(() => BOTH.every((where) => ids.every((id) => posts(where, id).length > 0)));
	for (const [round, id] of ids.entries()) {
		const where = BOTH[round % 2] ?? 'here';
		const form = await openSession(where === 'here' ? app : other, id);
		await form.fill(0, 'Sand');
		await form.submit();
		const window = slacks[where].as('ada');
		await app.until(() => says(window.modal()?.text() ?? '', DELIVERED));
		await window.modal()?.close(true);
	}
	await app.pass(60_000);
	for (const where of BOTH) expect(ids.map((id) => posts(where, id).length)).toEqual(ids.map(() => 1));
	expect(ids.map((id) => app.service.log.savedPuts(id).length)).toEqual(ids.map(() => 1));
	for (const { log } of [app, other]) expect(log.join('\n')).not.toContain('a receipt could not');
	expect(other.slack.violations()).toEqual([]);
	expectNothingWrong(app);
}, 60_000);
