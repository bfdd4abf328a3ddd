import { credentialsIn, namedIn } from './credentials.ts';
import type { Session } from './session.ts';
import { withBrokenRuns } from './texts.ts';

/** Stands in place of a hidden text. */
export const MASK = '••••';

const WIDE = /[\uff0d\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]/g;
/** A repeated credential is masked if it has this length, because a shorter one may be a word. At most so many are. */
const LEAST_REPEATED = 6;
const MOST_REPEATED = 100;

/** `plain`: without invisible characters. `read`: as long, with ASCII in place of wide letters and digits. */
function readable(text: string) {
	const plain = withBrokenRuns(text.replace(/\p{Default_Ignorable_Code_Point}/gu, '')).normalize();
	return { plain, read: plain.replace(WIDE, (one) => String.fromCharCode(one.charCodeAt(0) - 0xfee0)) };
}

/**
 * Masks what looks like a credential in an agent's text. A text without one is returned unchanged. The time is linear
 * in the length. `known`: values that are masked too; the found ones are added, because agents repeat a password:
 * "Shall I try … once more?" `count`: how many places are masked.
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
	// The longest first: a shorter value may be part of it.
	for (const value of [...known].toSorted((one, other) => other.length - one.length)) {
		if (value.length < LEAST_REPEATED || !shown.includes(value)) continue;
		shown = shown.replaceAll(value, MASK);
		count += 1;
	}
	return count === 0 ? { text, count } : { text: shown, count };
}

/** The credentials that stand in these texts, where `masked` hides them. */
export function repeatedIn(texts: readonly string[], known: ReadonlySet<string>): string[] {
	const read = texts.map((text) => ({ text, plain: readable(text).plain }));
	const isIn = (value: string) => (one: (typeof read)[number]) =>
		one.text === value || (value.length >= LEAST_REPEATED && one.plain.includes(value));
	return [...known].filter((value) => read.some(isIn(value)));
}

/** UTF-16 units of a session that are searched for credentials. */
const MOST_SEARCHED = 300_000;

/** Results by session: several screens and questions of one read ask, and a long session takes milliseconds. */
const namedInSessions = new WeakMap<Session, ReadonlySet<string>>();

/** The credentials that a session's texts name, the newest first. Every screen hides them. */
export function credentialsOf(session: Session): Set<string> {
	const known = namedInSessions.get(session) ?? searched(session);
	namedInSessions.set(session, known);
	// A copy, because a screen adds the credentials that it finds itself.
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

/** Masks the texts of one screen. `shows`: it masks nothing. `hides`: it has masked something. */
export function createMask(shows = false, known = new Set<string>()) {
	const mask = {
		known,
		hides: false,
		read(text: string): string {
			const found = shows ? { text, count: 0 } : masked(text, known);
			mask.hides ||= found.count > 0;
			return found.text;
		},
		/** Whether others see this text masked. */
		covers: (text: string) => masked(text, known).count > 0,
	};
	return mask;
}

export type Mask = ReturnType<typeof createMask>;

/** Draws a screen. If a text of it names new credentials, draws it again to hide them in all texts. */
export function drawMasked<Drawn>(known: Set<string>, draw: (mask: Mask) => Drawn): Drawn {
	const count = known.size;
	const first = draw(createMask(false, known));
	return known.size === count ? first : draw(createMask(false, known));
}

/** Sessions with masked names, for a list. */
export const maskedNames = <Named extends { readonly name: string }>(sessions: readonly Named[]): Named[] =>
	sessions.map((one) => ({ ...one, name: masked(one.name).text }));
