import { guessInput } from './input-kind.ts';
import type { Question } from './open-question.ts';
import { type AnswerMarks, isSecretValue } from './secrecy.ts';
import type { HumanInputItem } from './session.ts';

/** Whether channels see what was answered or only that: `SHOW_ANSWERS`. */
export const SHOW_ANSWERS = ['auto', 'always', 'never'] as const;
export type ShowAnswers = (typeof SHOW_ANSWERS)[number];

/** UTF-16 units of an answer that `auto` still shows. */
const SHORT = 80;
/** Of a word in it; longer ones are keys rather than words. */
const WORD = 30;

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{1,2}:\d{2}$/;
/** Only letters, and marks inside words. */
const LETTERS = /^[\p{L}\p{M}]+(?:['’&/+-][\p{L}\p{M}]+)*$/u;
/** Three digits at most, perhaps with letters or a currency beside them: 12, 3rd, A4, €15, 30%, 0.5. */
const SMALL_NUMBER = /^[+#\p{Sc}-]?\d{1,3}\p{L}{0,3}$|^\p{L}\d{1,2}$|^[+\p{Sc}-]?\d{1,2}[.,]\d$/u;

/** What a channel sees of the value at one position of a question; `withheld`: only that there is one. */
export type Disclosure = (asked: Question, position: number) => 'shown' | 'withheld' | 'secret';

/** What channels see of a session's values. Secret ones are hidden whatever `mode` says. */
export function disclosureOf(marks: readonly AnswerMarks[], mode: ShowAnswers): Disclosure {
	return (asked, position) => {
		const item = asked.items[position];
		if (item === undefined || isSecretValue(marks, asked, position)) return 'secret';
		return isShownInChannels(mode, item, item.value) ? 'shown' : 'withheld';
	};
}

/**
 * The only rule for what a channel may see of an answer that is not secret. `auto` shows choices (a listed option, yes or
 * no) and short plain answers: one line of words and small numbers, without a link or a possible code.
 */
export function isShownInChannels(
	mode: ShowAnswers,
	item: Pick<HumanInputItem, 'title' | 'description'>,
	value: string,
): boolean {
	if (mode !== 'auto') return mode === 'always';
	return isChoice(item, value.trim()) || isShortAndPlain(value.trim());
}

function isChoice(item: Pick<HumanInputItem, 'title' | 'description'>, value: string): boolean {
	const guess = guessInput(item);
	if (guess.kind === 'choice') return guess.options.includes(value);
	return guess.kind === 'yesNo' && /^(?:yes|no)$/i.test(value);
}

function isShortAndPlain(value: string): boolean {
	if (value.length > SHORT || /[\n\r\u2028\u2029]/.test(value)) return false;
	if (DATE.test(value) || TIME.test(value)) return true;
	// Numbers side by side make a code: "12 34 56".
	if (/(?<![\p{L}\d])\d+[\s.,;:-]+\d{2}/u.test(value.replace(/\b\d{1,2}:\d{2}\b/g, 'time'))) return false;
	return value.split(/[\s、。，！？]+/).every((word) => {
		const bare = word.replace(/^[("'“„‘[]+|[)"'”’\].,;:!?…%\p{Sc}]+$/gu, '');
		return bare.length <= WORD && (bare === '' || LETTERS.test(bare) || SMALL_NUMBER.test(bare) || TIME.test(bare));
	});
}

/** An address, up to the next character of prose, Markdown or Slack's markup. */
const ADDRESS = /https?:\/\/[^\s<>"'`|\\^{}[\]()]+/gi;

/** Parameters that sign an address: S3 and its kin, Google, CloudFront, Azure. */
const SIGNATURE =
	/[?&;](?:X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential)|Signature|Key-Pair-Id|sig)=/i;

/**
 * Cuts pre-signed links off at their query: such a link gives access for days, and agents quote the addresses they open.
 * `https://bucket.example/report.pdf?X-Amz-…` becomes `https://bucket.example/report.pdf?…`.
 */
export function withoutSignedLinks(text: string): string {
	if (!text.includes('?')) return text;
	return text.replace(ADDRESS, (address) =>
		SIGNATURE.test(address) ? `${address.slice(0, address.indexOf('?') + 1)}…` : address,
	);
}
