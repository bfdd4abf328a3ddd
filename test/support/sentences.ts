import type { AnswerState } from '../../src/domain/answer.ts';
import { type ReminderStage, DEFAULT_CHANNEL_SETTINGS as SETTINGS } from '../../src/domain/channel-settings.ts';
import type { HandOver } from '../../src/domain/hand-over.ts';
import { stateLine } from '../../src/screens/answer.ts';
import { NOTICES } from '../../src/screens/form-notices.ts';
import * as handOver from '../../src/screens/hand-over.ts';
import { endedWords, watchPost } from '../../src/screens/notice.ts';
import { claimsWords, handOverLine, questionText } from '../../src/screens/question.ts';
import type { PostContext } from '../../src/screens/question-post.ts';
import { digestWords, reminderWords, settledDigestWords } from '../../src/screens/reminder.ts';
import { settingsChangedPost } from '../../src/screens/settings.ts';
import { watchingWords, watchOutcomeWords } from '../../src/screens/watch.ts';
import type { WatchOutcome } from '../../src/sessions/subscribe.ts';
import { errorWords } from '../../src/slack/error-view.ts';
import { agoText } from '../../src/slack/phrases.ts';
import { notificationText, type Piece, unescaped, type Words } from '../../src/slack/rich-text.ts';
import type { WatchEnd } from '../../src/store/watch.ts';

/*
 * The program's sentences, for tests that recognise something by them. One test spells each out: the nearest to its words.
 * People have names like mentions: Slack shows them as these are written here.
 */

type Shown = Partial<Parameters<typeof stateLine>[0]>;
const NO_NEWS = { agentOutcome: null, lastError: null };
const NOTHING_KEPT = { kept: 'nothing', adminContact: null } as const;
const names = { displayName: String };
/** As it reads, with dates as marks. */
const read = (words: Words | readonly Piece[]): string =>
	typeof words === 'string' || !words.some((one) => 'elements' in one)
		? unescaped(notificationText(words as Words))
		: (words as readonly Piece[]).map(({ elements }) => read(elements as Words)).join('\n');
const given = (from: string, to: string) => ({ from, to }) as HandOver;

/** The state of an answer in one line. */
export const line = (state: AnswerState, shown: Shown = {}) => stateLine({ ...NO_NEWS, ...shown, state });
/** What its author reads in the first line of a receipt, whose timeline has earlier states too, with their times. */
export const headline = (state: AnswerState, shown: Shown = {}) =>
	state === 'accepted' && shown.lastError != null
		? '⏳ Saved, not delivered yet.'
		: `${stateLine({ ...NO_NEWS, ...shown, state }, 'author')}\n`;

/** What a receipt says once the answer is delivered, while nothing went wrong after that. */
export const DELIVERED = new RegExp(
	`^(?:${anyOf(line('delivered'), line('resumed'), line('delivered', { agentOutcome: 'completed' })).source})$`,
	'm',
);

/** What happened, for the code of a failure or a refusal. */
export const whatHappened = (code: string) => read(errorWords(code, NOTHING_KEPT).what);

/** A reminder of a question that may not be told, so many minutes after it. Null: its post was updated. */
const reminderText = (stage: ReminderStage, minutes: number | null, who = 'One', asked = '') =>
	read(reminderWords({ stage }, who, { waitedMs: minutes === null ? null : minutes * 60_000, asked }));
/** The same of any session and question. */
export function reminderOf(stage: ReminderStage, minutes: number | null): RegExp {
	const words = ['', 'asked'].map((asked) => reminderText(stage, minutes, 'someone', asked).replace(/asked$/, ''));
	return new RegExp(anyOf(words[0] ?? '', words[1] ?? '').source.replaceAll('someone', '(?!\\d+ question).+?'));
}
/** What reminders say whatever time has passed. */
export const [REMINDER, ESCALATION] = [anyReminder('reminder'), anyReminder('escalation')];
const together = (count: number) =>
	Array.from({ length: count }, () => ({ stage: 'reminder', isLast: false }) as const);
/** Reminders of so many questions in one message. */
export const digestText = (count: number) => digestWords(together(count));
/** The same when none of them waits here. */
export const settledDigestText = (count: number) => settledDigestWords(together(count));
/** The same, without the number: of one question, and of several. */
export const [WAITS = '', WAIT = ''] = [1, 2].map((count) => digestText(count).replace(/^\D+\d+ /, ''));
/** In a channel whose settings were changed. */
export const CHANGED_REMINDERS = besideNames(
	settingsChangedPost(
		{ kind: 'settingsChanged', by: '@one', before: SETTINGS, after: SETTINGS },
		{ channelId: 'C', defaultMs: null, names, groups: { kind: 'listed', groups: [] } },
	).text,
);

const SECRET_QUESTION = { context: '', items: [], openCount: 1 };
/** The notification of a question of which nothing may be told. */
export const ASKS = questionText({ question: SECRET_QUESTION, sessionName: '', discreet: true });

/** The line of a post that was handed over, also without the names. */
export const handedOver = (from: string, to: string) => read(handOverLine({ handOver: given(from, to) }, names));
export const HANDED_OVER = besideNames(handOverLine({ handOver: given('@one', '@other') }, names));
/** In the window of whoever handed it over. */
export const youHandedOver = (to: string) =>
	read(handOver.handOverWords({ kind: 'handedOver', handOver: given('', `@${to}`) }));
/** In the inbox of whoever has the question, and in the direct message to them. */
export const HANDED_TO_YOU = besideNames(handOverLine({ handOver: given('@one', '@other'), reader: '@other' }, names));
export const YOU_HAVE_IT = besideNames(handOver.handedOverWords('@one'));
export const GAVE_BACK = besideNames(handOver.givenBackWords({ by: '@one' }));
export const DID_NOT_GET_IT = besideNames(handOver.givenBackWords({ by: '@one', undelivered: true }));

/** Below a question while this person has its form open. */
export const answering = (who: string) => read(claimsWords([`@${who}`]));

/** Of a line, or of what a reminder says behind the name of its session. */
const BEGIN = '(?:^|^[⏰📣] [^\n]* · )';

/**
 * The last line of a post whose question this person answered with `value`, by a press or in a form, from the delivery
 * on. Without `value`: with something that the channel may not see.
 */
export function answeredBy(who: string, value?: string): RegExp {
	const said = value === undefined ? `${who} answered` : `${who}: (?:${value})`;
	return new RegExp(`${BEGIN}${said} · (?:delivered(?: · no sign of the agent yet)?|continued)[^·\n]*$`, 'm');
}

/** To a channel, when somebody has typed `/session watch all` or `/session unwatch all`. */
const [beganAll, endedAll] = (['discoveryBegun', 'discoveryEnded'] as const).map((kind) => {
	const post: Partial<PostContext> = { names };
	return besideNames(watchPost({ kind, by: '@one' }, post as PostContext).text);
});
export const BEGAN_ALL = beganAll ?? '';
export const ENDED_ALL = endedAll ?? '';
/** To a channel, when the service has been away for a while, and when it is back. */
export const [SERVICE_DOWN, SERVICE_BACK] = [
	besideNames(
		watchPost({ kind: 'serviceDown', since: 1_767_600_000_000, code: 'unavailable' }, {} as PostContext).text.replace(
			whatHappened('unavailable'),
			'“@what”',
		),
	),
	besideNames(
		watchPost({ kind: 'serviceBack', since: 1_767_600_000_000, downMs: 0 }, {} as PostContext).text.replace(
			/after [^.]*/,
			'“@time”',
		),
	),
];
/** The result of `/session watch` for a session that is not there; for one, and for several that are watched now. */
export const noSession = (sessionId: string) =>
	read(watchOutcomeWords(sessionId, { kind: 'unknownSession' }, NOTHING_KEPT));
export const WATCHING = besideNames(
	watchOutcomeWords('', { kind: 'watching', refused: null, name: '@one' } as WatchOutcome, NOTHING_KEPT),
);
export const watchingSeveral = (count: number) =>
	read(watchingWords(Array(count).fill(['', ''])))
		.split(':', 1)
		.join();
/** Why a watch ended. */
export const ended = (reason: WatchEnd) => read(endedWords({ ended: reason, adminContact: null }));

/** Null for somebody in the dashboard. */
export function answeredMeanwhile(by: string | null): string {
	return read(NOTICES.answeredMeanwhile(by === null ? null : `@${by}`, [], null, 0)).replace(/\.$/, '');
}
/** Above an old reading of the session, up to how old it is. */
export const stale = (code: string) =>
	read(NOTICES.stale(whatHappened(code), 0, 0))
		.replace(`${agoText(0, 0)}.`, '')
		.trim();
/** The longer part, before or behind the time. */
export const DRAFT_RESTORED = besideNames(NOTICES.draftRestored(1));

/** The longest part without a name or a time. */
function besideNames(words: Words | readonly Piece[]): string {
	const parts = read(words)
		.split(/“@[\w ]+”|@(?:one|other)\b|<!date[^>]*>/)
		.toSorted((one, other) => other.length - one.length);
	return parts[0]?.trim() ?? '';
}

function anyOf(...sentences: readonly string[]): RegExp {
	return new RegExp(sentences.map((words) => words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'));
}

function anyReminder(stage: ReminderStage): RegExp {
	const [now, then] = [reminderOf(stage, null), reminderOf(stage, 1)].map(({ source }) => source);
	return new RegExp(`${now}|${then}`.replaceAll('1 min', '[^:\n]+?'));
}

/** Whether a text has these words in it. */
export const says = (text: string, words: string | RegExp) =>
	typeof words === 'string' ? text.includes(words) : words.test(text);

/** The entries of each settled question. */
export const SETTLED_MENU = ['Show question', 'Answer again…'];
/** The buttons of a post but those. */
export const openButtons = (post: { buttons(): readonly string[] } | undefined) =>
	post?.buttons().filter((label) => !SETTLED_MENU.includes(label));
