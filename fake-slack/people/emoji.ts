import type { Json } from '../json.ts';

/** The emoji that this fake's composer knows, by name; null: the workspace's own, an image. Others stay as typed. */
const EMOJI: Readonly<Record<string, string | null>> = {
	'+1': '1f44d',
	'+1::skin-tone-4': '1f44d-1f3fd',
	grinning: '1f600',
	heart: '2764-fe0f',
	shipit: null,
	slightly_smiling_face: '1f642',
	smile: '1f604',
	tada: '1f389',
	white_check_mark: '2705',
};

const characters = (points: string) =>
	String.fromCodePoint(...points.split('-').map((point) => Number.parseInt(point, 16)));

const BY_CHARACTERS = new Map(
	Object.entries(EMOJI).flatMap(([name, points]) => (points === null ? [] : [[characters(points), name] as const])),
);
// The longest first, so that a skin tone belongs to its emoji.
const longestFirst = [...BY_CHARACTERS.keys()].toSorted((one, other) => other.length - one.length);

/** An emoji, typed as a character or by its name in colons. */
export const TYPED_EMOJI = new RegExp(`${longestFirst.join('|')}|:\\+?\\w+(?:::skin-tone-\\d)?:`, 'u');

/** As the client sends it: `:name:` in the text, and an element of rich text (docs.slack.dev, rich text block). */
export function emojiOf(typed: string): { text: string; element: Json } | undefined {
	const name = BY_CHARACTERS.get(typed) ?? typed.replace(/^:|:$/g, '');
	if (!Object.hasOwn(EMOJI, name)) return undefined;
	const unicode = EMOJI[name];
	return { text: `:${name}:`, element: { type: 'emoji', name, ...(unicode == null ? {} : { unicode }) } };
}
