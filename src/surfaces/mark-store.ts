import { type Row, type StoreParts, sql } from '../store/database.ts';
import { lookAt } from '../store/due.ts';
import { takeMarks } from '../store/marks.ts';
import { markPosts } from './redraw-store.ts';
import { markViews } from './view-plan-store.ts';

/** Makes due what shows a marked session. */
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
