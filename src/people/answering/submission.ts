import type { Answers } from '../../delivery/accept.ts';
import { type AnswerItem, submissionKeyOf } from '../../domain/answer.ts';
import { HandraiseError } from '../../kernel/errors.ts';
import { notYetWords, receiptContext, receiptModal, tooLateNote } from '../../screens/receipt.ts';
import type { HandlerContext } from '../../slack/context.ts';
import { fieldTitle } from '../../slack/form/fields.ts';
import { CALLBACKS, OLDER } from '../../slack/ids.ts';
import { type AllowedRequest, type Submitted, sessionViewOf, type Wait, windowPlace } from '../../slack/request.ts';
import { line } from '../../slack/rich-text.ts';
import type { Drafting, OpenForm } from '../session/drafts.ts';
import type { SessionFlow } from '../session/session-flow.ts';

/** Registers "Send answer": an answer is checked and stored, and only then acknowledged. */
export function registerSubmission(
	core: HandlerContext & { flow: SessionFlow; drafting: Drafting; answers: Answers },
): void {
	const { listen, flow, drafting, reply, answers } = core;

	function submissionOf(request: AllowedRequest, { view, metadata, typed }: OpenForm) {
		const length = Math.max(...metadata.fields) + 1;
		const items = Array.from({ length }, (_, position): AnswerItem => {
			const isField = metadata.fields.includes(position);
			// The person sees a title that others see masked.
			const isTitleMasked = metadata.showsHidden && metadata.veiled.includes(position);
			return {
				title: isField && !isTitleMasked ? fieldTitle(view, metadata, position) : '',
				value: isField ? (typed.values[position] ?? '') : null,
				// An option that others see masked may be a credential.
				secret: [...metadata.secret, ...metadata.covered].includes(position),
				wiped: false,
			};
		});
		return {
			submissionKey: submissionKeyOf(view.id, metadata.formId),
			viewId: view.id,
			undoMs: null,
			isOnButton: false,
			person: request.person,
			question: { sessionId: metadata.sessionId, messageIndex: metadata.messageIndex ?? 0 },
			sessionName: metadata.sessionName,
			fingerprint: metadata.fingerprint ?? '',
			shownHash: metadata.shownHash,
			items,
			leftEmpty: typed.missing,
			boxed: true,
			origin: metadata.origin,
			formReadAt: metadata.readAt,
			arrivalSeen: metadata.arrival,
		};
	}

	async function send(request: AllowedRequest, form: OpenForm, { inTime }: Wait): Promise<Submitted> {
		const keepText = () => drafting.keep(request.person, form, true);
		const { view, metadata } = form;
		const { fieldErrors } = form.typed;
		if (Object.keys(fieldErrors).length > 0) {
			return { ack: { response_action: 'errors', errors: fieldErrors }, after: keepText };
		}
		const result = await inTime(answers.submit(submissionOf(request, form)), 'acceptance_unknown');
		flow.submitted(view.id);
		request.log.info({ answer: result.answer.id, session: metadata.sessionId, outcome: result.kind }, 'submitted');
		const texts = Object.values(form.typed.draft).filter((text) => text !== '');
		const note =
			result.kind === 'tooLate' ? tooLateNote(texts) : line(result.kind === 'taken' ? notYetWords(result.by) : '');
		return {
			ack: { response_action: 'update', view: receiptModal(result.answer, receiptContext(core, note)) },
			after: async () => {
				// The store has no text that came too late, so it stays a draft.
				if (result.kind === 'tooLate') await keepText();
			},
		};
	}

	listen.submission(CALLBACKS.session, {
		async plan(_, view, wait) {
			const form = await drafting.read(sessionViewOf(view));
			const { fields, fingerprint, sessionId } = form.metadata;
			if (fields.length === 0 || fingerprint === null)
				throw new HandraiseError('a form without a question was sent', { code: OLDER });
			const place = { ...windowPlace(form.metadata), answers: sessionId };
			return { place, run: (request) => send(request, form, wait) };
		},
		/** Shows the error at the first field, because only errors of fields leave the form and its texts as they are. */
		failed(view, error) {
			const [firstField = 'b.form'] = Object.keys(view.labels);
			return { ack: { response_action: 'errors', errors: { [firstField]: reply.words(error, 'text').plain } } };
		},
	});
}
