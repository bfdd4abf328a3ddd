import { type Answer, isFailed } from '../../../src/domain/answer.ts';
import type { Person, QuestionKey } from '../../../src/domain/session.ts';
import { timesIn } from '../../../src/store/watch.ts';
import type { Asked, Held, History } from './history.ts';
import { DEFAULT_MS } from './periods.ts';
import { type Process, ProcessEnded, type ProcessOptions } from './process.ts';
import { SERVICE_URL } from './service.ts';

export const TEAM = 'T1';

const MINUTE = 60_000;
const CLAIM_MS = 5 * MINUTE;
const UNDO_MS = 10_000;

/** People who answer, claim, snooze and hand over questions, in Handraise and outside of it. */
export function createPeople(
	{ program, time, service, random }: Pick<ProcessOptions, 'program' | 'time' | 'service' | 'random'>,
	history: History,
	/** Resolves when a process runs. */
	running: () => Promise<Process>,
) {
	const held = new Map<string, { readonly question: Asked; readonly answer: Held }>();
	const waiting = new Map<string, () => void>();
	let answerCount = 0;

	/** Repeats what the end of a process cut off. `onCut`: it may have happened or not. */
	async function despiteKills<T>(
		act: (process: Process) => Promise<T>,
		onCut: (from: number) => void = () => {},
	): Promise<T> {
		for (;;) {
			const process = await running();
			const from = time.now();
			try {
				return await process.outcome(act(process));
			} catch (error) {
				if (!(error instanceof ProcessEnded)) throw error;
				onCut(from);
			}
		}
	}

	const somebody = (): Person => ({ teamId: TEAM, userId: `UP${random.whole(10, 60)}` });
	/** Where each question stood: forms name that place, also when the question has changed since. */
	const indexes = new Map<string, number>();
	function keyOf(question: Asked): QuestionKey {
		const messageIndex = indexes.get(question.id) ?? service.indexOf(question);
		indexes.set(question.id, messageIndex);
		return { service: SERVICE_URL, sessionId: question.sessionId, messageIndex };
	}

	/** A while after the question's post: often close to the time of a reminder. */
	function aWhile(question: Asked): number {
		const [channelId] = history.channelsOf.get(question.sessionId) ?? [];
		const settings = history.settings.findLast((change) => change.channelId === channelId)?.settings;
		const times = settings === undefined ? [] : Object.values(timesIn(settings, DEFAULT_MS));
		const reminders = times.filter((ms) => ms !== null);
		if (reminders.length > 0 && random.chance(0.5))
			return Math.max(0, random.pick(reminders) + random.between(-10_000, 25_000));
		return Math.max(2_000, random.logNormal(25 * MINUTE, 1.3));
	}

	const claimsOf = new Map<string, readonly Held[]>();
	let windowCount = 0;
	const windowsOf = new Map<string, readonly string[]>();
	const placeOf = ({ sessionId, messageIndex }: QuestionKey, { userId }: Person) =>
		`${sessionId} ${messageIndex} ${userId}`;

	async function claim(question: Asked, person: Person): Promise<void> {
		const questionId = question.id;
		const key = keyOf(question);
		const place = placeOf(key, person);
		const from = await despiteKills(
			async ({ views }) => {
				const now = time.now();
				const viewId = `V${++windowCount}`;
				windowsOf.set(place, [...(windowsOf.get(place) ?? []), viewId]);
				const form = { question: key, person, fingerprint: '', shownHash: null, hash: 'hash', submissionKey: viewId };
				await views.typed(viewId, { ...form, claimUntil: now + CLAIM_MS }, now);
				return now;
			},
			(cutAt) => history.claims.push({ questionId, from: cutAt, to: cutAt + CLAIM_MS, isSure: false }),
		);
		const claimed = { questionId, from, to: from + CLAIM_MS, isSure: true };
		history.claims.push(claimed);
		claimsOf.set(place, [...(claimsOf.get(place) ?? []), claimed]);
	}

	/** Whoever closes a form stops answering, also when they opened it twice. */
	async function release(question: Asked, person: Person): Promise<void> {
		const key = keyOf(question);
		for (const viewId of windowsOf.get(placeOf(key, person)) ?? [])
			await despiteKills(({ views }) => views.formClosed(viewId, person, time.now()));
		for (const claimed of claimsOf.get(placeOf(key, person)) ?? []) claimed.to = Math.min(claimed.to, time.now());
	}

	/** Opens the form and leaves it. */
	async function look(question: Asked): Promise<void> {
		await time.sleep(aWhile(question));
		if (question.settledAt !== null) return;
		const person = somebody();
		await claim(question, person);
		if (random.chance(0.4)) return;
		await time.sleep(random.between(5_000, 4 * MINUTE));
		await release(question, person);
	}

	/** Writes an answer in the form, for a few seconds or some minutes. */
	async function write(question: Asked, person: Person): Promise<void> {
		await claim(question, person);
		for (let left = random.logNormal(MINUTE, 1); left > 0; left -= MINUTE) {
			await time.sleep(Math.min(left, MINUTE));
			// Whoever types goes on to hold it.
			if (random.chance(0.5)) await claim(question, person);
		}
		if (random.chance(0.9)) await accept(question, person, false);
		await release(question, person);
	}

	async function accept(question: Asked, person: Person, isPress: boolean): Promise<void> {
		if (question.settledAt !== null) return;
		const seen = program.questionViewAt(service.sessionOf(question.sessionId), service.indexOf(question));
		const key = keyOf(question);
		if (seen === null) return;
		answerCount += 1;
		const id = `answer-${answerCount}`;
		const undoUntil = time.now() + UNDO_MS;
		const questionId = question.id;
		const stored = await despiteKills(
			({ answers }) =>
				answers.accept({
					id,
					submissionKey: id,
					viewId: isPress ? '' : `view-${id}`,
					press: isPress ? { undoUntil } : null,
					person,
					question: key,
					fingerprint: seen.fingerprint,
					shownHash: seen.shownHash,
					items: [{ title: seen.items[0]?.title ?? '', value: id, secret: false, wiped: false }],
					leftEmpty: [],
					boxed: !isPress,
					origin: { channelId: null, threadTs: null },
					formReadAt: time.now() - 1_000,
					arrivalSeen: null,
					acceptedAt: time.now(),
					giveUpAt: time.now() + 24 * 60 * MINUTE,
				}),
			(from) => history.answers.push({ questionId, from, to: from + 60_000, isSure: false }),
		);
		if (stored.kind === 'taken') return;
		const answer = { questionId, from: time.now(), to: Number.POSITIVE_INFINITY, isSure: true };
		history.answers.push(answer);
		held.set(id, { question, answer });
		if (isPress && random.chance(0.3)) await takeBack(person, id);
	}

	async function takeBack(person: Person, id: string): Promise<void> {
		await time.sleep(random.between(1_500, UNDO_MS));
		const withdrawn = await despiteKills(({ answers }) =>
			answers.withdraw(id, person, time.now(), { onlyUnsent: true }),
		);
		if (withdrawn === null) return;
		failed(withdrawn);
	}

	/** The answer was taken back or has failed: somebody may give another. */
	function failed({ id }: Pick<Answer, 'id'>): void {
		const stored = held.get(id);
		if (stored === undefined) return;
		stored.answer.to = Math.min(stored.answer.to, time.now());
		if (random.chance(0.6)) void answer(stored.question);
	}

	async function answer(question: Asked): Promise<void> {
		await time.sleep(aWhile(question));
		if (question.settledAt !== null) return;
		if (random.chance(0.6)) await write(question, somebody());
		else await accept(question, somebody(), true);
	}

	async function answerOutside(question: Asked): Promise<void> {
		await time.sleep(aWhile(question));
		service.answer(question, 'from outside');
	}

	/** Rows of an inbox: they change no reminder. */
	async function snooze(question: Asked): Promise<void> {
		await time.sleep(aWhile(question));
		const { teamId, userId } = somebody();
		const until = Math.round(time.now() + random.pick([15, 60, 600]) * MINUTE);
		const row = { teamId, userId, service: SERVICE_URL, sessionId: question.sessionId };
		const change = { fingerprint: question.id, until };
		await despiteKills(({ db }) =>
			db.writeOne((trx) => {
				const added = trx.insertInto('snoozes').values({ ...row, ...change });
				const key = ['teamId', 'userId', 'service', 'sessionId'] as const;
				return added.onConflict((conflict) => conflict.columns(key).doUpdateSet(change)).execute();
			}),
		);
	}

	async function handOver(question: Asked): Promise<void> {
		await time.sleep(aWhile(question));
		const [channelId = ''] = history.channelsOf.get(question.sessionId) ?? [];
		const { sessionId } = question;
		const now = time.now();
		const change = {
			handOverId: `V${now}`,
			heldTeamId: TEAM,
			heldChannelId: channelId,
			fromUserId: somebody().userId,
			toUserId: somebody().userId,
			handOverCount: random.whole(1, 3),
			handedOverAt: now,
			givenBackAt: random.chance(0.7) ? null : now,
		};
		const watch = await despiteKills(({ db }) =>
			db.read
				.selectFrom('watches')
				.select('id')
				.where('sessionId', '=', sessionId)
				.where('channelId', '=', channelId)
				.executeTakeFirstOrThrow(),
		);
		await despiteKills(({ db }) =>
			db.writeOne((trx) =>
				trx
					.updateTable('questions')
					.set({ ...change, heldWatchId: watch.id })
					.where('sessionId', '=', sessionId)
					.where('fingerprint', '=', question.id)
					.where('settledAt', 'is', null)
					.execute(),
			),
		);
	}

	return {
		despiteKills,
		failed,
		/** After a kill: answers that the process took back, or whose failure it stored, and could not tell of. */
		async hearOfFailed(): Promise<void> {
			for (const [id, { answer }] of held) {
				if (answer.to !== Number.POSITIVE_INFINITY) continue;
				const stored = await despiteKills(({ answers }) => answers.get(id));
				const isOver = stored !== null && (stored.state === 'withdrawn' || isFailed(stored.state));
				if (isOver && answer.to === Number.POSITIVE_INFINITY) failed({ id });
			}
		},
		questionOf: ({ id }: Pick<Answer, 'id'>): Asked => {
			const stored = held.get(id);
			if (stored === undefined) throw new Error(`nobody gave ${id}`);
			return stored.question;
		},
		/** The question was asked: some answer, when its post is there. */
		async meet(question: Asked): Promise<void> {
			if (random.chance(0.12)) void answerOutside(question);
			await new Promise<void>((resolve) => waiting.set(question.id, resolve));
			if (random.chance(0.25)) void look(question);
			if (random.chance(0.1)) void snooze(question);
			if (random.chance(0.1)) void handOver(question);
			if (random.chance(0.75)) void answer(question);
		},
		/** Slack shows a post with this question. */
		see(questionId: string): void {
			waiting.get(questionId)?.();
			waiting.delete(questionId);
		},
	};
}
