import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import type { Evidence } from '../../domain/asked.ts';
import { parseOrNull } from '../../kernel/values.ts';
import { beforePut } from './answers.ts';

/** Rows that one statement reads or writes. */
const BATCH = 500;

const numbers = z.array(z.int());

/** The fields of 1.1.0's evidence that 2.0.0 uses. */
const formerEvidence = z.object({
	waitedSeen: z.boolean(),
	mostSteps: z.int().default(0),
	arrived: z
		.object({
			answerId: z.string().nullable(),
			number: z.int().nullable(),
			at: z.number(),
			positions: numbers,
			steps: z.int(),
		})
		.nullable(),
	grew: z.boolean(),
	wasActive: z.boolean(),
	hasLeft: z.boolean(),
	emptySince: z.number().nullable(),
	activeSince: z.number().nullable(),
	lost: z.string().nullable(),
});
const submission = z.object({ positions: numbers, leftEmpty: numbers });

const timeline = z.array(z.object({ arrival: z.int().nullable().default(null) }));

/** 1.1.0 stored this where nobody had counted the steps. */
const UNKNOWN_STEPS = Number.MAX_SAFE_INTEGER;

interface QuestionRow {
	readonly id: string;
	readonly settledHow: string | null;
	readonly settledAt: number | null;
	readonly answerId: string | null;
	readonly evidence: string | null;
}

interface AnswerRow {
	readonly id: string;
	readonly questionId: string;
	readonly state: string;
	readonly deliveredAt: number | null;
	readonly putStartedAt: number | null;
	readonly submission: string;
	readonly beforePut: string | null;
	readonly timeline: string;
	readonly evidence: string | null;
}

/** Converts the evidence of all questions, with what was stored of it in their answers. */
export async function renewEvidence(db: Kysely<unknown>): Promise<void> {
	for (let after = ''; ; ) {
		const { rows } = await sql<QuestionRow>`select id, settled_how, settled_at, answer_id, evidence from questions
			where id > ${after} order by id limit ${sql.lit(BATCH)}`.execute(db);
		const last = rows.at(-1);
		if (last === undefined) return;
		const { rows: answers } = await sql<AnswerRow>`select answers.id, question_id, state, delivered_at, put_started_at,
				submission, before_put, timeline, answers.evidence
			from questions join answers on answers.service = questions.service
				and answers.session_id = questions.session_id and answers.question_id = questions.id
			where questions.id > ${after} and questions.id <= ${last.id}`.execute(db);
		const ofQuestions = Map.groupBy(answers.map(readAnswer), ({ questionId }) => questionId);
		const renewed = rows.map((row) => {
			const evidence = JSON.stringify(evidenceOf(row, ofQuestions.get(row.id) ?? []));
			return sql`(${row.id}, ${evidence})`;
		});
		// Both databases name the columns of `values` `column1`, `column2`.
		await sql`update questions set evidence = given.column2 from (values ${sql.join(renewed)}) as given
			where questions.id = given.column1`.execute(db);
		after = last.id;
	}
}

type ReadAnswer = ReturnType<typeof readAnswer>;

function readAnswer(row: AnswerRow) {
	const { positions, leftEmpty } = parseOrNull(submission, row.submission) ?? { positions: [], leftEmpty: [] };
	const { steps, filled } = parseOrNull(beforePut, row.beforePut) ?? { steps: null, filled: [] };
	const entries = parseOrNull(timeline, row.timeline) ?? [];
	return {
		...row,
		leftEmpty,
		own: positions.filter((position) => !leftEmpty.includes(position)),
		stood: filled,
		steps,
		number: entries.find(({ arrival }) => arrival !== null)?.arrival ?? null,
		evidence: parseOrNull(formerEvidence, row.evidence),
		arrivedAt: row.state === 'delivered' || row.state === 'resumed' ? (row.deliveredAt ?? 0) : null,
	};
}

/** `answers`: those to the question. A row of 1.0.0 has no evidence of its own, so they are all that is known. */
function evidenceOf(row: QuestionRow, answers: readonly ReadAnswer[]): Evidence {
	const stored = parseOrNull(formerEvidence, row.evidence);
	const arrived = answers.filter(({ arrivedAt }) => arrivedAt !== null).toSorted(byArrival);
	const newest = arrived.at(-1);
	const value = knownValue(row, stored, arrived) ?? perhapsOf(row, answers);
	const given = value?.isPerhaps ? answers.filter(({ id }) => id === value.answerId) : arrived;
	const filledByUs = new Set(arrived.flatMap(({ own, stood }) => [...own, ...stood]));
	const leftEmpty = new Set(given.flatMap((answer) => answer.leftEmpty).filter((at) => !filledByUs.has(at)));
	const filled = [...filledByUs, ...(stored?.arrived?.positions ?? [])].filter((at) => !leftEmpty.has(at));
	// Stored of the same arrival: by reads of the watch in the question, and by checks after the delivery in answers.
	const shown = [stored, ...arrived.map(({ evidence }) => evidence)].filter(
		(one) => one?.arrived != null && one.arrived.answerId === value?.answerId && one.arrived.at === value.at,
	);
	const isSeen = (is: (one: Former) => boolean) => shown.some((one) => one != null && is(one));
	const isResumed = newest?.state === 'resumed' && newest.id === value?.answerId;
	return {
		waitedSteps: stored?.waitedSeen === true ? stored.mostSteps : null,
		filled: ascending(filled),
		leftEmpty: ascending(leftEmpty),
		value,
		emptied: isSeen(({ emptySince }) => emptySince !== null),
		awaySeen: isSeen(({ wasActive, hasLeft, activeSince }) => wasActive || hasLeft || activeSince !== null),
		// The agent wrote a message, and the newest read shows another status than `humanInput`, or people were told so.
		continued: isSeen(({ grew }) => grew) && (isResumed || isSeen(({ activeSince }) => activeSince !== null)),
		// 1.1.0 measured these times by another rule, so they start again.
		emptySince: null,
		activeSince: null,
		lost: stored?.lost ?? null,
	};
}

type Former = z.infer<typeof formerEvidence>;

const byArrival = (one: ReadAnswer, other: ReadAnswer) => (one.number ?? 0) - (other.number ?? 0);

const ascending = (positions: Iterable<number>) => [...new Set(positions)].sort((a, b) => a - b);

/**
 * The value that stands at a question; null: none. `arrived`: our answers, the newest last. A question that was settled
 * as answered has one, even if nothing else is known of it.
 */
function knownValue(row: QuestionRow, stored: Former | null, arrived: readonly ReadAnswer[]): Evidence['value'] {
	const newest = arrived.at(-1);
	const own = stored?.arrived ?? null;
	const isOwn = own !== null && (newest === undefined || own.answerId === newest.id || own.at >= arrivalAt(newest));
	const of = isOwn ? own : newest?.evidence?.arrived;
	if (of != null && (isOwn || of.answerId === newest?.id)) {
		const { answerId, number, at, steps } = of;
		const filled = arrived.find(({ id }) => id === answerId)?.own ?? [];
		return { answerId, number, at, steps: steps === UNKNOWN_STEPS ? null : steps, isPerhaps: false, filled };
	}
	if (newest !== undefined) {
		const { id: answerId, number, steps, own: filled } = newest;
		return { answerId, number, at: arrivalAt(newest), steps, isPerhaps: false, filled };
	}
	if (row.settledHow !== 'answered') return null;
	return { answerId: row.answerId, number: null, at: row.settledAt ?? 0, steps: null, isPerhaps: false, filled: [] };
}

const arrivalAt = ({ arrivedAt }: ReadAnswer) => arrivedAt ?? 0;

/**
 * The value of an answer that is no longer sent and may have arrived. Only for questions that ended as far as is known;
 * null: there is none.
 */
function perhapsOf({ settledHow }: QuestionRow, answers: readonly ReadAnswer[]): Evidence['value'] {
	if (settledHow !== 'wentOn' && settledHow !== 'unwatched') return null;
	const ended = answers.filter(({ state }) => !['accepted', 'delivering', 'conflicted'].includes(state));
	const newest = ended
		.filter(({ putStartedAt }) => putStartedAt !== null)
		.toSorted((one, other) => (one.putStartedAt ?? 0) - (other.putStartedAt ?? 0))
		.at(-1);
	if (newest === undefined) return null;
	const { id: answerId, putStartedAt, steps, own: filled } = newest;
	return { answerId, number: null, at: putStartedAt ?? 0, steps, isPerhaps: true, filled };
}
