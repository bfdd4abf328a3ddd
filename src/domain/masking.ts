import { credentialsIn, namedIn } from './credentials.ts';
import type { Session } from './session.ts';
import { withBrokenRuns } from './texts.ts';

/** Stands for what is hidden. */
export const MASK = '••••';

const WIDE = /[\uff0d\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]/g;
/** Where they stand again: shorter values are words, and only so many are looked for. */
const LEAST_REPEATED = 6;
const MOST_REPEATED = 100;

/** `plain`: without characters that nobody sees. `read`: as long, with ASCII in place of wide letters and digits. */
function readable(text: string) {
	const plain = withBrokenRuns(text.replace(/\p{Default_Ignorable_Code_Point}/gu, '')).normalize();
	return { plain, read: plain.replace(WIDE, (one) => String.fromCharCode(one.charCodeAt(0) - 0xfee0)) };
}

/**
 * An agent's text without what looks like a credential, and how many places of it are hidden. One that has none comes
 * back as it was, with characters that nobody sees. It takes time in proportion to the length. `known`: values that are
 * hidden too; those found are added. Agents write a password again: "Shall I try … once more?"
 */
export function masked(text: string, known = new Set<string>()): { readonly text: string; readonly count: number } {
	if (known.has(text)) return { text: MASK, count: 1 };
	const { plain, read } = readable(text);
	const spans = credentialsIn(read).toSorted(([a], [b]) => a - b);
	let [end, count, shown] = [0, 0, ''];
	for (const [from, to] of spans) {
		if (from >= end) shown += plain.slice(end, from) + MASK;
		if (from >= end) count += 1;
		if (to > from && known.size < MOST_REPEATED) known.add(plain.slice(from, to));
		end = Math.max(end, to);
	}
	shown += plain.slice(end);
	// The longest first: another may be part of it.
	for (const value of [...known].toSorted((one, other) => other.length - one.length)) {
		if (value.length < LEAST_REPEATED || !shown.includes(value)) continue;
		shown = shown.replaceAll(value, MASK);
		count += 1;
	}
	return count === 0 ? { text, count } : { text: shown, count };
}

/** Which of these credentials stand in the texts, so that `masked` hides them there. */
export function repeatedIn(texts: readonly string[], known: ReadonlySet<string>): string[] {
	const read = texts.map((text) => ({ text, plain: readable(text).plain }));
	const isIn = (value: string) => (one: (typeof read)[number]) =>
		one.text === value || (value.length >= LEAST_REPEATED && one.plain.includes(value));
	return [...known].filter((value) => read.some(isIn(value)));
}

/** How much of a session is searched for the credentials that it names, in UTF-16 units. */
const MOST_SEARCHED = 300_000;

/** Several screens and questions of one read ask, and a long session takes milliseconds. */
const namedInSessions = new WeakMap<Session, ReadonlySet<string>>();

/** What a session's texts name as a password or the like, the newest first: all screens hide it, whatever they show. */
export function credentialsOf(session: Session): Set<string> {
	const known = namedInSessions.get(session) ?? searched(session);
	namedInSessions.set(session, known);
	// A screen adds what it finds itself.
	return new Set(known);
}

function searched({ name, sessionDetails, files, messages }: Session): ReadonlySet<string> {
	const texts = messages.toReversed().flatMap(({ content, actions, humanInput }) => {
		const items = humanInput.flatMap(({ title, description }) => [title, description]);
		return [content, ...items, ...actions.map(({ text }) => text)];
	});
	const known = new Set<string>();
	let room = MOST_SEARCHED;
	for (const text of [name, sessionDetails, ...files.map(({ filename }) => filename), ...texts]) {
		if (room <= 0 || known.size === MOST_REPEATED) break;
		const { plain, read } = readable(text.slice(0, room));
		for (const [from, to] of namedIn(read))
			if (to > from && known.size < MOST_REPEATED) known.add(plain.slice(from, to));
		room -= text.length;
	}
	return known;
}

/** Reads the texts of one screen: masked unless it `shows` all. `hides`: it has hidden something. */
export function createMask(shows = false, known = new Set<string>()) {
	const mask = {
		known,
		hides: false,
		read(text: string): string {
			const found = shows ? { text, count: 0 } : masked(text, known);
			mask.hides ||= found.count > 0;
			return found.text;
		},
		/** Whether others read this text masked. */
		covers: (text: string) => masked(text, known).count > 0,
	};
	return mask;
}

export type Mask = ReturnType<typeof createMask>;

/** Draws a screen; once more if a text of it names other credentials, which then are hidden in all its texts. */
export function drawMasked<Drawn>(known: Set<string>, draw: (mask: Mask) => Drawn): Drawn {
	const count = known.size;
	const first = draw(createMask(false, known));
	return known.size === count ? first : draw(createMask(false, known));
}

/** Sessions as a list names them. */
export const maskedNames = <Named extends { readonly name: string }>(sessions: readonly Named[]): Named[] =>
	sessions.map((one) => ({ ...one, name: masked(one.name).text }));
