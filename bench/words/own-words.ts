/** As people count: an emoji, a dash or a middle dot is no word; "21.40", "don’t" and "2:03" are one each. */
function wordsOf(text: string): string[] {
	return text.match(/[\p{L}\p{N}](?:[\p{L}\p{N}]|[.,:’'/@-](?=[\p{L}\p{N}]))*/gu) ?? [];
}

function pairsOf(words: readonly string[]): string[] {
	return words.slice(1).map((word, at) => `${words[at]} ${word}`);
}

/**
 * Counts the words of a text, and those that are in none of the `foreign` texts. A run of at least two words of a
 * foreign text is foreign, so that a text that was cut is recognised; a single word only where it is a whole text.
 */
export function countWords(text: string, foreign: readonly string[]): { all: number; own: number } {
	const words = wordsOf(text);
	const texts = foreign.map(wordsOf);
	const single = new Set(texts.filter((one) => one.length === 1).flat());
	const pairs = new Set(texts.flatMap(pairsOf));
	const isForeign = words.map((word) => single.has(word));
	for (const [at, pair] of pairsOf(words).entries()) {
		if (pairs.has(pair)) isForeign.fill(true, at, at + 2);
	}
	return { all: words.length, own: isForeign.filter((is) => !is).length };
}
