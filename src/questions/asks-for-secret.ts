import { matchingText, readingsOf, withoutFinalMarks, words, wordsOr } from './matching-text.ts';
import { CAME_BY, HARMLESS_PHRASES, SECRET_RULES, WHOLE_TITLES } from './secret-rules.ts';
import type { HumanInputItem } from './session.ts';

/** Words that ask the reader for something, before or after its name. */
const VERBS =
	'please|enter|provide|type|give|forward|send|share|supply|paste|input|insert|submit|reply|respond|fill|tell|need|hand|drop|pass (?:me|on|over)|read (?:me|out)|let (?:me|us) know|bitte|gib|geben|nenne|sag|brauche|lautet|introduce|introduzca|ingres[ae]|escrib[ae]|indi[cq]u?[ae]|envi[ae]|pas[ae]|dime|dame|necesito|saisi[rs]|saisissez|entrez|indiquez|donnez|envoyez|tapez|dis|il (?:me|nous) faut|besoin|inserisci|digita|scrivi(?:lo)?|invia|dammi|dimmi|(?:mi|ci) serv(?:e|ono)|introduza|insira|digite|informe|diga|preciso|voer|vul|geef|stuur|nodig|ange|skriv|skicka|behover|indtast|oplys|trenger|anna|syota|kirjoita|kerro|tarvitsen|podaj|wpisz|wprowadz|potrzebuj\\p{L}|zadejte|zadajte|napiste|potrebuj\\p{L}|introdu|introduceti|scrie|trimite|nevoie|introdueix|introduiu|escriu|введите|напишите|укажите|пришлите|назовите|сообщите|отправьте|скажите|нуж\\p{L}{2,3}|введіть|напишіть|надішліть|вкажіть|потріб\\p{L}{2,3}|δωστε|εισαγετε|γραψτε|πειτε|στειλτε|χρειαζομαι|nhap|vui long|masukkan|kirimkan|berikan|sebutkan|tolong|butuh';
/** Those that stand after it, or on either side: what is missing, and what somebody waits for. */
const VERBS_AFTER =
	'eingeben|nennen|schicken|mitteilen|girin(?:iz)?|yaz(?:in(?:iz)?|ar)|gerek\\p{L}{0,4}|lazim|adja meg|add meg|irja be|kell|(?:is|are) (?:needed|required|missing|mandatory|obligatory)|(?:please|bitte)(?= ?[.!]|$)|(?:wait|waiting|hold|stuck) (?:for|on|until)|until i (?:have|get)|fehl(?:t|en)|warte auf|manque|falta\\p{L}?|manca|ontbreekt|saknas|mangler|puuttuu|brakuje|chybi|hianyzik|lipseste|не хватает';
const IN_OTHER_SCRIPTS =
	'入力|教え|ください|必要|请|請|告诉|告訴|需要|입력|알려|보내|필요|กรอก|ใส่|ป้อน|ต้องการ|दर्ज|बताइए|चाहिए|ادخل|ارسل|أدخل|أرسل|أحتاج|הזן|הזיני|הכנס|שלח|צריך';
/** What somebody else wants, as an agent reports it. */
const WANTED =
	'needs|needed|requires?|required|asks?|asking|asked|wants?|expects|except|verlangt|braucht|fragt|demande|exige|pide|solicita|chiede|richiede|pede|vraagt|просит|требует';

/** A sentence with such a word asks for something, so it does not only mention the name of a secret. */
const ASKS = wordsOr(`${VERBS}|${VERBS_AFTER}|${WANTED}|what`, IN_OTHER_SCRIPTS);
const ALL_VERBS = new RegExp(words(VERBS), 'gu');
/** Asks the reader: "to enter" and "I sent" tell of something else. */
const REQUESTS = words(`(?<!(?:to|i|we|you|they|it|should|shall) )(?:${VERBS})|(?:i|we) (?:still |also )?need`);
/** Asks for what the sentence before names. */
const REQUESTS_IT = words(
	`(?<!(?:to|i|we|you|they|it|should|shall) )(?:${VERBS})(?: me| us)? (?:it|one|them|both|this|that|these|those|here|below)|(?:do|can|could|would|did|have) you(?: \\p{L}+){1,3} (?:it|one|them|that)|(?:got|have) (?:it|them|an?|the \\p{L}+ one)(?= ?[?])|(?:it|them|one) (?:here|to me|in|out|over|below)|(?:vous l'avez|tu l'as|l[oa] (?:tienes?|sabes?|sai|hai|tem)|(?:hast|kennst|wei(?:ß|ss)t) du (?:ihn|sie|es|das))`,
);
const REQUESTS_AFTER = wordsOr(VERBS_AFTER, IN_OTHER_SCRIPTS);

/** The words of a sentence that asks for what stands before it: "A code was sent. What is it?", "Dis-moi ce qu'il contient." */
const LITTLE = new Set(
	matchingText(
		"what which is are was were does did it its they them both this that these those one the all me us you your can could would will read say says said show shows see got get have let know here below in to out back over now just so and then with pass want wait waiting for i i'm am we box cannot can't continue go on proceed without help thanks number numbers digits code codes new again another correct новый другой neues nuevo nueva nouveau mind sharing came come arrived content contents message welche welcher welches welchen wie lauten ist sind steht drin darin da der die das den es sie er ihn mir uns nenn nennen schick schicken sagen kannst konntest du ich warte darauf quel quelle quels quelles est sont ce que qu'il il elle ils contient dit moi donne donner envoie envoyer pouvez vous peux tu le la les je l'attends c'est quoi cual cuales son dice pone trae lo los las dimelo damelo puedes dar decir por favor aqui espero numeros qual quais e o a os as diz pode passar mandar quale quali cosa c'e scritto puoi dire dare dimmelo dimmela per favore qui wat welke zijn staat erin het ze hem mij kun alsjeblieft ik wacht erop vad hva hvad star det dem mig meg jag jeg vantar venter pa kan co jakie jaki jaka jaky sa jest mi czekam na cekam nej posli какие какой каков что там это он она они его ее их мне жду в нем сюда які який що це вони його їх чекаю nedir ne yaziyor onlar bana soyle 是多少 是什么 何ですか пожалуйста alstublieft prosze prosim lutfen 教えてください 请告诉我 무엇인가요 se minulle mika",
	).split(' '),
);
/** Named before a sentence of `LITTLE` words, which then asks for its contents. */
const CAME = words(
	`${CAME_BY}|(?:an?|une?|una|einen?|ett|een|en|et) (?:\\p{L}+ )?(?:codes?|codigo|codice|kode?)|kod\\p{L}{0,2}|код`,
);

/** "The site needs no password", "I never ask for one". */
const NEGATED = words(
	"(?:never|not|[a-z]{2,6}n't|nicht|nie)(?: \\p{L}+){0,2} (?:ask|need|require|enter|send|share|type|provide|tell|give|use|brauch|frag)\\p{L}*(?: \\p{L}+){0,4}|(?:no|kein\\p{L}{0,2})(?: \\p{L}+){1,2}",
);
/** "I went on without the password"; "I cannot without it" is different. */
const WITHOUT = words('(?:without|ohne|sans|sin|senza|sem)(?: \\p{L}+){1,2}');
const CANNOT = words("cannot|not|[a-z]{2,6}n't|stuck|nicht|kein\\p{L}{0,2}|ne|n'\\p{L}+|pas|no|non|nao");

/** Where a sentence turns from what it tells to what it asks: "The password is new, which colour?" */
const BEFORE_ASKING = new RegExp(
	`(?:[,:;] | (?=(?:and|but|so|und|et|y|e) ))(?=(?:(?:and|but|so|now|then|und|et|y|e) )*(?:which|who|where|when|how|should|shall|do|does|can you|could you|i need|welche|was|wie|soll|quel|que|cual|como|qual|${VERBS}|what)(?![\\p{L}\\p{N}]))`,
	'u',
);
/** Asks what to do, not for a thing. */
const ASKS_WHAT_TO_DO = words('^(?:so |now |and )*(?:should|shall|does|(?:may|can) (?:i|we)(?! (?:have|get|know)))');
/** Tells what was done. */
const TELLS = words(
	"^(?:- )?(?:(?:i|we)(?:'ve| have| had)? )?\\p{L}+ed|(?:i|we)(?:'ve| have(?! to)| had(?! to)| sent| wrote| set| put)|(?:is|are|was|were|been) (?:\\p{L}+ed|done|ready|set|sent|new|gone)",
);

/** A text of at most so many words names what is asked for, as a title does. */
const MAX_LABEL_WORDS = 6;

/**
 * Whether an item seems to ask for a secret, which must not be shown, kept, repeated or taken from a thread. When in doubt
 * it is true, because a masked answer costs little. The name of a secret in the title is enough. The description
 * is read as a text above the items is.
 */
export function looksSecret(item: Pick<HumanInputItem, 'title' | 'description'>): boolean {
	const titles = readingsOf(item.title).map(withoutHarmless);
	if (titles.some((title) => WHOLE_TITLES.test(withoutFinalMarks(title)) || namesSecret(title))) return true;
	return asksAbove(item.description);
}

/**
 * Whether a text of several sentences asks for a secret: one that names it requests it, or neither it tells what was done
 * nor a later one asks for something else. "What is it?" asks for what the sentence before names.
 */
export function asksAbove(text: string): boolean {
	return readingsOf(text).map(withoutHarmless).some(requestsSecret);
}

function requestsSecret(text: string): boolean {
	if (isLabel(text) && !/[.;,。、，]/.test(text) && !OFFERS_CHOICE.test(text) && !ASKS_WHAT_TO_DO.test(text))
		return namesSecret(text);
	const sentences = sentencesOf(text);
	const lastOther = sentences.findLastIndex((sentence) => asksForIt(sentence) && !saysLittle(sentence));
	let list: RegExp | null = null;
	return sentences.some((sentence, at) => {
		// The lines under "Please provide:" are asked for, those under "Choose one:" are not.
		if (sentence.endsWith(':\n')) list = [OFFERS_CHOICE, ASKS].find((kind) => kind.test(sentence)) ?? null;
		else if (!isLabel(sentence)) list = null;
		if (list === ASKS && namesSecret(sentence)) return true;
		const told = (CANNOT.test(sentence) ? sentence : sentence.replace(WITHOUT, ' _ ')).replace(NEGATED, ' _ ');
		if (namesAfter(REQUESTS, told) || (REQUESTS_AFTER.test(told) && namesSecret(told))) return true;
		if (ASKS.test(told) && WHOLE_TITLES.test(withoutFinalMarks(told).trim())) return true;
		const before = sentences[at - 1] ?? '';
		if ((saysLittle(sentence) || REQUESTS_IT.test(told)) && (namesSecret(before) || CAME.test(before))) return true;
		if (list === OFFERS_CHOICE || OFFERS_CHOICE.test(told) || ASKS_WHAT_TO_DO.test(told)) return false;
		if (isQuestion(told) && namesSecret(told)) return true;
		if (at < lastOther) return false;
		if (asksForIt(told)) return namesAfter(ASKS, told);
		// "I reached the checkout and all that remains is the CVC."
		const parts = told.split(/,|;| (?:and|but|und|aber) (?=(?:\S+ ){3})/);
		return parts.some((part) => !TELLS.test(part) && namesSecret(part));
	});
}

/** Whether the name of a secret comes after the first such word. */
function namesAfter(asks: RegExp, sentence: string): boolean {
	const at = sentence.search(asks);
	return at !== -1 && namesSecret(sentence.slice(at));
}

/** Whether a sentence only asks for what stands before it. */
function saysLittle(sentence: string): boolean {
	const others = sentence.replace(ALL_VERBS, ' ').match(/[\p{L}']+/gu) ?? [];
	return /\p{L}/u.test(sentence) && !ASKS_WHAT_TO_DO.test(sentence) && others.every((word) => LITTLE.has(word));
}

function isLabel(text: string): boolean {
	return text.trim().split(' ').length <= MAX_LABEL_WORDS;
}

const OFFERS_CHOICE = words('options?|one of|choose|pick|select|either|or');

function asksForIt(sentence: string): boolean {
	return ASKS.test(sentence) || isQuestion(sentence);
}

function isQuestion(sentence: string): boolean {
	return /[?؟？]\s*$/.test(sentence) && !OFFERS_CHOICE.test(sentence);
}

const ALL_HARMLESS = HARMLESS_PHRASES.map((pattern) => new RegExp(pattern, 'gu'));

function withoutHarmless(text: string): string {
	return ALL_HARMLESS.reduce((left, pattern) => left.replaceAll(pattern, ' _ '), text);
}

function namesSecret(text: string): boolean {
	return SECRET_RULES.some(({ pattern }) => pattern.test(text));
}

function sentencesOf(text: string): string[] {
	// A full stop inside a word (".env", "cookies.txt") does not end a sentence.
	const sentences = text.match(/(?:[^.!?;؟。\n]|[.!?](?!\s|$))+[.!?;؟。\n]?/g) ?? [];
	return sentences.flatMap((sentence) => sentence.split(BEFORE_ASKING).map((part) => part.trimStart()));
}
