import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { HandraiseError } from './kernel/basics.ts';
import { print } from './kernel/output.ts';
import { previewOf, previewWords } from './screens/preview.ts';

/*
 * `npm run ask -- FILE`: what Handraise makes of a question, for those who write agents. Reads the JSON of an item, of
 * a list of items or of a message from a file or from standard input, and needs no settings, database or network.
 */

const USAGE = `Usage: npm run ask --silent -- [FILE]
Prints what Handraise makes of a question. FILE has the JSON of an item, a list of items, or a message that asks
({"content": "…", "human_input": [items]}); without FILE it is read from standard input. See docs/asking.md.`;

try {
	const [file, another] = parseArgs({ allowPositionals: true }).positionals;
	if (another !== undefined) throw new HandraiseError(USAGE, { code: 'usage' });
	// Some editors put a mark before a text.
	const json = readFileSync(file ?? 0, 'utf8').replace(/^\ufeff/, '');
	// `print` tells it, too.
	process.stdout.on('error', () => {});
	await print(`${previewWords(previewOf(json))}\n`);
} catch (error) {
	process.exitCode = 1;
	const { message, code } = error as NodeJS.ErrnoException;
	const isUsage = code?.startsWith('ERR_PARSE_ARGS') === true;
	// "… | head"
	if (code !== 'EPIPE') process.stderr.write(`${isUsage ? USAGE : named(message)}\n`);
}

/** Node does not say which one is a folder. */
function named(message: string): string {
	return message.startsWith('EISDIR') ? `Not a file: ${process.argv[2] ?? 'standard input'}` : message;
}
