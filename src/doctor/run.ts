import { HandraiseError } from '../errors.ts';
import { ASSUMPTIONS } from './assumptions.ts';
import {
	askOnce,
	counted,
	type Finding,
	type Findings,
	findingsOf,
	type Invocation,
	lineOf,
	type Setup,
} from './check.ts';
import { checkClock, checkNode, checkPort, checkProxy, checkSettings } from './environment.ts';
import { checkLive } from './live.ts';
import { checkDashboard, checkList, checkRateLimit, checkService } from './service.ts';
import { checkAccess, checkBotToken, checkHttpMode, checkScopes, checkSocketMode } from './slack.ts';
import { checkDatabase, checkDataDir, checkKey } from './store.ts';
import { checkViews } from './views.ts';

const USAGE = `Usage: npm run doctor                    checks the set-up
       npm run doctor -- views           asks Slack whether it accepts the largest views and messages of Handraise
       npm run doctor -- live <channel>  tries in that channel, with you, what Handraise assumes of Slack`;

type Check = (findings: Findings, setup: Setup) => unknown;

/** In the order of the report. Each adds its findings, and changes nothing in the set-up. */
const CHECKS: Readonly<Record<string, Check>> = {
	'Node.js': (findings) => checkNode(findings, process.versions.node),
	Settings: checkSettings,
	Proxy: checkProxy,
	'Bot token': async (findings, { auth }) => checkBotToken(findings, await auth),
	Scopes: checkScopes,
	'Socket Mode': checkSocketMode,
	'HTTP mode': checkHttpMode,
	Access: checkAccess,
	Port: (findings, { need }) => checkPort(findings, need('PORT')),
	'Session service': checkService,
	'Session list': checkList,
	'Rate limit': checkRateLimit,
	Dashboard: checkDashboard,
	DATA_DIR: checkDataDir,
	Database: checkDatabase,
	'Encryption key': checkKey,
	Clock: checkClock,
};

/** Checks a set-up, and says what is wrong and what to do. Returns the exit code: 1 with a failure, 2 for wrong arguments. */
export async function runDoctor(invocation: Invocation): Promise<0 | 1 | 2> {
	const { args, lines, signal } = invocation;
	const report = reportFor(args, invocation);
	if (report === null) {
		lines.error(USAGE);
		return 2;
	}
	const findings: Finding[] = [];
	for await (const finding of report) {
		findings.push(finding);
		lines.log(lineOf(finding));
	}
	const count = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
	const [failures, warnings] = [count('failure'), count('warning')];
	const result = failures === 0 ? 'All is well' : `${counted(failures, 'problem')} to fix`;
	lines.log(`${result}${warnings === 0 ? '' : ` (and ${counted(warnings, 'warning')})`}.`);
	return signal.aborted || failures > 0 ? 1 : 0;
}

function reportFor([mode, channel, ...others]: readonly string[], invocation: Invocation) {
	if (others.length > 0) return null;
	if (mode === 'live' && channel !== undefined) return checkLive(channel, ASSUMPTIONS, invocation);
	if (channel !== undefined) return null;
	if (mode === 'views') return checkViews(invocation);
	return mode === undefined ? checkAll(invocation) : null;
}

/** Runs all checks at once, because most of the time is waiting for others. */
async function* checkAll({ env }: Invocation): AsyncGenerator<Finding> {
	const setup = askOnce(env);
	const checks = Object.entries(CHECKS).map(([name, check]) => runCheck(name, check, setup));
	for (const findings of await Promise.all(checks)) yield* findings;
}

/** An exception in one check must not hide the findings of the others. */
async function runCheck(name: string, check: Check, setup: Setup): Promise<readonly Finding[]> {
	const findings = findingsOf(name);
	try {
		await check(findings, setup);
	} catch (error) {
		if (error instanceof HandraiseError && error.code === 'not_checked')
			return findings.skipped(`not checked, because ${error.message}.`);
		// The error's message may contain a secret.
		const type = error instanceof Error ? error.name : typeof error;
		findings.failure(`the check itself failed (${type}). Please report this.`);
	}
	return findings.all;
}
