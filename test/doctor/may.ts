import type { FakeSlack } from '../../fake-slack/index.ts';
import { systemClock } from '../../src/core/basics.ts';
import { runDoctor } from '../../src/doctor/run.ts';

/** What a report of `doctor -- may` says, by action: `yes`, the code of a refusal, `off` or `not found out`. */
export function outcomesOf(lines: readonly string[]): Record<string, string> {
	const found = lines.flatMap((line) => {
		const [, action, said, code] = /^. ([^:]+): (yes|no \((\w+)\)|switched off|not found out)/.exec(line) ?? [];
		return action === undefined || said === undefined ? [] : [[action, code ?? said.replace('switched ', '')]];
	});
	return Object.fromEntries(found);
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
