import { askingMessageIndex, stepsSince } from '../../src/questions/session.ts';
import { type AgentAct, type Asked, createAgent, type Manner } from './asked-agent.ts';
import { createRows, type GivenAnswer, type Read, type Shown } from './asked-rows.ts';

const GAPS_MS = [0, 0, 500, 1_000, 2_000, 5_000, 9_000, 11_000, 20_000, 31_000, 59_000, 61_000, 600_000, 7_200_000];

/** Some are drawn more often. */
const AGENT_ACTS =
	'ask ask take take take workOn waitAgain askSame write overwrite compact slide move rewind reword change flap pause end'.split(
		' ',
	) as AgentAct[];
const OUR_ACTS =
	'read read read readOften readOften readOften beginRead endRead answer answer answer accept put land dashboard confirm restart unwatch'.split(
		' ',
	) as OurAct[];
type OurAct =
	| 'read'
	| 'readOften'
	| 'beginRead'
	| 'endRead'
	| 'answer'
	| 'accept'
	| 'put'
	| 'land'
	| 'dashboard'
	| 'confirm'
	| 'restart'
	| 'unwatch';

export type Act = readonly [kind: AgentAct | OurAct, gapMs: number, n: number];

export function actOf(drawn: number): Act {
	const [all, n] = [[...AGENT_ACTS, ...OUR_ACTS], Math.floor(drawn / 1_000)];
	return [all[drawn % all.length] ?? 'read', GAPS_MS[n % GAPS_MS.length] ?? 0, Math.floor(n / GAPS_MS.length) % 60];
}

const W = 'humanInput';

/** `wasTaken`: the agent had what the program knew to be there. */
type Begun = Read & {
	readonly time: number;
	readonly isFilled: boolean;
	readonly wasTaken: boolean;
	/** See `isUnsure`. */
	readonly isUnsure: boolean;
	/** It was superseded, and its agent works. */
	readonly isPast: boolean;
};

function hold(holds: boolean, what: string): void {
	if (!holds) throw new Error(what);
}

/** Plays a history. Throws where a property does not hold. */
export function play(manner: Manner, acts: readonly Act[]): void {
	const agent = createAgent(manner);
	const program = createRows();
	let begun: Begun | null = null;
	let live: GivenAnswer | null = null;
	/** The times of which the program knows a value. */
	const known = new Set<number>();
	/** The most steps after each that reads have shown, and where it stood in the newest of them. */
	const steps = new Map<number, number>();
	const places = new Map<number, number | null>();
	/** Those that reads have shown, and then another one. */
	const superseded = new Set<number>();
	/** Those that were asked while nobody could tell. */
	const doubted = new Set<number>();
	let newestTime = 0;
	/** What each answer answers. */
	const times = new Map<string, number>();

	/** Of equal questions in a history that is cut nobody can tell which one is left, and of an older one when it was answered. */
	function isUnsure(asked: Asked | null): boolean {
		if (!agent.isCut()) return false;
		// Of one that nobody has seen waiting, without the steps after it.
		const hasWaited = program.rows().at(-1)?.evidence?.waitedSeen === true;
		const isBare = !hasWaited && stepsSince(agent.session(), askingMessageIndex(agent.session()) ?? -1) === 0;
		return isBare || asked?.isRepeated === true || asked?.wasOlder === true;
	}

	function begin() {
		const asked = agent.newest() ?? null;
		const isFilled = asked?.values.some((value) => value !== '') === true;
		const { time = 0, isTaken = false } = asked ?? {};
		// While the status still says so, nobody can tell.
		const waits = agent.waits() || agent.session().status === W;
		const isPast = superseded.has(time) && asked?.isRepeated === false && !waits && !isUnsure(asked);
		const wasTaken = isTaken && known.has(time) && !isUnsure(asked);
		return {
			session: agent.session(),
			readAt: agent.now(),
			arrival: program.arrivals(),
			time,
			isFilled,
			wasTaken,
			isUnsure: isUnsure(asked),
			isPast,
		};
	}

	function record(read: Begun): void {
		const { wasTaken, isPast } = read;
		const hadEnded = new Set(program.rows().filter(({ settledHow }) => settledHow !== null));
		const { judged, opened } = program.record(read);
		hold(program.rows().filter(({ settledHow }) => settledHow === null).length < 2, 'two are open');
		hold(opened === null || !wasTaken, 'what was taken is asked again');
		if (opened !== null && read.isUnsure) doubted.add(read.time);
		hold(opened === null || !isPast, 'what nobody waits for comes back');
		if (newestTime !== read.time) superseded.add(newestTime);
		// It is asked once more.
		if (read.session.status === W) superseded.delete(read.time);
		newestTime = read.time;
		for (const row of program.rows()) {
			if (row.settledHow === 'wentOn' && !hadEnded.has(row))
				hold(read.isUnsure || isWentOn(row.shown), 'it did not go on');
		}
		const row = program
			.rows()
			.findLast(
				({ question }) =>
					question.fingerprint === judged.of?.fingerprint && question.sameBefore === judged.of.sameBefore,
			);
		if (read.isFilled) known.add(read.time);
		const at = askingMessageIndex(read.session);
		places.set(read.time, at);
		const after = stepsSince(read.session, at ?? -1);
		steps.set(read.time, opened === null ? Math.max(steps.get(read.time) ?? 0, after) : after);
		if (row !== undefined && row.shown.length > 1 && judged.verdict === 'taken')
			hold(isTaken(row.shown), 'nobody saw that it was taken');
		hold(
			manner.isVisible || !['taken', 'wentOn', 'checking', 'lost'].includes(judged.verdict ?? ''),
			'a verdict without W',
		);
	}

	function accept(n: number): void {
		const question = program.form(begin());
		if (live !== null || question === null || question.open.length === 0) return;
		const { open } = question;
		const values = Array.from({ length: Math.max(...open) + 1 }, (_, at) => (open.includes(at) ? `ours ${n}` : ''));
		live = program.accept(question, values, agent.now());
		times.set(live.id, agent.newest()?.time ?? 0);
	}

	function put(): void {
		if (live?.state !== 'accepted') return;
		if (!program.begin(live, agent.session())) live = null;
		else agent.put(live.question.messageIndex, live.values);
	}

	function land(): void {
		if (live?.state !== 'delivering') return;
		known.add(times.get(live.id) ?? 0);
		program.arrive(live, agent.now());
		live = null;
	}

	const ours: Record<OurAct, (n: number) => void> = {
		// A session is read by one after another.
		read() {
			ours.endRead(0);
			record(begin());
		},
		readOften() {
			for (let count = 0; count < 5; count += 1) {
				ours.read(0);
				agent.pass(11_000);
			}
		},
		beginRead() {
			begun ??= begin();
		},
		endRead() {
			if (begun !== null) record(begun);
			begun = null;
		},
		answer(n) {
			accept(n);
			put();
			land();
		},
		accept,
		put,
		land,
		dashboard(n) {
			const asked = agent.newest();
			const index = askingMessageIndex(agent.session());
			if (asked === undefined || index === null) return;
			agent.put(
				index,
				asked.values.map((_, position) => (n % 3 === 0 && position > 0 ? '' : `theirs ${n}`)),
			);
		},
		confirm() {
			const answer = program.answers().findLast(({ state }) => state === 'delivered');
			if (answer === undefined) return;
			program.confirm(answer, begin());
			if (answer.evidence?.continued === true) hold(hasContinued(answer.shown), 'nobody saw that it continued');
			hold(
				manner.isVisible ||
					answer.verdict !== 'taken' ||
					agent.newest()?.time !== times.get(answer.id) ||
					agent.newest()?.isRepeated === true,
				'a receipt claims what nobody saw',
			);
		},
		restart: () => {
			program.restart();
			live = program.answers().find(({ id }) => id === live?.id) ?? null;
		},
		unwatch: () => program.unwatch(),
	};

	for (const [kind, gapMs, n] of acts) {
		agent.pass(gapMs);
		if (kind in ours) ours[kind as keyof typeof ours](n);
		else {
			agent.play(kind as AgentAct, n);
		}
	}
	// From now on nothing happens, and it is read often.
	ours.endRead(0);
	put();
	land();
	agent.pass(60_000);
	agent.settle();
	for (const gapMs of [0, 15_000, 30_000, 31_000, 15_000, 15_000]) {
		agent.pass(gapMs);
		record(begin());
	}
	const asked = agent.newest();
	const open = program.open();
	if (asked === undefined) return;
	const isLast = ({ time }: Asked) => agent.at(agent.session().messages.length - 1)?.time === time;
	const isOpen = (position: number) => open?.question.open.includes(position) === true;
	const mayStay = isUnsure(asked) || doubted.has(asked.time);
	hold(!asked.isTaken || mayStay || !known.has(asked.time) || open === undefined, 'what was taken stays asked');
	// Of a value that vanished beside another one nobody can tell whether the agent took it.
	const isPart = asked.values.some((value) => value !== '');
	const isMissing = (position: number) =>
		asked.values[position] === '' && !(isPart && (asked.isRepeated || asked.filled.has(position)));
	const missing = [...asked.needs].filter(isMissing);
	const isFresh = asked.filled.size === 0 && !asked.wasOlder && !asked.isRepeated && !agent.isCut();
	const from = asked.slidFrom ?? -1;
	const isOnly = asked.filled.size === 0 && !asked.wasOlder && isLast(asked);
	const isElsewhere = places.get(from) !== askingMessageIndex(agent.session());
	// One that was superseded is asked again only where its agent waits visibly.
	const hasFallen = known.has(from) && !superseded.has(from) && (steps.get(from) ?? 0) > 0 && isElsewhere && isOnly;
	const isWaiting = agent.waitsVisibly() || (agent.waits() && (isFresh || hasFallen) && !manner.isVisible);
	hold(!isWaiting || missing.every(isOpen), 'a waiting agent is not asked');
}

/** From the newest value on: where it arrived, or a read showed it first. */
function sinceValue(shown: readonly Shown[]): readonly Shown[] {
	const known = new Set<number>();
	let from = shown.length;
	for (const [index, { put, filled }] of shown.entries()) {
		const isNew = filled.some((position) => !known.has(position));
		for (const position of [...filled, ...(put?.positions ?? [])]) known.add(position);
		if (isNew || put !== undefined) from = index;
	}
	return shown.slice(from);
}

function isWentOn(shown: readonly Shown[]): boolean {
	const lastW = shown.findLastIndex(({ status }) => status === W);
	const since = shown.slice(lastW + 1).filter(({ status }) => status === 'active');
	const [first, last] = [since[0], shown.at(-1)];
	if (first === undefined || last === undefined || lastW < 0 || last.status !== 'active') return false;
	return (
		last.at - first.at >= 30_000 &&
		last.steps > 0 &&
		shown.every(({ filled, put }) => filled.length === 0 && put === undefined)
	);
}

function isTaken(shown: readonly Shown[]): boolean {
	const [value, ...since] = sinceValue(shown);
	const last = shown.at(-1);
	if (value === undefined || last === undefined || last.status === W || last.filled.length > 0) return false;
	const waited = shown.some(({ status, put }) => status === W || put?.status === W);
	return waited && (last.status === 'active' || since.some(({ steps }) => steps > value.steps));
}

function hasContinued(shown: readonly Shown[]): boolean {
	const [{ put } = {}, ...since] = shown;
	return since.some(
		({ status, steps, filled }) =>
			(put?.status === W && status === 'active') || (put?.stepsSince === 0 && steps > 0 && filled.length > 0),
	);
}
