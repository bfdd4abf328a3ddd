import { ACTIONS } from '../../../src/slack/ids.ts';
import { afterAll, beforeAll, describe, expect, it, startApp, whatHappened } from '../../kit.ts';
import { ACTS } from '../../slack/who-may/acts.ts';
import { type WhoMayApp, whoMayApp } from '../../slack/who-may/harness.ts';
import {
	type Become,
	BY_WHO,
	envOf,
	IN_ORGANISATION,
	IN_WORKSPACE,
	outOfAgents,
	REMOVED,
	WAITING,
} from '../../slack/who-may/people.ts';
import { SETTINGS } from '../../slack/who-may/table.ts';
import { askMay } from './may.ts';

/** The act at the front door by the name of `doctor -- may`. */
const ACT_OF = {
	'Open a session': '/session open',
	'Send an answer': 'Send answer',
	'Answer by one press': ACTIONS.choose1,
	'Answer from the inbox': `${ACTIONS.choose1}, on a copy`,
	Watch: '/session watch',
	'Watch all': '/session watchAll',
	'Channel settings': '/session settings',
	'Stop watching': '/session unwatch',
	'Open the inbox': '/session inbox',
} as const;
const acts = ACTS.filter(({ name }) => Object.values<string>(ACT_OF).includes(name));
const env = { DISCOVER_SESSIONS: 'true' };

/** What everybody who acts as one kind of person gets, by the doctor's names, and what the doctor says of them. */
async function bothOf(
	workspace: WhoMayApp,
	become: Become,
	settings: Readonly<Record<string, string>> = {},
	momentMs?: number,
) {
	const acted = await workspace.actAs(become, undefined, momentMs);
	const done = Object.entries(ACT_OF).flatMap(([name, act]) => (act in acted ? [[name, acted[act]]] : []));
	const said = await Promise.all(
		done.map(async ([name = '']) => {
			const index = workspace.acts.findIndex((act) => act.name === ACT_OF[name as keyof typeof ACT_OF]);
			const { outcomes, exit } = await askMay(workspace.app.slack, [`U0P${index}`, 'C0AGENTS'], {
				...env,
				...settings,
			});
			// Slack limits the doctor as it limits the program.
			const outcome = exit === 1 && outcomes[name] === undefined ? 'could_not_check' : outcomes[name];
			return [name, outcome === 'yes' ? 'allowed' : outcome];
		}),
	);
	return { done: Object.fromEntries(done), said: Object.fromEntries(said) };
}

describe('doctor may says of everybody what the program does', () => {
	let workspace: WhoMayApp;
	beforeAll(async () => {
		workspace = await whoMayApp({ acts, env });
	}, 120_000);
	afterAll(() => workspace[Symbol.asyncDispose]());

	// The doctor waits longer than the program for a Slack that does not answer.
	it.each(IN_WORKSPACE.filter(([kind]) => kind !== '`users.info` does not answer'))('%s', async (kind, become) => {
		const { done, said } = await bothOf(workspace, become, {}, WAITING.includes(kind) ? 10_000 : undefined);
		expect(Object.keys(done)).toEqual(Object.keys(ACT_OF));
		expect(said).toEqual(done);
	});
});

describe('doctor may says what the program does with', () => {
	/** Those that leave something behind would be seen in the next test. */
	const LEAVING: readonly string[] = [
		ACT_OF.Watch,
		ACT_OF['Watch all'],
		ACT_OF['Answer from the inbox'],
		ACT_OF['Open the inbox'],
	];
	let workspace: WhoMayApp;
	beforeAll(async () => {
		workspace = await whoMayApp({ acts: acts.filter(({ name }) => !LEAVING.includes(name)), env });
	}, 120_000);
	afterAll(() => workspace[Symbol.asyncDispose]());

	it.each(SETTINGS)('$setting: $who', async ({ setting, who }) => {
		const settings = envOf(setting, who);
		await workspace.app.restart(settings);
		const { done, said } = await bothOf(workspace, BY_WHO[who], settings);
		expect(Object.keys(done)).toHaveLength(5);
		expect(said).toEqual(done);
	});
});

it('doctor may says how long somebody passes who was deactivated a minute ago', async () => {
	await using workspace = await whoMayApp({ acts, env });
	await workspace.becomeKnown();
	const acted = await workspace.actAs(REMOVED, 60_000);
	workspace.app.slack.faults.clear();
	const { lines } = await askMay(workspace.app.slack, ['U0ADA', 'C0AGENTS'], env);
	for (const [name, act] of Object.entries(ACT_OF)) {
		const [, age] = new RegExp(`${name}: yes.*users\\.info up to (.*?) old`).exec(lines.join('\n')) ?? [];
		expect([name, acted[act], age]).toEqual([name, ...(age === '5 min' ? ['allowed', age] : ['deactivated', '30 s'])]);
	}
}, 120_000);

it('doctor may says what the program does of people of an organisation', async () => {
	await using organisation = await whoMayApp({ acts, env, inOrganisation: true });
	for (const [kind, become] of IN_ORGANISATION) {
		const { done, said } = await bothOf(organisation, become);
		expect(said, kind).toEqual(done);
	}
}, 120_000);

it('doctor may says what the program does of people who left a private channel', async () => {
	const windows = acts.filter(({ name }) => name === ACT_OF['Send an answer'] || name.endsWith('copy'));
	await using workspace = await whoMayApp({ acts: windows, env, isPrivate: true });
	const { done, said } = await bothOf(workspace, outOfAgents);
	expect(done).toEqual({ 'Send an answer': 'not_there', 'Answer from the inbox': 'not_there' });
	expect(said).toEqual(done);
}, 120_000);

describe('doctor may says of every channel what the program does', () => {
	/** By the doctor's name: what people type. */
	const COMMANDS = [
		['Open a session', 'demo'],
		['Watch', 'watch demo'],
		['Channel settings', 'settings'],
	] as const;

	/** What becomes of a command: `yes`, or the code of a refusal, of the access policy or of the channel. */
	async function outcomeOf(who: string, place: string, [, text]: (typeof COMMANDS)[number]) {
		const from = app.log.length;
		const callsBefore = app.slack.traffic.all().length;
		await app.slack.as(who).command(place, `/session ${text}`);
		const lines = () => app.log.slice(from).map((line) => JSON.parse(line) as Record<string, string>);
		await expect.poll(() => lines().map(({ msg }) => msg), { timeout: 20_000 }).toContain('handled');
		const refused = lines().find(({ msg }) => msg === 'refused')?.refusal;
		const said = JSON.stringify(app.slack.traffic.all().slice(callsBefore));
		const refusals = ['not_member', 'external'].filter((code) =>
			said.includes(JSON.stringify(whatHappened(`watch_${code}`)).slice(1, -1)),
		);
		return refused ?? refusals[0] ?? 'yes';
	}

	let app: Awaited<ReturnType<typeof startApp>>;
	beforeAll(async () => {
		app = await startApp();
	});
	afterAll(() => app[Symbol.asyncDispose]());

	it.each([
		['ada', 'agents', 'yes yes yes'],
		['ada', 'general', 'yes not_member not_member'],
		['ada', 'secret', 'yes yes yes'],
		['ada', 'vault', 'yes not_member not_member'],
		['ada', 'shared', 'yes external external'],
		['ada', 'dm', 'yes yes yes'],
		['grace', 'agents', 'yes yes yes'],
		['grace', 'shared', 'yes external external'],
		['gus', 'general', 'guest guest guest'],
		['una', 'agents', 'guest guest guest'],
		['eve', 'shared', 'external external external'],
	])('%s in %s', async (who, place, expected) => {
		const done: (string | undefined)[] = [];
		for (const command of COMMANDS) done.push(await outcomeOf(who, place === 'dm' ? place : `#${place}`, command));
		expect(done.join(' ')).toBe(expected);
		const { state } = app.slack;
		const user = state.people.find(({ name }) => name === who)?.id ?? '';
		const channel = state.channels.find(({ name, isIm, members }) =>
			place === 'dm' ? isIm && members.includes(user) : name === place,
		);
		const { outcomes } = await askMay(app.slack, [user, channel?.id ?? '']);
		expect(COMMANDS.map(([name]) => outcomes[name])).toEqual(done);
	});
});
