import type { Message, Session } from '../../src/questions/session.ts';
import { buildSession, saying } from '../support/sessions.ts';
import { asking } from './sessions.ts';

/** How an agent is made, for its whole life. */
export interface Manner {
	/** Whether the status says so while it waits. */
	readonly isVisible: boolean;
	/** Whether the status leaves that for a moment now and then. */
	readonly flaps: boolean;
	/** How long after it has read an answer the status says so; below 60 s. */
	readonly leavesAfterMs: number;
}

/** A message, and what its agent wants. Only this file writes it. */
export interface Asked {
	role: string;
	content: string;
	title: string;
	/** None: it asks nothing. */
	values: string[];
	/** The positions that the agent has no value for, as it knows. */
	needs: Set<number>;
	/** Counts all times that the agent asks, and loses an answer: what comes next may come and go unseen. */
	time: number;
	/** Whether it has read all values, and has not asked again. */
	isTaken: boolean;
	/** The positions where a value ever stood. */
	filled: Set<number>;
	/** Whether another one was the newest since. */
	wasOlder: boolean;
	/** Whether the same was asked before, or after it. */
	isRepeated: boolean;
	/** `time` of the equal one that was dropped, with all before it, when this one was asked; null: none was. */
	slidFrom: number | null;
}

const TITLES = ['One', 'Two'];

/** Sessions are built often: the gate sees each message once. */
const gated = new Map<string, Message>();

function messageOf({ role, content, title, values }: Asked): Message {
	const key = JSON.stringify([role, content, title, values]);
	const known = gated.get(key);
	if (known !== undefined) return known;
	const message = values.length === 0 ? saying(content, role) : { ...asking(values, title), role, content };
	const [built] = buildSession({ messages: [message] }).messages;
	if (built === undefined) throw new Error('there is one message');
	gated.set(key, built);
	return built;
}

/** A session whose agent knows what it wants, told without looking at the program's rules. `n` makes an act special. */
export function createAgent(manner: Manner) {
	const messages: Asked[] = [];
	const asks = new Set<string>();
	/** What was asked in more than one message. */
	const twice = new Set<string>();
	let now = 0;
	let count = 0;
	let times = 0;
	/** Whether messages were taken out of the history. */
	let isCut = false;
	let waits = false;
	let isOver = false;
	/** Until then the status is still that of before, or another one for a moment. */
	let leavesAt = 0;
	let other = { status: '', until: 0 };
	/** Until then it does not look for answers. */
	let pausedUntil = 0;

	const keyOf = ({ title, values }: Asked) => `${title} ${values.length}`;
	const newest = () => messages.findLast(({ values }) => values.length > 0);
	const say = (role = 'assistant') =>
		messages.push({
			role,
			content: `text ${++count % 4}`,
			title: '',
			values: [],
			needs: new Set(),
			time: 0,
			isTaken: false,
			filled: new Set(),
			wasOlder: false,
			isRepeated: false,
			slidFrom: null,
		});

	function status(): string {
		if (isOver) return 'completed';
		if (now < other.until) return other.status;
		return manner.isVisible && (waits || now < leavesAt) ? 'humanInput' : 'active';
	}

	/** It has no answer to any item, and waits. */
	function wants(asked: Asked): void {
		const key = keyOf(asked);
		if (asked.time === 0 || asked.title.endsWith('?')) asked.isRepeated = asks.has(key);
		if (asked.isRepeated) twice.add(key);
		asks.add(key);
		asked.needs = new Set(asked.values.keys());
		asked.time = ++times;
		asked.isTaken = false;
		waits = true;
	}

	function ask(n: number): void {
		const before = newest();
		if (before !== undefined) before.wasOlder = true;
		// Sub-agents ask, too.
		say(n % 5 === 4 ? 'critic' : 'assistant');
		const asked = messages.at(-1);
		if (asked === undefined) return;
		asked.title = TITLES[n % 2] ?? '';
		asked.values = Array.from({ length: n % 3 === 0 ? 2 : 1 }, () => '');
		wants(asked);
	}

	function take(asked: Asked, n: number): void {
		const unread = [...asked.needs].filter((position) => asked.values[position] !== '');
		if (unread.length === 0) return;
		for (const position of unread) {
			asked.needs.delete(position);
			if (n % 2 === 0) asked.values[position] = '';
		}
		if (asked.needs.size > 0) return;
		asked.isTaken = true;
		if (waits) leavesAt = now + manner.leavesAfterMs;
		waits = false;
		if (n % 3 === 0) say();
	}

	const acts = {
		ask,
		take(n: number, asked: Asked) {
			if (now >= pausedUntil) take(asked, n);
		},
		/** It works on, and looks for an answer later. */
		workOn(n: number) {
			waits = false;
			leavesAt = now;
			if (n % 4 > 0) say();
		},
		/** If it has not got a value meanwhile: it looks before it waits. */
		waitAgain(_n: number, asked: Asked) {
			if ([...asked.needs].some((position) => asked.values[position] === '')) waits = true;
		},
		/** Into its own message, in the same words. */
		askSame(_n: number, asked: Asked) {
			asked.values.fill('');
			wants(asked);
		},
		write(n: number) {
			say(n % 4 === 3 ? 'tool' : 'assistant');
		},
		/** It writes the whole history as it read it before the values came: it never sees them. */
		overwrite(n: number, asked: Asked) {
			for (const position of asked.needs) asked.values[position] = '';
			asked.time = ++times;
			if (n % 2 === 0) say();
		},
		compact(n: number, asked: Asked) {
			isCut = true;
			const at = messages.indexOf(asked);
			if (n % 2 === 0) messages.splice(at + 1, 1 + (n % 3));
			else messages.splice(0, Math.min(at, 1 + (n % 3)));
			if (n % 5 === 0) acts.move();
		},
		/** It drops its history and asks the same once more, in a new message. */
		slide(_n: number, asked: Asked) {
			isCut = true;
			messages.splice(0);
			say();
			const again = messages[0];
			if (again === undefined) return;
			Object.assign(again, { title: asked.title, values: asked.values.map(() => ''), slidFrom: asked.time });
			wants(again);
		},
		move() {
			say('system');
			messages.unshift(...messages.splice(-1));
		},
		/** It withdraws its question. Then it asks the one before, or works on. */
		rewind(n: number, asked: Asked) {
			isCut = true;
			messages.splice(messages.indexOf(asked));
			const older = newest();
			// Which of equal ones is left?
			for (const one of messages) one.isRepeated ||= twice.has(keyOf(one));
			if (older !== undefined && n % 2 === 0) acts.askSame(n, older);
			else waits = false;
		},
		reword(_n: number, asked: Asked) {
			asked.content = `text ${++count % 4}`;
		},
		change(n: number, asked: Asked) {
			asked.title = `${TITLES[n % 2]}?`;
			acts.askSame(n, asked);
		},
		flap(n: number) {
			if (waits && manner.flaps)
				other = { status: n % 3 === 0 ? 'inactive' : 'active', until: now + 1_000 + (n % 8) * 1_000 };
		},
		pause(n: number) {
			pausedUntil = now + (n % 10) * 60_000;
			other = { status: n % 2 === 0 ? 'paused' : 'inactive', until: pausedUntil };
		},
		end(n: number) {
			if (n % 4 === 0) isOver = true;
		},
	};

	return {
		/** Null: it makes no sense now. */
		play(kind: keyof typeof acts, n: number): void {
			const asked = newest();
			if (isOver) return;
			if (asked !== undefined) acts[kind](n, asked);
			else if (kind === 'ask' || kind === 'write') acts[kind](n);
		},
		/** A value arrives, be it from Handraise or from elsewhere. */
		put(messageIndex: number, values: readonly string[]): void {
			const asked = messages[messageIndex];
			if (asked === undefined) return;
			asked.values = asked.values.map((value, position) => value || (values[position] ?? ''));
			for (const [position, value] of asked.values.entries()) if (value !== '') asked.filled.add(position);
		},
		pass(ms: number) {
			now += ms;
		},
		now: () => now,
		newest,
		at: (index: number) => messages[index],
		/** Whether it waits, as everybody can see, and will for long. */
		waitsVisibly: () => waits && status() === 'humanInput',
		waits: () => waits && !isOver,
		isCut: () => isCut,
		settle() {
			other = { status: '', until: 0 };
		},
		session: (): Session => ({ ...EMPTY, status: status(), messages: messages.map(messageOf) }),
	};
}

const EMPTY = buildSession();
export type AgentAct = Parameters<ReturnType<typeof createAgent>['play']>[0];
