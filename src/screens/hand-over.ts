import { HAND_OVER_WINDOW_MS, type HandOver, MOST_HAND_OVERS, MOST_IN_WINDOW } from '../domain/hand-over.ts';
import { oneLine } from '../domain/shown-text.ts';
import type { HandOverObstacle, PressedQuestion, QuestionToHandOver, TooManyHandOvers } from '../people/hand-overs.ts';
import type { Refusal } from '../slack/access-policy.ts';
import { buttons, context, fitting, inRow, type ModalView, message, modal, plain, section } from '../slack/blocks.ts';
import { CANNOT_ANSWER, type ErrorContext } from '../slack/error-view.ts';
import { ACTIONS, CALLBACKS, encodeQuestionRef, newMetadata, type ViewMetadata } from '../slack/ids.ts';
import {
	contactOf,
	durationText,
	mentionOf,
	type Names,
	NOBODY_NAMED,
	placeWords,
	sessionTitle,
} from '../slack/phrases.ts';
import {
	bold,
	line,
	marked,
	plainWords,
	quote,
	quotedText,
	rich,
	richText,
	sentences,
	type Words,
} from '../slack/rich-text.ts';
import type { Asked } from '../store/question-store.ts';
import type { ContentOf } from '../surfaces/post.ts';
import { openQuestionParts, POST_ROOMS, questionText, toldWords } from './question.ts';
import { asksWords, isAnswering, type PostContext, postTitle, settledQuestionPost } from './question-post.ts';

/** The block_ids of the inputs in the window. */
export const HAND_OVER_FIELD = 'b.hand_over_to';
export const NOTE_FIELD = 'b.hand_over_note';
/** Characters. */
export const MOST_IN_NOTE = 300;

export function handOverMetadata({ sessionId, fingerprint, channelId }: PressedQuestion): ViewMetadata {
	return { ...newMetadata({ sessionId, formId: '', origin: { channelId, threadTs: null } }), fingerprint };
}

export function handOverModal(metadata: ViewMetadata, asked: QuestionToHandOver): ModalView {
	const title = sessionTitle(asked.sessionName, metadata.sessionId);
	return modal({
		callbackId: CALLBACKS.handOver,
		title: 'Hand over',
		metadata,
		submit: 'Hand over',
		close: 'Cancel',
		blocks: [
			...richText(...line(asksWords(title)), ...quote(toldWords(asked) ?? '')),
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

/** The outcome of a hand-over, or why it is not possible. */
export function handOverNotice(words: Words, metadata: ViewMetadata): ModalView {
	return modal({ callbackId: CALLBACKS.handOver, title: 'Hand over', metadata, blocks: section(words) });
}

/**
 * The direct message about a hand-over. Presses in it belong to the channel and the thread of the question. `note`:
 * from the person who handed it over, shown only to the holder.
 */
export function handOverPost(
	content: ContentOf<'handedOver' | 'givenBack'>,
	asked: Asked,
	post: PostContext,
	note: string | null = null,
) {
	const { question, readAt } = asked;
	const { sessionId, channelId, watchedBy, offersOptions, snapshot, discreet } = post;
	if (isAnswering(asked, post.standing)) return settledQuestionPost(asked, null, post);
	const isHeld = content.kind === 'handedOver';
	const words = isHeld ? handedOverWords(content.from) : givenBackWords(content);
	const mark = { sessionId, fingerprint: question.fingerprint };
	const text = questionText({ question, sessionName: snapshot?.name ?? '', discreet });
	const place = placeWords(channelId, watchedBy === post.reader ? null : mentionOf(watchedBy));
	const from = isHeld ? mentionOf(content.from) : '';
	const hint = isHeld
		? sentences(
				rich`Asked in ${place}. Others can still answer it.`,
				rich`Give back, in the menu, tells ${from} that you do not take it.`,
			)
		: '';
	const blocks = fitting(POST_ROOMS, (room) => {
		const open = openQuestionParts(question, {
			sessionId,
			sessionName: snapshot?.name ?? '',
			discreet,
			room,
			choices: offersOptions ? { channelId, readAt } : null,
			holding: post,
		});
		return [
			...richText(...line(isHeld ? bold(words) : words), ...(isHeld ? quotedText(note ?? '', MOST_IN_NOTE) : [])),
			...open.blocks(asksWords(postTitle(post))),
			...inRow(buttons(...open.row), post, encodeQuestionRef(mark)),
			...context(open.note, hint),
		];
	});
	return message(sentences(words, text), blocks);
}

/** The first words to the new holder of a question. */
export const handedOverWords = (from: string) => rich`↪️ ${mentionOf(from)} handed a question over to you.`;

/** The first words to the person who had handed it over. */
export function givenBackWords({ by, undelivered }: Pick<ContentOf<'givenBack'>, 'by' | 'undelivered'>): Words {
	if (undelivered === true)
		return marked(
			'⚠️ {who} did not get the question that you handed over: the direct message was refused. It asks everybody ' +
				'again. Answer it, or hand it over to somebody else on its post.',
			{ who: mentionOf(by) },
		);
	return rich`↩️ ${mentionOf(by)} gave back the question that you handed over. It asks everybody again.`;
}

/** Why the chosen person cannot get the question, what was kept and what to do. Plain text, for a field. */
export function handOverRefusedText(refusal: Refusal | 'self', { adminContact }: ErrorContext): string {
	const contact = plainWords(contactOf(adminContact), NOBODY_NAMED);
	const again = `Nothing was handed over. Try again, or ask ${contact}.`;
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
	const name = oneLine(names.displayName(to), 80);
	return (
		`${name} got ${MOST_IN_WINDOW.to} questions from others ${inTime}, which is the most. Nothing was handed over. ` +
		`Choose somebody else, or ${again}.`
	);
}

export function handOverWords(outcome: HandOverObstacle): Words {
	switch (outcome.kind) {
		case 'handedOver':
			return marked('↪️ You handed the question over to {to}, who gets a direct message. Others can still answer it.', {
				to: mentionOf(outcome.handOver.to),
			});
		case 'taken': {
			const { from, to, count } = outcome.handOver;
			const who = mentionOf(to);
			const can = count < MOST_HAND_OVERS ? 'hand it over or give it back' : 'give it back';
			return marked(
				'🙋 {who} has this question (from {from}). Nothing was handed over now. Only {who} can {can}. You can still ' +
					'answer it.',
				{ who, from: mentionOf(from), can },
			);
		}
		case 'limit': {
			const { from, to, count } = outcome.handOver;
			return marked(
				'🔁 This question was handed over {count} times, last by {from} to {to}. It cannot be handed over again. ' +
					'Answer it, or give it back if you have it.',
				{ count: String(count), from: mentionOf(from), to: mentionOf(to) },
			);
		}
		case 'elsewhere':
			return '🙋 Somebody in another workspace has this question. Nothing was handed over. You can still answer it.';
		case 'closed':
			return outcome.by === null
				? '💨 This question is no longer asked here. Nothing was handed over.'
				: rich`✅ ${mentionOf(outcome.by.person.userId)} has answered this question. Nothing was handed over.`;
	}
}

/** To somebody who gave a question back that they do not have. */
export function notYoursWords(handOver: HandOver | null): Words {
	if (handOver === null) return '💨 This question is no longer asked here, so there is nothing to give back.';
	return handOver.givenBackAt === null
		? rich`🙋 You do not have this question any more: ${mentionOf(handOver.to)} has it. Nothing was changed.`
		: '🙋 You do not have this question: it asks everybody. Nothing was changed.';
}

/** `why`: words for what happened. */
export const notGivenBackWords = (why: Words) => sentences('⚠️ The question was not given back.', why);

/** Sent before the acknowledgement if *Give back* takes long to store. */
export const GIVE_BACK_LATE =
	'⏳ Giving the question back takes long to save. If *Give back* is still there in a minute, press it again.';

/** Replaces the direct message of a question whose person may not answer it any more. */
export const NOT_TOLD_ANY_MORE = '🔒 You cannot answer this question any more, so what became of it is not shown here.';
