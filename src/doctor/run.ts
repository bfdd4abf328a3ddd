import type { Clock } from '../clock.ts';
import { readSettings, type SettingsReading } from '../config.ts';
import { checkClock, checkSettings, examineEnvironment, examinePort } from './environment.ts';
import { checkLive, type LiveOptions } from './live.ts';
import { closingLines, type Examined, type Finding, findingsOf, lineOf } from './report.ts';
import { createSlackCall } from './request.ts';
import { examineDashboard, examineService } from './service.ts';
import { checkBotToken, examineSlack } from './slack.ts';
import { checkWorkspaces, examineStore } from './store.ts';
import { type AskedShape, checkViews } from './views.ts';

const USAGE = `Usage: npm run doctor                    checks the set-up
       npm run doctor -- views           asks Slack whether it accepts the largest views and messages of Handraise
       npm run doctor -- live <channel>  tries in that channel, with you, what Handraise assumes of Slack`;

/** What the command takes from its process. */
export interface Invocation extends Pick<LiveOptions, 'receive' | 'signal'> {
	readonly args: readonly string[];
	readonly env: NodeJS.ProcessEnv;
	readonly clock: Clock;
	/** The views and messages that `views` asks about. */
	readonly shapes: () => Promise<readonly AskedShape[]>;
	/** Takes the report, and as errors the usage and the progress of `views`. */
	readonly lines: Pick<Console, 'log' | 'error'>;
}

/** The report, and a line in front of the closing line. */
interface Examination {
	readonly findings: readonly Finding[];
	readonly summary: string | null;
}

/** In the order of the report. None of them changes anything. */
const PARTS = [
	{ name: 'Settings', examine: examineEnvironment },
	{ name: 'Slack', examine: examineSlack },
	{ name: 'Port', examine: examinePort },
	{ name: 'Session service', examine: examineService },
	{ name: 'Dashboard', examine: examineDashboard },
	{ name: 'Database', examine: examineStore },
] as const satisfies readonly { name: string; examine(reading: SettingsReading): Promise<Examined> }[];

type Part = (typeof PARTS)[number];

/** Checks a set-up, and says what is wrong and what to do. Returns the exit code: 1 with a failure, 2 for wrong arguments. */
export async function runDoctor(invocation: Invocation): Promise<0 | 1 | 2> {
	const { args, env, lines } = invocation;
	const [mode, channel, ...others] = args;
	const isUsage = mode === 'live' ? channel !== undefined : channel === undefined;
	if (others.length > 0 || !isUsage || !['live', 'views', undefined].includes(mode)) {
		lines.error(USAGE);
		return 2;
	}
	const reading = readSettings(env);
	const { findings, summary } =
		mode === 'views'
			? await examineViews(reading, invocation)
			: mode === 'live'
				? { findings: checkLive(channel ?? '', { ...invocation, say: lines.log }), summary: null }
				: { findings: await examineAll(reading), summary: null };
	const shown: Finding[] = [];
	for await (const finding of findings) {
		shown.push(finding);
		lines.log(lineOf(finding));
	}
	for (const line of closingLines(shown, summary)) lines.log(line);
	return invocation.signal.aborted || shown.some(({ verdict }) => verdict === 'failure') ? 1 : 0;
}

/** Runs all examinations at once, because most of the time is waiting for others. */
async function examineAll(reading: SettingsReading): Promise<Finding[]> {
	const examined = await Promise.all(PARTS.map((part) => guarded(part, reading)));
	const of = (name: Part['name']) => examined.find((part) => part.name === name);
	return [
		...examined.flatMap(({ findings }) => findings),
		...checkWorkspaces(of('Slack')?.teamId, of('Database')?.workspaces),
		...checkClock({ slack: of('Slack')?.aheadMs ?? null, service: of('Session service')?.aheadMs ?? null }),
	];
}

/** An exception in one examination must not hide the findings of the others. */
async function guarded({ name, examine }: Part, reading: SettingsReading): Promise<Examined & { name: string }> {
	try {
		return { name, ...(await examine(reading)) };
	} catch (error) {
		// The error's message may contain a secret.
		const type = error instanceof Error ? error.name : typeof error;
		return { name, findings: findingsOf(name).failure(`the check itself failed (${type}). Please report this.`) };
	}
}

/** Needs only the bot token, so that it can run before everything else is set up. */
async function examineViews(
	{ settings, problems }: SettingsReading,
	{ shapes, clock, lines }: Invocation,
): Promise<Examination> {
	const { SLACK_BOT_TOKEN: token, SLACK_API_URL: apiUrl } = settings;
	if (token === undefined || apiUrl === undefined) {
		const ofSlack = problems.filter((problem) => /^SLACK_(BOT_TOKEN|API_URL) /.test(problem));
		return { findings: checkSettings({ problems: ofSlack, unknown: [] }), summary: null };
	}
	const call = createSlackCall(apiUrl);
	const bot = await call('auth.test', token);
	const findings = checkBotToken(bot);
	if (bot.kind !== 'ok') return { findings, summary: null };
	const views = await checkViews({ shapes: await shapes(), call, token, clock, say: lines.error });
	return {
		findings: [...findings, ...views.findings],
		summary: `${views.summary} Nothing else was checked: npm run doctor does that.`,
	};
}
