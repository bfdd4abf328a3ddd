import type { Refusal } from '../answers/access-policy.ts';
import { refusedMessage } from './blocks/messages.ts';
import { refusedModal } from './blocks/refused-modal.ts';
import type { ViewSnapshot } from './listen.ts';
import { decodeMetadata } from './metadata.ts';
import type { Reply } from './reply.ts';
import type { PersonRequest } from './request.ts';
import type { ViewOpener } from './session/open-view.ts';

interface Dependencies {
	readonly openView: ViewOpener;
	readonly reply: Reply;
	readonly adminContact: string | null;
}

/** Tells somebody that they may not: over the view in which they pressed, which stays as it is, else where they act. */
export function createRefusing({ openView, reply, adminContact }: Dependencies) {
	return async (request: PersonRequest, refusal: Refusal, view: ViewSnapshot | null): Promise<void> => {
		const metadata = decodeMetadata(view?.privateMetadata);
		if (metadata === null) {
			await reply.toPerson(request, refusedMessage(refusal, adminContact));
			return;
		}
		const modal = refusedModal(refusal, metadata, adminContact);
		if ((await openView(request, modal, { onTop: true })) !== null) return;
		await reply.toPerson({ ...request, ...metadata.origin }, refusedMessage(refusal, adminContact));
	};
}

export type Refusing = ReturnType<typeof createRefusing>;
