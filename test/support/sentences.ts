import type { AnswerState } from '../../src/answers/answer.ts';
import type { HandOver } from '../../src/inbox/hand-over.ts';
import { receiptHeadline, stateLine } from '../../src/slack/words/answers.ts';
import { discoveryBegunWords, discoveryEndedWords } from '../../src/slack/words/discovery.ts';
import { errorWords } from '../../src/slack/words/errors.ts';
import {
	givenBackWords,
	handedOverWords,
	handOverLine,
	handOverWords,
	inboxHandOverLine,
} from '../../src/slack/words/hand-over.ts';
import { type Notice, noticeWords } from '../../src/slack/words/notices.ts';
import { questionText } from '../../src/slack/words/question-text.ts';
import { rungsWords, rungWords } from '../../src/slack/words/reminders.ts';
import { endWords, watchOutcomeWords } from '../../src/slack/words/watching.ts';
import type { Rung } from '../../src/watches/channel-settings.ts';
import type { WatchOutcome } from '../../src/watches/subscribe.ts';
import type { WatchEnd } from '../../src/watches/watch.ts';

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

const NOTHING_KEPT = { kept: 'nothing', adminContact: null } as const;
/** What happened, for the code of a failure or a refusal. */
export function whatHappened(code: string): string {
	return errorWords(code, NOTHING_KEPT).what;
}

/** A rung that comes so many minutes after the question. Null: its post was updated. */
export function rungText(which: Rung, minutes: number | null): string {
	return rungWords({ rung: which, isLast: false }, minutes === null ? null : minutes * 60_000);
}

/** What rungs say whatever time has passed. */
export const REMINDER = beginning(rungText('reminder', null), rungText('reminder', 1), [rungText('escalation', 1)]);
export const ESCALATION = beginning(rungText('escalation', null), rungText('escalation', 1), [rungText('reminder', 1)]);

/** Reminders of so many questions in one message. */
export function rungsTogether(count: number): string {
	return rungsWords(Array.from({ length: count }, () => ({ rung: 'reminder', isLast: false })));
}

/** The same, without the number: of one question, and of several. */
export const [WAITS, WAIT] = [1, 2].map((count) => rungsTogether(count).replace(/^\D+\d+ /, '')) as [string, string];

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

/** In the window of whoever handed it over. */
export function youHandedOver(to: string): string {
	return handOverWords({ kind: 'handedOver', handOver: given('', to) }, names).replace(QUOTED_NAME, '$1');
}

/** The line of a post, whoever the people are. */
export const HANDED_OVER = besideNames(handOverLine(given('one', 'other'), names, { isUpdate: true }));
/** In the inbox of whoever has the question. */
export const HANDED_TO_YOU = besideNames(inboxHandOverLine(given('one', 'other'), 'other', names));
/** In the direct message to them. */
export const YOU_HAVE_IT = besideNames(handedOverWords('one', names));
export const GAVE_BACK = besideNames(givenBackWords({ by: 'one' }, names));
export const DID_NOT_GET_IT = besideNames(givenBackWords({ by: 'one', undelivered: true }, names));

/** To a channel, when somebody has typed `/session watch all` or `/session unwatch all`. */
export const BEGAN_ALL = besideNames(discoveryBegunWords('one', names));
export const ENDED_ALL = besideNames(discoveryEndedWords('one', names));

/** The result of `/session watch` for one session. */
export function watchOutcome(sessionId: string, kind: 'watching' | 'unknownSession'): string {
	return watchOutcomeWords(sessionId, { kind } as WatchOutcome, NOTHING_KEPT);
}

/** Why a watch ended. */
export function ended(reason: WatchEnd): string {
	return endWords(reason, { days: null, adminContact: null });
}

function notice(kind: Notice): string {
	return noticeWords(kind, { names, now: 0, adminContact: null }).replace(QUOTED_NAME, '$1');
}

/** Null for somebody outside Slack. */
export function answeredMeanwhile(by: string | null): string {
	const person = by === null ? null : { teamId: '', userId: by };
	const other = { person, values: [], at: null, answerId: null, same: false };
	return notice({ kind: 'answeredMeanwhile', other }).replace(/\.$/, '');
}

/** Behind the time. */
export const DRAFT_RESTORED = notice({ kind: 'draftRestored', at: 1 }).split('> ')[1] ?? '';

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
