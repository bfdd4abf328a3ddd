import type { Message, Session } from '../../../src/domain/session.ts';
import { asking } from '../../domain/sessions.ts';
import { buildSession, saying } from '../../support/sessions.ts';

/** How an agent is made, for its whole life. */
export interface Manner {
	/** Whether the status says so while it waits. */
	readonly isVisible: boolean;
	/** How many items it asks for at once. */
	readonly itemCount: number;
}

interface Written {
	readonly role: string;
	readonly content: string;
	readonly title: string;
	/** By position; none: it asks nothing. */
	values: string[];
}

const TITLES = ['One', 'Two'];
const EMPTY = buildSession();

/** Sessions are built often: the gate sees each message once. */
const gated = new Map<string, Message>();

function messageOf({ role, content, title, values }: Written): Message {
	const key = JSON.stringify([role, content, title, values]);
	const built =
		gated.get(key) ?? buildSession({ messages: [messageRead({ role, content, title, values })] }).messages[0];
	if (built === undefined) throw new Error('there is one message');
	gated.set(key, built);
	return built;
}

const messageRead = ({ role, content, title, values }: Written) =>
	values.length === 0 ? saying(content, role) : { ...asking(values, title), role, content };

/** The session of an agent that knows what it wants. It does not look at the program's rules. */
export function createAgent(sessionId: string, { isVisible, itemCount }: Manner) {
	const messages: Written[] = [{ role: 'user', content: 'Do it', title: '', values: [] }];
	let status = 'active';
	let isDead = false;
	/** The positions of its newest question that it has no value for; none: it does not wait. */
	let needs: ReadonlySet<number> = new Set();
	/** Its messages so far, and those that it has changed. */
	let count = 0;
	/** Counts the times that it asks. */
	let time = 0;
	/** The values that it has read. */
	const read = new Set<string>();

	const newest = () => messages.findLast(({ values }) => values.length > 0);
	function say(title = '', values: string[] = []): void {
		count += 1;
		messages.push({ role: 'assistant', content: `text ${count}`, title, values });
	}

	function waitFor(positions: Iterable<number>): void {
		needs = new Set(positions);
		time += 1;
		status = isVisible ? 'humanInput' : 'active';
	}

	function ask(title: string, itemCount: number): void {
		say(
			title,
			Array.from({ length: itemCount }, () => ''),
		);
		waitFor(Array(itemCount).keys());
	}

	/** Reads the values that it waits for. `empties`: and takes them out of their fields. */
	function take(n: number, empties: boolean): void {
		const asked = newest();
		const there = [...needs].filter((position) => asked?.values[position] !== '');
		if (asked === undefined || there.length === 0) return;
		for (const position of there) {
			read.add(asked.values[position] ?? '');
			if (empties) asked.values[position] = '';
		}
		needs = new Set([...needs].filter((position) => !there.includes(position)));
		if (needs.size > 0) return;
		if (n % 3 !== 0) say();
		// Now and then the status follows with its next step.
		if (n % 4 !== 0) status = 'active';
	}

	const acts = {
		ask: (n: number) => ask(TITLES[n % 2] ?? '', n % 3 < 2 ? itemCount : 1),
		keep: (n: number) => take(n, false),
		take: (n: number) => take(n, true),
		/** It writes the whole history as it read it before the values came, and never sees them. */
		writeBack() {
			const asked = newest();
			if (asked === undefined || [...needs].every((position) => asked.values[position] === '')) return;
			for (const position of needs) asked.values[position] = '';
			waitFor(needs);
		},
		die() {
			isDead = true;
		},
		/** It says that it waits still. */
		beat(n: number) {
			if (needs.size === 0) return;
			if (n % 2 === 0) say();
			status = isVisible ? 'humanInput' : 'active';
		},
		workOn() {
			needs = new Set();
			status = 'active';
			say();
		},
		/** In the same message. */
		askSame() {
			const asked = newest();
			if (asked === undefined) return;
			asked.values.fill('');
			waitFor(asked.values.keys());
		},
		/** The same in a new message. */
		askAnew() {
			const asked = newest();
			if (asked !== undefined) ask(asked.title, asked.values.length);
		},
		/** Something else in the same message. */
		change(n: number) {
			const asked = newest();
			if (asked === undefined) return;
			const at = messages.indexOf(asked);
			count += 1;
			messages[at] = { ...asked, title: `${TITLES[n % 2]}?`, values: asked.values.map(() => '') };
			waitFor(asked.values.keys());
		},
		end(n: number) {
			if (n % 4 === 0) status = 'completed';
		},
	};

	const isOver = () => status === 'completed';

	return {
		isVisible,
		acts: Object.keys(acts) as (keyof typeof acts)[],
		play(kind: keyof typeof acts, n: number): void {
			if (!isDead && !isOver() && status !== 'paused') acts[kind](n);
		},
		/** Somebody takes control, or gives it back. Nothing of that is the agent's. */
		pause() {
			if (!isOver()) status = 'paused';
		},
		giveBack() {
			if (status === 'paused') status = 'active';
		},
		/** Saves values at a message, also of a dead agent. */
		put(messageIndex: number, values: readonly string[]): void {
			const asked = messages[messageIndex];
			if (asked !== undefined) asked.values = [...values];
		},
		newestIndex: () => messages.findLastIndex(({ values }) => values.length > 0),
		valuesAt: (index: number): readonly string[] => messages[index]?.values ?? [],
		status: () => status,
		isOver,
		count: () => count,
		time: () => time,
		hasRead: (value: string) => read.has(value),
		/** The positions that everybody can see it wait for. */
		waitsFor(): readonly number[] {
			const asked = newest();
			return status === 'humanInput' ? [...needs].filter((position) => asked?.values[position] === '') : [];
		},
		/** It has all that it asked for, and works. */
		works: () => needs.size === 0 && status === 'active',
		session: (): Session => ({ ...EMPTY, sessionId, status, messages: messages.map(messageOf) }),
	};
}

export type Agent = ReturnType<typeof createAgent>;
export type AgentAct = Agent['acts'][number];
