import { draftsIn, guessedItems } from '../../domain/agent-drafts.ts';
import { choicesOf, guessInputAt } from '../../domain/input-kind.ts';
import type { Question } from '../../domain/session.ts';
import type { Values } from '../../slack/form/fields.ts';
import { OPTION_VALUE_LIMIT, OWN_OPTION } from '../../slack/ids.ts';
import type { SubmittedSessionView } from '../../slack/request.ts';

/*
 * What an agent wrote for a form that Slack may not give back whole: drafts for its fields, and options longer than a
 * value in Slack. They are kept beside the form, not with what a person typed.
 */

/** The number of an option, above all positions: positions and places of options are below 100. */
const keyOf = (position: number, place: number) => 100 * (position + 1) + place;

/** The drafts, and the options of items that have a long one, by `keyOf`. */
export function agentTextsIn(question: Question): Values {
	const options = guessedItems(question).flatMap((position) => {
		const all = choicesOf(guessInputAt(question, position)).options;
		const isKept = all.some((option) => option.length > OPTION_VALUE_LIMIT);
		return isKept ? all.map((option, place) => [keyOf(position, place), option] as const) : [];
	});
	return { ...draftsIn(question), ...Object.fromEntries(options) };
}

/** Whether a view can be read only with `agentTextsIn`. */
export const needsAgentTexts = ({ metadata, choices }: SubmittedSessionView) =>
	metadata.offered.length > 0 ||
	Object.values(choices).some(({ options }) => options.some((option) => option.startsWith(OWN_OPTION)));

/** The text that an option of a view stands for. */
export function optionText(kept: Values, position: number, value: string): string {
	const place = value.startsWith(OWN_OPTION) ? Number(value.slice(OWN_OPTION.length)) : Number.NaN;
	return kept[keyOf(position, place)] ?? value;
}
