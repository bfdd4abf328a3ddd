import type { Core } from '../core.ts';
import { createWaker, uptimeOf } from '../kernel/clock.ts';
import { repeatUntilAborted } from '../kernel/retries.ts';
import { type Row, type StoreParts, sql } from '../store/database.ts';
import { lookAt } from '../store/due.ts';
import { takeMarks } from '../store/marks.ts';
import { markPosts } from './redraw-store.ts';
import { markViews } from './view-plan-store.ts';

/** All changes of a session within this time are drawn once. A press shows its own post without this wait. */
const EVERY_MS = 1_000;
const RETRY_MS = 1_000;
/** The pause while there are no marks. A new one ends it. */
const REST_MS = 30_000;

export function createMarkStore({ db }: Pick<StoreParts, 'db'>) {
	return {
		rows: db.queuedRows('marks'),

		nextDueAt: () => lookAt(db, sql`(select min(due_at) from marks)`),

		/** Takes the due marks, and makes all posts and views due that show their sessions. Any replica then draws them. */
		spread: (now: number): Promise<void> =>
			db.write(async (trx) => {
				const marks = await takeMarks(trx, now);
				const of = (which: string | null) => marks.filter(({ cards }) => cards === which);
				for (const urgency of ['progress', 'now'] as const)
					for (const cards of sessionsIn(of(urgency)))
						await markPosts({ trx, now }, { ...cards, kind: 'card' }, urgency);
				const news = of(null);
				const sessions = sessionsIn(news);
				for (const ofService of sessions) await markPosts({ trx, now }, ofService);
				const shown = sessions.flatMap(({ service, sessionId }) => sessionId.map((id) => ({ service, sessionId: id })));
				if (news.length > 0) await markViews(trx, shown, now);
			}),
	};
}

export type MarkStore = ReturnType<typeof createMarkStore>;

/** The sessions of these marks, by the address of the service. */
function sessionsIn(marks: readonly Row<'marks'>[]) {
	const byService = Map.groupBy(marks, ({ service }) => service);
	return Array.from(byService, ([service, ofService]) => {
		return { service: service ?? '', sessionId: ofService.flatMap(({ sessionId }) => sessionId ?? []) };
	}).filter(({ sessionId }) => sessionId.length > 0);
}

/** Spreads marks as they come, at most once in `EVERY_MS`. */
export function createSpreading({ store, clock, log }: Core<{ marks: MarkStore }>) {
	const { marks } = store;
	const waker = createWaker(clock);
	const stopping = new AbortController();
	let ended: Promise<void> | null = null;
	/** By uptime: the clock may be set in between. */
	let spreadAt = Number.NEGATIVE_INFINITY;
	marks.rows.onChange(waker.wake);

	async function turn(): Promise<number> {
		waker.clear();
		const dueAt = await marks.nextDueAt();
		if (dueAt === null) return REST_MS;
		const waitMs = Math.max(dueAt - clock.now(), spreadAt + EVERY_MS - uptimeOf(clock));
		if (waitMs > 0) return waitMs;
		spreadAt = uptimeOf(clock);
		await marks.spread(clock.now());
		return 0;
	}

	return {
		start(): void {
			const pause = async (ms: number) => ms > 0 && waker.wait(ms, stopping.signal);
			const onFailure = (code: string) => log.warn('take_failed', { rows: 'marks', code });
			ended ??= repeatUntilAborted(pause, stopping.signal, turn, { retryMs: RETRY_MS, onFailure });
		},
		async stop(): Promise<void> {
			stopping.abort();
			await ended;
		},
	};
}
