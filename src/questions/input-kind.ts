import { looksSecret } from './asks-for-secret.ts';
import { labelOf, matchingText, matchingTextOf, withoutFinalMarks, words } from './matching-text.ts';
import { listedOptions } from './options.ts';
import type { ItemTexts } from './session.ts';
import { optionOr } from './texts.ts';

/** The input that suits an item. Every input sends a string. */
export type InputGuess =
	/** `options`: 2 to 100, in full length. Slack shows only 75 characters of each. */
	| { readonly kind: 'choice'; readonly options: readonly string[] }
	/** A `number` may be a fraction, a `date` is sent as 2026-11-20, a `time` as 17:05. `line` is the only input of secrets. */
	| { readonly kind: InputRule['kind'] | 'longText' };

export const YES_NO = ['Yes', 'No'] as const;

/** What stands between an option and a note. */
const markAfter = (option: string) => (/[.!?…。！？]$/.test(option) ? ' ' : '. ');

/** An option and a note as one text, as it is sent: "LH 1173. Seat 12A, please". Either may be empty. Names the option once. */
export function withNote(option: string, note: string): string {
	const own = note.trim();
	if (option === '' || own === '') return option || note;
	const rest = own.slice(option.length);
	const isNamed = own.toLowerCase().startsWith(option.toLowerCase()) && !/^[\p{L}\p{N}]/u.test(rest);
	if (!isNamed) return `${option}${markAfter(option)}${own}`;
	return rest === '' ? option : own;
}

/** Undoes `withNote`: a text that begins with no option is all note. */
export function splitNote(
	text: string,
	options: readonly string[],
): { readonly option: string; readonly note: string } {
	for (const option of options.toSorted((a, b) => b.length - a.length)) {
		const start = `${option}${markAfter(option)}`;
		if (text === option || text.startsWith(start)) return { option, note: text.slice(start.length) };
	}
	return { option: '', note: text };
}

/** The first rule that matches decides. Its patterns are of `matchingText`: lower case, no accents, no hyphens. */
interface InputRule {
	readonly kind: 'yesNo' | 'number' | 'email' | 'url' | 'date' | 'time' | 'line';
	/** The whole label (`labelOf`) without its final marks. */
	readonly label: string;
	/** The whole description without its final marks, for labels that are not enough. */
	readonly description?: string;
	/** Words in title or description with which another answer may be correct too: then the rule does not apply. */
	readonly unless: string;
	/** The label must be a question. If the title is not one, a question in the description counts. */
	readonly question?: true;
}

/** Alternatives, ranges, conditions, several things at once: the answer may need free text. */
const DOUBT =
	'or|and|ranges?|between|approx\\p{L}*|about|around|roughly|estimated?|any|if|unless|otherwise|none|unknown|skip|not sure|optional|reasons?|why|explain|describe|also|each|every|per|lists?|multiple|several|all|both|etc|blank|plus|with|including|maybe|oder|und|bis';

const MORE_THAN_YES_OR_NO = 'if (?:yes|no|not|so|you)|why|explain|reasons?|maybe|yes ?/ ?no ?/ ?\\p{L}+';
/** The answer to such a question is more than yes or no. */
export const WANTS_MORE_THAN_YES_OR_NO = words(MORE_THAN_YES_OR_NO);

const POSSESSIVE = "(?:(?:the|your|my|our|his|her|their|a|an|customer's|recipient's|guest's) )?";

const RULES: readonly InputRule[] = [
	{
		kind: 'yesNo',
		label: '.*(?:[([] ?(?:yes|y) ?[/|,] ?(?:no|n) ?[)\\]]|(?<!\\p{L})(?:yes or no|yes ?/ ?no|y/n))',
		unless: MORE_THAN_YES_OR_NO,
	},
	{
		kind: 'yesNo',
		label: '[^\\n]+',
		description: `(?:(?:please )?(?:answer|reply|say|enter|type|choose|respond|only)(?: with)?:? ?)?["'([]?(?:(?:either )?yes"? or "?no|yes ?[/|,] ?no|y ?[/|] ?n)["')\\]]?`,
		unless: 'or(?! no)|which|what|who|when|where|how|why|explain|describe|reasons?|maybe|if|each|all|every',
	},
	{
		kind: 'yesNo',
		label:
			'(?:(?:ok(?:ay)?|so|now|and),? )?(?:(?:shall|should|may|can|could) (?:i|we) |do you (?:want me to|want to|agree|approve|confirm|consent|accept)(?![\\p{L}\\p{N}])|would you like (?:me )?to |(?:is it|is that|is this|are you) (?:ok|okay|fine|all right|alright|acceptable|sure|ready)(?![\\p{L}\\p{N}])|(?:proceed|continue|go ahead|approve|confirm|agree|accept|ready|soll ich|darf ich|puis je|puedo)(?![\\p{L}\\p{N}]))[^?\\n]{0,160}',
		question: true,
		unless:
			'or(?! not)|oder|ou|any\\p{L}*|some\\p{L}*|else|other|another|different|which|what|who|when|where|how|why|explain|describe|details?|changes?|feedback|help|tell|provide|suggest|instead|(?:can|could|may) i (?:have|get|ask|know|see)|if (?:yes|no|not|so)',
	},
	{
		kind: 'number',
		label: `(?:how many(?: \\p{L}[^?\\n]{0,80})?|${POSSESSIVE}(?:total )?(?:number|count|quantity) of \\p{L}[\\p{L} ]{0,40}s|(?:total )?(?:quantity|amount of (?:tickets|rooms|guests|people|seats))|${POSSESSIVE}age(?: in years)?|anzahl(?: der)? \\p{L}{1,40}|menge|cantidad|quantite)`,
		unless: `${DOUBT}|which|who|what|when|where|at (?:least|most)|up to|more|less|old|digits|percent|units?|format`,
	},
	{
		kind: 'email',
		label: `(?:(?:please )?(?:enter|provide|give me|type) )?(?:${POSSESSIVE}(?:contact |work |business |personal |private |billing |account |login |recipient |sender |company |customer )?e ?mail ?(?:address|adresse|id)?|(?:what|which)(?: is|'s)? ${POSSESSIVE}e ?mail ?address(?: (?:should|do|shall|can|is|to|for)(?! \\p{L}+ (?:write|draft|say|send))[^?\\n]{0,80})?|what(?: is|'s) (?:your|the) e ?mail|e ?mail adresse|correo electronico|adresse e ?mail|adresse electronique)`,
		unless: `${DOUBT}|subject|body|text|content|provider|draft|e ?mails|addresses|phone|username|leave`,
	},
	{
		kind: 'url',
		label: `(?:(?:please )?(?:enter|provide|paste|give me) )?${POSSESSIVE}(?:website |page |webhook |base |repository |repo |target |login |image |video |callback )?(?:url|web address)(?: (?:of|to|for) [^?\\n]{1,60})?|(?:what|which)(?: is|'s)? ${POSSESSIVE}(?:\\p{L}{1,20} )?url(?: (?:should|do|of|for|to|is)[^?\\n]{0,60})?`,
		unless: `${DOUBT}|urls|slug|path|parameters?|domain|hostname|relative|pattern|name`,
	},
	{
		kind: 'date',
		label: `${POSSESSIVE}(?:start |end |due |departure |arrival |return |check ?in |check ?out |delivery |travel |booking |appointment |event |flight |invoice )?date(?: of (?:arrival|departure|travel|delivery|purchase))?|(?:on |for )?(?:what|which) date(?: (?:should|shall|do|does|is|will)[^?\\n]{0,80})?|(?:datum|anreisedatum|abreisedatum|fecha)`,
		// The date is sent as 2026-11-20, which is wrong for an item that names another format.
		unless: `${DOUBT}|dates|times?|flexible|prefer\\p{L}*|works?|suits?|best|earliest|latest|soon|month|week|format|(?<!yyyy[ ./])(?:dd|mm|tt|d|m)[ ./]+(?:dd|mm|m|d)(?:[ ./]+(?:yy|yyyy|jj|jjjj))?|mm ?/ ?yy|ddmmyyyy`,
	},
	{
		kind: 'time',
		label: `${POSSESSIVE}(?:start|end|arrival|departure|pick ?up|check ?in|check ?out|delivery|meeting|appointment|reservation) time|time of (?:day|arrival|departure|pick ?up)|(?:at |for )?what time (?:should|shall|do|does|is|will)[^?\\n]{0,80}|uhrzeit`,
		unless: `${DOUBT}|times|zones?|format|duration|slots?|works?|suits?|prefer\\p{L}*|best|earliest|latest|flexible|date|day of|how long|which|hours?|minutes?`,
	},
	{
		kind: 'line',
		label: `(?:(?:please )?(?:enter|provide|give me|type) |what(?: is|'s) )?${POSSESSIVE}(?:(?:full |first |last |middle |user ?|display |company |contact |file ?|project |account |product |city |nick ?)?name|user ?(?:name|id)|login(?: name)?|(?:phone|mobile|telephone|cell|order|booking|reference|invoice|customer|tracking|flight|house|room|ticket|vat|membership) ?(?:number|no|id|reference)|phone|telephone|(?:zip|postal|post|country|area|discount|promo|coupon|voucher|referral|airport|currency|language)(?: ?code)?|city|town|country|street|state|company|subject|(?:job )?title|website|domain|hostname|colou?r|hashtag|slug|time ?zone|price|budget|vorname|nachname|postleitzahl|plz|ort|stadt|telefonnummer|nombre|apellidos?|ciudad|nom|prenom|ville|code postal)|mm ?/ ?yy`,
		unless: 'lists?|each|every|multiple|several|all|describe|explain|paragraphs?|lines|list|names|details?|why|as many',
	},
	{
		kind: 'line',
		label: `${POSSESSIVE}(?:e ?mail|url|date)(?: address)?`,
		unless: 'lists?|each|every|multiple|several|all|lines|describe|explain',
	},
];

const whole = (source: string) => new RegExp(`^(?:${source})$`, 'u');

export const INPUT_RULES = RULES.map(({ kind, label, description, unless, question = false }) => {
	const described = description === undefined ? null : whole(description);
	return { kind, label: whole(label), description: described, unless: words(unless), question };
});

/** Code units. A longer description asks for more than one word, number or date. */
const MAX_BRIEF_LENGTH = 400;

/** Several screens and rules ask about one item. */
const guessed = new WeakMap<ItemTexts, InputGuess>();

/** By `SECRET_RULES`, `listedOptions`, then `INPUT_RULES`. Any doubt gives long text, which refuses no answer. */
export function guessInput(item: ItemTexts): InputGuess {
	if (looksSecret(item)) return { kind: 'line' };
	const guess = guessed.get(item) ?? guessOf(item);
	guessed.set(item, guess);
	return guess;
}

function guessOf(item: ItemTexts): InputGuess {
	const options = listedOptions(item)?.options;
	if (options === undefined) return { kind: kindByRules(item) };
	if (!areYesAndNo(options)) return { kind: 'choice', options };
	return { kind: WANTS_MORE_THAN_YES_OR_NO.test(matchingTextOf(item)) ? 'longText' : 'yesNo' };
}

/** The option of the item that a text is; else the text. */
export function optionOrText(item: ItemTexts, text: string): string {
	const guess = guessInput(item);
	const options = guess.kind === 'yesNo' ? YES_NO : guess.kind === 'choice' ? guess.options : [];
	return optionOr(text, options);
}

function kindByRules(item: ItemTexts): 'longText' | InputRule['kind'] {
	const label = labelOf(item);
	const text = matchingTextOf(item);
	if (label === '' || item.description.length > MAX_BRIEF_LENGTH || text.split('?').length > 2) return 'longText';
	const question = questionIn(item.description);
	const described = withoutFinalMarks(matchingText(item.description));
	const candidates = INPUT_RULES.filter(
		(rule) => !rule.unless.test(text) && rule.description?.test(described) !== false,
	);
	const fits = (rule: (typeof INPUT_RULES)[number], text: string) =>
		(!rule.question || text.endsWith('?')) && rule.label.test(withoutFinalMarks(text));
	const rule =
		candidates.find((candidate) => fits(candidate, label)) ??
		candidates.find((candidate) => candidate.question && fits(candidate, question));
	return rule?.kind ?? 'longText';
}

/** The question in a description: "The total is 30 euros. Should I go on?" */
function questionIn(description: string): string {
	const sentence = matchingText(description)
		.match(/[^.!?\n]+[.!?\n]?/g)
		?.find((part) => part.endsWith('?'));
	return sentence?.trim() ?? '';
}

function areYesAndNo(options: readonly string[]): boolean {
	const meanings = options.map((option) => ({ yes: 'yes', y: 'yes', no: 'no', n: 'no' })[option.toLowerCase()]);
	return meanings.length === 2 && meanings.includes('yes') && meanings.includes('no');
}
