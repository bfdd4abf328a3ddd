import { readFileSync } from 'node:fs';
import { needSettings } from './config.ts';
import { HandraiseError } from './kernel/basics.ts';

// Prints manifest.yml with the names of this installation, to be pasted into Slack.
try {
	const { SLASH_COMMAND: command, APP_NAME: name } = needSettings(process.env, /^(SLASH_COMMAND|APP_NAME) /);
	const manifest = readFileSync(new URL('../manifest.yml', import.meta.url), 'utf8')
		.replace(/(?<=^ *- command: ).*$/m, command)
		.replace(/(?<=^ *(?:display_)?name: )Handraise$/gm, JSON.stringify(name));
	process.stdout.write(manifest);
} catch (error) {
	process.stderr.write(`${error instanceof HandraiseError ? error.message : String(error)}\n`);
	process.exitCode = 1;
}
