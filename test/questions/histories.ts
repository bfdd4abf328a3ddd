import fc from 'fast-check';
import type { SettledHow } from '../../src/questions/asked.ts';
import type { ReadItem, Session } from '../../src/questions/session.ts';
import { buildSession } from '../support/sessions.ts';

const KINDS = [
	'ask',
	'ask',
	'answer',
	'answer',
	'answerInPart',
	'answerInPart',
	'answerAndAsk',
	'askAndAnswer',
	'askAnswerAndAsk',
	'goOn',
	'change',
	'changeAndAnswer',
	'reword',
	'empty',
	'rewind',
	'work',
	'wait',
	'take',
	'end',
] as const;

/** What happens in a session between two reads. */
export interface Act {
	readonly kind: (typeof KINDS)[number];
	/** Of what is asked: of so few that agents often ask the same. */
	readonly title: string;
	readonly count: number;
	/** Whether a message comes in before all others, too. */
	readonly moves: boolean;
	/** Whether somebody answers through Handraise. */
	readonly isOurs: boolean;
	/** Whether what the read found is posted before the next one. */
	readonly isPosted: boolean;
}

export const anyHistory: fc.Arbitrary<readonly Act[]> = fc.array(
	fc.record({
		kind: fc.constantFrom(...KINDS),
		title: fc.constantFrom('One', 'Two'),
		count: fc.integer({ min: 1, max: 2 }),
		moves: fc.boolean(),
		isOurs: fc.boolean(),
		isPosted: fc.boolean(),
	}),
	{ minLength: 1, maxLength: 14 },
);

/** One time that the agent asked, as a person tells it who saw all that happened. */
export interface Told {
	readonly title: string;
	readonly count: number;
	/** What the agent wrote above it: no two messages say the same. */
	context: string;
	/** Whether a read found it open. */
	readonly wasOpen: boolean;
	/** Whether its message asked something else before. */
	readonly isChanged: boolean;
	/** Null while it is open. */
	how: SettledHow | null;
	/** Slack user id of who answered it through Handraise, be it in part. */
	by: string | null;
	/** What reads of it showed of its values. */
	values: readonly string[];
}

/** An answer through Handraise that arrived before the read. */
interface Arrived {
	readonly by: string;
	readonly messageIndex: number;
	readonly items: readonly ReadItem[];
	/** The positions that it answers. */
	readonly positions: readonly number[];
}

interface Asking {
	content: string;
	title: string;
	/** None: it asks nothing. */
	values: string[];
}

const itemsOf = ({ title, values }: Asking): ReadItem[] => values.map((value) => ({ title, description: '', value }));

/** A session, and the times that its agent asked, told without looking at the program's rules. */
export function createHistory(sessionId: string) {
	const messages: Asking[] = [];
	const told: Told[] = [];
	let status = 'humanInput';
	let count = 0;
	let answers = 0;

	const newest = () => messages.findLast(({ values }) => values.length > 0);
	const open = () => told.find(({ how }) => how === null);
	const say = () => `text${++count}.`;
	/** No two answers say the same. */
	const value = () => `value${String(++count).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '')}`;
	const valuesOf = ({ values }: Asking) => values.filter((one) => one !== '');

	function fill(asking: Asking | undefined): void {
		if (asking !== undefined) asking.values = asking.values.map((one) => one || value());
	}

	/** Whether somebody has to answer now. */
	function isAsked(): boolean {
		const values = newest()?.values ?? [];
		if (status === 'completed') return false;
		return values.includes('') && (status === 'humanInput' || values.every((value) => value === ''));
	}

	function settle(how: SettledHow, by: string | null = null): void {
		const one = open();
		if (one === undefined) return;
		one.how = how;
		one.by = by ?? one.by;
	}

	/** Settles what the values of its message answer. */
	function answer(asking: Asking | undefined, by: string | null): void {
		const one = open();
		if (one !== undefined && asking !== undefined) one.values = valuesOf(asking);
		settle('answered', by);
	}

	function tell(how: SettledHow | null, isChanged = false): void {
		const asking = newest() ?? never();
		const { title, values, content: context } = asking;
		const about = { title, count: values.length, context };
		told.push({ ...about, wasOpen: how === null, isChanged, how, by: null, values: valuesOf(asking) });
	}

	function ask({ title, count }: Act): void {
		messages.push({ content: say(), title, values: Array.from({ length: count }, () => '') });
	}

	/** Plays an act; null when it makes no sense now. */
	function play(act: Act): { readonly session: Session; readonly arrived: Arrived | null } | null {
		const { kind, moves, isOurs } = act;
		const asking = newest();
		const wasOpen = open() !== undefined;
		if (status === 'completed') return null;
		const needsQuestion = ['change', 'changeAndAnswer', 'reword', 'rewind'].includes(kind);
		const needsOpen = ['answer', 'answerInPart', 'answerAndAsk', 'take'].includes(kind);
		if ((needsQuestion && asking === undefined) || (needsOpen && !wasOpen)) return null;
		const empty = (asking?.values ?? []).flatMap((value, position) => (value === '' ? [position] : []));
		if (kind === 'answerInPart' && empty.length < 2) return null;
		if (kind === 'empty' && asking?.values.some((value) => value !== '') !== true) return null;
		// It was given where the question stood at the read before.
		const arrived = needsOpen && (isOurs || kind === 'take') && asking !== undefined ? arrivedAt(asking, empty) : null;
		// Of a message that moves and asks something else nobody can tell where it is.
		if (moves && !needsQuestion && kind !== 'end') messages.unshift({ content: say(), title: '', values: [] });
		const by = arrived?.by ?? null;
		switch (kind) {
			case 'ask':
				settle('closed');
				ask(act);
				tell(null);
				break;
			case 'answer':
				fill(asking);
				answer(asking, by);
				break;
			case 'answerInPart': {
				asking?.values.splice(empty[0] ?? 0, 1, value());
				const one = open();
				if (!isAsked()) answer(asking, by);
				else if (one !== undefined && asking !== undefined)
					Object.assign(one, { values: valuesOf(asking), by: by ?? one.by });
				return read(arrived === null ? null : { ...arrived, positions: empty.slice(0, 1) });
			}
			case 'answerAndAsk':
				fill(asking);
				answer(asking, by);
				ask(act);
				tell(null);
				break;
			case 'askAndAnswer':
			case 'askAnswerAndAsk':
				settle('closed');
				ask(act);
				fill(newest());
				tell('answered');
				if (kind === 'askAndAnswer') break;
				ask(act);
				tell(null);
				break;
			case 'goOn':
				messages.push({ content: say(), title: '', values: [] });
				break;
			case 'change':
			case 'changeAndAnswer': {
				const how = kind === 'change' ? null : 'answered';
				settle('changed');
				if (asking !== undefined) {
					asking.title += '?';
					asking.values.fill('');
					if (how !== null) fill(asking);
				}
				tell(how, true);
				break;
			}
			case 'reword': {
				if (asking !== undefined) asking.content = say();
				const one = open();
				if (one !== undefined) one.context = asking?.content ?? '';
				break;
			}
			case 'empty':
				settle('renewed');
				asking?.values.fill('');
				tell(null);
				break;
			case 'rewind':
				settle('closed');
				messages.splice(messages.lastIndexOf(asking ?? never()));
				if (isAsked()) tell(null);
				break;
			case 'work':
				status = 'active';
				if (!isAsked()) settle('closed');
				break;
			case 'wait':
				status = 'humanInput';
				if (isAsked() && !wasOpen) tell(null);
				break;
			case 'take':
				// The agent took the answer, and asks the same again.
				settle('answered', by);
				tell(null);
				break;
			case 'end':
				status = 'completed';
				settle('closed');
		}
		return read(arrived);
	}

	/** The answer of somebody new to the open items of the newest question, which stood there at the read before. */
	function arrivedAt(asking: Asking, positions: readonly number[]): Arrived {
		answers += 1;
		const messageIndex = messages.indexOf(asking);
		return { by: `U0PERSON${answers}`, messageIndex, items: itemsOf(asking), positions };
	}

	function read(arrived: Arrived | null = null) {
		const shown = messages.map((one) => ({
			role: 'assistant',
			content: one.content,
			actions: [],
			humanInput: itemsOf(one),
		}));
		return { session: buildSession({ sessionId, status, messages: shown }), arrived };
	}

	return { told, play, read, openIndex: () => (open() === undefined ? null : messages.indexOf(newest() ?? never())) };
}

function never(): never {
	throw new Error('there is a question');
}
