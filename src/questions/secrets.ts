import { readingsOf, withoutFinalMarks, words, wordsOr } from './matching-text.ts';
import { harmlessPhrases, secretRules, wholeTitles } from './secret-rules.ts';
import type { HumanInputItem } from './session.ts';

/** Somebody is asked for something in this sentence, so that a secret's name in it is no mere mention. */
const asks = wordsOr(
	'enter|provide|type|give|send|share|supply|paste|input|insert|submit|tell|reply|respond|fill|need|needs|needed|require|requires|required|asks?|asking|asked|wants?|what|please|bitte|eingeben|gib|geben|nennen|introduce|ingresa|ingrese|escribe|indica|saisir|saisissez|entrez|indiquez|donnez|podaj|wpisz|wprowadz|girin|giriniz|yazin|yaziniz|zadejte|napiste|adja meg|irja be|introdueix|introduiu|escriu|ادخل|ارسل|הזן|הזיני|הכנס|שלח|введите',
	'入力|教え|입력|알려',
);

/** Descriptions of so few words name what is asked for, as a title does. */
const wordsOfALabel = 6;

/**
 * Whether an item asks for something that must not be shown, kept, repeated or taken from a thread. In doubt it does: a
 * masked answer costs little. A name of a secret in the title decides by itself; in the description it does where
 * its sentence asks for something, or where the description is hardly more than that name.
 */
export function looksSecret(item: Pick<HumanInputItem, 'title' | 'description'>): boolean {
	if (readingsOf(item.title).some((title) => wholeTitles.test(withoutFinalMarks(title)) || namesSecret(title)))
		return true;
	return readingsOf(item.description).some(asksForSecret);
}

function asksForSecret(description: string): boolean {
	if (!namesSecret(description)) return false;
	if (isLabel(description) && !offersChoice.test(description)) return true;
	// A name in a list under "Please provide:" is asked for like one in the sentence itself.
	const listed = asks.test(description) && !offersChoice.test(description);
	return sentencesOf(description).some(
		(sentence) => (asksForIt(sentence) || (listed && isLabel(sentence))) && namesSecret(sentence),
	);
}

function isLabel(text: string): boolean {
	return text.trim().split(' ').length <= wordsOfALabel;
}

const offersChoice = words('options?|one of|choose|pick|select|either|or');

function asksForIt(sentence: string): boolean {
	return asks.test(sentence) || (sentence.endsWith('?') && !offersChoice.test(sentence));
}

function namesSecret(text: string): boolean {
	let rest = text;
	for (const { pattern } of harmlessPhrases) rest = rest.replaceAll(new RegExp(pattern, 'gu'), ' _ ');
	return secretRules.some((rule) => rule.pattern.test(rest));
}

function sentencesOf(text: string): string[] {
	// A full stop within a word (".env", "cookies.txt") ends none.
	return text.match(/(?:[^.!?\n]|[.!?](?!\s|$))+[.!?\n]?/g) ?? [];
}
