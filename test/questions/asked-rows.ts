import { pick } from '../../src/core/basics.ts';
import { evidenceAt, isBlocking } from '../../src/questions/answer.ts';
import {
	type Evidence,
	evidence as evidenceSchema,
	type Judgement,
	judge,
	type KnownAsking,
	NOTHING_SEEN,
	type SettledHow,
	type Verdict,
	withArrival,
} from '../../src/questions/asked.ts';
import { afterRead, type BeforePut, compareForDelivery } from '../../src/questions/compare.ts';
import { occurrenceChanges } from '../../src/questions/occurrences.ts';
import {
	askingMessageIndex,
	filledAt,
	indexesOf,
	type QuestionDigest,
	type Session,
	sameBefore,
	stepsSince,
} from '../../src/questions/session.ts';
import {
	changesBetween,
	type Digest,
	digest,
	digestOf,
	digestOfQuestionAt,
} from '../../src/questions/session-snapshot.ts';

/** What a read showed of a question, or that an answer arrived (`put`: what the read before its PUT showed). */
export interface Shown {
	readonly at: number;
	readonly status: string;
	readonly steps: number;
	readonly filled: readonly number[];
	readonly put?: Pick<BeforePut, 'status' | 'stepsSince'> & { readonly positions: readonly number[] };
}

export interface Row extends Omit<KnownAsking, 'sameBefore' | 'fingerprint' | 'shownHash'> {
	question: QuestionDigest;
	settledHow: SettledHow | null;
	settledAt: number | null;
	messageIndex: number;
	askedAt: number;
	evidence: Evidence | null;
	/** All that was read of it. The rule does not see this. */
	shown: Shown[];
}

export interface GivenAnswer {
	readonly id: string;
	readonly positions: readonly number[];
	readonly values: readonly string[];
	readonly acceptedAt: number;
	readonly question: Pick<QuestionDigest, 'messageIndex' | 'fingerprint' | 'shownHash'>;
	state: 'accepted' | 'delivering' | 'delivered' | 'changed';
	before: BeforePut | null;
	questionId: string | null;
	deliveredAt: number;
	evidence: Evidence | null;
	number: number;
	shown: Shown[];
	/** The last verdict for its receipt. */
	verdict: Verdict | null;
}

/** What a read found: `arrival` as it began, the session as the service had it. */
export interface Read {
	readonly readAt: number;
	readonly arrival: number;
	readonly session: Session;
}

/** Keeps what the program stores of one session: as `recordQuestions`, `noteArrival` and `ourAnswers` do, in memory. */
export function createRows() {
	let rows: Row[] = [];
	let answers: GivenAnswer[] = [];
	let before: Digest | null = null;
	let count = 0;
	let arrivals = 0;
	let lastReadAt = 0;

	const open = () => rows.find(({ settledHow }) => settledHow === null);
	const sameAs = (question: Pick<QuestionDigest, 'fingerprint' | 'sameBefore'> | null) =>
		rows.findLast(
			(row) => row.question.fingerprint === question?.fingerprint && row.question.sameBefore === question.sameBefore,
		);

	function knownOf(session: Session) {
		const index = askingMessageIndex(session);
		const asking = index === null ? null : digestOfQuestionAt(session, index);
		const newestRow = rows.at(-1);
		const first = sameAs(asking);
		// Equal messages before the newest one are gone, unless its history was rewound to one of them, which has a value.
		const isLeft =
			asking !== null &&
			newestRow?.question.fingerprint === asking.fingerprint &&
			newestRow.question.sameBefore > asking.sameBefore &&
			!(first?.messageIndex === asking.messageIndex && asking.answered.length > 0);
		const same = (isLeft ? newestRow : first) ?? null;
		const asKnown = (row: Row | null | undefined) =>
			row ? { ...row, ...pick(row.question, 'sameBefore', 'fingerprint', 'shownHash') } : null;
		const to = answers.filter(({ question, before: put }) => {
			if (question.fingerprint !== asking?.fingerprint) return false;
			return put === null ? question.messageIndex === asking.messageIndex : put.sameBefore === asking.sameBefore;
		});
		const arrived = to.filter(
			({ state, deliveredAt, questionId }) =>
				state === 'delivered' && deliveredAt >= (same?.askedAt ?? 0) && (questionId ?? same?.id) === same?.id,
		);
		const last = arrived.at(-1);
		const newest = last?.evidence;
		const positions = [...new Set(arrived.flatMap((one) => one.positions))];
		return {
			newest: asKnown(newestRow),
			same: asKnown(same),
			answered: newest?.arrived ? { ...newest, arrived: { ...newest.arrived, positions } } : NOTHING_SEEN,
			newestAnswer: last ? { acceptedAt: last.acceptedAt, shownHash: last.question.shownHash } : null,
			isHeld: to.some(({ state }) => isBlocking(state)),
			perhapsAt: null,
		};
	}

	function settle(how: SettledHow, at: number): void {
		const row = open();
		if (row !== undefined) Object.assign(row, { settledHow: how, settledAt: at });
	}

	function ask(question: QuestionDigest, settled: SettledHow | null, askedAt: number): void {
		for (const row of rows) if (row.settledHow === 'wentOn') row.settledHow = 'closed';
		settle('closed', askedAt);
		const { messageIndex } = question;
		const id = `q${++count}`;
		rows.push({
			id,
			question,
			messageIndex,
			askedAt,
			isRead: true,
			settledHow: settled,
			settledAt: settled === null ? null : askedAt,
			evidence: NOTHING_SEEN,
			shown: [],
		});
	}

	return {
		rows: () => rows,
		answers: () => answers,
		open,
		arrivals: () => arrivals,

		/** What a read means, and the row that it opened. */
		record({ session, readAt, arrival }: Read): { judged: Judgement; opened: Row | null } {
			lastReadAt = readAt;
			const judged = judge(session, { readAt, arrival }, knownOf(session));
			const changes = changesBetween(before, session, judged);
			const { of, renumbered } = judged;
			for (const row of rows.filter(({ id }) => id === renumbered && of !== null))
				row.question = { ...row.question, sameBefore: of?.sameBefore ?? 0 };
			const current = digestOf(session, judged.closedItems);
			const wasOpen = open()?.id;
			const known = sameAs(judged.of);
			const older = open();
			const olderAt = indexesOf(session, older?.question.fingerprint ?? '')[older?.question.sameBefore ?? 0];
			if (older !== known && olderAt !== undefined) older?.shown.push(shownIn(session, readAt, olderAt));
			for (const one of occurrenceChanges(before, changes, session, {
				...judged,
				digest: digestOf(session, judged.closedItems),
				itemsAt: () => undefined,
			})) {
				const row = open();
				if (one.kind === 'settled') settle(one.how, readAt);
				else {
					const { question } = one;
					const { messageIndex } = question;
					const last = rows.at(-1);
					const isLast = last !== undefined && last === sameAs(question);
					const settled = one.kind === 'asked' ? one.settled : null;
					const isFirst = before === null && settled !== null;
					if (isLast && (one.kind === 'reopened' || (one.kind === 'asked' && last.settledHow === 'unwatched'))) {
						Object.assign(last, {
							question,
							messageIndex,
							settledHow: settled,
							settledAt: settled === null ? null : readAt,
						});
						if (judged.verdict === 'lost' || judged.verdict === 'askedAgain') last.shown = [];
					} else if (isLast && isFirst && last.settledHow !== null && !judged.isAnsweredAnew) continue;
					else if (row !== undefined && (one.kind !== 'asked' || (row === sameAs(question) && settled === null)))
						Object.assign(row, { question, messageIndex });
					else if (one.kind === 'asked') ask(question, settled, isFirst ? 0 : readAt);
				}
			}
			const same = sameAs(judged.of);
			for (const row of before === null && judged.of !== null ? rows : [])
				if (row.settledHow === 'unwatched' && row !== same) row.settledHow = 'closed';
			if (judged.isNews && same !== undefined) same.evidence = judged.evidence;
			// What was seen of the value goes on with it.
			if (same !== undefined && same !== known && judged.evidence?.arrived != null)
				same.shown = [...(known?.shown ?? [])];
			before = current;
			if (same !== undefined) same.shown.push(shownIn(session, readAt));
			const now = open() ?? null;
			return { judged, opened: now?.id === wasOpen ? null : now };
		},

		/** The question of a form, open as far as it can be answered; null: no read has found it here. */
		form({ session, ...read }: Read): QuestionDigest | null {
			const { closedItems, verdict } = judge(session, read, knownOf(session));
			const index = askingMessageIndex(session);
			const question =
				index === null ? null : digestOfQuestionAt(session, index, verdict === 'wentOn' ? undefined : closedItems);
			const row = rows.at(-1);
			return row === sameAs(question) && row?.messageIndex === index ? question : null;
		},

		accept(question: QuestionDigest, values: readonly string[], acceptedAt: number): GivenAnswer {
			const answer: GivenAnswer = {
				id: `a${++count}`,
				positions: question.open,
				values,
				question,
				acceptedAt,
				state: 'accepted',
				before: null,
				questionId: null,
				deliveredAt: 0,
				evidence: null,
				number: 0,
				shown: [],
				verdict: null,
			};
			answers.push(answer);
			return answer;
		},

		/** Whether the PUT may begin. */
		begin(answer: GivenAnswer, session: Session): boolean {
			const { question, values } = answer;
			const { messageIndex, fingerprint, shownHash } = question;
			const { kind } = compareForDelivery({ session, messageIndex, fingerprint, shownHash, values });
			answer.state = kind === 'clear' ? 'delivering' : 'changed';
			const { status } = session;
			const place = {
				stepsSince: stepsSince(session, messageIndex),
				sameBefore: sameBefore(session, messageIndex),
				filled: filledAt(session, messageIndex),
			};
			answer.before = { status, assistantCount: 0, sameCount: 0, ...place };
			const its = rows.findLast(
				(row) => row.question.sameBefore === place.sameBefore && row.question.fingerprint === fingerprint,
			);
			answer.questionId = its?.id ?? null;
			return kind === 'clear';
		},

		arrive(answer: GivenAnswer, at: number): void {
			answer.state = 'delivered';
			answer.deliveredAt = at;
			answer.number = ++arrivals;
			answer.evidence = evidenceAt(answer, at, answer.number);
			const { arrived } = answer.evidence;
			const put = answer.before;
			const shown = {
				at,
				status: '',
				steps: put?.stepsSince ?? 0,
				filled: [],
				...(put && { put: { ...put, positions: answer.positions } }),
			};
			answer.shown = [shown];
			const row = rows.at(-1);
			const isIts =
				row?.question.fingerprint === answer.question.fingerprint &&
				row.question.sameBefore === (put?.sameBefore ?? row.question.sameBefore);
			if (row === undefined || arrived === null) return;
			if (row.id !== answer.questionId && (answer.questionId !== null || !isIts)) return;
			const known = row.evidence ?? NOTHING_SEEN;
			row.evidence = withArrival(known, arrived);
			row.shown.push(shown);
		},

		/** A check of the newest answer, as after its delivery. */
		confirm(answer: GivenAnswer, { session, readAt }: Read): void {
			const { question } = answer;
			const place = { ...question, sameBefore: answer.before?.sameBefore ?? null };
			const found = afterRead(answer.evidence ?? NOTHING_SEEN, session, place, { readAt });
			answer.evidence = found.evidence;
			answer.verdict = found.verdict;
			const equal = indexesOf(session, question.fingerprint);
			const index = equal[place.sameBefore ?? -1] ?? equal.at(-1) ?? -1;
			answer.shown.push(shownIn(session, readAt, index));
		},

		/** Everything is stored and read again. */
		restart(): void {
			rows = JSON.parse(JSON.stringify(rows));
			answers = JSON.parse(JSON.stringify(answers));
			for (const row of rows) row.evidence = row.evidence && evidenceSchema.parse(row.evidence);
			before = before && digest.parse(JSON.parse(JSON.stringify(before)));
		},

		/** Nobody watches the session for a time. */
		unwatch(): void {
			settle('unwatched', lastReadAt);
			before = null;
		},
	};
}

function shownIn(session: Session, at: number, index = askingMessageIndex(session) ?? -1): Shown {
	const filled = (session.messages[index]?.humanInput ?? []).flatMap(({ value }, position) =>
		value === '' ? [] : [position],
	);
	return { at, status: session.status, steps: stepsSince(session, index), filled };
}
