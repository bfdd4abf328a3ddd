import { errorMessage } from '../blocks/messages.ts';
import { ACTIONS } from '../ids.ts';
import type { Listen } from '../listen.ts';
import type { Reply } from '../reply.ts';
import { forAnybody, NOTHING_TO_DO } from '../task.ts';

/** Links open in the browser; Slack tells of them all the same and wants an acknowledgement. */
const LINKS = [ACTIONS.dashboard, ACTIONS.openFile, ACTIONS.openScreenshot];

/** Presses that no other handler takes: links, and buttons that another version of Handraise made. */
export function registerOtherActions(
	listen: Listen,
	{ reply, adminContact }: { reply: Reply; adminContact: string | null },
): void {
	for (const id of LINKS) listen.action(id, () => NOTHING_TO_DO);
	listen.otherActions(new Set(Object.values(ACTIONS)), (request, actionId) =>
		forAnybody(async () => {
			request.log.warn({ action: actionId.slice(0, 60) }, 'an unknown button was pressed');
			await reply.toPerson(request, errorMessage('button_outdated', null, { kept: 'nothing', adminContact }));
		}),
	);
}
