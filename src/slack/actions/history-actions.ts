import { OutdatedViewError } from '../error-code.ts';
import { ACTIONS } from '../ids.ts';
import type { Listen } from '../listen.ts';
import { decodeMetadata } from '../metadata.ts';
import type { HistoryFlow } from '../session/history.ts';
import { ifAllowed, NOTHING_TO_DO } from '../task.ts';

/** Older and newer answers in a history. */
export function registerHistoryActions(listen: Listen, { history }: { history: HistoryFlow }): void {
	for (const id of [ACTIONS.historyOlder, ACTIONS.historyNewer]) {
		listen.action(id, (_, press) => {
			const { view } = press;
			if (view === null) return NOTHING_TO_DO;
			const metadata = decodeMetadata(view.privateMetadata);
			if (metadata === null) throw new OutdatedViewError();
			const offset = Math.max(0, Math.floor(Number(press.value)) || 0);
			return ifAllowed(metadata.origin.channelId, (request) => history.turn(request, view.id, metadata, offset));
		});
	}
}
