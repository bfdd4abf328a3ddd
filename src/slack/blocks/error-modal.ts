import type { ModalView } from '@slack/types';
import { ACTIONS, CALLBACKS } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { type ErrorContext, errorWords, sessionName, viewTitle } from '../words.ts';
import { button, buttons, modal, section } from './parts.ts';

/** What happened, what was kept and what to do, with "Try again" where that makes sense. */
export function errorModal(code: string, metadata: ViewMetadata, context: ErrorContext): ModalView {
	const words = errorWords(code, context);
	return modal({
		callbackId: CALLBACKS.error,
		title: viewTitle(metadata.sessionId),
		metadata,
		blocks: [
			...section(`⚠️ ${words.text}`),
			...section(metadata.sessionId === '' ? '' : `This was about ${sessionName(metadata.sessionId)}.`),
			...(words.retry ? buttons(button(ACTIONS.reload, 'Try again')) : []),
		],
	});
}
