import type { ModalView } from '@slack/types';
import type { Refusal } from '../../answers/access-policy.ts';
import { CALLBACKS } from '../ids.ts';
import type { ViewMetadata } from '../metadata.ts';
import { refusalWords } from '../words.ts';
import { modal, section } from './parts.ts';

/** Somebody may not do this, said in the view that was opened for it. Nothing of the session is in it. */
export function refusedModal(refusal: Refusal, metadata: ViewMetadata, adminContact: string | null): ModalView {
	return modal({
		callbackId: CALLBACKS.error,
		title: 'Handraise',
		metadata,
		blocks: section(`🔒 ${refusalWords(refusal, adminContact)}`),
	});
}
