import { z } from 'zod';
import { AUDIT_ACTIONS } from '../../src/store/schema/audit.ts';

const word = z.string().nullable();

/** What `npm run audit` prints of a row, and the log has of it: nothing else. */
export const AUDIT_LINE = z.strictObject({
	number: z.int(),
	cursor: z.string().regex(/^\d+\.\d+$/),
	at: z.iso.datetime(),
	/** 1.1.0 wrote `taken` too, of an answer whose field the agent had emptied. */
	action: z.enum([...AUDIT_ACTIONS, 'taken']),
	count: z.int(),
	actor: word,
	operator: word,
	about: word,
	session: word,
	channel: word,
	answer: word,
	fingerprint: word,
	shownHash: word,
	outcome: word,
	request: word,
});
export type AuditLine = Readonly<z.infer<typeof AUDIT_LINE>>;

const LINE = AUDIT_LINE.extend({ level: z.literal('info'), time: z.iso.datetime(), msg: z.literal('audit') });
export type LoggedLine = z.infer<typeof LINE>;

const isOfAudit = (text: string) => text.includes('"msg":"audit"');

/** The lines of a log that tell what was added to the audit, from its line `from` on. */
export const auditLines = (log: readonly string[], from = 0): LoggedLine[] =>
	log
		.slice(from)
		.filter(isOfAudit)
		.map((text) => JSON.parse(text));

/** Those that `npm run audit` would not print so. */
export const oddAuditLines = (log: readonly string[]): string[] =>
	log.filter((text) => isOfAudit(text) && !LINE.safeParse(JSON.parse(text)).success);
