import type { Answer } from '../domain/answer.ts';
import { isBlank } from '../domain/shown-text.ts';
import { agoText, mentionOf, momentOf, stillWaitingWords, valuePieces } from '../slack/phrases.ts';
import { joined, line, type Piece, quotedText, rich, template, type Words } from '../slack/rich-text.ts';
import { stateLine } from './answer.ts';

/** A notice above a question: words, and perhaps quotes of what somebody wrote. */
export type Notice = readonly Piece[];

/** Values by position, as others read them; null for secrets. */
type ShownValues = readonly (string | null)[];

function withValues(words: Words, values: ShownValues): Notice {
	const texts = values.slice(0, 3).filter((value) => value === null || !isBlank(value));
	return [...line(words), ...texts.flatMap((value) => valuePieces({ value, secret: value === null }, 300))];
}

const whose = (userId: string | null): Words => (userId === null ? 'Your' : rich`${mentionOf(userId)}'s`);

/** Notes above the question. Times are milliseconds since the epoch. */
export const NOTICES = {
	/** The form showed another question before; `carried`: typed text was kept where it fits. */
	questionChanged: (carried: boolean) =>
		line(
			carried
				? '✏️ The question has changed. This is the new one, with your text where it fits. Please check it.'
				: '✏️ The question has changed. This is the new one.',
		),
	/** `userId`: null for somebody in the dashboard. */
	answeredMeanwhile(userId: string | null, values: ShownValues, at: number | null, now: number) {
		const who = userId === null ? 'somebody in the dashboard' : mentionOf(userId);
		const when = at === null ? '' : `, ${agoText(at, now)}`;
		return withValues(rich`🔀 Answered meanwhile by ${who}${when}.`, values);
	},
	/** Another person's answer, which is not sent any more. */
	mayHaveArrived: (userId: string, values: ShownValues) =>
		withValues(rich`⚠️ ${whose(userId)} answer may have arrived:`, values),
	draftRestored: (at: number) => line(rich`📝 Your text is back in the fields, from ${momentOf(at)}`),
	/** A draft for a question that is not open any more. */
	draftLeft(values: Readonly<Record<number, string>>): Notice[] {
		const text = Object.values(values).join('\n');
		const words = '📝 That question is no longer asked. Your draft was not sent:';
		return isBlank(text) ? [] : [[...line(words), ...quotedText(text, 1_500)]];
	},
	prefilled: (what: 'Your earlier answer' | 'The message') =>
		line(`📝 ${what} is filled in below. Check it, then send.`),
	nothingOpen: line('📝 Nothing is asked here now, so the message you chose was not used.'),
	anotherAsked: line(
		'✏️ The question you chose is no longer asked. This is another one, so the message is not filled in.',
	),
	onlySecrets: line(
		'🔒 This may ask for a password or code. Handraise never takes those from a message. Type it here.',
	),
	stillWaiting: (waitedMs: number) => line(`⏳ ${stillWaitingWords(waitedMs)}`),
	readAgain: line('🔄 The session was read again. Steps may have moved to other pages.'),
	/** The read failed, as `words` say, so the view shows an earlier one. */
	stale: (words: Words, readAt: number, now: number) =>
		line(rich`⚠️ ${words} You see the session as it was ${agoText(readAt, now)}.`),
	/** The session cannot be read, as `words` say, so the view shows the question that is stored. The date comes last. */
	stored: (words: Words, readAt: number) =>
		line(
			template(
				'⚠️ {words} You can answer: your answer will be saved, and sent when the service is back, if the agent still ' +
					'asks this. Steps, files and screenshot are not shown. The question was last read {at}',
				{ words, at: momentOf(readAt) },
			),
		),
	/** `userId`: null for the person's own answer. */
	lost: (userId: string | null, values: ShownValues) =>
		withValues(rich`⚠️ Asked again. ${whose(userId)} answer is not in the field any more.`, values),
	lostElsewhere: line('⚠️ Asked again. The answer from the dashboard is not in the field any more.'),
	/** After *Answer again…*. `emptied`: words that the field is empty. */
	emptied: (userId: string, values: ShownValues, emptied: string) =>
		withValues(rich`📝 ${emptied}. ${mentionOf(userId)} answered:`, values),
	emptiedElsewhere: (emptied: string) => line(`📝 ${emptied}. It was answered in the dashboard.`),
	/** After *Answer again…* without an empty field. `isOther`: the agent has asked another question since. */
	standsThere: (values: ShownValues, isOther: boolean) =>
		withValues(
			isOther
				? '✏️ The agent has asked another question since. It is answered, so nothing can be sent:'
				: '📝 Each field has an answer, so nothing can be sent:',
			values,
		),
	/** After *Answer again…* while an answer is being sent. `userId`: null for the person's own. */
	underWay: (userId: string | null) =>
		rich`⏳ ${whose(userId)} answer is being sent. You can answer again once it is delivered.`,
	/** The person's own answer, which is being delivered or waits. */
	ownAnswer(answer: Parameters<typeof stateLine>[0] & Pick<Answer, 'acceptedAt'>) {
		const replaces = answer.state === 'waiting' ? '. Sending another one replaces it' : '';
		const which = rich`your answer of ${momentOf(answer.acceptedAt)}`;
		return line(joined(`${stateLine(answer, 'author')}${replaces}`, which));
	},
} as const;
