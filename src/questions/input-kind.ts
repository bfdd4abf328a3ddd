import { looksSecret } from './secrets.ts';
import type { HumanInputItem } from './session.ts';

/** The input that suits an item. The value sent is a string whatever the input. */
export type InputGuess =
	| {
			readonly kind: 'choice';
			/** Two to 100, in full: Slack shows only 75 characters of each. */
			readonly options: readonly string[];
			/** Whether something else may be a right answer too. */
			readonly allowsOther: boolean;
			readonly secret: false;
	  }
	| {
			readonly kind: 'yesNo' | 'number' | 'email' | 'url' | 'date' | 'time' | 'longText';
			readonly secret: false;
	  }
	| { readonly kind: 'line'; readonly secret: boolean };

/** Guesses from title and description; never throws. A secret is always one line, long text is the default. */
export function guessInput(item: Pick<HumanInputItem, 'title' | 'description'>): InputGuess {
	if (looksSecret(item)) return { kind: 'line', secret: true };
	return { kind: 'longText', secret: false };
}
