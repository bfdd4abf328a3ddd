import { matchingText, withoutFinalMarks, words } from './matching-text.ts';
import { harmlessPhrases, secretRules, wholeTitles } from './secret-rules.ts';
import type { HumanInputItem } from './session.ts';

/** Somebody is asked for something in this sentence, so that a secret's name in it is no mere mention. */
const asks = words(
	'enter|provide|type|give|send|share|supply|paste|input|insert|submit|tell|reply|respond|fill|need|needs|needed|require|requires|required|asks?|asking|asked|wants?|what|please|bitte|eingeben|gib|geben|nennen|introduce|ingresa|ingrese|escribe|indica|saisir|saisissez|entrez|indiquez|donnez',
);

/** Descriptions of so few words name what is asked for, as a title does. */
const wordsOfALabel = 6;

/**
 * Whether an item asks for something that must not be shown, kept, repeated or taken from a thread. In doubt it does: a
 * masked answer costs little. A name of a secret in the title decides by itself; in the description it does where
 * its sentence asks for something, or where the description is hardly more than that name.
 */
export function looksSecret(item: Pick<HumanInputItem, 'title' | 'description'>): boolean {
	const title = matchingText(item.title);
	if (wholeTitles.test(withoutFinalMarks(title)) || namesSecret(title)) return true;
	const description = matchingText(item.description);
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
	return text.match(/[^.!?\n]+[.!?\n]?/g) ?? [];
}
