import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { checkSystemd } from './systemd.ts';

// node tools/ops/check.ts: checks the files of ops/ with the programs that use them, where these are installed. One
// line for each check; exit code 1 when one fails.

interface Check {
	readonly what: string;
	readonly tool: string;
	readonly comesWith: string;
	readonly args: readonly string[];
}

const CHECKS: readonly Check[] = [
	{
		what: 'the alerts are rules that Prometheus takes',
		tool: 'promtool',
		comesWith: 'Prometheus',
		args: ['check', 'rules', 'ops/alerts.yml'],
	},
	{
		what: 'the alerts fire in their recorded series, and only there',
		tool: 'promtool',
		comesWith: 'Prometheus',
		args: ['test', 'rules', 'ops/alerts.test.yml', 'ops/alerts-day.test.yml'],
	},
];

const cwd = fileURLToPath(new URL('../..', import.meta.url));
for (const { what, tool, comesWith, args } of CHECKS) {
	const { error, status, stdout, stderr } = spawnSync(tool, args, { cwd, encoding: 'utf8' });
	const command = `${tool} ${args.join(' ')}`;
	if (error !== undefined && 'code' in error && error.code === 'ENOENT') {
		console.log(`- not checked: ${what}. ${tool} is not installed; it comes with ${comesWith}. Then: ${command}`);
	} else if (status === 0) {
		console.log(`✓ ${what} (${command})`);
	} else {
		console.error(`✗ not so: ${what} (${command})\n${stdout}${stderr}${error?.message ?? ''}`);
		process.exitCode = 1;
	}
}

const systemd = checkSystemd();
for (const line of systemd.lines) console.log(line);
if (!systemd.ok) process.exitCode = 1;
