import { readSettings } from '../config.ts';
import type { Clock } from '../core/clock.ts';
import { HandraiseError } from '../core/errors.ts';
import { counted } from '../slack/words.ts';
import type { Finding, Findings, Invocation, Setup, SlackCall, SlackReply } from './check.ts';
import { askOnce, createSlackCall, findingsOf, lineOf, wordsOf } from './check.ts';
import {
	checkClock,
	checkDatabase,
	checkDataDir,
	checkKey,
	checkNode,
	checkPort,
	checkProxy,
	checkSettings,
} from './environment.ts';
import { checkLive } from './live.ts';
import { checkDashboard, checkList, checkRateLimit, checkService } from './service.ts';
import type { Shape } from './shapes/samples.ts';
import { checkAccess, checkBotToken, checkHttpMode, checkScopes, checkSocketMode, tokenAdvice } from './slack.ts';

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
	Port: (findings, { need }) => checkPort(findings, need('PORT'), need('HOST')),
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
	if (mode === 'live' && channel !== undefined) return checkLive(channel, invocation);
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

/** Between two calls. Slack does not publish the rate of `blocks.validate` ("special rate limits apply"). */
const PAUSE_MS = 50;
/** Gives up after this many 429s in a row. */
const MAX_LIMITED = 10;

const TRANSIENT = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);

/** Asks Slack whether it accepts the shapes. Needs only the bot token, so that it can run before everything else is set up. */
async function* checkViews({ env, clock, lines }: Invocation): AsyncGenerator<Finding> {
	const { settings, problems } = readSettings(env);
	const { SLACK_BOT_TOKEN: token, SLACK_API_URL: apiUrl } = settings;
	if (token === undefined || apiUrl === undefined) {
		const ofSlack = problems.filter((problem) => /^SLACK_(BOT_TOKEN|API_URL) /.test(problem));
		return yield* checkSettings(findingsOf('Settings'), { problems: ofSlack, unknown: [] });
	}
	const call = createSlackCall(apiUrl, token);
	const auth = await call('auth.test');
	yield* checkBotToken(findingsOf('Bot token'), auth);
	if (auth.kind !== 'ok') return;
	// Imported here, because building them takes a second.
	const { extremes } = await import('./shapes/extremes.ts');
	yield* askAbout(extremes(), call, { clock, say: lines.log });
}

/** Asks Slack with `blocks.validate`, which posts nothing. Yields the refused shapes, and why it stopped early. */
export async function* askAbout(
	shapes: readonly Shape[],
	call: SlackCall,
	{ clock, say }: { readonly clock: Pick<Clock, 'sleep'>; readonly say: (line: string) => void },
): AsyncGenerator<Finding> {
	const found = (text: string): Finding => ({ verdict: 'failure', check: 'Views', text });
	const total = counted(shapes.length, 'shape');
	let asked = 0;
	let refused = 0;

	async function ask({ view, message }: Shape): Promise<SlackReply> {
		// Only the blocks of a message: `blocks.validate` refuses its `text` (slackapi/node-slack-sdk#2659).
		const args = view === undefined ? { message: { blocks: message?.blocks } } : { view };
		const pausesMs = [1_000, 5_000];
		for (let limitedCount = 0; ; ) {
			const reply = await call('blocks.validate', args);
			if (reply.kind === 'unreachable' && reply.limitedSec !== null && limitedCount < MAX_LIMITED) {
				limitedCount++;
				say(`Slack limits the calls: continuing in ${reply.limitedSec} s.`);
				await clock.sleep(reply.limitedSec * 1_000);
			} else {
				const pauseMs = isTransient(reply) ? pausesMs.shift() : undefined;
				if (pauseMs === undefined) return reply;
				await clock.sleep(pauseMs);
			}
		}
	}

	say(`Asking Slack about ${total}.`);
	for (const shape of shapes) {
		const reply = await ask(shape);
		const problem = problemOf(reply);
		if (problem !== null) {
			yield found(`${problem} Asking stopped at ${shape.name}.`);
			break;
		}
		asked++;
		if (reply.kind === 'refused') {
			refused++;
			yield found(`${shape.name}: Slack refuses it (${reply.code}): ${wordsOf(reply.data)}`);
		}
		await clock.sleep(PAUSE_MS);
	}
	const count = asked === shapes.length ? total : `${asked} of ${total}`;
	say(
		`Slack was asked about ${count} and refuses ${refused === 0 ? 'none' : refused}. Nothing else was checked: npm run doctor does that.`,
	);
}

function isTransient(reply: SlackReply): boolean {
	if (reply.kind === 'unreachable') return reply.limitedSec === null;
	return reply.kind === 'refused' && TRANSIENT.has(reply.code);
}

/** Why the check must stop; null when the reply is about the shape. */
function problemOf(reply: SlackReply): string | null {
	if (reply.kind === 'ok') return null;
	if (reply.kind === 'unreachable') return `Slack cannot be asked: ${reply.why}.`;
	const { code } = reply;
	if (code === 'unknown_method') return 'This Slack has no blocks.validate (unknown_method), so it cannot check views.';
	const advice = tokenAdvice(code, 'SLACK_BOT_TOKEN');
	if (advice !== null) return advice;
	return TRANSIENT.has(code) ? `Slack has a failure of its own (${code}): try again later.` : null;
}
