import type { KnownBlock } from '@slack/types';
import type { QuickAnswer } from '../../questions/quick-answer.ts';
import { ACTIONS, CHOOSE_IDS, type Choice, encodeChoice, encodeTarget } from '../ids.ts';
import { button, buttons } from './parts.ts';

/** Slack's limit for the value of a button. */
const MAX_VALUE_LENGTH = 2_000;

/**
 * The buttons of an open question: one for each option that `quick` allows to send in one press, and one that opens the
 * form.
 *
 * @param quick null: no options, only the form
 */
export function answerButtons(asked: Omit<Choice, 'position' | 'option'>, quick: QuickAnswer | null): KnownBlock[] {
	const { sessionId, messageIndex } = asked;
	const options = (quick?.options ?? []).map((option, index) => {
		const value = encodeChoice({ ...asked, position: quick?.position ?? 0, option });
		const actionId = CHOOSE_IDS[index];
		return actionId === undefined || value.length > MAX_VALUE_LENGTH ? null : button(actionId, option, { value });
	});
	const value = encodeTarget({ sessionId, messageIndex });
	const hasOptions = options.length > 0 && !options.includes(null);
	if (!hasOptions) return buttons(button(ACTIONS.answer, 'Answer', { value, style: 'primary' }));
	return buttons(...options, button(ACTIONS.answer, 'Answer…', { value }));
}
