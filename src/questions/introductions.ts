import { type Build, readable, sentencesOf, type Words } from './phrases.ts';

/* What an agent's words around a list ask for. All texts are as `readable` gives them. */

const isQuestion = (sentence: string) => /[?？؟]["'”»)\s]*$/.test(sentence);

/** The questions among the sentences of a text. */
export const questionsIn = (text: string) => sentencesOf(text).filter(isQuestion);

/**
 * Whether the text around a list asks to choose from it. `name`: it asks nothing, but may name what the list is of; `yesNo`:
 * it asks for yes or no; `no`: the list is told, or is what to write.
 */
export function asksToChoose(
	before: string,
	after: string,
	words: Words,
): 'choose' | 'question' | 'name' | 'yesNo' | 'no' {
	const told = sentencesOf(before);
	const introduction = told.at(-1) ?? '';
	if (words.says(introduction, 'facts')) return 'no';
	if (words.says(introduction, 'choose', 'several') || asksForSeveral(introduction, words)) return 'choose';
	if (words.says(introduction, 'open')) return 'no';
	if (isQuestion(introduction)) return asksYesOrNo(introduction, words) ? 'yesNo' : 'question';
	if (words.says(introduction, 'parts')) return 'no';
	if (questionsIn(`${before}\n${after}`).some((question) => words.says(question, 'which'))) return 'question';
	return told.length === 1 && after === '' && namesThings(introduction, words) ? 'name' : 'no';
}

/** Words of a title that only names what the list below it is of. */
const MAX_NAME_WORDS = 5;

/** "Department": something that people choose, not a text that they write. */
function namesThings(title: string, words: Words): boolean {
	const name = title.replace(/(?<![\s:.])[\s:.]+$/, '');
	const isWritten = words.listed('data').some((data) => ` ${name}`.endsWith(` ${readable(data)}`));
	return !isWritten && name.split(' ').length <= MAX_NAME_WORDS && !words.says(name, 'type', 'points');
}

const PLURAL_NOUN = '\\p{L}*[^\\Wsui]s';
const OF_THESE = 'of (?:these|those|the|my|your|our|them) (?:\\p{L}+ )?';
const PLURAL_VERB =
	'(?:do|did|are|were|have|should|shall|can|may|would|could|will|must|to|work|need|hold|apply|i|you|we)';
/** "Which of these emails?", "which days work": a plural of English. "Which bus" and "which address" are none. */
const PLURAL = new RegExp(
	`\\bwhich (?:${OF_THESE}${PLURAL_NOUN}(?=\\?)|(?:${OF_THESE})?(?:\\p{L}+ )?${PLURAL_NOUN} ${PLURAL_VERB}\\b)`,
	'u',
);

const COUNTED: Build = (entries) =>
	`(?:${entries('choose')}|top)(?: [^ .:]+){0,2} (?:${entries('number')})(?![\\p{L}\\p{N}.,:/%])`;

/** "Select all that apply", "your top three", "which days": more than one may be the answer. */
export function asksForSeveral(text: string, words: Words): boolean {
	if (words.says(text, 'several') || PLURAL.test(text)) return true;
	const counted = words.pattern(COUNTED);
	return sentencesOf(text).some((sentence) => counted.test(sentence) && !words.says(sentence, 'one'));
}

/** Whether the only question of a text is one that yes or no answers in full. */
export function asksYesOrNo(text: string, words: Words): boolean {
	const [question, another] = questionsIn(text);
	if (question === undefined || another !== undefined || !words.says(question, 'ask')) return false;
	if (words.says(question, 'choose')) return false;
	return !words.says(text, 'unsure', 'what', 'which', 'open', 'reason') && !offersOther(question, words);
}

/** "Now or later?", but not "now or not?". */
export function offersOther(question: string, words: Words): boolean {
	return words.says(question.replace(/ or not\b/g, ''), 'or');
}

const TYPED: Build = (entries) =>
	`(?<!\\p{L})(?i:${entries('type')})(?: \\p{L}+){0,2}:? (?:\\p{Lu}{2,}(?!\\p{L})|["“„«'\`「])`;

/** "Type DELETE to confirm", "Reply with “OK”". `text`: as it was written. */
export function asksToType(text: string, words: Words): boolean {
	return words.says(readable(text), 'typed') || words.pattern(TYPED).test(text);
}
