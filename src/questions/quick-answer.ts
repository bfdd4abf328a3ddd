import type { Question } from './open-question.ts';

/** What one press can answer: the only open item and its short options. */
export interface QuickAnswer {
	readonly position: number;
	readonly options: readonly string[];
}

export function quickAnswerOf(
	_question: Pick<Question, 'items' | 'openItems'>,
	_isSecret: (position: number) => boolean,
): QuickAnswer | null {
	return null;
}
