import { itemsOf, type LogEntry } from '../../../../fake-session-service/log.ts';
import type { Harness } from '../../harness.ts';
import { judgeSaved, requestLine } from '../../saved.ts';
import { NOT_SENT } from '../receipt-watch.ts';
import type { Claim } from '../round.ts';
import type { Choice, Told } from './choice.ts';
import type { Question } from './questions.ts';

const NONE = {
	delivered: 0,
	/** Not sent, and its author was told so. */
	toldNot: 0,
	takenBack: 0,
	/** Not sent, and its author was told that the outcome is unknown. */
	notKnown: 0,
	/** Never acknowledged: the person saw that and did not press again, because somebody else was first. */
	notTaken: 0,
	lost: 0,
	doubled: 0,
	/** Sent before the time to take it back was over. */
	early: 0,
	/** Sent although its author was told that it was taken back. */
	afterUndo: 0,
	/** Told something that is not so. */
	falseWords: 0,
	/** PUTs that replaced another value. */
	overwrites: 0,
	/** Not judged: this machine made the service save later than the call's time-out allows. */
	tooLate: 0,
};

/**
 * How one-press answers ended, according to the service's log and what people saw. `answers`: what people pressed and
 * submitted. One of `problems` for each problem.
 */
export type PressVerdict = Readonly<typeof NONE> & { readonly answers: number; readonly problems: readonly string[] };

/** The program and the judge round times to milliseconds, and a replica takes its time from the database. */
const ROUNDING_MS = 20;
const CERTAINLY_NOT: ReadonlySet<Told> = new Set<Told>([...NOT_SENT, 'second', 'not taken', 'offered again']);
const OPEN: ReadonlySet<Told> = new Set<Told>(['may have arrived', 'not known'] satisfies Claim[]);

/** By question: the requests that would answer it, as they arrived at the service. */
export function putsByQuestion({ service }: Harness): (question: Question) => readonly LogEntry[] {
	const byKey = Map.groupBy(service.log.puts(), ({ sessionId, messageIndex }) => `${sessionId} ${messageIndex}`);
	return ({ sessionId, messageIndex }) => byKey.get(`${sessionId} ${messageIndex}`) ?? [];
}

/** Whether this person's answer is over: delivered, taken back, or told that it is not sent. */
export function isSettled(harness: Harness, { question, attempts, told, options }: Choice): boolean {
	const [value = ''] = harness.service.sessions.values(question.sessionId, question.messageIndex);
	if (options.includes(value)) return true;
	const last = told.at(-1);
	// They may have pressed again after *Undo*.
	if (last === undefined || last.at < (attempts.at(-1)?.sentAt ?? 0)) return false;
	// It names one option: what they pressed before, without an acknowledgement, may be stored.
	if (last.what === 'not taken' && attempts.some(({ option }) => !last.shown.includes(option))) return false;
	return last.what === 'taken back' || CERTAINLY_NOT.has(last.what) || OPEN.has(last.what);
}

export function judgePresses(harness: Harness, choices: readonly Choice[], undoMs: number): PressVerdict {
	const count = { ...NONE };
	const problems: string[] = [];
	const putsOf = putsByQuestion(harness);
	for (const own of Map.groupBy(choices, ({ question }) => question.number).values()) {
		const [{ question }] = own as [Choice, ...Choice[]];
		const puts = putsOf(question);
		const report = (what: string) => problems.push(`question ${question.number}: ${what}\n${describe(own, puts)}`);
		const saved = puts.filter(({ savedAt }) => savedAt !== null);
		if (!judgeSaved(harness, saved, count, report)) continue;
		for (const put of puts) {
			const fault = faultOf(put, own, undoMs);
			if (fault === null) continue;
			count[fault.kind]++;
			report(fault.what);
		}
		for (const choice of own) judgeOne(choice, own, saved, report);
	}
	return { answers: choices.length, ...count, problems };

	function judgeOne(
		choice: Choice,
		own: readonly Choice[],
		saved: readonly LogEntry[],
		report: (what: string) => void,
	): void {
		const { told, options, person } = choice;
		const arrived = saved.some((entry) => options.includes(optionIn(entry)));
		const newest = told.at(-1);
		const last = newest?.what;
		// Of several options that were pressed, "not sent" names the one that was not.
		const isNamed = last !== 'not taken' || saved.some((entry) => newest?.shown.includes(optionIn(entry)));
		const wrong = [...choice.broken];
		if (arrived && last !== undefined && CERTAINLY_NOT.has(last) && isNamed && !choice.sentDraft) {
			wrong.push(`was told "${last}", and it was saved`);
		}
		for (const { what, shown } of told) {
			if (what !== 'second') continue;
			const winner = own.find((one) => one !== choice && shown.includes(`<@${one.userId}>`));
			const isTrue = winner?.options.some((option) => shown.includes(option)) === true;
			if (!isTrue) wrong.push(`was told of a first answer that nobody gave: ${shown}`);
			else if (winner !== undefined && !isAccountedFor(winner, saved)) {
				wrong.push(`was told that ${winner.person} was first, whose answer never arrived`);
			}
		}
		if (wrong.length > 0) {
			count.falseWords++;
			report(`${person}: ${wrong.join('; ')}`);
		}
		if (arrived) count.delivered++;
		else if (last === 'taken back') count.takenBack++;
		else if (told.some(({ what }) => CERTAINLY_NOT.has(what))) count.toldNot++;
		else if (last !== undefined && (OPEN.has(last) || last === 'not saved yet')) count.notKnown++;
		else if (!isTaken(choice)) count.notTaken++;
		else {
			count.lost++;
			report(`${person}: it was acknowledged, and neither sent nor refused`);
		}
	}
}

/** Slack took it, or its author was told that it is sent: they may rely on it, unless they were told that it may not be saved. */
export function isTaken({ attempts, form, told }: Choice): boolean {
	const isAcked = form?.acked === true || attempts.some(({ ackedAt }) => ackedAt !== null);
	if (told.at(-1)?.what === 'not saved yet') return false;
	return isAcked || told.some(({ what }) => what === 'chosen');
}

/** Whether it arrived, was taken back, or its author knows more. */
function isAccountedFor({ told, options }: Choice, saved: readonly LogEntry[]): boolean {
	if (saved.some((entry) => options.includes(optionIn(entry)))) return true;
	return told.some(({ what }) => what === 'taken back' || CERTAINLY_NOT.has(what) || OPEN.has(what));
}

/** Whether this PUT was sent before its time, or in the name of somebody who had taken it back. */
function faultOf(
	put: LogEntry,
	choices: readonly Choice[],
	undoMs: number,
): { readonly kind: 'early' | 'afterUndo' | 'falseWords'; readonly what: string } | null {
	const value = optionIn(put);
	const choice = choices.find(({ options }) => options.includes(value));
	if (choice === undefined) return { kind: 'falseWords', what: `a PUT says "${value}", which nobody chose` };
	if (choice.form?.option === value) return null;
	const undoneAt = choice.told.findLast(({ what }) => what === 'taken back')?.at ?? 0;
	const standing = choice.attempts.filter(({ option, sentAt }) => option === value && sentAt > undoneAt);
	const [first] = standing;
	if (first === undefined) {
		const when = undoneAt === 0 ? 'never pressed' : `taken back ${put.at - undoneAt} ms before`;
		return { kind: 'afterUndo', what: `"${value}" was sent and had been ${when}` };
	}
	const left = first.sentAt + undoMs - put.at;
	return left > ROUNDING_MS
		? { kind: 'early', what: `"${value}" was sent ${left} ms before its undo time ended` }
		: null;
}

function optionIn(entry: LogEntry): string {
	return itemsOf(entry)[0]?.value ?? '';
}

function describe(choices: readonly Choice[], puts: readonly LogEntry[]): string {
	const start = Math.min(...choices.flatMap(({ attempts }) => attempts.map(({ sentAt }) => sentAt)), Date.now());
	const lines = choices.map((choice) => {
		const { person, attempts, form, told, hits, troubles, gone } = choice;
		const presses = attempts.map(({ option, sentAt, ackedAt }) => {
			return `${sentAt - start} ms "${option}"${ackedAt === null ? '' : ` acked ${ackedAt - start}`}`;
		});
		if (form !== null) presses.push(`form "${form.option}"${form.acked ? ' acked' : ''}`);
		const words = told.map(({ what, at }) => `${at - start} ms ${what}`);
		return [
			`  ${person}: ${presses.join(', ') || 'nothing pressed'}${gone ? ', then the button was gone' : ''}`,
			`    told: ${words.join(', ') || 'nothing'}; hits: ${hits.join(', ') || 'none'}`,
			...troubles.map((trouble) => `    trouble: ${trouble}`),
		].join('\n');
	});
	return [...lines, ...puts.map((entry) => requestLine(entry, start))].join('\n');
}
