import { type Build, readable, sentencesOf, type Words } from './phrases.ts';

/* What an agent's words around a list ask for. All texts are as `readable` gives them. */

const isQuestion = (sentence: string) => /[?？؟]["'”»)\s]*$/.test(sentence);

/** A line with more code units gives no options: it is a paragraph. */
export const isLongLine = (line: string) => line.length > 500;

/** The questions among the sentences of a text. */
export const questionsIn = (text: string) => sentencesOf(text).filter(isQuestion);

/** A list with an entry a line, and what stands around it. */
interface Listed {
	readonly before: string;
	readonly after: string;
	readonly bodies: readonly string[];
	/** What the item below the list asks; empty where the list is the item's. */
	readonly asked: string;
}

/**
 * Whether the text around a list asks to choose from it. `loose`: it asks, but perhaps about something else; `name`: it asks
 * nothing, but may name what the list is of; `yesNo`: it asks for yes or no; `no`: the list is told, or is what to write.
 */
export function asksToChoose(
	{ before, after, bodies, asked }: Listed,
	words: Words,
): 'choose' | 'question' | 'loose' | 'name' | 'yesNo' | 'no' {
	const told = sentencesOf(before);
	const introduction = told.at(-1) ?? '';
	const [behind = ''] = sentencesOf(after);
	// A sentence that is over leads to a list only where it points at one.
	const leads = !/[.。]$/.test(introduction) || words.says(introduction, 'points');
	// "I have two hotels:", and behind them "Which one?"
	if (leads && words.says(introduction, 'facts'))
		return asksWhich(behind, words) ? asksAbout(behind, [introduction, ...bodies], words) : 'no';
	// What the item below asks has to be what the list is of.
	const isOther = asked !== '' && asksAbout(asked, [introduction, ...bodies], words) !== 'question';
	if (words.says(introduction, 'choose', 'several') || asksForSeveral(introduction, words))
		return isOther && questionsIn(asked).some((question) => words.says(question, 'which')) ? 'loose' : 'choose';
	if (words.says(introduction, 'open') || mostOf(bodies, (body) => words.is(body, 'data'))) return 'no';
	// "Should I accept:"
	const isAsking = isQuestion(introduction) || (introduction.endsWith(':') && words.says(introduction, 'ask', 'which'));
	// "Which folder should I put these in?"
	const isOfThese = words.says(introduction, 'points') && !words.says(introduction, 'one', 'choose');
	// "Tell me your postcode, too."
	const asksMore = words.says(after, 'open', 'facts', 'more', 'data', 'what');
	if (isAsking && asksYesOrNo(introduction, words)) return 'yesNo';
	if (isAsking) return isOfThese || asksMore ? 'loose' : 'question';
	if (leads && words.says(introduction, 'parts')) return 'no';
	if (words.says(behind, 'choose', 'type')) return 'choose';
	const which = questionsIn(`${before}\n${after}`).find((question) => asksWhich(question, words));
	if (asked !== '' || which !== undefined) return asksAbout(asked || (which ?? ''), [introduction, ...bodies], words);
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

/** "Which slot, and how many adults?" asks for more than a thing. */
export const asksWhich = (question: string, words: Words) =>
	words.says(question, 'which') && !words.says(question, 'open');

const mostOf = (texts: readonly string[], is: (text: string) => boolean) => texts.filter(is).length * 2 >= texts.length;

/** Whether what is asked beside a list is which of its things: "Which hotel?" below "I found two hotels:". */
function asksAbout(asked: string, list: readonly string[], words: Words): 'question' | 'loose' | 'no' {
	const bodies = list.slice(1);
	const [question = ''] = questionsIn(asked);
	// "Flight: LH 1172", "Seat: 17C"
	if (words.says(question, 'open') || mostOf(bodies, (body) => /^[^\s:][^:]{0,30}:\s/.test(body))) return 'no';
	if (!words.says(question, 'which')) return words.says(question, 'what') ? 'loose' : 'no';
	if (words.says(question, 'one', 'choose') || sharesWord(question, list.join('\n'))) return 'question';
	// "Which name should it have?"
	return words.says(question, 'data') ? 'no' : 'loose';
}

/** Whether two texts have a word, or the beginning of one, in common that says something. */
export function sharesWord(one: string, other: string): boolean {
	const others = beginnings(other);
	return beginnings(one).some((word) => others.some((known) => known.startsWith(word) || word.startsWith(known)));
}

function beginnings(text: string): readonly string[] {
	const words = (text.match(/\p{L}{4,}/gu) ?? []).filter((word) => word !== 'which').map((word) => word.slice(0, 5));
	const pairs = text.matchAll(/(?=([\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}]{2}))/gu);
	return [...words, ...Array.from(pairs, ([, pair = '']) => pair)];
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
	`(?:${entries('choose')}|top)(?: [^ .:]+){0,2} (?:${entries('number')})(?![\\p{L}\\p{N}%]|[.,:/]\\d)`;

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

const YES_NO_PAIR: Build = (entries) => {
	const join = ` ?[/|,、／・] ?| (?:${entries('or', 'or here')}) `;
	return `(?<![\\p{L}\\p{N}\\p{M}])(${entries('yes')})["'”’»]?(?:${join})["'“‘«]?(${entries('no')})[^\\p{L}\\p{N}\\p{M}]*$`;
};

/** "(yes/no)", "Reply yes or no.": at the end of a line, below a question that nothing else answers. */
export function yesNoPair(lines: readonly string[], words: Words): readonly [string, string] | null {
	const pair = words.pattern(YES_NO_PAIR, 'iu');
	const [found, another] = lines
		.map((line) => (isLongLine(line) ? null : pair.exec(line)))
		.filter((match) => match !== null);
	if (found === undefined || another !== undefined) return null;
	const [whole, yes = '', no = ''] = found;
	const lead = readable(sentencesOf(found.input.slice(0, found.index)).at(-1) ?? '');
	const isAsked = !/\p{L}$/u.test(lead) || words.says(lead, 'type', 'choose');
	const others = readable(lines.map((line) => line.replace(whole, '')).join('\n'));
	if (!isAsked || words.says(others, 'what', 'which', 'open', 'reason') || offersOther(others, words)) return null;
	return [yes, no];
}

const TYPED: Build = (entries) =>
	`(?<!\\p{L})(?i:${entries('type')})(?: \\p{L}+){0,2}:? (?:\\p{Lu}{2,}(?!\\p{L})|["“„«'\`「])`;

/** "Type DELETE to confirm", "Reply with “OK”". `text`: as it was written. */
export function asksToType(text: string, words: Words): boolean {
	return words.says(readable(text), 'typed') || words.pattern(TYPED).test(text);
}
