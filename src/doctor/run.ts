import { readSettings, type SettingsReading } from '../config.ts';
import { CLOCK_CHECK, ENVIRONMENT_CHECKS, PORT_CHECK } from './environment.ts';
import { checkLive, type LiveOptions } from './live.ts';
import { closingLine, type Finding, findingsOf, lineOf } from './report.ts';
import { SERVICE_CHECKS } from './service.ts';
import { askOnce, type Check, type Setup } from './setup.ts';
import { SLACK_CHECKS } from './slack.ts';
import { STORE_CHECKS } from './store.ts';
import { checkViews } from './views.ts';

const USAGE = `Usage: npm run doctor                    checks the set-up
       npm run doctor -- views           asks Slack whether it accepts the largest views and messages of Handraise
       npm run doctor -- live <channel>  tries in that channel, with you, what Handraise assumes of Slack`;

/** What the command takes from its process. */
export interface Invocation extends Omit<LiveOptions, 'say'> {
	readonly args: readonly string[];
	/** Takes the report, and as an error the usage. */
	readonly lines: Pick<Console, 'log' | 'error'>;
}

/** In the order of the report. */
const CHECKS = [
	...ENVIRONMENT_CHECKS,
	...SLACK_CHECKS,
	PORT_CHECK,
	...SERVICE_CHECKS,
	...STORE_CHECKS,
	CLOCK_CHECK,
] as const satisfies readonly Check[];

/** Checks a set-up, and says what is wrong and what to do. Returns the exit code: 1 with a failure, 2 for wrong arguments. */
export async function runDoctor(invocation: Invocation): Promise<0 | 1 | 2> {
	const { args, env, clock, lines, signal } = invocation;
	const [mode, channel, ...others] = args;
	const isUsage = mode === 'live' ? channel !== undefined : channel === undefined;
	if (others.length > 0 || !isUsage || !['live', 'views', undefined].includes(mode)) {
		lines.error(USAGE);
		return 2;
	}
	const report =
		mode === 'live'
			? checkLive(channel ?? '', { ...invocation, say: lines.log })
			: mode === 'views'
				? checkViews(readSettings(env), clock)
				: checkAll(readSettings(env));
	const findings: Finding[] = [];
	for await (const line of report) {
		if (typeof line !== 'string') findings.push(line);
		lines.log(typeof line === 'string' ? line : lineOf(line));
	}
	lines.log(closingLine(findings));
	return signal.aborted || findings.some(({ verdict }) => verdict === 'failure') ? 1 : 0;
}

/** Runs all checks at once, because most of the time is waiting for others. */
async function* checkAll(reading: SettingsReading): AsyncGenerator<Finding> {
	const setup = askOnce(reading);
	for (const findings of await Promise.all(CHECKS.map((check) => runCheck(check, setup)))) yield* findings;
}

/** An exception in one check must not hide the findings of the others. */
async function runCheck({ name, needs = [], run }: Check, setup: Setup): Promise<readonly Finding[]> {
	const findings = findingsOf(name);
	const unusable = needs.find((setting) => !(setting in setup.settings));
	if (unusable !== undefined) return findings.skipped(`not checked, because ${unusable} is not usable.`);
	try {
		await run(findings, setup);
	} catch (error) {
		// The error's message may contain a secret.
		const type = error instanceof Error ? error.name : typeof error;
		findings.failure(`the check itself failed (${type}). Please report this.`);
	}
	return findings.all;
}
