import type { ModalView } from '@slack/types';
import { CALLBACKS } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { sessionName, stillWaitingWords, viewTitle } from '../words.ts';
import { modal, section } from './parts.ts';

/**
 * What opens at once, inside the trigger's three seconds, whatever the service does. Closing it is told, so that nothing
 * goes on for nobody.
 *
 * @param waitedMs said when it has become long
 */
export function loadingModal(sessionId: string, metadata: ViewMetadata, waitedMs = 0): ModalView {
	return modal({
		callbackId: CALLBACKS.loading,
		title: viewTitle(sessionId),
		metadata,
		close: 'Cancel',
		notifyOnClose: true,
		blocks: [
			...section(`⏳ Looking at ${sessionName(sessionId)}…`),
			...section(waitedMs === 0 ? '' : stillWaitingWords(waitedMs)),
		],
	});
}
