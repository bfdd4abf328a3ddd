import { codeOf } from '../../../src/kernel/errors.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { PROGRAM } from '../../../src/store/audit.ts';
import { auditLineOf, BEFORE_ALL, cursorOf, openAudit, readEvents } from '../../../src/store/audit-reader.ts';
import { AUDIT_LINE, type AuditLine } from '../../support/audit-lines.ts';
import type { Harness } from '../harness.ts';
import { until } from '../until.ts';
import { savedOf } from './receipt-watch.ts';
import type { Round } from './round.ts';

/** By then older transactions of other tests on the same PostgreSQL are over: they hold rows back from whoever reads. */
const READABLE_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 250;

/**
 * The whole audit, read beside the program: all rows that are committed, and what a reader gets who waits until each may
 * be read.
 */
async function readAudit({ store: { env } }: Harness): Promise<{ written: AuditLine[]; readable: AuditLine[] }> {
	const db = await openAudit(env.DATABASE_URL ?? null, env.DATA_DIR ?? '', createLog('silent'));
	async function all(isSettled: boolean): Promise<AuditLine[]> {
		const lines: AuditLine[] = [];
		for (let after = BEFORE_ALL; ; ) {
			const rows = await readEvents(db.read, after, { isSettled });
			const last = rows.at(-1);
			if (last === undefined) return lines;
			lines.push(...rows.map((row) => AUDIT_LINE.parse(auditLineOf(row))));
			after = cursorOf(last);
		}
	}
	try {
		const written = await all(false);
		let readable: AuditLine[] = [];
		const isReadable = async () => {
			readable = await all(true);
			return readable.length >= written.length;
		};
		await until(isReadable, READABLE_WITHIN_MS, LOOK_EVERY_MS);
		return { written, readable };
	} finally {
		await db.close();
	}
}

/** Somebody gave an answer, perhaps after another. */
const isGiven = ({ action, actor }: AuditLine) =>
	action === 'answered' || (action === 'conflicted' && actor !== PROGRAM);

/** Judges the audit by the service's log and by what people did. */
export async function judgeAudit(harness: Harness, rounds: readonly Round[]) {
	const problems: string[] = [];
	// A former commit has none.
	const read = await readAudit(harness).catch((error) => {
		if (codeOf(error) === 'no_database') return null;
		throw error;
	});
	const lines = read?.written ?? [];
	const readable = new Set(read?.readable.map(({ number }) => number));
	for (const { number } of lines) if (!readable.has(number)) problems.push(`row ${number} of the audit cannot be read`);
	const puts = Map.groupBy(harness.service.log.puts(), ({ sessionId }) => sessionId);
	const isSaved = (session: string | null) => puts.get(session ?? '')?.some(({ savedAt }) => savedAt !== null) === true;
	const bySession = Map.groupBy(lines, ({ session }) => session ?? '');
	const counts = new Map<string, number>();
	for (const { action } of lines) counts.set(action, (counts.get(action) ?? 0) + 1);

	for (const [sessionId, own] of Map.groupBy(read === null ? [] : rounds, (round) => round.sessionId)) {
		const told = bySession.get(sessionId) ?? [];
		const words = told.map(({ action, actor, about, outcome }) => `${action} ${actor} ${about} ${outcome}`).join('; ');
		const report = (what: string) => problems.push(`${sessionId}: ${what}; its audit: ${words}`);
		for (const round of own) judgeRound(round, told, report);
		for (const { action, actor } of told) {
			const isPressed = own.some((round) => userOf(round) === actor && round.pressedAt !== 0);
			if (action === 'answered' && !isPressed) report(`${actor} answered, who submitted nothing`);
		}
		for (const [answer, its] of Map.groupBy(told, (line) => line.answer)) {
			const given = its.filter(isGiven).length;
			if (given !== 1 && answer !== null) report(`answer ${answer} was given ${given} times`);
		}
	}
	for (const { action, session } of lines) {
		const isOfArrived = ['delivered', 'resumed', 'taken', 'overwritten'].includes(action);
		if (isOfArrived && !isSaved(session)) problems.push(`${session} is ${action}, and no PUT was saved`);
	}
	return { rows: lines.length, counts, problems };

	function userOf({ person }: Round): string | undefined {
		return harness.slack.state.people.find(({ name }) => name === person)?.id;
	}

	function judgeRound(round: Round, told: readonly AuditLine[], report: (what: string) => void): void {
		const user = userOf(round);
		const isArrived = savedOf(harness, round).length > 0;
		const its = told.filter(({ actor, about }) => (actor === PROGRAM ? about : actor) === user);
		const has = (what: string) => its.some(({ action }) => action === what);
		if ((isArrived || round.ackedText !== null) && !its.some(isGiven)) report(`the answer of ${user} is missing`);
		if (isArrived && round.told.at(-1) !== 'may have arrived' && !has('delivered'))
			report(`the answer of ${user} arrived`);
		if (isArrived && has('conflicted')) report(`the answer of ${user} arrived, and conflicted`);
	}
}
