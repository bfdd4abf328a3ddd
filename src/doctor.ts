import { systemClock } from './clock.ts';
import { readSettings, type SettingsReading } from './config.ts';
import { checkClock, checkSettings, examineEnvironment, examinePort } from './doctor/environment.ts';
import { closingLines, type Examined, type Finding, findingsOf, lineOf } from './doctor/report.ts';
import { createSlackCall } from './doctor/request.ts';
import { examineDashboard, examineService } from './doctor/service.ts';
import { checkBotToken, examineSlack } from './doctor/slack.ts';
import { examineStore } from './doctor/store.ts';
import { checkViews, createProgress } from './doctor/views.ts';

const USAGE = `Usage: npm run doctor             checks the set-up
       npm run doctor -- --views  asks Slack whether it accepts every view and message of Handraise`;

/** In the order of the report. None of them changes anything. */
const EXAMINATIONS = [
	{ name: 'Settings', examine: examineEnvironment },
	{ name: 'Slack', examine: examineSlack },
	{ name: 'Port', examine: examinePort },
	{ name: 'Session service', examine: examineService },
	{ name: 'Dashboard', examine: examineDashboard },
	{ name: 'Database', examine: examineStore },
] as const satisfies readonly { name: string; examine(reading: SettingsReading): Promise<Examined> }[];

/** `npm run doctor`: checks a set-up, says what is wrong and what to do, and exits with 1 when there is a failure. */
async function main(): Promise<void> {
	const [option, ...others] = process.argv.slice(2);
	if (others.length > 0 || (option !== undefined && option !== '--views')) {
		console.error(USAGE);
		process.exitCode = 2;
		return;
	}
	const reading = readSettings(process.env);
	if (option === '--views') await examineViews(reading);
	else report(await examine(reading));
}

function report(findings: readonly Finding[], summary: string | null = null): void {
	for (const finding of findings) console.log(lineOf(finding));
	for (const line of closingLines(findings, summary)) console.log(line);
	process.exitCode = findings.some(({ verdict }) => verdict === 'failure') ? 1 : 0;
}

/** Runs all examinations at once, because most of the time is waiting for others. */
async function examine(reading: SettingsReading): Promise<Finding[]> {
	const examined = await Promise.all(EXAMINATIONS.map((examination) => guarded(examination, reading)));
	const aheadMs = (name: Examination['name']) => examined.find((part) => part.name === name)?.aheadMs ?? null;
	return [
		...examined.flatMap(({ findings }) => findings),
		...checkClock({ slack: aheadMs('Slack'), service: aheadMs('Session service') }),
	];
}

type Examination = (typeof EXAMINATIONS)[number];

/** An exception in one examination must not hide the findings of the others. */
async function guarded(
	{ name, examine: run }: Examination,
	reading: SettingsReading,
): Promise<Examined & { name: string }> {
	try {
		return { name, ...(await run(reading)) };
	} catch (error) {
		// The error's message may contain a secret.
		const type = error instanceof Error ? error.name : typeof error;
		return { name, findings: findingsOf(name).failure(`the check itself failed (${type}). Please report this.`) };
	}
}

/** Needs only the bot token, so that it can run before everything else is set up. */
async function examineViews({ settings, problems }: SettingsReading): Promise<void> {
	const { SLACK_BOT_TOKEN: token, SLACK_API_URL: apiUrl } = settings;
	if (token === undefined || apiUrl === undefined) {
		report(
			checkSettings({
				problems: problems.filter((problem) => /^SLACK_(BOT_TOKEN|API_URL) /.test(problem)),
				unknown: [],
			}),
		);
		return;
	}
	const call = createSlackCall(apiUrl);
	const bot = await call('auth.test', token);
	const findings = checkBotToken(bot);
	if (bot.kind !== 'ok') {
		report(findings);
		return;
	}
	// Imported only here, because the builders slow down the start.
	const { allShapes } = await import('./slack/shapes/all.ts');
	const progress = createProgress(process.stderr);
	const views = await checkViews({ shapes: allShapes(), call, token, clock: systemClock, show: progress.show });
	progress.end();
	report([...findings, ...views.findings], `${views.summary} Nothing else was checked: npm run doctor does that.`);
}

await main();
