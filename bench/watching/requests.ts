import { asking, done, item, task } from '../../sandbox/session-service/builders.ts';
import type { SessionJson } from '../../sandbox/session-service/json.ts';
import { watchingApp } from '../../test/features/watch/harness.ts';
import { createRandom } from '../../test/support/random.ts';
import { quantile, seconds, table } from './table.ts';

/*
 * The whole program in virtual time: what an hour of watching costs the service, and how soon a question is seen in the
 * same run. A call takes no time. Only bodies count: what HTTP adds is the same for each request.
 */

const MINUTE_MS = 60_000;
const SEEN_WITHIN_MS = 60_000;
const KB = 1_000;
/** A session that does nothing for ten minutes counts as quiet. */
const OF_QUIET = { minutes: 30, before: 12, apart: 10.5, questions: 8 };
const OF_WORK = { minutes: 10, before: 3, apart: 0.7, questions: 8 };

interface Case {
	readonly name: string;
	readonly sessions: readonly Played[];
	/** So many minutes are measured, after so many others, and so many pass between two questions. */
	readonly minutes: number;
	readonly before: number;
	readonly apart: number;
	/** How many questions are asked, one after another, when all is measured. */
	readonly questions: number;
}

interface Played {
	readonly kilobytes: number;
	readonly status: string;
	/** Steps this often; left out: never. */
	readonly stepMs?: number;
	/** Its links are renewed one at a time, so that each read finds another body. */
	readonly isRenewed?: boolean;
}

const QUIET: Played = { kilobytes: 100, status: 'paused' };
const AT_WORK: Played = { kilobytes: 100, status: 'active', stepMs: 8_000 };
const LARGE: Played = { ...AT_WORK, kilobytes: 5_000, stepMs: 2_000 };
const TWENTY = [AT_WORK, AT_WORK, ...Array.from({ length: 18 }, () => QUIET)];

const CASES: readonly Case[] = [
	{ name: 'one quiet session', sessions: [QUIET], ...OF_QUIET },
	{ name: 'one with an open question', sessions: [{ ...QUIET, status: 'humanInput' }], ...OF_QUIET, questions: 0 },
	{ name: 'one at work, a step every 8 s', sessions: [AT_WORK], ...OF_WORK },
	{ name: 'one at work of 5 MB, a step every 2 s', sessions: [LARGE], ...OF_WORK, minutes: 2, before: 1 },
	{ name: 'one quiet, another body at each read', sessions: [{ ...QUIET, isRenewed: true }], ...OF_QUIET },
	{ name: 'twenty, two of them at work', sessions: TWENTY, ...OF_QUIET, minutes: 10, apart: 2 },
];

/** A session whose body has about so many bytes. */
function bodyOf({ kilobytes, status, isRenewed }: Played): SessionJson {
	const text = 'I looked at the next row of the list. '.repeat(25);
	const steps = Array.from({ length: Math.max(1, kilobytes - 1) }, (_, step) => done(text, { click: { index: step } }));
	const last = status === 'humanInput' ? [asking('I need to know something.', [item('Which colour?')])] : [];
	const files = isRenewed ? [{ filename: 'report.csv', timestamp: '2026-11-25T00:00:00.000Z' }] : [];
	return { status, maxSteps: 100_000, messages: [task('Work through the list.'), ...steps, ...last], files };
}

async function measure({ sessions, minutes, before, apart, questions }: Case, hasList: boolean) {
	await using app = await watchingApp({
		env: {
			SESSION_SERVICE_RPM: '250',
			REMIND_AFTER: 'off',
			SESSION_SERVICE_TIMEOUT_MS: '20000',
		},
		service: { list: { mode: hasList ? 'on' : 'off' }, resumeAfterMs: null },
	});
	const { service, clock } = app;
	const random = createRandom(1);
	const ids = sessions.map((played) => app.session(bodyOf(played)));
	for (const id of ids) await app.watch(id);
	const waiting = new Set<string>();
	const next = new Map(
		ids.map((id, index) => [id, clock.now() + (sessions[index]?.stepMs ?? Number.POSITIVE_INFINITY)]),
	);
	service.hooks.onRequest = ({ sessionId, kind }) => {
		const played = sessions[ids.indexOf(sessionId ?? '')];
		if (kind === 'read' && played?.isRenewed) service.sessions.renewLinks(sessionId ?? '');
	};

	/** Lets time pass, with the steps of those at work. */
	async function play(ms: number): Promise<void> {
		const until = clock.now() + ms;
		for (;;) {
			const [id, at] = [...next].reduce((first, one) => (one[1] < first[1] ? one : first), ['', until]);
			await app.pass(Math.max(0, Math.min(at, until) - clock.now()));
			if (at >= until) return;
			const stepMs = sessions[ids.indexOf(id)]?.stepMs ?? Number.POSITIVE_INFINITY;
			next.set(id, at + stepMs * random.between(0.7, 1.3));
			if (waiting.has(id)) continue;
			app.step(id, `${'I looked at the next row of the list. '.repeat(25)} ${Math.round(at)}`);
		}
	}

	await play(before * MINUTE_MS);
	const from = clock.now();
	await play(minutes * MINUTE_MS);
	const reads = service.log.reads().filter(({ at }) => at >= from);
	const lists = service.log.lists().filter(({ at }) => at >= from);
	const seen: number[] = [];
	for (let count = 0; count < questions; count += 1) {
		await play(apart * MINUTE_MS * random.between(1, 1.1));
		const id = random.pick(ids);
		const { status = 'active' } = service.sessions.get(id);
		const askedAt = clock.now();
		app.ask(id, ['Which colour?'], `I need to know something (${count}).`);
		waiting.add(id);
		const isPosted = () => app.thread(id).some((post) => post.text().includes(`(${count})`));
		await app.until(isPosted, () => 'never seen', SEEN_WITHIN_MS);
		seen.push(clock.now() - askedAt);
		service.sessions.answerAsPage(id, ['red']);
		service.sessions.setStatus(id, status ?? 'active');
		waiting.delete(id);
	}
	const anHour = 60 / minutes;
	const bytesOf = (entries: typeof reads) => anHour * entries.reduce((sum, { byteCount }) => sum + byteCount, 0);
	const ofReads = { reads: anHour * reads.length, readBytes: bytesOf(reads) };
	return { ...ofReads, lists: anHour * lists.length, listBytes: bytesOf(lists), seen };
}

const megabytes = (bytes: number) => `${(bytes / KB / KB).toFixed(1)} MB`;

/** Prints requests and bytes an hour, with a list of the service and without. */
export async function countRequests(): Promise<void> {
	const rows: string[][] = [];
	for (const one of CASES) {
		for (const hasList of [true, false]) {
			const { reads, readBytes, lists, listBytes, seen } = await measure(one, hasList);
			const soon = seen.length === 0 ? '–' : [0.5, 1].map((share) => seconds(quantile(seen, share))).join(' / ');
			const cost = [reads.toFixed(0), megabytes(readBytes), lists.toFixed(0), megabytes(listBytes)];
			rows.push([one.name, hasList ? 'yes' : 'no', ...cost, soon]);
			process.stderr.write(`${rows.at(-1)?.join(' | ')}\n`);
		}
	}
	table(
		[
			'watched',
			'list',
			'reads an hour',
			'their bytes',
			'lists an hour',
			'their bytes',
			'a question is seen after, median / longest',
		],
		rows,
	);
}
