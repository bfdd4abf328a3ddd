import { type Part, type Piece, piecesText, type Words } from '../../src/slack/rich-text.ts';

/** What people read of words or pieces: mentions, channels and dates left out, for a comparison part by part. */
export function said(words: Words | readonly Piece[]): string {
	if (typeof words === 'string') return words;
	const isPieces = words.some((one) => 'elements' in one);
	if (isPieces) return piecesText(words as readonly Piece[]);
	return (words as readonly Part[]).map((part) => ('text' in part ? (part.text ?? '') : '')).join('');
}
