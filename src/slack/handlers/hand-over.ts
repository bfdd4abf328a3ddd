import { z } from 'zod';
import type { ActRefusal, Refusal } from '../../answers/access-policy.ts';
import type { Person } from '../../answers/answer.ts';
import type { HandOvers, PressedQuestion } from '../../inbox/hand-overs.ts';
import { noWindow } from '../blocks/commands.ts';
import { errorWords } from '../blocks/errors.ts';
import {
	GIVE_BACK_LATE,
	HAND_OVER_FIELD,
	handOverMetadata,
	handOverModal,
	handOverNotice,
	handOverRefusedText,
	handOverWords,
	notGivenBackWords,
	notYoursWords,
	tooManyHandOversText,
} from '../blocks/hand-over.ts';
import { textMessage } from '../blocks/parts.ts';
import { codeOf } from '../clients.ts';
import { ACTIONS, CALLBACKS, decodeInboxRow, decodeQuestionMark } from '../ids.ts';
import type { Submitted } from '../listen.ts';
import type { ViewMetadata } from '../metadata.ts';
import { TooFastError } from '../person-reads.ts';
import { metadataOf, type PersonRequest, type Press, type SubmittedView } from '../request.ts';
import { openView } from '../session/view-handle.ts';
import { copyPlace, ifAllowed, NOTHING_TO_DO } from '../task.ts';
import type { Names } from '../words.ts';
import type { HandlerContext } from './context.ts';

interface Options {
	readonly handOvers: HandOvers;
	/** Whether the access policy allows the chosen person to act in the channel of a question, with fresh facts. */
	readonly mayGet: (person: Person, channelId: string) => Promise<Refusal | null>;
	readonly names: Names;
}

const VALUES = z.object({
	[HAND_OVER_FIELD]: z.object({ [ACTIONS.handOverTo]: z.object({ selected_user: z.string().min(1) }) }),
});

/** Registers *Hand over* with its window, and *Give back*. */
export function registerHandOver(
	{ listen, client, personReads, reply, adminContact }: HandlerContext,
	{ handOvers, mayGet, names }: Options,
): void {
	listen.action(ACTIONS.handOver, (asked, press) => {
		const pressed = pressedQuestion(asked, press);
		if (pressed === null) return NOTHING_TO_DO;
		return ifAllowed(copyPlace(asked, pressed.channelId, pressed.sessionId), async (request) => {
			const permit = await personReads.permit(request);
			if (permit instanceof TooFastError) return reply.failed(request, permit);
			const begun = await handOvers.begin(request.person, pressed);
			const metadata = handOverMetadata(pressed, pressed.channelId);
			const view =
				begun.kind === 'possible' ? handOverModal(metadata, begun) : handOverNotice(handOverWords(begun), metadata);
			const onTop = press.view !== null && press.view.callbackId !== CALLBACKS.home;
			if ((await openView(client, request, { view, onTop })) === null)
				await reply.withoutTurn(request, noWindow('handOver'));
		});
	});

	// The choice counts when the window is submitted.
	listen.action(ACTIONS.handOverTo, () => NOTHING_TO_DO);

	function onField(words: string): Submitted {
		return { ack: { response_action: 'errors', errors: { [HAND_OVER_FIELD]: words } } };
	}

	async function handOver(
		request: PersonRequest,
		view: SubmittedView,
		metadata: ViewMetadata,
		chosen: { readonly to: string; readonly refusal: Promise<Refusal | null> },
	): Promise<Submitted> {
		const { sessionId, fingerprint, origin } = metadata;
		const pressed = { sessionId, fingerprint: fingerprint ?? '', channelId: origin.channelId ?? '' };
		const outcome = await handOvers.handOver(request.person, pressed, { viewId: view.id, ...chosen });
		const { channelId: channel } = pressed;
		request.log.info({ session: sessionId, channel, to: chosen.to, outcome: outcome.kind }, 'hand over');
		if (outcome.kind === 'refused') return onField(handOverRefusedText(outcome.refusal, adminContact));
		if (outcome.kind === 'tooMany') return onField(tooManyHandOversText(outcome, chosen.to, names));
		const notice = handOverNotice(handOverWords(outcome), metadata);
		return { ack: { response_action: 'update', view: notice } };
	}

	listen.submission(CALLBACKS.handOver, {
		async plan(asked, view) {
			const metadata = metadataOf(view);
			const { sessionId, origin } = metadata;
			const { channelId } = origin;
			const place = copyPlace(asked, channelId, sessionId);
			const refused = (refusal: ActRefusal) => onField(errorWords(refusal, { kept: 'unchanged', adminContact }).plain);
			const { data } = VALUES.safeParse(view.values);
			const to = data?.[HAND_OVER_FIELD][ACTIONS.handOverTo].selected_user;
			if (to === undefined || channelId === null) {
				return { place, refused, run: async () => onField('Choose a person.') };
			}
			// Slack limits how often it tells about people.
			const permit = await personReads.permit(asked);
			if (permit instanceof TooFastError) {
				const { plain } = errorWords(permit.code, reply.errorContext(permit, 'unchanged'));
				return { place, refused, run: async () => onField(plain) };
			}
			// At the same time as the check of whoever presses: Slack waits three seconds for both.
			const refusal = mayGet({ ...asked.person, userId: to }, channelId);
			return {
				place,
				refused,
				run: (request) => handOver(request, view, metadata, { to, refusal }),
			};
		},
		failed(request, _, error) {
			const code = codeOf(error);
			request.log.error({ code, err: error }, 'a question could not be handed over');
			return onField(errorWords(code, { adminContact }).plain);
		},
	});

	listen.storingAction(ACTIONS.giveBack, (asked, press) => {
		const pressed = pressedQuestion(asked, press);
		const failure = (code: string) => textMessage(notGivenBackWords(errorWords(code, { adminContact }).text));
		const fail = (code: string) => () => reply.withoutTurn(asked, failure(code));
		return {
			place: { channelId: pressed?.channelId ?? null },
			refused: (refusal) => async () => void (await reply.toPerson(asked, failure(refusal))),
			failed: (error) => fail(codeOf(error)),
			late: () => reply.withoutTurn(asked, textMessage(GIVE_BACK_LATE)),
			async run(request) {
				if (pressed === null) return fail('button_outdated');
				const result = await handOvers.giveBack(request.person, pressed);
				const { sessionId: session, channelId: channel } = pressed;
				const to = result.kind === 'givenBack' ? result.handOver.from : null;
				request.log.info({ session, channel, to, outcome: result.kind }, 'give back');
				// Posts, the direct message and inboxes show it by themselves.
				if (result.kind === 'givenBack') return async () => {};
				const words = notYoursWords(result.kind === 'notYours' ? result.handOver : null);
				return () => reply.withoutTurn(request, textMessage(words));
			},
		};
	});
}

/** Null when the press is not one of ours. What is pressed in an inbox or a direct message belongs to another channel. */
function pressedQuestion({ channelId: pressedIn }: PersonRequest, { value, blockId }: Press): PressedQuestion | null {
	const mark = decodeQuestionMark(value);
	const channelId = decodeInboxRow(blockId)?.channelId ?? pressedIn;
	return mark === null || channelId === null ? null : { ...mark, channelId };
}
