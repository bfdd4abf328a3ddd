import { readSettings, type Settings } from '../../config.ts';
import { APP_NAME, COMMAND } from '../../kernel/command-name.ts';
import { HandraiseError } from '../../kernel/errors.ts';
import { ownVersion } from '../../kernel/own-version.ts';
import { counted } from '../../slack/phrases.ts';
import { askOnce, type Finding, type Findings, findingLine, findingsOf, type Invocation, type Setup } from './check.ts';
import { checkDatabase, checkDataDir, checkProxy, checkSettings } from './environment.ts';
import { checkKey } from './key.ts';
import { checkLive } from './live.ts';
import { type Bot, createSlackCall } from './requests.ts';
import { checkAddress, checkDashboard, checkList, checkRateLimit, checkService } from './service.ts';
import { checkAccess, checkBotToken, checkHttpMode, checkScopes, checkSocketMode } from './slack.ts';

const USAGE = `Usage: npm run doctor                    checks the set-up
       npm run doctor -- live <channel>  tries in that channel, with you, what Handraise assumes of Slack
       npm run doctor -- may <user> <channel>
                                         says what that person may do there, and why. <user>: a member ID (U…), a link
                                         to a profile or a mention; <channel>: an ID, a link or a name`;

type Check = (findings: Findings, setup: Setup) => unknown;

/** The checks in the order of the report. Each adds its findings, and changes nothing in the set-up. */
const CHECKS: Readonly<Record<string, Check>> = {
	Handraise: ({ ok }) => ok(`version ${ownVersion()}, called ${APP_NAME}, with the command ${COMMAND}.`),
	// `check-node.js` has refused older versions.
	'Node.js': ({ ok }) => ok(`${process.versions.node}.`),
	Settings: checkSettings,
	Proxy: checkProxy,
	'Bot token': async (findings, { auth }) => checkBotToken(findings, await auth),
	Scopes: checkScopes,
	'Socket Mode': checkSocketMode,
	'HTTP mode': checkHttpMode,
	Access: checkAccess,
	'Session service': checkService,
	'Service address': checkAddress,
	'Session list': checkList,
	'Rate limit': checkRateLimit,
	Dashboard: checkDashboard,
	DATA_DIR: checkDataDir,
	Database: checkDatabase,
	'Encryption key': checkKey,
};

/** Checks a set-up and says what to do. The exit code: 1 a failure, 2 wrong arguments, 3 somebody may not act. */
export async function runDoctor(invocation: Invocation): Promise<0 | 1 | 2 | 3> {
	const { args, lines, signal } = invocation;
	const report = await reportFor(args, invocation);
	if (report === null) {
		lines.error(USAGE);
		return 2;
	}
	const findings: Finding[] = [];
	for await (const finding of report) {
		findings.push(finding);
		lines.log(findingLine(finding));
	}
	const count = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
	const [failures, warnings, refusals] = [count('failure'), count('warning'), count('refused')];
	const fine = args[0] === 'may' ? 'All is allowed' : 'All is well';
	const unrefused = refusals === 0 ? fine : `${counted(refusals, 'action')} not allowed`;
	const result = failures === 0 ? unrefused : `${counted(failures, 'problem')} to fix`;
	lines.log(`${result}${warnings === 0 ? '' : ` (and ${counted(warnings, 'warning')})`}.`);
	if (signal.aborted || failures > 0) return 1;
	return refusals > 0 ? 3 : 0;
}

async function reportFor([mode, first, second, ...others]: readonly string[], invocation: Invocation) {
	if (mode === undefined) return checkAll(invocation);
	if (others.length > 0 || first === undefined) return null;
	if (mode === 'live' && second === undefined) return checkLive(first, invocation);
	if (mode !== 'may' || second === undefined) return null;
	// Imported here, because it takes half a second.
	const { mayBy } = await import('./may.ts');
	const ask = mayBy(first, second);
	return ask && asBot(invocation, ask);
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

/** The settings that `may` needs. It can run before the others are set. */
const MAY_SETTINGS =
	/^(SLACK_BOT_TOKEN|SLACK_API_URL|HTTPS?_PROXY|NO_PROXY|ALLOW\w*|QUICK_ANSWERS|DISCOVER_SESSIONS)(_FILE)? /;

async function* asBot({ env, clock }: Invocation, ask: (bot: Bot) => AsyncGenerator<Finding>) {
	const reading = readSettings(env, MAY_SETTINGS);
	if (reading.problems.length > 0) return yield* checkSettings(findingsOf('Settings'), { problems: reading.problems });
	const settings = reading.settings as Settings;
	const call = createSlackCall(settings.SLACK_API_URL, settings.SLACK_BOT_TOKEN);
	const auth = await call('auth.test');
	const findings = checkBotToken(findingsOf('Bot token'), auth);
	yield* findings;
	if (auth.kind !== 'ok' || findings.some(({ verdict }) => verdict === 'failure')) return;
	const { team_id: teamId, enterprise_id: enterpriseId } = auth.data;
	const installation = { teamId: String(teamId), enterpriseId: typeof enterpriseId === 'string' ? enterpriseId : null };
	yield* ask({ settings, call, clock, ...installation });
}
