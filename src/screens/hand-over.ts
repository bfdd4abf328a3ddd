import { HAND_OVER_WINDOW_MS, type HandOver, MOST_HAND_OVERS, MOST_IN_WINDOW } from '../domain/hand-over.ts';
import type { HandOverObstacle, PressedQuestion, QuestionToHandOver, TooManyHandOvers } from '../people/hand-overs.ts';
import type { Refusal } from '../slack/access-policy.ts';
import { CANNOT_ANSWER, type ErrorContext } from '../slack/error-view.ts';
import { ACTIONS, CALLBACKS, encodeQuestionMark, newMetadata, type ViewMetadata } from '../slack/ids.ts';
import {
	buttons,
	contactMrkdwn,
	context,
	durationText,
	inRow,
	type ModalView,
	message,
	modal,
	type Names,
	personMrkdwn,
	placeMrkdwn,
	plainText,
	section,
	sessionTitle,
} from '../slack/parts.ts';
import { plain, quotedLine, quotedName, withoutMarks } from '../slack/text.ts';
import type { Asked } from '../store/question-store.ts';
import type { ContentOf } from '../surfaces/post.ts';
import { openQuestion, questionText, toldWords } from './question.ts';
import { asksWords, isAnswering, type PostContext, settledQuestionPost, titleOf } from './question-post.ts';

/** The block_ids of the inputs in the window. */
export const HAND_OVER_FIELD = 'b.hand_over_to';
export const NOTE_FIELD = 'b.hand_over_note';
/** Characters. */
export const MOST_IN_NOTE = 300;

export function handOverMetadata({ sessionId, fingerprint, channelId }: PressedQuestion): ViewMetadata {
	return { ...newMetadata({ sessionId, formId: '', origin: { channelId, threadTs: null } }), fingerprint };
}

export function handOverModal(metadata: ViewMetadata, asked: QuestionToHandOver): ModalView {
	const about = toldWords(asked) === null ? `\n*${sessionTitle(asked.sessionName, metadata.sessionId)}*` : '';
	return modal({
		callbackId: CALLBACKS.handOver,
		title: 'Hand over',
		metadata,
		submit: 'Hand over',
		close: 'Cancel',
		blocks: [
			...section(`> ${questionText({ ...asked, waitedMs: null })}${about}`),
			{
				type: 'input',
				block_id: HAND_OVER_FIELD,
				label: plain('Hand over to', 150),
				hint: plain('They get a direct message with the question and its buttons. Others can still answer it.', 150),
				element: { type: 'users_select', action_id: ACTIONS.handOverTo, placeholder: plain('Choose a person', 150) },
			},
			{
				type: 'input',
				block_id: NOTE_FIELD,
				label: plain('Note', 150),
				hint: plain('Only they see it.', 150),
				optional: true,
				element: { type: 'plain_text_input', action_id: ACTIONS.handOverNote, max_length: MOST_IN_NOTE },
			},
		],
	});
}

/** What came of it, or why it is not possible. mrkdwn. */
export function handOverNotice(words: string, metadata: ViewMetadata): ModalView {
	return modal({ callbackId: CALLBACKS.handOver, title: 'Hand over', metadata, blocks: section(words) });
}

/**
 * The direct message about a hand-over. What is pressed in it belongs to the channel and the thread of the question.
 * `note`: of whoever handed it over, for nobody else than its holder.
 */
export function handOverPost(
	content: ContentOf<'handedOver' | 'givenBack'>,
	asked: Asked,
	post: PostContext,
	note: string | null = null,
) {
	const { question, readAt } = asked;
	const { sessionId, channelId, watchedBy, offersOptions, view, discreet } = post;
	if (isAnswering(asked, post.standing)) return settledQuestionPost(asked, null, post);
	const isHeld = content.kind === 'handedOver';
	const words = isHeld ? handedOverWords(content.from) : givenBackWords(content);
	const mark = { sessionId, fingerprint: question.fingerprint };
	const open = openQuestion(question, {
		sessionId,
		sessionName: view?.name ?? '',
		discreet,
		choices: offersOptions ? { channelId, readAt } : null,
		holding: post,
	});
	const text = questionText({ question, sessionName: view?.name ?? '', waitedMs: null, discreet });
	const place = placeMrkdwn(channelId, watchedBy === post.reader ? null : personMrkdwn(watchedBy));
	const hint = isHeld
		? `Asked in ${place}. Others can still answer it. *Give back* tells ${personMrkdwn(content.from)} that you do ` +
			'not take it.'
		: '';
	return message(`${words} ${text}`, [
		...section(isHeld ? `*${words}*\n${quotedLine(note ?? '', 2_000)}`.trim() : words),
		...open.blocks(asksWords(titleOf(post))),
		...inRow(buttons(...open.row), post, encodeQuestionMark(mark)),
		...context(open.note, hint),
	]);
}

/** The opening words to the person who has a question now. mrkdwn. */
export const handedOverWords = (from: string) => `↪️ ${personMrkdwn(from)} handed a question over to you.`;

/** To the person who had handed it over. mrkdwn. */
export function givenBackWords({ by, undelivered }: Pick<ContentOf<'givenBack'>, 'by' | 'undelivered'>): string {
	if (undelivered === true)
		return (
			`⚠️ ${personMrkdwn(by)} did not get the question that you handed over: the direct message was refused. It is ` +
			'open for all again. Answer it, or hand it over to somebody else on its post.'
		);
	return `↩️ ${personMrkdwn(by)} gave back the question that you handed over. It is open for all again.`;
}

/** Why the chosen person cannot get the question, what was kept and what to do. Plain text, for a field. */
export function handOverRefusedText(refusal: Refusal | 'self', { adminContact }: ErrorContext): string {
	const again = `Nothing was handed over. Try again, or ask ${plainText(contactMrkdwn(adminContact))}.`;
	if (refusal === 'could_not_check')
		return `Handraise could not check with Slack whether this person may answer. ${again}`;
	const why = refusal === 'self' ? 'That is you. Answer it yourself.' : `This person ${CANNOT_ANSWER[refusal]}.`;
	return `${why} Nothing was handed over. Choose somebody else.`;
}

/** Who handed over or got too many questions, and what to do. Plain text, for a field. */
export function tooManyHandOversText({ who, againInMs }: TooManyHandOvers, to: string, names: Names): string {
	const again = `try again in ${durationText(Math.ceil(againInMs / 60_000) * 60_000)}`;
	const inTime = `in ${HAND_OVER_WINDOW_MS / 60_000} minutes`;
	if (who === 'from')
		return (
			`You handed over ${MOST_IN_WINDOW.from} questions ${inTime}, which is the most. Nothing was handed over. ` +
			`Please ${again}.`
		);
	const name = withoutMarks(quotedName(names.displayName(to), 80));
	return (
		`${name} got ${MOST_IN_WINDOW.to} questions from others ${inTime}, which is the most. Nothing was handed over. ` +
		`Choose somebody else, or ${again}.`
	);
}

export function handOverWords(outcome: HandOverObstacle): string {
	switch (outcome.kind) {
		case 'handedOver':
			return (
				`↪️ You handed the question over to ${personMrkdwn(outcome.handOver.to)}, who gets a direct message. ` +
				'Others can still answer it.'
			);
		case 'taken': {
			const { from, to, count } = outcome.handOver;
			const who = personMrkdwn(to);
			const can = count < MOST_HAND_OVERS ? 'hand it over or give it back' : 'give it back';
			return (
				`🙋 ${who} has this question (from ${personMrkdwn(from)}). Nothing was handed over now. Only ${who} can ` +
				`${can}. You can still answer it.`
			);
		}
		case 'limit': {
			const { from, to, count } = outcome.handOver;
			return (
				`🔁 This question was handed over ${count} times, last by ${personMrkdwn(from)} to ${personMrkdwn(to)}. It ` +
				'cannot be handed over again. Answer it, or give it back if you have it.'
			);
		}
		case 'elsewhere':
			return '🙋 Somebody in another workspace has this question. Nothing was handed over. You can still answer it.';
		case 'closed':
			return outcome.by === null
				? '💨 This question is not open here any more. Nothing was handed over.'
				: `✅ ${personMrkdwn(outcome.by.person.userId)} has answered this question. Nothing was handed over.`;
	}
}

/** To somebody who gave a question back that they do not have. mrkdwn. */
export function notYoursWords(handOver: HandOver | null): string {
	if (handOver === null) return '💨 This question is not open here any more, so there is nothing to give back.';
	return handOver.givenBackAt === null
		? `🙋 You do not have this question any more: ${personMrkdwn(handOver.to)} has it. Nothing was changed.`
		: '🙋 You do not have this question: it is open for all. Nothing was changed.';
}

/** mrkdwn; `why`: what happened. */
export const notGivenBackWords = (why: string) => `⚠️ The question was not given back. ${why}`;

/** Before the acknowledgement of a *Give back* that takes long to store. */
export const GIVE_BACK_LATE =
	'⏳ Giving the question back takes long to save. If *Give back* is still there in a minute, press it again.';

/** Instead of a direct message about a question, to somebody who may no longer answer it. */
export const NOT_TOLD_ANY_MORE = '🔒 You cannot answer this question any more, so what became of it is not shown here.';
