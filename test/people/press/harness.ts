import { item } from '../../../fake-session-service/builders.ts';
import type { ItemJson } from '../../../fake-session-service/json.ts';
import type { WatchingApp } from '../../sessions/harness.ts';

/** A question with two short options. */
export const FLIGHT = item('Which flight should I book?', 'One of: LH 1173, TP 570');
/** The default of `UNDO_SECONDS`. */
export const UNDO_MS = 10_000;

/** A watched session that asks, and the question's post. */
export async function asked(
	app: WatchingApp,
	items: readonly ItemJson[] = [FLIGHT],
	style?: Parameters<WatchingApp['setPosts']>[0],
) {
	const id = await app.watched({}, style);
	const index = app.ask(id, items, '');
	const post = await app.threadSays(id, items.at(-1)?.title ?? '');
	return { id, index, post };
}

/** What the session holds as the answer to its first item. */
export const value = (app: WatchingApp, id: string, index: number) => app.service.sessions.values(id, index)[0];
export const dmOf = (app: WatchingApp, who: string) => app.slack.as(who).messages('dm');
