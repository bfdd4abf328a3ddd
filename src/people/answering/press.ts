import type { Answers } from '../../delivery/accept.ts';
import type { AcceptResult } from '../../domain/answer.ts';
import { MINUTE_MS } from '../../kernel/clock.ts';
import {
	CHOICE_WORDS,
	changedChoice,
	choiceMessage,
	failedChoice,
	isDoubleClick,
	noChoice,
	takenChoice,
} from '../../screens/choice.ts';
import type { InboxStore } from '../../screens/inbox-store.ts';
import { ANYWHERE } from '../../slack/access-policy.ts';
import { textMessage } from '../../slack/blocks.ts';
import type { HandlerContext } from '../../slack/context.ts';
import { CHOOSE_IDS, decodeChoice, type PressedOption } from '../../slack/ids.ts';
import { answerPlace, type PersonRequest, type Press } from '../../slack/request.ts';
import type { ViewStore } from '../../surfaces/view-store.ts';

/** Registers the buttons that answer a question with one press. */
export function registerPress(
	core: HandlerContext<{ inboxes: InboxStore; views: ViewStore }> & { readonly answers: Answers },
): void {
	const { listen, reply, answers, store, serviceUrl, clock, config } = core;

	const pressedAt = new Map<string, number>();

	/** Whether a press repeats one of the last minute: one message is enough for both. */
	function repeats(key: string): boolean {
		const now = clock.now();
		const isRecent = (at: number) => Math.abs(now - at) < MINUTE_MS;
		for (const [other, at] of pressedAt) if (!isRecent(at)) pressedAt.delete(other);
		const isRepeated = pressedAt.has(key);
		pressedAt.set(key, now);
		return isRepeated;
	}

	async function tellResult(request: PersonRequest, choice: PressedOption, result: AcceptResult): Promise<void> {
		// The post or the inbox shows it, with *Undo*.
		if (result.kind !== 'taken') return;
		const isTwice = isDoubleClick(result, clock.now());
		const isRepeated = repeats(`${request.person.userId} ${result.by.id} ${choice.option}`) || isTwice;
		if (isRepeated || (await reply.toPerson(request, takenChoice(choice, result))))
			await store.views.noteTold(result.answer);
	}

	for (const id of CHOOSE_IDS) {
		listen.storingAction(id, (asked, press) => {
			const choice = decodeChoice(press.value);
			if (choice === null || !config.QUICK_ANSWERS) {
				const tell = () => (choice === null ? reply.older(asked, press) : reply.withoutTurn(asked, noChoice(choice)));
				const failure = (error: unknown) => textMessage(reply.words(error).line);
				return { place: ANYWHERE, run: async () => tell, failure, late: null };
			}
			return {
				place: answerPlace(asked, originOf(asked, press, choice).channelId, choice.sessionId),
				failure: (error) => failedChoice(choice, error, reply.errorContext(error)),
				late: choiceMessage(CHOICE_WORDS.late(choice), choice),
				async run(request) {
					const offered = await store.inboxes.offering(serviceUrl, choice);
					if (offered.kind === 'changed') {
						request.log.info({ session: choice.sessionId }, 'the question of the option has changed');
						return async () => void (await reply.toPerson(request, changedChoice(choice)));
					}
					// An older version found other options.
					if (offered.kind === 'notOffered') {
						request.log.info({ session: choice.sessionId }, 'the option is outdated');
						return () => reply.older(request, press);
					}
					const { person } = request;
					const by = { submissionKey: keyOf(request, press), person, origin: originOf(request, press, choice) };
					const result = await answers.submitPress({ ...choice, sessionName: offered.name }, by);
					request.log.info({ answer: result.answer.id, session: choice.sessionId, outcome: result.kind }, 'chosen');
					return () => tellResult(request, choice, result);
				},
			};
		});
	}
}

/** The submission key of a press. All of Slack's deliveries of one press have the same. */
function keyOf({ person, channelId, messageTs, triggerId }: PersonRequest, { view, actionTs }: Press): string {
	const place = view === null ? `${channelId}:${messageTs}` : view.id;
	return `press:${person.userId}:${place}:${actionTs ?? triggerId ?? ''}`;
}

/** Where the access policy looks for the question. A press in a view names no channel, in a DM another one. */
function originOf({ channelId, threadTs }: PersonRequest, { view, row }: Press, choice: PressedOption) {
	if (view !== null) return { channelId: choice.channelId, threadTs: null };
	return row ?? { channelId: channelId ?? choice.channelId, threadTs };
}
