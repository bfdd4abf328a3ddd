import { readingsOf, withoutFinalMarks, words, wordsOr } from './matching-text.ts';
import { HARMLESS_PHRASES, SECRET_RULES, WHOLE_TITLES } from './secret-rules.ts';
import type { HumanInputItem } from './session.ts';

/** Words of a request, which stand before the thing asked for. */
const VERBS =
	'please|enter|provide|type|give|send|share|supply|paste|input|insert|submit|reply|respond|fill|tell|need|bitte|gib|geben|nenne|brauche|lautet|introduce|introduzca|ingres[ae]|escrib[ae]|indi[cq]u?[ae]|envi[ae]|dime|dame|saisi[rs]|saisissez|entrez|indiquez|donnez|envoyez|tapez|inserisci|digita|scrivi|invia|dammi|dimmi|introduza|insira|digite|informe|diga|voer|vul|geef|stuur|ange|skriv|skicka|indtast|oplys|anna|syota|kirjoita|podaj|wpisz|wprowadz|zadejte|zadajte|napiste|introdu|introduceti|scrie|trimite|introdueix|introduiu|escriu|введите|напишите|укажите|пришлите|назовите|сообщите|отправьте|скажите|введіть|напишіть|надішліть|вкажіть|δωστε|εισαγετε|γραψτε|πειτε|στειλτε|nhap|vui long|masukkan|kirimkan|berikan|sebutkan|tolong|ادخل|ارسل|הזן|הזיני|הכנס|שלח';
/** Those that stand after it. */
const VERBS_AFTER =
	'eingeben|nennen|schicken|mitteilen|girin(?:iz)?|yazin(?:iz)?|adja meg|add meg|irja be|(?:is|are) (?:needed|required)|(?:please|bitte)(?= ?[.!]|$)';
const IN_OTHER_SCRIPTS = '入力|教え|ください|请|請|告诉|告訴|입력|알려|보내|กรอก|ใส่|ป้อน|दर्ज|बताइए';
/** What somebody else wants, as an agent reports it. */
const WANTED =
	'needs|needed|requires?|required|asks?|asking|asked|wants?|expects|wait(?:s|ing) for|(?:cannot|can.t)(?: \\p{L}+){1,3} without|verlangt|braucht|fragt|demande|exige|pide|solicita|chiede|richiede|pede|vraagt|просит|требует';

/** A sentence with such a word asks for something, so it does not only mention the name of a secret. */
const ASKS = wordsOr(`${VERBS}|${VERBS_AFTER}|${WANTED}|what`, IN_OTHER_SCRIPTS);
/** Asks the reader: "to enter" and "I sent" tell of something else. */
const REQUESTS = words(`(?<!(?:to|i|we|you|they|it|should|shall) )(?:${VERBS})|(?:i|we) (?:still |also )?need`);
const REQUESTS_AFTER = wordsOr(VERBS_AFTER, IN_OTHER_SCRIPTS);

/** Asks for what the sentence before names: "A code was sent. What is it?" */
const REQUESTS_IT = words(
	"(?<!(?:to|i|we|should|shall) )(?:enter|provide|type|give|send|share|paste|tell|reply with|respond with|what(?: is|'s| are| was| were))(?: me| us| please)? (?:it|them|both|this|that|these|those|here|below|one(?! of))|(?:tell|send|give) (?:me|us)(?= ?(?:[?.!]|please|$))|wie laute[tn] (?:er|sie|es)|(?:gib|nenne?n?|schicken?|schreiben?|tippen?|sagen?|geben)(?: sie)?(?: mir| uns)? (?:ihn|sie|es|beide)|(?:me |nous )?l(?:e|a|es) (?:donner|envoyer|indiquer|communiquer|transmettre)|(?:me )?l[oa]s? (?:puedes?|podrias?|puoi|puo|pode)|(?:dam|envia(?:me)?|escrib[ae]|indi[cq]u?[ae]|inserisci|scrivi|dimme?|dam+e)l[oa]s?|(?:напишите|пришлите|введите|назовите|сообщите|укажите|скажите) (?:мне )?(?:его|ее|их|сюда)",
);

/** "The site needs no password", "I never ask for one". */
const NEGATED = words(
	"(?:never|not|[a-z]{2,6}n't|nicht|nie)(?: \\p{L}+){0,2} (?:ask|need|require|enter|send|share|type|provide|tell|give|use|brauch|frag)\\p{L}*(?: \\p{L}+){0,4}|(?:no|kein\\p{L}{0,2}|ohne|sans|sin|senza|sem)(?: \\p{L}+){1,2}",
);

/** What comes before the question in a sentence: "The password is new, which colour?" */
const BEFORE_QUESTION =
	/^[^\n]*[,:] (?=(?:and |but |so |now |und |et |y )?(?:what|which|who|where|when|how|should|shall|do|does|welche|was|wie|soll|quel|que|cual|como|qual))/u;
/** Asks what to do, not for a thing. */
const ASKS_WHAT_TO_DO = words('^(?:so |now |and )?(?:should|shall) (?:i|we)');

/** A text of at most so many words names what is asked for, as a title does. */
const MAX_LABEL_WORDS = 6;
/** UTF-16 units from a request to the name of what it asks for. */
const NEAR = 120;

/**
 * Whether an item seems to ask for a secret, which must not be shown, kept, repeated or taken from a thread. When in doubt
 * it is true, because a masked answer costs little. The name of a secret in the title is enough. In the description, its
 * sentence must ask for something or the description must be a label.
 */
export function looksSecret(item: Pick<HumanInputItem, 'title' | 'description'>): boolean {
	const titles = readingsOf(item.title).map(withoutHarmless);
	if (titles.some((title) => WHOLE_TITLES.test(withoutFinalMarks(title)) || namesSecret(title))) return true;
	return readingsOf(item.description).map(withoutHarmless).some(asksForSecret);
}

/**
 * Whether the text above the items asks for a secret. It tells of much that was done, so a sentence must ask the reader for
 * the secret, or be the last that asks and report who wants it, or ask for "it" after a sentence that names it.
 */
export function asksAbove(text: string): boolean {
	return readingsOf(text).map(withoutHarmless).some(requestsSecret);
}

function requestsSecret(text: string): boolean {
	const sentences = sentencesOf(text);
	if (sentences.length === 1 && isLabel(text) && !/[.;,]/.test(text) && !OFFERS_CHOICE.test(text))
		return namesSecret(text);
	const lastAsking = sentences.findLastIndex((sentence) => asksForIt(sentence));
	let inList = false;
	return sentences.some((sentence, at) => {
		inList = inList ? isLabel(sentence) : sentence.endsWith(':\n') && ASKS.test(sentence);
		if (inList && namesSecret(sentence)) return true;
		if (REQUESTS_IT.test(sentence) && namesSecret(`${sentences[at - 1] ?? ''} ${sentence}`)) return true;
		const told = sentence.replace(NEGATED, ' _ ');
		if (namesAfter(REQUESTS, told) || (REQUESTS_AFTER.test(told) && namesSecret(told))) return true;
		if (ASKS.test(told) && WHOLE_TITLES.test(withoutFinalMarks(told).trim())) return true;
		if (at < lastAsking) return false;
		const question = told.replace(BEFORE_QUESTION, '').trim();
		return namesAfter(ASKS, told) || (isQuestion(question) && !ASKS_WHAT_TO_DO.test(question) && namesSecret(question));
	});
}

/** Whether the name of a secret comes soon after the first such word. */
function namesAfter(asks: RegExp, sentence: string): boolean {
	const at = sentence.search(asks);
	return at !== -1 && namesSecret(sentence.slice(at, at + NEAR));
}

function asksForSecret(description: string): boolean {
	if (!namesSecret(description)) return false;
	if (isLabel(description) && !OFFERS_CHOICE.test(description)) return true;
	// A list under "Please provide:" asks for each of its lines.
	const asksForList = ASKS.test(description) && !OFFERS_CHOICE.test(description);
	return sentencesOf(description).some(
		(sentence) => (asksForIt(sentence) || (asksForList && isLabel(sentence))) && namesSecret(sentence),
	);
}

function isLabel(text: string): boolean {
	return text.trim().split(' ').length <= MAX_LABEL_WORDS;
}

const OFFERS_CHOICE = words('options?|one of|choose|pick|select|either|or');

function asksForIt(sentence: string): boolean {
	return ASKS.test(sentence) || isQuestion(sentence);
}

function isQuestion(sentence: string): boolean {
	return /[?؟]\s*$/.test(sentence) && !OFFERS_CHOICE.test(sentence);
}

const ALL_HARMLESS = HARMLESS_PHRASES.map(({ pattern }) => new RegExp(pattern, 'gu'));

function withoutHarmless(text: string): string {
	return ALL_HARMLESS.reduce((left, pattern) => left.replaceAll(pattern, ' _ '), text);
}

function namesSecret(text: string): boolean {
	return SECRET_RULES.some(({ pattern }) => pattern.test(text));
}

function sentencesOf(text: string): string[] {
	// A full stop inside a word (".env", "cookies.txt") does not end a sentence.
	return text.match(/(?:[^.!?;؟。\n]|[.!?](?!\s|$))+[.!?;؟。\n]?/g) ?? [];
}
