import type { ModalView } from '@slack/types';
import type { QuestionToHandOver } from '../../inbox/hand-over.ts';
import type { ContentOf } from '../../watches/kinds.ts';
import type { QuestionView } from '../../watches/session-snapshot.ts';
import { ACTIONS, CALLBACKS, encodeQuestionMark, type QuestionMark } from '../ids.ts';
import { newMetadata, type ViewMetadata } from '../metadata.ts';
import { mayHandOn, openQuestion } from '../question-view.ts';
import { plain } from '../text.ts';
import {
	givenBackWords,
	HAND_OVER_HINT,
	handedOverHint,
	handedOverWords,
	NO_HAND_OVER_WINDOW,
} from '../words/hand-over.ts';
import { personMrkdwn } from '../words/people.ts';
import { questionText } from '../words/question-text.ts';
import { asksWords, MAYBE_REPEAT, placeMrkdwn } from '../words/watching.ts';
import { context, inRow, type MessageContent, message, modal, section } from './parts.ts';
import { type AskedContent, isChosen, type PostContext, titleOf, watchPost } from './watch-posts.ts';

/** The block_id of the input in the window. */
export const HAND_OVER_FIELD = 'b.hand_over_to';

/** The metadata of the window for a question that `channelId` asks. */
export function handOverMetadata(question: QuestionMark, channelId: string): ViewMetadata {
	const { sessionId, fingerprint } = question;
	const origin = { channelId, threadTs: null };
	return { ...newMetadata({ sessionId, formId: '', origin }), fingerprint };
}

/** Asks whom to hand a question over to. */
export function handOverModal(metadata: ViewMetadata, asked: QuestionToHandOver): ModalView {
	const told = questionText({ ...asked, quick: asked.question.quick, waitedMs: null });
	return modal({
		callbackId: CALLBACKS.handOver,
		title: 'Hand over',
		metadata,
		submit: 'Hand over',
		close: 'Cancel',
		blocks: [
			...section(`> ${told}`),
			{
				type: 'input',
				block_id: HAND_OVER_FIELD,
				label: plain('Hand over to', 150),
				hint: plain(HAND_OVER_HINT, 150),
				element: { type: 'users_select', action_id: ACTIONS.handOverTo, placeholder: plain('Choose a person', 150) },
			},
		],
	});
}

/** What came of it, or why it is not possible. mrkdwn. */
export function handOverNotice(words: string, metadata: ViewMetadata): ModalView {
	return modal({ callbackId: CALLBACKS.handOver, title: 'Hand over', metadata, blocks: section(words) });
}

/** For an expired trigger. */
export function noHandOverWindow(): MessageContent {
	return message(NO_HAND_OVER_WINDOW, section(NO_HAND_OVER_WINDOW));
}

/** To one person about *Give back*. mrkdwn. */
export function giveBackMessage(words: string): MessageContent {
	return message(words, section(words));
}

/** The direct message to the person who has the question now. */
export function handedOverPost({ from, question, readAt }: ContentOf<'handedOver'>, post: PostContext): MessageContent {
	const asked = { kind: 'question', question, changed: false, readAt } as const;
	if (isChosen(asked, post.standing)) return watchPost(asked, post);
	const { channelId, watchedBy } = post;
	const place = placeMrkdwn(channelId, watchedBy === post.reader ? null : personMrkdwn(watchedBy, post.names));
	const words = handedOverWords(from, post.names);
	const open = openHere(asked, post, { givesBack: true });
	return message(`${words} ${textOf(question, post)}`, [
		...section(`*${words}*`),
		...open.blocks(asksWords(titleOf(post))),
		...open.row,
		...context(
			open.noForm,
			open.cut,
			handedOverHint(place, personMrkdwn(from, post.names)),
			post.maybeRepeat ? MAYBE_REPEAT : '',
		),
	]);
}

/** The direct message to the person who had handed the question over. */
export function givenBackPost(content: ContentOf<'givenBack'>, post: PostContext): MessageContent {
	const { question, readAt } = content;
	const asked = { kind: 'question', question, changed: false, readAt } as const;
	if (isChosen(asked, post.standing)) return watchPost(asked, post);
	const words = givenBackWords(content, post.names);
	const open = openHere(asked, post, { givesBack: false });
	return message(`${words} ${textOf(question, post)}`, [
		...section(words),
		...open.blocks(asksWords(titleOf(post))),
		...open.row,
		...context(open.noForm, open.cut, post.maybeRepeat ? MAYBE_REPEAT : ''),
	]);
}

/** What is pressed here belongs to the channel and the thread that ask the question. */
function openHere(
	{ question, readAt }: Pick<AskedContent, 'question' | 'readAt'>,
	post: PostContext,
	{ givesBack }: { readonly givesBack: boolean },
) {
	const { sessionId, channelId, offersOptions } = post;
	const choices = offersOptions ? { channelId, readAt } : null;
	const open = openQuestion(question, { sessionId, choices, givesBack, handsOver: mayHandOn(post.handOver) });
	const key = encodeQuestionMark({ sessionId, fingerprint: question.fingerprint });
	return { ...open, row: inRow(open.row, post, key) };
}

function textOf(question: QuestionView, { offersOptions, view, discreet }: PostContext): string {
	const quick = offersOptions ? question.quick : null;
	return questionText({ question, quick, sessionName: view?.name ?? '', waitedMs: null, discreet });
}
