import type { ModalView } from '@slack/types';
import { CALLBACKS } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { oneLineMrkdwn } from '../text.ts';
import { stillWaitingWords } from '../words.ts';
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
		title: `Session ${sessionId}`,
		metadata,
		close: 'Cancel',
		notifyOnClose: true,
		blocks: [
			...section(`⏳ Looking at session *${oneLineMrkdwn(sessionId, 100)}*…`),
			...section(waitedMs === 0 ? '' : stillWaitingWords(waitedMs)),
		],
	});
}
