import { readFileSync } from 'node:fs';
import { needSettings } from './config.ts';
import { command, runCommand } from './operator/command.ts';

/** Prints manifest.yml with the names of this installation, to be pasted into Slack. */
export const main = command(async (_, { env, stdout }) => {
	const { SLASH_COMMAND, APP_NAME: name } = needSettings(env, /^(SLASH_COMMAND|APP_NAME) /);
	const manifest = readFileSync(new URL('../manifest.yml', import.meta.url), 'utf8')
		.replace(/(?<=^ *- command: ).*$/m, SLASH_COMMAND)
		.replace(/(?<=^ *(?:display_)?name: )Handraise$/gm, JSON.stringify(name));
	stdout.write(manifest);
	return 0;
});

await runCommand(import.meta, main);
