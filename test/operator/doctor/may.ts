import { expect } from 'vitest';
import type { FakeSlack } from '../../../fake-slack/index.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { runDoctor } from '../../../src/operator/doctor/run.ts';
import { FRESH_MS } from '../../../src/slack/directory.ts';
import { durationText } from '../../../src/slack/phrases.ts';
import { namesAnswerers } from './databases.ts';
import type { Harness } from './harness.ts';

/** What a report of `doctor -- may` says, by action: `yes`, the code of a refusal, `off` or `not found out`. */
export function outcomesOf(lines: readonly string[]): Record<string, string> {
	const found = lines.flatMap((line) => {
		const [, action, said, code] = /^. ([^:]+): (yes|no \((\w+)\)|switched off|not found out)/.exec(line) ?? [];
		return action === undefined || said === undefined ? [] : [[action, code ?? said.replace('switched ', '')]];
	});
	return Object.fromEntries(found);
}

/** What `doctor -- may` says of lists in this database, which `env` names. */
export async function expectLists(
	harness: Harness,
	place: Parameters<typeof namesAnswerers>[0],
	env: Readonly<Record<string, string>> = {},
): Promise<void> {
	const may = async (user: string, channel = 'agents') => {
		const { exit, lines } = await harness.doctor(env, ['may', user, channel], { clock: systemClock });
		const of = (outcome: string) =>
			Object.entries(outcomesOf(lines)).flatMap(([name, said]) => (said === outcome ? name : []));
		return {
			exit,
			no: of('not_named'),
			yes: of('yes'),
			lineOf: (name: string) => lines.find((line) => line.includes(`${name}: `)),
		};
	};
	const DECIDED = ['Send an answer', 'Answer by one press', 'Answer from the inbox', 'Stop watching'];
	const old = durationText(FRESH_MS);
	await namesAnswerers(place, 'C0AGENTS', { userIds: ['U0GRACE'], groupIds: [] });
	const ada = await may('U0ADA');
	expect([ada.exit, ada.no]).toEqual([3, DECIDED]);
	expect(ada.lineOf('Send an answer')).toContain('the channel names U0GRACE as those who may answer');
	expect(ada.lineOf('Send an answer')).toContain(`users.info up to ${old} old, user groups up to ${old} old`);
	const grace = await may('U0GRACE');
	expect([grace.exit, grace.no]).toEqual([0, []]);
	expect(grace.lineOf('Stop watching')).toContain('the channel names U0GRACE as those who may answer');
	await namesAnswerers(place, 'C0AGENTS', { userIds: [], groupIds: ['S0OPS'] });
	expect((await may('U0ADA')).no).toEqual([]);
	const other = await may('U0GRACE');
	expect(other.no).toEqual(DECIDED);
	expect(other.yes).toEqual(expect.arrayContaining(['Open a session', 'Watch', 'Channel settings', 'Open the inbox']));
	expect(other.lineOf('Answer by one press')).toContain('the channel names S0OPS as those who may answer');
	// Another channel has no list.
	expect((await may('U0GRACE', 'general')).no).toEqual([]);
	await namesAnswerers(place, 'C0AGENTS', { userIds: [], groupIds: [] });
	expect((await may('U0GRACE')).no).toEqual([]);
}

/** Asks about somebody in the workspace of a running program, whose settings are `env`. */
export async function askMay(slack: FakeSlack, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
	const lines: string[] = [];
	const print = (line: string) => void lines.push(line);
	const exit = await runDoctor({
		args: ['may', ...args],
		env: { SLACK_BOT_TOKEN: 'xoxb-fake', SLACK_API_URL: slack.apiUrl, ...env },
		clock: systemClock,
		proxy: null,
		signal: new AbortController().signal,
		lines: { log: print, error: print },
	});
	return { exit, lines, outcomes: outcomesOf(lines) };
}
