import { z } from 'zod';
import { AUDIT_LINE } from '../../src/database/audit-reader.ts';

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
