/**
 * Payloads with what Slack says to them, written by hand after documentation and reports. Nothing here comes from the
 * rules: a sample that knew their tables would follow them into every mistake.
 */

export type Json = Record<string, unknown>;

export type Subject =
	| { kind: 'message'; value: unknown; method?: 'chat.update' }
	| { kind: 'view'; value: unknown }
	| { kind: 'errors'; view: unknown; value: unknown };

/** Continues "Slack accepts …". */
export type Accepted = { name: string; subject: Subject };

/** Continues "Slack refuses …". */
export type Refused = Accepted & {
	/** A page of Slack's documentation, a report of what Slack answered, or why this is stricter than documented. */
	source: string;
	/** All that is wrong, as Slack words it. */
	says: readonly string[];
};

/** Neighbours on both sides of a limit. */
export type Edge = { accepted: Accepted; refused: Refused };

/** The element's or block's page on docs.slack.dev. */
export const block = (name: string): string => `docs.slack.dev/reference/block-kit/blocks/${name}-block`;
export const element = (name: string): string => `docs.slack.dev/reference/block-kit/block-elements/${name}-element`;
export const composition = (name: string): string =>
	`docs.slack.dev/reference/block-kit/composition-objects/${name}-object`;
export const method = (name: string): string => `docs.slack.dev/reference/methods/${name}`;
/** A limit that stands in the types only. */
export const types = (name: string): string => `@slack/types 3.2, ${name}`;
/** A reason for which this is refused without anyone having seen Slack refuse it. */
export const stricter = (reason: string): string => `stricter than documented: ${reason}`;

export const x = (length: number): string => 'x'.repeat(length);
export const url = (length: number): string => 'https://example.com/'.padEnd(length, 'x');
export const many = <T>(count: number, make: (index: number) => T): T[] =>
	Array.from({ length: count }, (_, index) => make(index));

export const LABEL: Json = { type: 'plain_text', text: 'Label' };
export const SECTION: Json = { type: 'section', text: { type: 'mrkdwn', text: 'Hello' } };
export const BUTTON: Json = { type: 'button', text: { type: 'plain_text', text: 'Press' } };
export const option = (value: string): Json => ({ text: { type: 'plain_text', text: value }, value });
export const options = (count: number): Json[] => many(count, (index) => option(`option ${index}`));

export const modal = (...blocks: unknown[]): Json => ({
	type: 'modal',
	title: { type: 'plain_text', text: 'Session' },
	submit: { type: 'plain_text', text: 'Send' },
	close: { type: 'plain_text', text: 'Close' },
	blocks,
});

/** Where a literal stands; its pointer begins as the constant beside it says. */
export const inMessage = (...blocks: unknown[]): Subject => ({
	kind: 'message',
	value: { text: 'What notifications say', blocks },
});
export const inModal = (...blocks: unknown[]): Subject => ({ kind: 'view', value: modal(...blocks) });
export const inHome = (...blocks: unknown[]): Subject => ({ kind: 'view', value: { type: 'home', blocks } });
/** At /view/blocks/0/element. */
export const inInput = (input: Json): Subject => inModal({ type: 'input', label: LABEL, element: input });
/** At /blocks/0/elements/0. */
export const inActions = (...elements: Json[]): Subject => inMessage({ type: 'actions', elements });
/** At /blocks/0/accessory. */
export const inAccessory = (accessory: Json): Subject => inMessage({ ...SECTION, accessory });
export const asMessage = (value: unknown): Subject => ({ kind: 'message', value });
export const asUpdate = (value: unknown): Subject => ({ kind: 'message', value, method: 'chat.update' });
export const asView = (value: unknown): Subject => ({ kind: 'view', value });

export const accept = (name: string, subject: Subject): Accepted => ({ name, subject });

export interface Refusal {
	readonly says: string;
	/** Where Slack says it; several where one mistake is one in several places. */
	readonly pointer: string | readonly string[];
}

export function refuse(name: string, source: string, { says, pointer }: Refusal, subject: Subject): Refused {
	const pointers = typeof pointer === 'string' ? [pointer] : pointer;
	return {
		name,
		source,
		says: pointers.map((place) => (place === '' ? says : `${says} [json-pointer:${place}]`)),
		subject,
	};
}

/** The pointers to the values in which two payloads of one kind differ. */
function placesOfDifference(one: unknown, other: unknown, pointer: string): string[] {
	if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
		return one === other ? [] : [pointer];
	}
	if (Array.isArray(one) && Array.isArray(other) && one.length !== other.length) return [pointer];
	const values = other as Readonly<Record<string, unknown>>;
	return Object.entries(one).flatMap(([name, value]) => placesOfDifference(value, values[name], `${pointer}/${name}`));
}

const ROOTS = { message: '', view: '/view', errors: '/errors' } as const;

/** The pointer to the one value in which two payloads differ. Throws when there are several. */
export function changedPlace(one: Subject, other: Subject): string {
	const [place, ...others] = placesOfDifference(one.value, other.value, ROOTS[one.kind]);
	if (place === undefined || others.length > 0) throw new Error(`Expected one place, got ${[place, ...others]}.`);
	return place;
}

interface Sides<Value> {
	/** What is just accepted, and what is just refused. */
	readonly fits: Value;
	readonly bursts: Value;
	readonly says: string;
	readonly named: (value: Value, isAccepted: boolean) => string;
}

function edge<Value>(
	source: string,
	{ fits, bursts, says, named }: Sides<Value>,
	subject: (value: Value) => Subject,
): Edge {
	const refusal = { says, pointer: changedPlace(subject(fits), subject(bursts)) };
	return {
		accepted: accept(named(fits, true), subject(fits)),
		refused: refuse(named(bursts, false), source, refusal, subject(bursts)),
	};
}

/** A text of as many characters as it may have, and one of one more. */
export function longest(name: string, source: string, limit: number, subject: (text: string) => Subject): Edge {
	const named = ({ length }: string) => `${name} of ${length} characters`;
	const says = `must be less than ${limit + 1} characters`;
	return edge(source, { fits: x(limit), bursts: x(limit + 1), says, named }, subject);
}

/** As many items as there may be, and one more. */
export function most(name: string, source: string, limit: number, subject: (count: number) => Subject): Edge {
	const named = (items: number) => `${items} ${name}`;
	const says = `no more than ${limit} items allowed`;
	return edge(source, { fits: limit, bursts: limit + 1, says, named }, subject);
}

/** As few items as there may be, and one less. */
export function fewest(name: string, source: string, limit: number, subject: (count: number) => Subject): Edge {
	const named = (items: number, isAccepted: boolean) => `${isAccepted ? 'at least ' : ''}${items} ${name}`;
	const says = `no fewer than ${limit} items allowed`;
	return edge(source, { fits: limit, bursts: limit - 1, says, named }, subject);
}

/** The smallest number, and one less. */
export function smallest(name: string, source: string, limit: number, subject: (value: number) => Subject): Edge {
	const named = (value: number, isAccepted: boolean) => `${name} of ${isAccepted ? 'at least ' : ''}${value}`;
	const says = `must be at least ${limit}`;
	return edge(source, { fits: limit, bursts: limit - 1, says, named }, subject);
}

/** The greatest number, and one more. */
export function greatest(name: string, source: string, limit: number, subject: (value: number) => Subject): Edge {
	const named = (value: number, isAccepted: boolean) => `${name} of ${isAccepted ? 'at most ' : ''}${value}`;
	const says = `must be at most ${limit}`;
	return edge(source, { fits: limit, bursts: limit + 1, says, named }, subject);
}
