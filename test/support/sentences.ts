import type { AnswerState } from '../../src/answers/answer.ts';
import type { HandOver } from '../../src/inbox/hand-over.ts';
import { receiptHeadline, stateLine } from '../../src/slack/words/answers.ts';
import { errorWords } from '../../src/slack/words/errors.ts';
import { givenBackWords, handedOverWords, handOverLine, inboxHandOverLine } from '../../src/slack/words/hand-over.ts';
import { questionText } from '../../src/slack/words/question-text.ts';
import { rungWords } from '../../src/slack/words/reminders.ts';
import type { Rung } from '../../src/watches/channel-settings.ts';

/* The program's sentences, for tests that recognise something by them. Only the test of its words spells a sentence out. */

type Shown = Omit<Parameters<typeof receiptHeadline>[0], 'state'>;

/** The first sentence of a receipt. */
export function headline(state: AnswerState, shown: Partial<Shown> = {}): string {
	return receiptHeadline({ state, agentOutcome: null, lastError: null, ...shown });
}

/** The state of an answer in one line. */
export function line(state: AnswerState, shown: Partial<Shown> = {}): string {
	return stateLine({ state, agentOutcome: null, lastError: null, ...shown });
}

const NOT_DELIVERED = ['accepted', 'delivering', 'waiting', 'conflicted', 'changed', 'refused', 'ended'] as const;
/** What a receipt says once the answer is delivered, whether or not the agent has gone on. */
export const DELIVERED = beginning(
	headline('delivered'),
	headline('resumed'),
	NOT_DELIVERED.map((one) => headline(one)),
);

/** What happened, for the code of a failure or a refusal. */
export function whatHappened(code: string): string {
	return errorWords(code, { kept: 'nothing', adminContact: null }).what;
}

/** A rung that comes so many minutes after the question. Null: its post was updated. */
export function rung(which: Rung, minutes: number | null): string {
	return rungWords({ rung: which, isLast: false }, minutes === null ? null : minutes * 60_000);
}

/** What rungs say whatever time has passed. */
export const REMINDER = beginning(rung('reminder', null), rung('reminder', 1), [rung('escalation', 1)]);
export const ESCALATION = beginning(rung('escalation', null), rung('escalation', 1), [rung('reminder', 1)]);

/** The notification of a question of which nothing may be told. */
export const ASKS = questionText({
	question: { context: '', items: [], openCount: 1, itemCount: 1 },
	quick: null,
	sessionName: '',
	waitedMs: null,
	discreet: true,
});

/** People have names like mentions. */
const names = { displayName: (userId: string) => `@${userId}` };
const QUOTED_NAME = /“(@\w+)”/g;
const given = (from: string, to: string) => ({ from, to }) as HandOver;

/** The line of a post that was handed over. */
export function handedOver(from: string, to: string): string {
	return handOverLine(given(from, to), names, { isUpdate: true }).replace(QUOTED_NAME, '$1');
}

/** The same whoever the people are. */
export const HANDED_OVER = besideNames(handOverLine(given('one', 'other'), names, { isUpdate: true }));
/** In the inbox of whoever has the question. */
export const HANDED_TO_YOU = besideNames(inboxHandOverLine(given('one', 'other'), 'other', names));
/** In the direct message to them. */
export const YOU_HAVE_IT = besideNames(handedOverWords('one', names));
export const GAVE_BACK = besideNames(givenBackWords({ by: 'one' }, names));
export const DID_NOT_GET_IT = besideNames(givenBackWords({ by: 'one', undelivered: true }, names));

/** The longest part without a name. */
function besideNames(words: string): string {
	return (
		words
			.split(QUOTED_NAME)
			.toSorted((one, other) => other.length - one.length)[0]
			?.trim() ?? ''
	);
}

/** The words that both begin with. Throws where one of the others begins with them too. */
function beginning(one: string, two: string, others: readonly string[]): string {
	const end = [...one].findIndex((character, at) => character !== [...two][at]);
	const words = [...one].slice(0, end).join('').trim();
	if (others.some((other) => other.startsWith(words))) throw new Error(`Other sentences begin with "${words}" too.`);
	return words;
}
