import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { asking, item, task } from '../fake-session-service/builders.ts';
import type { FakeSlack, Posted } from '../fake-slack/index.ts';
import { startProgram } from './support/program.ts';
import { createWorld } from './support/world.ts';

const MANIFEST = new URL('../src/manifest.ts', import.meta.url).pathname;
/** Both accounts have a session with this id. */
const ID = '3f9a2c1d';

/** An account of the session service, with the app of the manifest that its settings print and a process of its own. */
async function install(account: string, question: string, beside?: FakeSlack) {
	const names = { SLASH_COMMAND: `/${account}`, APP_NAME: `Handraise ${account}` };
	const printed = execFileSync(process.execPath, [MANIFEST], { env: names, encoding: 'utf8' });
	const ofSlack = { manifest: parse(printed), ...(beside && { beside }) };
	const world = await createWorld(ofSlack, { apiKey: `key-of-${account}`, resumeAfterMs: 50, pace: 0.02 });
	const { slack, service } = world;
	const messages = [task(`A task of ${account}.`), asking('', [item(question, 'One of: Yes, No')])];
	service.sessions.put(ID, { status: 'humanInput', name: `Session of ${account}`, messages, files: [] });
	const program = startProgram({ ...world.env, UNDO_SECONDS: '0', ...names });
	await program.says('Handraise is ready');
	await slack.connected();

	return {
		slack,
		service,
		/** What somebody's answers were to the question. */
		answers: () => service.sessions.values(ID, 1).filter((value) => value !== null && value !== ''),
		commands: () => slack.traffic.deliveries('slash_commands').map(({ request }) => (request as { text: string }).text),
		presses: () => slack.traffic.deliveries('block_actions').length,
		async [Symbol.asyncDispose]() {
			program.child.kill('SIGTERM');
			await program.closed;
			await world[Symbol.asyncDispose]();
		},
	};
}

it('runs beside an installation for another account: each has its own command, sessions and presses', async () => {
	await using travel = await install('travel', 'Book the flight?');
	await using finance = await install('finance', 'Pay the invoice?', travel.slack);
	const ada = travel.slack.as('ada');
	const says = (words: string | RegExp | ((post: Posted) => boolean)) => ada.waitForMessage('#agents', words);

	await ada.command('#agents', '/travel help');
	expect((await says('/travel list')).text()).not.toMatch(/\/(session|finance)\b/);
	await ada.command('#agents', '/finance help');
	expect(await (await says('/finance list')).press('More')).toBe(true);
	const help = (await says('mention Handraise finance there')).text();
	expect(help).not.toMatch(/\/(session|travel)\b/);
	expect(await ada.command('#agents', '/session help')).toMatchObject({ error: 'invalid_command' });

	await ada.command('#agents', `/finance watch ${ID}`);
	await says('/invite @Handraise finance');
	await travel.slack.invite('#agents', 'handraisefinance');
	await ada.command('#agents', `/finance watch ${ID}`);
	await ada.command('#agents', `/travel watch ${ID}`);
	const flight = await says((post) => post.text().includes('Book the flight?') && post.buttons().includes('Yes'));
	const invoice = await says((post) => post.text().includes('Pay the invoice?') && post.buttons().includes('No'));
	expect([flight.author(), invoice.author()]).toEqual(['handraisetravel', 'handraisefinance']);

	await invoice.press('No');
	await says((post) => post.author() === 'handraisefinance' && /ada: No · continued/.test(post.text()));
	expect([finance.answers(), travel.answers()]).toEqual([['No'], []]);
	await flight.press('Yes');
	await says((post) => post.author() === 'handraisetravel' && /ada: Yes · continued/.test(post.text()));
	expect([finance.answers(), travel.answers()]).toEqual([['No'], ['Yes']]);

	expect(travel.commands()).toEqual(['help', `watch ${ID}`]);
	expect(finance.commands()).toEqual(['help', `watch ${ID}`, `watch ${ID}`]);
	// Also *More* of the help.
	expect([travel.presses(), finance.presses()]).toEqual([1, 2]);
	for (const { slack, service } of [travel, finance]) {
		expect(slack.violations()).toEqual([]);
		expect(service.log.list().filter(({ status }) => status === 401)).toEqual([]);
	}
});
