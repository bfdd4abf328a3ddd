import type { WebClient } from '@slack/web-api';
import type { Answers } from '../../answers/accept.ts';
import type { Answer } from '../../answers/answer.ts';
import { canRestart } from '../../answers/deliver.ts';
import type { AnswerStore } from '../../answers/ports.ts';
import type { Gatekeeper } from '../../answers/who-may.ts';
import type { Clock } from '../../clock.ts';
import type { Session } from '../../questions/session.ts';
import { replacement } from '../blocks/message.ts';
import { errorMessage, ownTextMessage, receiptMessage, refusedMessage } from '../blocks/messages.ts';
import { receiptModal } from '../blocks/receipt-modal.ts';
import { slackErrorCode } from '../clients.ts';
import { codeOf } from '../error-code.ts';
import { ACTIONS, decodeCarriage } from '../ids.ts';
import type { Listen, Press } from '../listen.ts';
import { decodeMetadata, newMetadata } from '../metadata.ts';
import type { Reply } from '../reply.ts';
import { originOf, type PersonRequest } from '../request.ts';
import type { Values } from '../session/draft-for.ts';
import type { SessionFlow } from '../session/flow.ts';
import { newFormId } from '../session/presenter.ts';
import { postToThread, type ThreadPostOutcome } from '../thread-post.ts';
import { errorWords, type Names } from '../words.ts';
import { viewOf } from './session-actions.ts';

interface Dependencies {
	readonly client: WebClient;
	readonly answers: Answers;
	readonly store: AnswerStore;
	readonly sessions: { read(sessionId: string, options: { priority: 'person' }): Promise<{ session: Session }> };
	readonly gatekeeper: Gatekeeper;
	readonly flow: SessionFlow;
	readonly reply: Reply;
	readonly names: Names;
	readonly adminContact: string | null;
	readonly clock: Clock;
}

const NOTHING_TO_START =
	'Your answer was not sent again: the agent has continued, the session is over, or it has a different answer now. Open the session to see it.';

const SENT_A_MOMENT_AGO = 'It was sent again a moment ago. Wait until the agent continues.';

/** Buttons on receipts, in a modal or a DM; they work as long as the answer is in the store. */
export function registerAnswerActions(listen: Listen, deps: Dependencies): void {
	const { client, answers, store, sessions, gatekeeper, flow, reply, names, adminContact, clock } = deps;

	/** The author's own answer that the button belongs to, or null after telling why not. */
	async function ownAnswer(request: PersonRequest, press: Press): Promise<Answer | null> {
		const answer = press.value === undefined ? null : await store.get(press.value);
		const { teamId, userId } = request.person;
		if (answer === null || answer.person.userId !== userId || answer.person.teamId !== teamId) {
			await reply.toPerson(request, errorMessage('answer_not_yours', null, { kept: 'nothing', adminContact }));
			return null;
		}
		const verdict = await gatekeeper.check(request.person, answer.origin.channelId);
		if (!verdict.allowed) {
			await reply.toPerson(request, refusedMessage(verdict.refusal, adminContact));
			return null;
		}
		return answer;
	}

	/** Shows the answer as it is now where the button was. */
	async function showAgain(request: PersonRequest, press: Press, answer: Answer, note = ''): Promise<void> {
		const receipt = { names, adminContact, now: clock.now(), note };
		if (press.view !== null) {
			await client.views.update({ view_id: press.view.id, view: receiptModal(answer, receipt) });
			return;
		}
		if (request.channelId === null || request.messageTs === null) return;
		const content = replacement(receiptMessage(answer, receipt));
		await client.chat.update({ channel: request.channelId, ts: request.messageTs, ...content });
	}

	listen.action(ACTIONS.tryAgain, async (request, press) => {
		const own = await ownAnswer(request, press);
		if (own === null) return;
		const result = await answers.tryAgain(own.id, request.person);
		request.log.info({ answer: own.id, outcome: result.kind }, 'try again');
		if (result.kind === 'notFound') return;
		if (result.kind === 'valuesGone') {
			// A secret was wiped when its answer ended: only the person has it, so the form is opened for it.
			const { sessionId, messageIndex } = own.question;
			await openForm(request, press, sessionId, messageIndex, own);
			return;
		}
		await showAgain(request, press, result.answer);
	});

	listen.action(ACTIONS.sendAgain, async (request, press) => {
		const own = await ownAnswer(request, press);
		if (own === null) return;
		let session: Session;
		try {
			({ session } = await sessions.read(own.question.sessionId, { priority: 'person' }));
		} catch (error) {
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
		const asked = await answers.sendAgain(own.id, request.person);
		request.log.info({ answer: own.id, outcome: asked === null ? 'too late' : 'asked' }, 'send again');
		if (asked !== null) return showAgain(request, press, asked);
		await showAgain(request, press, (await store.get(own.id)) ?? own, SENT_A_MOMENT_AGO);
	});

	listen.action(ACTIONS.giveUp, async (request, press) => {
		const own = await ownAnswer(request, press);
		if (own === null) return;
		const withdrawn = await answers.withdraw(own.id, request.person);
		await showAgain(request, press, withdrawn ?? (await store.get(own.id)) ?? own);
	});

	listen.action(ACTIONS.answerNew, async (request, press) => {
		const carriage = decodeCarriage(press.value);
		if (carriage === null) return;
		const answerId = carriage.answerId ?? decodeMetadata(press.view?.privateMetadata)?.answerId ?? null;
		const own = answerId === null ? null : await store.get(answerId);
		const { teamId, userId } = request.person;
		const isOwn = own !== null && own.person.userId === userId && own.person.teamId === teamId;
		await openForm(request, press, carriage.target.sessionId, null, isOwn ? own : null);
	});

	/** Opens the session's form with the texts of `carry` in it, where they fit. */
	async function openForm(
		request: PersonRequest,
		press: Press,
		sessionId: string,
		messageIndex: number | null,
		carry: Answer | null,
	): Promise<void> {
		const origin = carry?.origin ?? originOf(request);
		const prefill = carry === null ? null : textsOf(carry);
		if (press.view === null) {
			await flow.open(request, { sessionId, messageIndex, origin, ...(prefill === null ? {} : { prefill }) });
			return;
		}
		const metadata = newMetadata({ sessionId, formId: newFormId(), origin });
		await flow.show(request, viewOf(press), { metadata, wanted: messageIndex, prefill });
	}

	listen.action(ACTIONS.postToThread, async (request, press) => {
		const own = await ownAnswer(request, press);
		if (own === null || own.origin.channelId === null) return;
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
	});
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
