import { type AcceptResult, type AnswerItem, submissionKeyOf } from '../../answers/answer.ts';
import { uptimeOf, within } from '../../clock.ts';
import { HandraiseError } from '../../errors.ts';
import { errorModal, errorWords } from '../blocks/errors.ts';
import { notYetWords, receiptModal, savedModal, tooLateWords } from '../blocks/receipt.ts';
import { codeOf } from '../clients.ts';
import { fieldId } from '../form/read.ts';
import { CALLBACKS } from '../ids.ts';
import type { SubmissionAck, Submitted } from '../listen.ts';
import { newMetadata } from '../metadata.ts';
import type { SubmittedView } from '../request.ts';
import type { StandingForm } from '../session/drafts.ts';
import { type AllowedRequest, windowPlace } from '../task.ts';
import { withoutMarks } from '../text.ts';
import type { HandlerContext } from './context.ts';

/** Slack shows "trouble connecting" after three seconds without an acknowledgement; our error has to come before. */
const ACKNOWLEDGE_WITHIN_MS = 2_500;
/** The least time for the store, however long the checks took. */
const MIN_STORE_MS = 500;

/** Registers "Send answer": an answer is checked and stored, and only then acknowledged. */
export function registerSubmission(core: HandlerContext): void {
	const { listen, serviceUrl, drafting, adminContact, clock, answers, receipts } = core;

	function submissionOf(request: AllowedRequest, view: SubmittedView, { metadata, reading }: StandingForm) {
		const length = Math.max(...metadata.fields) + 1;
		const items = Array.from({ length }, (_, position): AnswerItem => {
			const isField = metadata.fields.includes(position);
			return {
				title: isField ? titleOf(view, metadata, position) : '',
				value: isField ? (reading.values[position] ?? '') : null,
				secret: metadata.secret.includes(position),
				wiped: false,
			};
		});
		return {
			submissionKey: submissionKeyOf(view.id, metadata.formId),
			viewId: view.id,
			undoMs: null,
			person: request.person,
			question: { service: serviceUrl, sessionId: metadata.sessionId, messageIndex: metadata.messageIndex ?? 0 },
			fingerprint: metadata.fingerprint ?? '',
			shownHash: metadata.shownHash,
			items,
			leftEmpty: reading.missing,
			boxed: true,
			origin: metadata.origin,
			formReadAt: metadata.readAt,
		};
	}

	function acknowledgement(result: AcceptResult, form: StandingForm): SubmissionAck {
		const { answer } = result;
		const isUnderWay = result.kind === 'accepted' || (answer.state === 'accepted' && answer.lastError === null);
		if (isUnderWay) return { response_action: 'update', view: savedModal(answer) };
		const texts = Object.values(form.reading.draft).filter((text) => text !== '');
		const note =
			result.kind === 'tooLate' ? tooLateWords(texts) : result.kind === 'taken' ? notYetWords(result.by) : '';
		return { response_action: 'update', view: receiptModal(answer, receipts.context(note)) };
	}

	/** Stores the form's texts. `startedAt`: when Slack began to wait, on the clock of `uptimeOf`. */
	async function send(
		request: AllowedRequest,
		view: SubmittedView,
		form: StandingForm,
		startedAt: number,
	): Promise<Submitted> {
		const keepText = () => drafting.keep(request.person, null, form);
		const { fieldErrors } = form.reading;
		if (Object.keys(fieldErrors).length > 0) {
			return { ack: { response_action: 'errors', errors: fieldErrors }, after: keepText };
		}
		receipts.expectAcknowledgement(view.id);
		const storeMs = Math.max(MIN_STORE_MS, startedAt + ACKNOWLEDGE_WITHIN_MS - uptimeOf(clock));
		const result = await within(clock, answers.submit(submissionOf(request, view, form)), storeMs, notConfirmed);
		request.log.info({ answer: result.answer.id, session: form.metadata.sessionId, outcome: result.kind }, 'submitted');
		return {
			ack: acknowledgement(result, form),
			after: async () => {
				receipts.acknowledged(view.id);
				// The store has no text that came too late, so it stays a draft.
				if (result.kind === 'tooLate') await keepText();
				else await answers.afterAccept(result.answer);
			},
		};
	}

	listen.submission(CALLBACKS.session, {
		async plan(_, view) {
			const startedAt = uptimeOf(clock);
			const form = await drafting.read(view);
			const place = windowPlace(form?.metadata ?? null);
			if (form !== null && form.metadata.fields.length > 0 && form.metadata.fingerprint !== null) {
				return { place, run: (request) => send(request, view, form, startedAt) };
			}
			const metadata = newMetadata({ sessionId: form?.metadata.sessionId ?? '', formId: view.id });
			const modal = errorModal('form_outdated', metadata, { kept: 'nothing', adminContact });
			return { place, run: async () => ({ ack: { response_action: 'update', view: modal } }) };
		},
		/** At the first field: only field errors leave the form with its texts in place. */
		failed(view, error) {
			receipts.acknowledged(view.id);
			const [firstField = 'b.form'] = Object.keys(view.labels);
			const { plain } = errorWords(codeOf(error), { kept: 'text', adminContact });
			return { ack: { response_action: 'errors', errors: { [firstField]: plain } } };
		},
	});
}

function titleOf(view: SubmittedView, metadata: StandingForm['metadata'], position: number): string {
	for (const variant of ['guessed', 'plain'] as const) {
		const label = view.labels[fieldId(metadata, position, variant)];
		if (label !== undefined) return withoutMarks(label);
	}
	return '';
}

/** The store may hang; whether it stores the answer is not known then. */
function notConfirmed(): never {
	const options = { code: 'acceptance_unknown', retryable: true };
	throw new HandraiseError('the store did not confirm an answer in time', options);
}
