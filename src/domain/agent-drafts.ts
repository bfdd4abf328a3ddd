import { masked } from './masking.ts';
import { askedAt } from './options.ts';
import type { Question } from './session.ts';

/** The open items whose input is guessed. To guess for thousands of cut ones would take a second. */
export const guessedItems = ({ openItems, items }: Question) =>
	openItems.filter((position) => items[position]?.isCut === false);

/** The agent's drafts for open items, by position, without those that are cut or hold something masked. */
export function draftsIn(question: Question): Readonly<Record<number, string>> {
	const drafts = guessedItems(question).flatMap((position) => {
		const { draft } = askedAt(question, position);
		return draft !== null && masked(draft).text === draft ? [[position, draft] as const] : [];
	});
	return Object.fromEntries(drafts);
}
