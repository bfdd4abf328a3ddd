import type { ModalView } from '@slack/types';
import { CALLBACKS } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { oneLineMrkdwn } from '../text.ts';
import { modal, section } from './parts.ts';

/** What opens at once, inside the trigger's three seconds, whatever the service does. */
export function loadingModal(sessionId: string, metadata: ViewMetadata): ModalView {
	return modal({
		callbackId: CALLBACKS.loading,
		title: `Session ${sessionId}`,
		metadata,
		blocks: section(`⏳ Looking at session *${oneLineMrkdwn(sessionId, 100)}*…`),
	});
}
