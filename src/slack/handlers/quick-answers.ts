import type { Answers } from '../../answers/accept.ts';
import { type AcceptResult, type Answer, isBlocking, itemsOf, pressKeyOf } from '../../answers/answer.ts';
import { setBounded } from '../../bounded-map.ts';
import { uptimeOf } from '../../clock.ts';
import type { AnswerStore } from '../../store/answer-store.ts';
import { receiptHeadline } from '../blocks/answers.ts';
import { CHOICE_WORDS, choiceMessage, ownChoiceMessage, QUICK_ANSWERS_OFF } from '../blocks/choices.ts';
import { answerCard } from '../blocks/commands.ts';
import { errorMessage, errorWords } from '../blocks/errors.ts';
import { notYetWords } from '../blocks/receipt.ts';
import { codeOf } from '../clients.ts';
import { ACTIONS, CHOOSE_IDS, type Choice, decodeChoice, decodeInboxRow } from '../ids.ts';
import { isInbox, isSamePerson, type PersonRequest, type Press } from '../request.ts';
import { type AllowedRequest, changing, copyPlace, forAnybody, ifAllowed } from '../task.ts';
import { personMrkdwn } from '../words.ts';
import type { HandlerContext } from './context.ts';

interface Options {
	readonly answers: Answers;
	readonly store: AnswerStore;
	/** `QUICK_ANSWERS` */
	readonly quickAnswers: boolean;
	/** `UNDO_SECONDS`, in milliseconds. */
	readonly undoMs: number;
}

const REPEATED_WITHIN_MS = 60_000;
const DOUBLE_CLICK_MS = 5_000;
const MAX_PRESSES = 1_000;

/** Registers the buttons that answer in one press, and *Undo*. */
export function registerQuickAnswers(
	{ listen, reply, serviceUrl, adminContact, clock }: HandlerContext,
	{ answers, store, quickAnswers, undoMs }: Options,
): void {
	function submissionOf(request: AllowedRequest, press: Press, choice: Choice) {
		const { sessionId, messageIndex, fingerprint, shownHash, position, title, option, readAt } = choice;
		const item = { title: '', value: null, secret: false, wiped: false };
		const items = Array.from({ length: position }, () => item);
		const place = press.view === null ? `${request.channelId}:${request.messageTs}` : press.view.id;
		const pressedAt = press.actionTs ?? request.triggerId ?? '';
		return {
			submissionKey: pressKeyOf(`${request.person.userId}:${place}`, pressedAt),
			viewId: '',
			undoMs,
			person: request.person,
			question: { service: serviceUrl, sessionId, messageIndex },
			fingerprint,
			shownHash,
			items: [...items, { ...item, title, value: option }],
			leftEmpty: [],
			boxed: false,
			origin: originOf(request, press, choice),
			formReadAt: readAt,
		};
	}

	function failureWords(choice: Choice, code: string): string {
		if (code === 'acceptance_unknown') return CHOICE_WORDS.unknown(choice);
		return CHOICE_WORDS.notSent(choice, errorWords(code, { adminContact }).text);
	}

	const pressedAt = new Map<string, number>();

	/** Whether an option was pressed a moment ago: one message tells of both presses. */
	function repeats(key: string): boolean {
		const now = uptimeOf(clock);
		const before = pressedAt.get(key);
		setBounded(pressedAt, key, now, MAX_PRESSES);
		return before !== undefined && now - before < REPEATED_WITHIN_MS;
	}

	async function tellResult(request: PersonRequest, press: Press, choice: Choice, result: AcceptResult): Promise<void> {
		if (result.kind === 'taken') {
			const { by, answer } = result;
			const content = choiceMessage(takenWords(request, choice, by), target(choice));
			const isRepeated =
				repeats(`${request.person.userId} ${by.id} ${choice.option}`) || isOwnChoice(request, choice, by);
			if (isRepeated || (await reply.toPerson(request, content))) await store.noteTold(answer.id);
			return;
		}
		const { answer } = result;
		await answers.afterAccept(answer);
		const leftMs = (answer.press?.undoUntil ?? 0) - clock.now();
		if (leftMs <= 0 || press.view !== null || answer.state !== 'accepted') return;
		await reply.toPerson(request, ownChoiceMessage(answer.id, CHOICE_WORDS.own(choice, leftMs)));
	}

	function takenWords(request: PersonRequest, choice: Choice, by: Answer): string {
		const first = shownChoice(choice, by);
		if (isSamePerson(request, by.person)) return CHOICE_WORDS.second(choice, first);
		return `${CHOICE_WORDS.lost(choice, personMrkdwn(by.person.userId), first)} ${notYetWords(by)}`.trim();
	}

	/** A double click is no second choice. Later, the agent may ask the same again. */
	function isOwnChoice(request: PersonRequest, choice: Choice, by: Answer): boolean {
		if (!isBlocking(by.state) && clock.now() - by.acceptedAt > DOUBLE_CLICK_MS) return false;
		return isSamePerson(request, by.person) && shownChoice(choice, by) === choice.option;
	}

	for (const id of CHOOSE_IDS) {
		listen.storingAction(id, (asked, press) => {
			const choice = decodeChoice(press.value);
			if (choice === null || !quickAnswers) {
				const content =
					choice === null
						? errorMessage('button_outdated', null, reply.errorContext(null))
						: { ...answerCard(choice.sessionId, choice.messageIndex), text: QUICK_ANSWERS_OFF };
				const say = () => reply.withoutTurn(asked, content);
				return {
					place: 'anyChannel',
					run: async () => say,
					refused: () => async () => void (await reply.toPerson(asked, content)),
					failed: () => say,
					late: async () => {},
				};
			}
			const failure = (code: string) => choiceMessage(failureWords(choice, code), target(choice));
			return {
				place: copyPlace(asked, originOf(asked, press, choice).channelId, choice.sessionId),
				refused: (refusal) => async () => void (await reply.toPerson(asked, failure(refusal))),
				failed: (error) => () => reply.withoutTurn(asked, failure(codeOf(error))),
				late: () => reply.withoutTurn(asked, choiceMessage(CHOICE_WORDS.late(choice), target(choice))),
				async run(request) {
					const result = await answers.submit(submissionOf(request, press, choice));
					request.log.info({ answer: result.answer.id, session: choice.sessionId, outcome: result.kind }, 'chosen');
					return () => tellResult(request, press, choice, result);
				},
			};
		});
	}

	listen.action(ACTIONS.undo, async (asked, press) => {
		const own = press.value === undefined ? null : await store.get(press.value);
		if (own === null || !isSamePerson(asked, own.person)) {
			return forAnybody(() => reply.failed(asked, 'answer_not_yours'));
		}
		return changing(
			ifAllowed(own.origin.channelId, async (request) => {
				const withdrawn = await answers.withdraw(own.id, own.person, { onlyUnsent: true });
				const current = withdrawn ?? (await store.get(own.id)) ?? own;
				request.log.info({ answer: own.id, outcome: withdrawn === null ? current.state : 'undone' }, 'undo');
				// The inbox shows it by itself.
				if (isInbox(press.view) && withdrawn !== null) return;
				const content = choiceMessage(afterUndoWords(current));
				if (press.view === null && (await reply.inPlace(request, content))) return;
				await reply.withoutTurn(request, content);
			}),
		);
	});
}

/**
 * Where the question is asked; the access policy checks that channel. A press in a view names none, and one in a direct
 * message about a hand-over names another.
 */
function originOf({ channelId, threadTs }: PersonRequest, { view, blockId }: Press, choice: Choice) {
	if (view !== null) return { channelId: choice.channelId, threadTs: null };
	return decodeInboxRow(blockId) ?? { channelId: channelId ?? choice.channelId, threadTs };
}

/** What an answer chose; null when that must not be shown. */
function shownChoice({ position }: Choice, answer: Answer): string | null {
	const item = itemsOf(answer)[position];
	return item === undefined || item.secret ? null : item.value || null;
}

function target({ sessionId, messageIndex }: Choice) {
	return { sessionId, messageIndex };
}

function afterUndoWords(answer: Answer): string {
	const item = itemsOf(answer).find(({ value }) => value !== null);
	const choice = { option: item?.value ?? '', title: item?.title ?? '', sessionId: answer.question.sessionId };
	if (answer.state === 'withdrawn') return CHOICE_WORDS.undone(choice);
	const isSent = isBlocking(answer.state) || answer.state === 'delivered' || answer.state === 'resumed';
	return isSent ? CHOICE_WORDS.undoTooLate(choice) : receiptHeadline(answer);
}
