import type { Answers } from '../../delivery/accept.ts';
import type { Draft } from '../../delivery/draft-store.ts';
import { optionsOr } from '../../domain/choices.ts';
import { choicesOf, guessInput } from '../../domain/input-kind.ts';
import { takenChoice } from '../../screens/choice.ts';
import { changedTooLate, THREAD_REPLY_WORDS } from '../../screens/thread-reply.ts';
import { type MessageContent, textMessage } from '../../slack/blocks.ts';
import type { HandlerContext } from '../../slack/context.ts';
import { ACTIONS, decodeThreadReply, type OfferedThreadReply } from '../../slack/ids.ts';
import { type AllowedRequest, answerPlace, forAnybody, type PersonRequest, type Press } from '../../slack/request.ts';
import { sentences } from '../../slack/rich-text.ts';
import type { ViewStore } from '../../surfaces/view-store.ts';
import type { Drafting } from '../session/drafts.ts';
import type { Offers } from './offers.ts';

/** Registers the buttons of the offer to send a message as the answer. */
export function registerThreadReplies(
	core: HandlerContext<{ views: ViewStore }> & { drafting: Drafting; answers: Answers },
	offers: Offers,
): void {
	const { listen, reply, drafting, answers, store } = core;
	/** Replaces the offer, or deletes it (null), and forgets its text. */
	async function end(request: PersonRequest, draft: Draft | undefined, content: MessageContent | null): Promise<void> {
		if (!(await reply.inPlace(request, content)) && content !== null) await reply.withoutTurn(request, content);
		if (draft !== undefined) await drafting.letGo(draft);
	}

	/** Stores the message as an answer, as its text is now. Resolves to what is done after that. */
	async function send(
		request: AllowedRequest,
		press: Press,
		offered: OfferedThreadReply,
	): Promise<() => Promise<void>> {
		const { person } = request;
		const { id, sessionId, channelId, threadTs } = offered;
		const { draft, text: offeredText = null } = (await drafting.keptAside(person, id)) ?? {};
		if (draft === undefined) return () => reply.older(request, press);
		// The press before has told the outcome.
		if (offeredText === null) return async () => {};
		const now = await offers.textNow(request, offered);
		if (now === null) return () => reply.failed(request, 'message_not_checked');
		const text = now.text ?? offeredText;
		if (text === '') return () => end(request, draft, textMessage(THREAD_REPLY_WORDS.deleted));
		const { fingerprint, shownHash, sessionName = '' } = draft;
		const item = await offers.itemOf(person, offered, fingerprint);
		const title = item?.title ?? '';
		const value = item === null ? text : optionsOr(text, choicesOf(guessInput(item)));
		const choice = { ...offered, position: 0, fingerprint, shownHash, title, option: value, sessionName };
		// It can be undone: one press sends what was perhaps written to colleagues.
		const by = { submissionKey: `reply:${id}`, person, origin: { channelId, threadTs } };
		const result = await answers.submitPress({ ...choice, isWritten: true }, by);
		const { answer, kind } = result;
		request.log.info({ answer: answer.id, session: sessionId, outcome: kind }, 'a reply was sent');
		return async () => {
			// Stored by an earlier press, whose process ended before it forgot the text.
			const isUndone = answer.state === 'withdrawn';
			if (isUndone || kind === 'tooLate')
				return end(request, draft, isUndone ? textMessage(THREAD_REPLY_WORDS.kept) : changedTooLate(value));
			// The question's post shows it, with *Undo*.
			if (kind !== 'taken') return end(request, draft, null);
			await end(request, draft, takenChoice(choice, result));
			await store.views.noteTold(answer);
		};
	}

	listen.storingAction(ACTIONS.sendReply, (asked, press) => {
		const offered = decodeThreadReply(press.value);
		const { channelId = null, sessionId = '' } = offered ?? {};
		return {
			place: answerPlace(asked, channelId, sessionId),
			failure: (error) => textMessage(sentences('⚠️', reply.words(error).text)),
			late: null,
			run: async (request) => (offered === null ? () => reply.older(asked, press) : send(request, press, offered)),
		};
	});

	listen.action(ACTIONS.keepReply, (request, { value = '' }) =>
		forAnybody(async () => {
			await end(
				request,
				(await drafting.keptAside(request.person, value))?.draft,
				textMessage(THREAD_REPLY_WORDS.kept),
			);
		}),
	);
}
