import { systemClock } from './clock.ts';
import { readSettings, type SettingsReading } from './config.ts';
import { checkBotToken } from './doctor/bot-token.ts';
import { examine } from './doctor/examine.ts';
import { counted, type Finding, lineOf } from './doctor/finding.ts';
import { createProgress } from './doctor/progress.ts';
import { checkSettings } from './doctor/settings.ts';
import { createSlackCall } from './doctor/slack-call.ts';
import { checkViews } from './doctor/views.ts';

const USAGE = `Usage: npm run doctor             looks at the set-up
       npm run doctor -- --views  asks Slack whether it takes every view and message that Handraise can build`;

/** `npm run doctor`: looks at a set-up, says what is wrong and what to do, and ends with 1 if anything is. */
async function main(): Promise<void> {
	const [option, ...others] = process.argv.slice(2);
	if (others.length > 0 || (option !== undefined && option !== '--views')) {
		console.error(USAGE);
		process.exitCode = 2;
		return;
	}
	const reading = readSettings(process.env);
	if (option === '--views') await examineViews(reading);
	else report(await examine(reading, process.versions.node));
}

function report(findings: readonly Finding[], summary: string | null = null): void {
	for (const finding of findings) console.log(lineOf(finding));
	const wrong = findings.filter(({ verdict }) => verdict === 'failure').length;
	const warnings = findings.filter(({ verdict }) => verdict === 'warning').length;
	const also = warnings === 0 ? '' : ` (and ${counted(warnings, 'warning')})`;
	if (summary !== null) console.log(summary);
	console.log(wrong === 0 ? `All is well${also}.` : `${counted(wrong, 'problem')} to fix${also}.`);
	process.exitCode = wrong === 0 ? 0 : 1;
}

/** Needs nothing but the bot token, so that it can be run before the rest is set up. */
async function examineViews({ settings, problems }: SettingsReading): Promise<void> {
	const { SLACK_BOT_TOKEN: token, SLACK_API_URL: apiUrl } = settings;
	if (token === undefined || apiUrl === undefined) {
		report(checkSettings({ problems: problems.filter((one) => /^SLACK_(BOT_TOKEN|API_URL) /.test(one)), unknown: [] }));
		return;
	}
	const call = createSlackCall(apiUrl);
	const bot = await call('auth.test', token);
	const found = checkBotToken(bot);
	if (bot.kind !== 'ok') {
		report(found);
		return;
	}
	// Only here: the builders would make every start of the doctor slower.
	const { allShapes } = await import('./slack/shapes/all.ts');
	const progress = createProgress(process.stderr);
	const views = await checkViews({ shapes: allShapes(), call, token, clock: systemClock, show: progress.show });
	progress.end();
	report([...found, ...views.findings], `${views.summary} Nothing else was checked: npm run doctor does that.`);
}

await main();
