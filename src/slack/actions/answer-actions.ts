import type { WebClient } from '@slack/web-api';
import type { Answers } from '../../answers/accept.ts';
import type { Answer } from '../../answers/answer.ts';
import { canRestart } from '../../answers/deliver.ts';
import type { AnswerStore } from '../../answers/ports.ts';
import type { Clock } from '../../clock.ts';
import type { Session } from '../../questions/session.ts';
import { replacement } from '../blocks/message.ts';
import { errorMessage, ownTextMessage, receiptMessage } from '../blocks/messages.ts';
import { receiptModal } from '../blocks/receipt-modal.ts';
import { slackErrorCode } from '../clients.ts';
import { codeOf } from '../error-code.ts';
import { ACTIONS, decodeCarriage, type SessionTarget } from '../ids.ts';
import type { Listen, Press } from '../listen.ts';
import { decodeMetadata, newMetadata } from '../metadata.ts';
import { isWorthTelling, type PersonReads, TooFastError } from '../person-reads.ts';
import type { Reply } from '../reply.ts';
import { isSamePerson, originOf, type PersonRequest } from '../request.ts';
import type { Values } from '../session/draft-for.ts';
import type { SessionFlow } from '../session/flow.ts';
import { newFormId } from '../session/presenter.ts';
import {
	type AllowedRequest,
	type Done,
	forAnybody,
	ifAllowed,
	inTheirName,
	NOTHING_TO_DO,
	type Task,
} from '../task.ts';
import { postToThread, type ThreadPostOutcome } from '../thread-post.ts';
import { errorWords, type Names } from '../words.ts';
import { viewOf } from './session-actions.ts';

interface Dependencies {
	readonly client: WebClient;
	readonly answers: Answers;
	readonly store: AnswerStore;
	readonly personReads: PersonReads;
	readonly flow: SessionFlow;
	readonly reply: Reply;
	readonly names: Names;
	readonly adminContact: string | null;
	/** Whether authors may put their own texts before a channel. */
	readonly postsText: boolean;
	readonly clock: Clock;
}

const NOTHING_TO_START =
	'Your answer was not sent again: the agent has continued, the session is over, or it has a different answer now. Open the session to see it.';

const NOT_IN_CHANNELS = 'Nothing was posted: answers are not shown in channels here.';

const SENT_A_MOMENT_AGO = 'It was sent again a moment ago. Wait until the agent continues.';

/** Buttons on receipts, in a modal or a DM; they work as long as the answer is in the store. */
export function registerAnswerActions(listen: Listen, deps: Dependencies): void {
	const { client, answers, store, personReads, flow, reply, names, adminContact, postsText, clock } = deps;

	/** For the author of the answer that the button belongs to, as far as they may act where its form came from. */
	function forAuthor(act: (request: AllowedRequest, press: Press, own: Answer) => Done) {
		return async (asked: PersonRequest, press: Press): Promise<Task> => {
			const answer = press.value === undefined ? null : await store.get(press.value);
			if (answer !== null && isSamePerson(asked, answer.person)) {
				const task = ifAllowed(answer.origin.channelId, async (request): Promise<Task> => {
					// Each shows the receipt again, and one posts: Slack limits both for all people together.
					const tooFast = await personReads.turn(request);
					if (tooFast === null) return (await act(request, press, answer)) ?? NOTHING_TO_DO;
					const context = { kept: 'answer', adminContact, retryAt: tooFast.retryAt } as const;
					await reply.slowDown(request, tooFast, errorMessage(tooFast.code, answer.question.sessionId, context));
					return NOTHING_TO_DO;
				});
				return inTheirName(task);
			}
			return forAnybody(async () => {
				await reply.toPerson(asked, errorMessage('answer_not_yours', null, { kept: 'nothing', adminContact }));
			});
		};
	}

	/** Shows the answer as it is now where the button was. */
	async function showAgain(request: PersonRequest, press: Press, answer: Answer, note = ''): Promise<void> {
		const receipt = { names, adminContact, postsText, now: clock.now(), note };
		if (press.view !== null) {
			await client.views.update({ view_id: press.view.id, view: receiptModal(answer, receipt) });
			return;
		}
		if (request.channelId === null || request.messageTs === null) return;
		const content = replacement(receiptMessage(answer, receipt));
		await client.chat.update({ channel: request.channelId, ts: request.messageTs, ...content });
	}

	listen.action(
		ACTIONS.tryAgain,
		forAuthor(async (request, press, own) => {
			const result = await answers.tryAgain(own.id, own.person);
			request.log.info({ answer: own.id, outcome: result.kind }, 'try again');
			if (result.kind === 'notFound') return NOTHING_TO_DO;
			if (result.kind === 'valuesGone') {
				// A secret was wiped when its answer ended: only the person has it, so the form is opened for it.
				return openForm(request, press, own.question, own);
			}
			await showAgain(request, press, result.answer);
			return NOTHING_TO_DO;
		}),
	);

	listen.action(
		ACTIONS.sendAgain,
		forAuthor(async (request, press, own) => {
			let session: Session;
			try {
				const permit = await personReads.permit(request);
				({ session } = await permit.read(own.question.sessionId));
			} catch (error) {
				if (error instanceof TooFastError && !isWorthTelling({ ...request, responseUrl: null }, error)) return;
				const { what } = errorWords(codeOf(error), { kept: 'nothing', adminContact });
				await showAgain(
					request,
					press,
					own,
					`Your answer was not sent again. ${what} It is still in the session. Press *Send again* in a moment.`,
				);
				return;
			}
			if (!canRestart(own, session)) {
				// The agent is not standing still: nothing is offered any more.
				await showAgain(request, press, { ...own, startFailed: false }, NOTHING_TO_START);
				return;
			}
			const asked = await answers.sendAgain(own.id, own.person);
			request.log.info({ answer: own.id, outcome: asked === null ? 'too late' : 'asked' }, 'send again');
			if (asked !== null) return showAgain(request, press, asked);
			await showAgain(request, press, (await store.get(own.id)) ?? own, SENT_A_MOMENT_AGO);
		}),
	);

	listen.action(
		ACTIONS.giveUp,
		forAuthor(async (request, press, own) => {
			const withdrawn = await answers.withdraw(own.id, own.person);
			await showAgain(request, press, withdrawn ?? (await store.get(own.id)) ?? own);
		}),
	);

	listen.action(ACTIONS.answerNew, async (request, press) => {
		const carriage = decodeCarriage(press.value);
		if (carriage === null) return NOTHING_TO_DO;
		const answerId = carriage.answerId ?? decodeMetadata(press.view?.privateMetadata)?.answerId ?? null;
		const answer = answerId === null ? null : await store.get(answerId);
		const own = answer !== null && isSamePerson(request, answer.person) ? answer : null;
		return openForm(request, press, { ...carriage.target, messageIndex: null }, own);
	});

	/** Opens the session's form with the texts of `carry` in it, where they fit. */
	function openForm(request: PersonRequest, press: Press, target: SessionTarget, carry: Answer | null): Task {
		const { sessionId, messageIndex } = target;
		const before = decodeMetadata(press.view?.privateMetadata);
		const origin = carry?.origin ?? before?.origin ?? originOf(request);
		const prefill = carry === null ? null : textsOf(carry);
		if (press.view === null) {
			return flow.open(request, { sessionId, messageIndex, origin, ...(prefill === null ? {} : { prefill }) });
		}
		const metadata = newMetadata({ sessionId, formId: newFormId(), origin });
		return ifAllowed(origin.channelId, (allowed) =>
			flow.show(allowed, viewOf(press), { metadata, wanted: messageIndex, prefill }),
		);
	}

	listen.action(
		ACTIONS.postToThread,
		forAuthor(async (request, press, own) => {
			if (own.origin.channelId === null) return;
			// A button from before the setting was changed.
			if (!postsText) return showAgain(request, press, own, NOT_IN_CHANNELS);
			const { channelId: channel, threadTs } = own.origin;
			const content = ownTextMessage(own);
			const failed = await (threadTs === null
				? client.chat.postMessage({ channel, ...content }).then(() => null)
				: postToThread(client, { channel, threadTs, content }).then((outcome) => NOT_POSTED[outcome])
			).catch((error: unknown) => (slackErrorCode(error) === null ? 'slack_unavailable' : 'post_refused'));
			request.log.info({ answer: own.id, outcome: failed ?? 'posted' }, 'post my text');
			const note =
				failed === null ? '💬 Your text was posted.' : errorWords(failed, { kept: 'answer', adminContact }).text;
			await showAgain(request, press, own, note);
		}),
	);
}

/** The code of what went wrong. */
const NOT_POSTED = {
	posted: null,
	threadGone: 'thread_gone',
	inChannel: 'text_in_channel',
} as const satisfies Record<ThreadPostOutcome, string | null>;

/** The texts of an answer by position, secrets left out. */
function textsOf({ content }: Answer): Values {
	if (content.kind !== 'readable') return {};
	return Object.fromEntries(
		content.items.flatMap(({ value, secret }, position) => (secret || value === null ? [] : [[position, value]])),
	);
}
