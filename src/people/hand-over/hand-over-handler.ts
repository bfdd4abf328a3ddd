import { z } from 'zod';
import type { PressedQuestion } from '../../domain/hand-over.ts';
import {
	GIVE_BACK_LATE,
	HAND_OVER_FIELD,
	handOverMetadata,
	handOverModal,
	handOverNotice,
	handOverRefusedText,
	handOverWords,
	NOTE_FIELD,
	notGivenBackWords,
	notYoursWords,
	tooManyHandOversText,
} from '../../screens/hand-over.ts';
import { textMessage } from '../../slack/blocks.ts';
import type { HandlerContext } from '../../slack/context.ts';
import { ACTIONS, CALLBACKS, decodeQuestionRef } from '../../slack/ids.ts';
import {
	answerPlace,
	ifAllowed,
	NOTHING_TO_DO,
	type PersonRequest,
	type Press,
	type Submitted,
	sessionViewOf,
} from '../../slack/request.ts';
import { createHandOvers, type HandOverStores } from './hand-overs.ts';

const VALUES = z.object({
	[HAND_OVER_FIELD]: z.object({ [ACTIONS.handOverTo]: z.object({ selected_user: z.string().min(1) }) }),
	[NOTE_FIELD]: z.object({ [ACTIONS.handOverNote]: z.object({ value: z.string().nullish() }) }).optional(),
});

/** Registers *Hand over* with its window, and *Give back*. */
export function registerHandOver(core: HandlerContext<HandOverStores>): void {
	const { listen, personReads, reply, mayAct, directory: names } = core;
	const handOvers = createHandOvers(core);

	listen.action(ACTIONS.handOver, (asked, press) => {
		const pressed = pressedQuestion(asked, press);
		if (pressed === null) return null;
		return ifAllowed(answerPlace(asked, pressed.channelId, pressed.sessionId), async (request) => {
			const onTop = press.view !== null && press.view.callbackId !== CALLBACKS.home;
			const metadata = handOverMetadata(pressed);
			const view = async () => {
				const begun = await handOvers.begin(request.person, pressed);
				if (begun.kind === 'possible') return handOverModal(metadata, begun);
				return handOverNotice(handOverWords(begun), metadata);
			};
			await reply.openWindow(request, 'handOver', view, { onTop });
		});
	});

	// Both count when the window is submitted.
	listen.action([ACTIONS.handOverTo, ACTIONS.handOverNote], () => NOTHING_TO_DO);

	function onField(words: string): Submitted {
		return { ack: { response_action: 'errors', errors: { [HAND_OVER_FIELD]: words } } };
	}

	listen.submission(CALLBACKS.handOver, {
		async plan(asked, view) {
			const { metadata } = sessionViewOf(view);
			const { sessionId, fingerprint, origin } = metadata;
			const { channelId } = origin;
			const place = answerPlace(asked, channelId, sessionId);
			const values = VALUES.safeParse(view.values).data;
			const to = values?.[HAND_OVER_FIELD][ACTIONS.handOverTo].selected_user;
			const note = values?.[NOTE_FIELD]?.[ACTIONS.handOverNote].value?.trim() || null;
			if (to === undefined || channelId === null) return { place, run: async () => onField('Choose a person.') };
			// Slack limits how often it tells about people.
			await personReads.permit(asked);
			// At the same time as the check of whoever presses: Slack waits three seconds for both.
			const refusal = mayAct({ ...asked.person, userId: to }, { channelId, answers: sessionId }, 'send');
			const pressed = { sessionId, fingerprint: fingerprint ?? '', channelId };
			const run = async ({ person }: PersonRequest): Promise<Submitted> => {
				const outcome = await handOvers.handOver(person, pressed, { viewId: view.id, to, note, refusal });
				if (outcome.kind === 'refused') return onField(handOverRefusedText(outcome.refusal, reply.errorContext()));
				if (outcome.kind === 'tooMany') return onField(tooManyHandOversText(outcome, to, names));
				return { ack: { response_action: 'update', view: handOverNotice(handOverWords(outcome), metadata) } };
			};
			return { place, run };
		},
		failed: (_, error) => onField(reply.words(error, 'unchanged').plain),
	});

	listen.storingAction(ACTIONS.giveBack, (asked, press) => {
		const pressed = pressedQuestion(asked, press);
		const failure = (error: unknown) => textMessage(notGivenBackWords(reply.words(error).text));
		return {
			place: { channelId: pressed?.channelId ?? null },
			failure,
			late: textMessage(GIVE_BACK_LATE),
			async run(request) {
				if (pressed === null) return () => reply.older(asked, press);
				const result = await handOvers.giveBack(request.person, pressed);
				// Posts, the direct message and inboxes show it by themselves.
				if (result.kind === 'givenBack') return async () => {};
				const words = notYoursWords(result.kind === 'notYours' ? result.handOver : null);
				return () => reply.withoutTurn(request, textMessage(words));
			},
		};
	});
}

/** The question of a press. In an inbox or a direct message the row names its channel. Null for an unknown button. */
function pressedQuestion({ channelId: pressedIn }: PersonRequest, { value, row }: Press): PressedQuestion | null {
	const ref = decodeQuestionRef(value);
	const channelId = row?.channelId ?? pressedIn;
	return ref === null || channelId === null ? null : { ...ref, channelId };
}
