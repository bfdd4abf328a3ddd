import { readFileSync } from 'node:fs';
import { z } from 'zod';

const PAGE = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
/** The words of one row of the page's table about access lines. */
const wordsOf = (field: string) => {
	const [, cell = ''] = new RegExp(`^\\| \`${field}\` \\|([^|]*)\\|$`, 'm').exec(PAGE) ?? [];
	return [...cell.matchAll(/`([a-z_ ]+)`/gi)].map(([, word = '']) => word);
};
/** What docs/operations.md names. */
export const ACCESS_WORDS = wordsOf('access');
/** Commands have words of the audit. */
const OF_COMMAND = /[A-Z]/;
const id = z.string().min(1);
const line = z.strictObject({
	level: z.literal('info'),
	time: z.iso.datetime(),
	request: z.string().regex(/^[0-9a-f]{12}$/),
	user: id,
	team: id.nullable(),
	access: z.enum(ACCESS_WORDS.filter((word) => !OF_COMMAND.test(word))),
	session: id.nullable(),
	channel: id.nullable(),
	outcome: z.string().regex(/^[a-z]\w*$/i),
	msg: z.literal('access'),
});
const ofCommand = line.omit({ request: true, user: true, team: true, session: true }).extend({
	access: z.enum(ACCESS_WORDS.filter((word) => OF_COMMAND.test(word))),
	by: id,
	about: id.optional(),
	channel: id.optional(),
});
const ACCESS = z.union([line, ofCommand]);

/** The access lines of a log that do not fit the schema that docs/operations.md gives. */
export function oddAccessLines(log: readonly string[]): string[] {
	return log.filter((text) => text.includes('"msg":"access"') && !ACCESS.safeParse(JSON.parse(text)).success);
}
