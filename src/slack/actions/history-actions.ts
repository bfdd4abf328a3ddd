import { OutdatedViewError } from '../error-code.ts';
import { ACTIONS } from '../ids.ts';
import type { Listen } from '../listen.ts';
import { decodeMetadata } from '../metadata.ts';
import type { HistoryFlow } from '../session/history.ts';

/** Older and newer answers in a history. */
export function registerHistoryActions(listen: Listen, { history }: { history: HistoryFlow }): void {
	for (const id of [ACTIONS.historyOlder, ACTIONS.historyNewer]) {
		listen.action(id, async (request, press) => {
			const metadata = decodeMetadata(press.view?.privateMetadata);
			if (press.view === null) return;
			if (metadata === null) throw new OutdatedViewError();
			const offset = Math.max(0, Math.floor(Number(press.value)) || 0);
			await history.turn(request, press.view.id, metadata, offset);
		});
	}
}
