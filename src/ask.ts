import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { command, invalid, print, runCommand } from './operator/command.ts';
import { previewOf, previewWords } from './screens/preview.ts';

/*
 * `npm run ask -- FILE` shows authors of agents what Handraise makes of a question. It reads the JSON of an item, a
 * list of items or a message from a file or standard input. It needs no settings, database or network.
 */

const USAGE = `Usage: npm run ask --silent -- [FILE]
Prints what Handraise makes of a question. FILE has the JSON of an item, a list of items, or a message that asks
({"content": "…", "human_input": [items]}); without FILE it is read from standard input. See docs/asking.md.`;

export const main = command(async (argv, { stdin, stdout }) => {
	try {
		const [file, another] = parseArgs({ args: [...argv], allowPositionals: true }).positionals;
		if (another !== undefined) throw invalid(USAGE);
		// Some editors write a byte-order mark.
		const json = (file === undefined ? await text(stdin) : readFileSync(file, 'utf8')).replace(/^\ufeff/, '');
		await print(stdout, `${previewWords(previewOf(json))}\n`);
		return 0;
	} catch (error) {
		const { message, code } = error as NodeJS.ErrnoException;
		// "… | head"
		if (code === 'EPIPE') return 1;
		if (code?.startsWith('ERR_PARSE_ARGS') === true) throw invalid(USAGE);
		// Node's message for a folder does not name it.
		throw invalid(message.startsWith('EISDIR') ? `Not a file: ${argv[0]}` : message);
	}
});

await runCommand(import.meta, main);
