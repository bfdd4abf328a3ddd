import { textMessage } from '../slack/blocks.ts';
import { askedOf, type ContentOf, type Drawing, type Drawn, type DuePost, lookOf } from '../surfaces/post.ts';
import { handOverOf, type QuestionFacts } from './facts.ts';
import { handOverPost, NOT_TOLD_ANY_MORE } from './hand-over.ts';
import { drawAgainAt, isLastLook, settledQuestionPost } from './question-post.ts';
import { endOf } from './watch-posts.ts';

export function createHandOverDrawing(facts: QuestionFacts) {
	async function draw(content: ContentOf<'handedOver' | 'givenBack'>, due: DuePost): Promise<Drawn> {
		const { watch, post } = due;
		const asked = askedOf(due);
		if (post.target.kind !== 'person' || watch === null || asked === null) return null;
		const newest = handOverOf(due);
		const isHeld = content.kind === 'handedOver';
		let how = endOf(due);
		if (how === null && newest?.id !== content.handOverId) how = 'handedOn';
		if (how === null && isHeld && newest?.givenBackAt !== null) how = 'givenBack';
		if (post.ts === null && how !== null) return null;
		const refusal = await facts.refusal(post.target, watch);
		if (refusal === 'could_not_check') return { kind: 'later', ms: null, code: refusal, limited: false };
		if (refusal !== null && post.ts !== null) return lookOf(textMessage(NOT_TOLD_ANY_MORE), { isLast: how !== null });
		// A question that is handed over goes back to whoever handed it over, who hears that.
		if (refusal !== null) return isHeld ? { kind: 'refused', code: refusal } : null;
		const context = await facts.contextOf(due, asked);
		const message =
			how === null
				? handOverPost(content, asked, context, due.question?.note)
				: settledQuestionPost(asked, how, context);
		return lookOf(message, { isLast: isLastLook(how, context), againAt: drawAgainAt(context) });
	}

	return { handedOver: draw, givenBack: draw } satisfies Drawing<'handedOver' | 'givenBack'>;
}
