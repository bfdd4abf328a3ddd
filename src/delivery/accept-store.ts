import {
	type AcceptResult,
	type Answer,
	type AnswerItem,
	ARRIVED_STATES,
	arrivalOf,
	BLOCKING_STATES,
	type FirstEnding,
	firstAnswerOf,
	firstEndingOf,
	isBlocking,
	isFailed,
	isUndelivered,
	itemsOf,
	type NewAnswer,
	type OtherAnswer,
	PENDING_STATES,
	repeatsIn,
	secretOf,
	type TimelineEntry,
	TOLD_WITHIN_MS,
	UNREADABLE_VALUES,
	valuesForOthers,
} from '../domain/answer.ts';
import { isSamePerson, type Person } from '../domain/person.ts';
import { isReworded, type QuestionKey } from '../domain/session.ts';
import { parseOrNull, pick } from '../kernel/values.ts';
import {
	addIf,
	type Cipher,
	type CipherTx,
	change,
	type Db,
	from,
	type InsertObject,
	isPostgres,
	personOf,
	questionOf,
	type StoreDatabase,
	sql,
	type Tables,
	WITHOUT_LEASE,
} from '../store/database.ts';
import { markDue, markQuestion } from '../store/marks.ts';
import { isUnchanged, stopReplaced } from '../store/migrate.ts';
import { knownRow, rowOfAnswer } from '../store/question-store.ts';
import { redrawReceipt } from '../surfaces/redraw-store.ts';
import { beginReceipt, forgetReceipt, tellAgain, tellAuthor } from '../surfaces/view-plan-store.ts';
import { keepAsDraft, removeDraft, removeDrafts } from './draft-store.ts';
import { recordAct, recordChange, recordFate } from './recorded.ts';
import {
	type AnswerRow,
	changeAnswer,
	createAnswerReader,
	enterState,
	IS_CURRENT,
	newRow,
	otherColumn,
	placeOf,
	positionsOf,
	readAnswer,
	readPositions,
	submissionColumn,
	submittedColumns,
	timeline,
} from './rows-store.ts';

/**
 * Stores an answer. It loses (`taken`) to a live answer to the question, and to one for the same items that was
 * delivered after its form was read, because its author has not seen that one.
 */
export function acceptAnswer(store: StoreDatabase, cipher: Cipher, answer: NewAnswer): Promise<AcceptResult> {
	return store.write(async (trx) => {
		const tx = { trx, cipher, now: answer.acceptedAt };
		await lockQuestion(trx, answer.question);
		// One statement reads one snapshot: an answer in delivery is either live or delivered, never missing from both.
		const isConcerned = sql<boolean>`(submission_key = ${answer.submissionKey} or ${conflictsWith(answer)})`;
		const others = await from(trx, 'answers').selectAll().where(isConcerned).orderBy('acceptedAt', 'desc').execute();

		const repeated = others.find(({ submissionKey }) => submissionKey === answer.submissionKey);
		if (repeated !== undefined) return repeat(tx, { stored: readAnswer(repeated, cipher), store }, answer);

		async function insert(row: InsertObject<Tables, 'answers'>): Promise<AnswerRow> {
			const adding = addIf(trx, 'answers', row, isUnchanged(store)).returningAll();
			const inserted = await adding.executeTakeFirstOrThrow(() => stopReplaced(store));
			if (inserted.questionId !== null) return inserted;
			const questionId = await rowOfAnswer(trx, answer);
			return change(trx, 'answers', { id: inserted.id }, { questionId }).returningAll().executeTakeFirstOrThrow();
		}
		// Encrypted inside the write: on SQLite the key of secrets may be replaced between two writes.
		const row = { ...newRow(answer, cipher), questionId: knownRow(answer) };
		const by = firstConflict(others, cipher, { ...answer, positions: positionsOf(answer.items, answer.leftEmpty) });
		if (by !== undefined) {
			// The answer was never accepted, so its timeline starts empty.
			const unaccepted = { ...answer, state: 'accepted', timeline: [], endedAt: null } as const;
			const lost = giveWay(tx, unaccepted, winnerOf(by), answer.items);
			const inserted = await insert({ ...row, ...lost });
			recordAct(tx, answer, 'conflicted', { outcome: 'conflicted', about: by.person.userId });
			// Whoever sent a form is no longer answering. A press that lost changes nothing for others.
			if (answer.press === null) await markAccepted(trx, answer, by);
			else await beginReceipt(trx, answer, by);
			return { kind: 'taken', by, answer: readAnswer(inserted, cipher) };
		}
		// Before the insert: otherwise this transaction and a retry of a waiting answer deadlock.
		await replaceWaiting(tx, others, { ...answer, at: answer.acceptedAt });
		const inserted = await insert(row);
		recordAct(tx, answer, 'answered', { outcome: 'accepted' });
		await markAccepted(trx, answer);
		return { kind: 'accepted', answer: readAnswer(inserted, cipher) };
	});
}

/** The author has answered: the form shows the receipt from now on, and drafts of it are removed. */
async function markAccepted(trx: Db, answer: NewAnswer, by: Answer | null = null): Promise<void> {
	const { press, question, acceptedAt } = answer;
	if (press === null) await removeDrafts(trx, answer);
	await beginReceipt(trx, answer, by);
	await markQuestion({ trx, now: acceptedAt }, question, press === null ? 'answer' : 'choice');
}

/** How long after an answer was sent again its author gets a message about the outcome. */
const TOLD_AGAIN_MS = 2_000;

/** What an edit does not change. */
const KEPT = ['id', 'person', 'question', 'viewId', 'origin', 'press'] as const;

async function repeat(
	{ trx, cipher, now }: CipherTx,
	{ stored, store }: { stored: Answer; store: StoreDatabase },
	answer: NewAnswer,
): Promise<AcceptResult> {
	if (sameSubmission(stored, answer)) return { kind: 'repeated', answer: stored, edited: false };
	const { id, editCount } = stored;
	// The worker marks the start of its PUT and reads the values in one write: this edit comes before that, or fails.
	const unsent = { id, state: 'accepted', putStartedAt: null };
	const columns = submittedColumns({ ...answer, ...pick(stored, ...KEPT) }, cipher);
	const edit = change(trx, 'answers', unsent, { ...columns, editCount: editCount + 1 }).where(isUnchanged(store));
	const edited = await edit.returningAll().executeTakeFirst();
	if (edited !== undefined) {
		recordAct({ trx, now }, { ...answer, ...pick(stored, ...KEPT) }, 'edited', { outcome: 'accepted' });
		// The window may no longer show its receipt.
		await forgetReceipt(trx, id);
		await markAccepted(trx, { ...answer, ...pick(stored, ...KEPT) });
		return { kind: 'repeated', answer: readAnswer(edited, cipher), edited: true };
	}
	// The sent values stay, but items that the author marks secret now are hidden.
	const kept = [...new Set([...(stored.secretPositions ?? []), ...(answer.boxed ? secretOf(answer.items) : [])])];
	const secretPositions = stored.secretPositions === null && kept.length === 0 ? null : JSON.stringify(kept);
	const hidden = change(trx, 'answers', { id }, { secretPositions }).where(isUnchanged(store));
	const current = await hidden.returningAll().executeTakeFirstOrThrow(() => stopReplaced(store));
	return { kind: 'tooLate', answer: readAnswer(current, cipher) };
}

/**
 * Queues a failed answer again. `taken`: another one prevents it, and its author will be told. The caller has locked
 * it in this transaction.
 */
export async function retryAnswer(tx: CipherTx, answer: Answer, giveUpAt: number) {
	const { trx, cipher, now } = tx;
	// One that came second is a draft already.
	if (!isFailed(answer.state) || answer.state === 'conflicted') return { kind: 'notRetryable', answer } as const;
	const { id, content } = answer;
	if (content.kind !== 'readable' || content.items.some((item) => item.wiped))
		return { kind: 'valuesGone', answer } as const;
	// An answer that can be read again is put back by the program, not by a press.
	const checkedAt = answer.lastError === UNREADABLE_VALUES ? answer.checkedAt : now;
	const concerned = from(trx, 'answers').selectAll().where('id', '!=', id).orderBy('acceptedAt', 'desc');
	const others = await concerned.where(conflictsWith(answer)).execute();
	const by = firstConflict(others, cipher, answer);
	if (by !== undefined) {
		const lost = giveWay(tx, answer, winnerOf(by), content.items);
		recordAct(tx, answer, 'conflicted', { outcome: 'conflicted', about: by.person.userId });
		const taken = await changeAnswer(trx, cipher, answer, lost);
		await tellAuthor(trx, answer, now + TOLD_WITHIN_MS);
		return { kind: 'taken', by, answer: taken } as const;
	}
	await replaceWaiting(tx, others, winnerOf(answer));
	if (answer.lastError === UNREADABLE_VALUES) recordFate(tx, answer, 'sentAgain', 'accepted');
	else recordAct(tx, answer, 'sentAgain', { outcome: 'accepted' });
	const queued = await changeAnswer(trx, cipher, answer, {
		...enterState(answer, 'accepted', now),
		...WITHOUT_LEASE,
		...submissionColumn({ ...answer, checkedAt }),
		questionId: await rowOfAnswer(trx, answer),
		attempts: 0,
		notBefore: null,
		missingCount: 0,
		nextAttemptAt: now,
		giveUpAt,
		lastError: null,
		other: null,
	});
	await redrawReceipt(tx, queued);
	await tellAgain(trx, queued, now + TOLD_AGAIN_MS);
	return { kind: 'queued', answer: queued } as const;
}

/**
 * Serializes who is first: an answer must not lose to one that another replica withdraws meanwhile. SQLite has one
 * writer. The subquery locks no row, but the table, so that other answers keep their authors until the commit.
 */
async function lockQuestion(db: Db, question: QuestionKey): Promise<void> {
	if (!isPostgres(db)) return;
	const name = JSON.stringify([question.service, question.sessionId, question.messageIndex]);
	const lock = sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
	await sql`select ${lock}, (select id from answers where false for key share)`.execute(db);
}

export async function lockQuestionOf(db: Db, id: string): Promise<void> {
	if (!isPostgres(db)) return;
	const row = await from(db, 'answers', { id }).select(['service', 'sessionId', 'messageIndex']).executeTakeFirst();
	if (row !== undefined) await lockQuestion(db, questionOf(row));
}

/**
 * Makes a function that runs `work` on a person's own answer, locked with its question. It resolves to null for an
 * answer of somebody else.
 * @throws HandraiseError `database_newer` when this process has to stop
 */
export function ownAnswers(db: StoreDatabase, cipher: Cipher) {
	return <T>(id: string, person: Person, work: (trx: Db, answer: Answer) => Promise<T>) =>
		db.write(async (trx) => {
			await lockQuestionOf(trx, id);
			const own = from(trx, 'answers', { id, ...personOf(person) })
				.selectAll()
				.select(isUnchanged(db).as('isOwn'));
			const row = await own.forUpdate().executeTakeFirst();
			if (row === undefined) return null;
			if (!row.isOwn) throw stopReplaced(db);
			return work(trx, readAnswer(row, cipher));
		});
}

/** Discards an answer. The caller has locked it and its question in this transaction. */
export async function withdrawAnswer(tx: CipherTx, answer: Answer): Promise<Answer> {
	const { trx, cipher, now } = tx;
	const withdrawn = await changeAnswer(trx, cipher, answer, {
		...enterState(answer, 'withdrawn', now),
		...WITHOUT_LEASE,
		nextAttemptAt: null,
	});
	await removeDraft(trx, answer.id);
	await returnTextsOfLosers(tx, withdrawn);
	return withdrawn;
}

/**
 * Settles two live answers to one question, at two addresses of the service. The one whose PUT may have begun stays,
 * else the one that came first. The other waits for its author. Returns how many do.
 */
export async function putAside(tx: CipherTx, services: readonly string[], why: string): Promise<number> {
	const { trx, cipher, now } = tx;
	const live = await from(trx, 'answers', { service: services, state: BLOCKING_STATES }).selectAll().execute();
	const rank = ({ state, acceptedAt }: AnswerRow) =>
		acceptedAt + (state === 'delivering' ? 0 : Number.MAX_SAFE_INTEGER / 2);
	const byQuestion = Map.groupBy(live, (row) => JSON.stringify([row.sessionId, row.messageIndex]));
	const second = [...byQuestion.values()].flatMap((rows) => rows.toSorted((a, b) => rank(a) - rank(b)).slice(1));
	const aside = { lastError: why, nextAttemptAt: null, ...WITHOUT_LEASE };
	for (const row of second) {
		const [answer] = createAnswerReader(cipher)(row);
		await tellAuthor(trx, { id: row.id, person: personOf(row), question: questionOf(row) }, now);
		await markDue(tx, row);
		if (answer === undefined) await change(trx, 'answers', { id: row.id }, { state: 'waiting', ...aside }).execute();
		else
			recordChange(
				tx,
				answer,
				await changeAnswer(trx, cipher, answer, { ...enterState(answer, 'waiting', now), ...aside }),
				false,
			);
	}
	return second.length;
}

function endingOf({ state, putStartedAt }: Answer): FirstEnding {
	if (putStartedAt !== null) return 'first_unknown';
	return state === 'ended' ? 'first_over' : 'first_failed';
}

/**
 * `first` was withdrawn or has failed. For each person the newest answer that lost to it becomes a draft, and its
 * author is told. A press of the same author stays as it is, unless it was on what the agent asked later. Returns
 * `first`, with who came second where its author may ask them.
 */
export async function returnTextsOfLosers(tx: CipherTx, first: Answer): Promise<Answer> {
	const { trx, cipher, now } = tx;
	const { id, question, person, fingerprint, shownHash } = first;
	const lost = from(trx, 'answers', { ...questionOf(question), state: 'conflicted' }).selectAll();
	const rows = await lost.orderBy('acceptedAt', 'desc').orderBy('id').execute();
	const told = new Map<string, Answer>();
	for (const loser of rows.flatMap(createAnswerReader(cipher))) {
		if (firstAnswerOf(loser)?.answerId !== id) continue;
		const isSame = loser.fingerprint === fingerprint && !isReworded(shownHash, loser.shownHash);
		const isNewer = first.state === 'changed' && !isSame;
		if (!isNewer && loser.press !== null && loser.person.userId === person.userId) continue;
		const author = JSON.stringify(loser.person);
		if (told.has(author)) continue;
		told.set(author, loser);
		// It is a draft already: the first one failed before, and was sent again.
		if (firstEndingOf(loser) !== null) continue;
		const timeline = JSON.stringify([...loser.timeline, { state: 'conflicted', at: now } satisfies TimelineEntry]);
		const news = { timeline, endedAt: now, lastError: endingOf(first), ...WITHOUT_LEASE };
		await change(trx, 'answers', { id: loser.id, state: 'conflicted' }, news).execute();
		await tellAuthor(trx, loser, now);
		await keepAsDraft(tx, loser);
	}
	const second = [...told.values()].find((loser) => !isSamePerson(loser.person, person));
	if (second === undefined || !isUndelivered(first.state)) return first;
	const other: OtherAnswer = { answerId: second.id, person: second.person, values: [], at: null, same: false };
	return changeAnswer(trx, cipher, first, { other: otherColumn.seal(other, placeOf(first), cipher) });
}

/** Answers that may concern a new one: blocking and waiting ones, and those that arrived with its fingerprint. */
function conflictsWith({ question, fingerprint }: Pick<Answer, 'question' | 'fingerprint'>) {
	const { service, sessionId, messageIndex } = question;
	return sql<boolean>`(service = ${service} and session_id = ${sessionId} and message_index = ${messageIndex}
		and (state in (${sql.join(PENDING_STATES)}) or (state in (${sql.join(ARRIVED_STATES)})
			and fingerprint = ${fingerprint} and ${IS_CURRENT})))`;
}

type Seen = Pick<Answer, 'positions' | 'formReadAt' | 'arrivalSeen'>;

/** The answer to a question that prevents one to these positions. Throws when that answer's row is damaged. */
function firstConflict(rows: readonly AnswerRow[], cipher: Cipher, seen: Seen): Answer | undefined {
	// Where nobody knows what an answer filled, it may be any position.
	const overlaps = (row: AnswerRow) =>
		readPositions(row, cipher)?.some((position) => seen.positions.includes(position)) ?? true;
	const arrived = rows.filter((row) => row.deliveredAt !== null && isUnseen(row, seen));
	const first = rows.find(({ state }) => isBlocking(state)) ?? arrived.find(overlaps);
	return first && readAnswer(first, cipher);
}

/** Whether an answer arrived after another's form was read, also when a clock was set back or a backup restored. */
function isUnseen(row: AnswerRow, { formReadAt, arrivalSeen }: Seen): boolean {
	const arrived = arrivalOf(parseOrNull(timeline, row.timeline) ?? []);
	// If it was sent again, its first arrival counts.
	if (Math.min(row.deliveredAt ?? 0, arrived?.at ?? Number.POSITIVE_INFINITY) > formReadAt) return true;
	return arrivalSeen !== null && (arrived?.arrival ?? 0) > arrivalSeen;
}

/** Waiting answers become `conflicted`, and their authors hear of it. Leaves damaged ones. */
async function replaceWaiting(tx: CipherTx, rows: readonly AnswerRow[], winner: Winner): Promise<void> {
	for (const answer of rows.filter(({ state }) => state === 'waiting').flatMap(createAnswerReader(tx.cipher)))
		await loseTo(tx, answer, winner);
}

/** An answer becomes `conflicted`, and its author hears of it. */
async function loseTo(tx: CipherTx, answer: Answer, winner: Winner): Promise<void> {
	const lost = giveWay(tx, answer, winner, itemsOf(answer));
	await change(tx.trx, 'answers', pick(answer, 'id', 'state'), lost).execute();
	await tellAuthor(tx.trx, answer, tx.now);
	recordFate(tx, answer, 'conflicted', 'conflicted');
}

/** What a conflicted answer stores about the one that was first. */
type Winner = Pick<NewAnswer, 'id' | 'person' | 'items' | 'repeats'> & { readonly at: number };

type Loser = Parameters<typeof enterState>[0] & Parameters<typeof placeOf>[0];

function winnerOf(answer: Answer): Winner {
	const { id, person, deliveredAt, acceptedAt } = answer;
	return { id, person, items: itemsOf(answer), repeats: repeatsIn(answer), at: deliveredAt ?? acceptedAt };
}

/** The columns of an answer that lost to `winner`. `mine`: its items; empty if they cannot be read. */
function giveWay({ cipher, now }: CipherTx, loser: Loser, winner: Winner, mine: readonly AnswerItem[]) {
	const other: OtherAnswer = {
		answerId: winner.id,
		person: winner.person,
		// Whoever reads this may answer, so what is masked in channels is shown to them. An answer that nobody has compared
		// yet (`repeats` null) is hidden from channels, but not from them.
		values: valuesForOthers({ ...winner, repeats: winner.repeats ?? [] }),
		at: winner.at,
		same: mine.length > 0 && sameWords(mine, winner.items),
	};
	return {
		...enterState(loser, 'conflicted', now, { first: other }),
		...WITHOUT_LEASE,
		other: otherColumn.seal(other, placeOf(loser), cipher),
		nextAttemptAt: null,
	};
}

/** Whether `theirs` holds every value of `mine`. A wiped value never counts as the same. */
function sameWords(mine: readonly AnswerItem[], theirs: readonly AnswerItem[]): boolean {
	return mine.every((item, position) =>
		item.value === null ? !item.wiped : item.value === (theirs[position]?.value ?? null),
	);
}

/** Whether a repeated submission has the same values; a wiped secret cannot be compared and counts as the same. */
function sameSubmission({ content, leftEmpty: leftBefore }: Answer, { items, leftEmpty }: NewAnswer): boolean {
	if (content.kind !== 'readable') return true;
	const isSame = ({ value, wiped, secret }: AnswerItem, position: number) =>
		(wiped || value === items[position]?.value) && secret === (items[position]?.secret ?? false);
	if (content.items.length !== items.length || !content.items.every(isSame)) return false;
	return leftBefore.length === leftEmpty.length && leftBefore.every((position) => leftEmpty.includes(position));
}
