import { expect } from 'vitest';
import {
	type Answer,
	arrivalOf,
	awaitsAgentOutcome,
	hasArrived,
	isBlocking,
	itemsOf,
	mayHaveArrived,
} from '../../../src/domain/answer.ts';
import { askingMessageIndex, filledAt, isWaiting, stepsSince } from '../../../src/domain/session.ts';
import { pick } from '../../../src/kernel/values.ts';
import type { Agent } from './agent.ts';
import type { Found, Program } from './program.ts';

/** As docs/reliability.md says, whatever the rule does. */
const ASKED_WITHIN_MS = 60_000;
/** Where a read since the value showed another status; and nobody is asked again sooner. */
const AWAY_ASKED_WITHIN_MS = 10_000;

const NOT_WAITING = { since: '', at: 0 };

type Row = Awaited<ReturnType<Program['rows']>>[number];

function hold(holds: boolean, what: string): void {
	if (!holds) throw new Error(what);
}

const isOpen = ({ settledAt }: Row) => settledAt === null;
const arrivalNumber = ({ timeline }: Answer) => arrivalOf(timeline)?.arrival ?? Number.POSITIVE_INFINITY;

/** What is promised, whatever happens. */
export function createPromises(program: Program, agent: Agent, watchId: string) {
	/** Since when all reads show that it waits for the same, and nothing of ours has arrived. */
	let waiting = NOT_WAITING;
	/** Of which value a read of the watch has shown another status than `humanInput`. */
	let away = '';
	/** The messages in which a value was known, and the times. */
	const known = new Set<string>();
	/** The rows and positions that had a value. */
	const filledIn = new Set<string>();
	let wasOpen = false;
	/** The rows before this read. */
	let before = new Map<string, Row>();
	/** The answers after which the agent had continued before this read. */
	let resumed: ReadonlySet<string> = new Set();
	/** The first read after the newest of the watch that showed no agent that waits beside an empty field. */
	let firstWaiting = 0;

	/** The answers that arrived, or may have, in that order. */
	async function arrived(): Promise<readonly Answer[]> {
		const answers = (await program.answers()).filter((answer) => hasArrived(answer.state) || mayHaveArrived(answer));
		return answers.toSorted((one, other) => arrivalNumber(one) - arrivalNumber(other) || 0);
	}

	/** Of a question that this read has stored: whether it is asked again too soon, and whose answer it names. */
	function askedAnew(row: Row, former: Row, { session, readAt }: Found, ours: readonly Answer[]): void {
		if (former.messageIndex !== row.messageIndex || former.fingerprint !== row.fingerprint) return;
		const waitedMs = readAt - program.readAt(firstWaiting);
		hold(former.settledHow !== 'answered' || waitedMs >= AWAY_ASKED_WITHIN_MS, 'it is asked again too soon');
		const toFormer = ours.filter(({ questionId }) => questionId === former.id);
		const { lost } = row.evidence;
		const isOurs = toFormer.some(({ id, state }) => id === lost && hasArrived(state));
		hold(lost === null || lost === '' || isOurs, 'an answer is missed that never arrived');
		const last = toFormer.at(-1);
		const items = session.messages[row.messageIndex]?.humanInput ?? [];
		const isGone = last !== undefined && itemsOf(last).some(({ value }, at) => value && items[at]?.value === '');
		if (!isGone || toFormer.some(mayHaveArrived)) return;
		hold(lost === last.id, 'it is not said whose answer is missed');
		hold(!awaitsAgentOutcome(last), 'nobody tells an author that the answer is missed');
	}

	/** Of an open question that this read has closed, and that has no answer. */
	function wentOn({ messageIndex }: Row, { session }: Found): void {
		hold(agent.isVisible, 'an agent that never waited visibly is said to go on');
		hold(session.status === 'active', 'an agent that does not work is said to go on');
		hold(stepsSince(session, messageIndex) > 0, 'an agent that wrote no message is said to go on');
	}

	return {
		async words(): Promise<void> {
			const rows = await program.rows();
			before = new Map(rows.map((row) => [row.id, row]));
			// It may have been a read of ours that showed this.
			if (agent.waitsFor().length === 0) waiting = NOT_WAITING;
			resumed = new Set((await program.answers()).flatMap(({ id, state }) => (state === 'resumed' ? [id] : [])));
			hold(rows.filter(isOpen).length <= 1, 'two questions are open');
			for (const answer of await program.answers()) {
				for (const { value } of itemsOf(answer)) {
					const saves = program.saves(value ?? '');
					hold(!saves.some(({ wasTaken }) => wasTaken), 'what the agent has taken is sent again');
					const [first] = saves;
					const hasWritten = first === undefined || agent.count() > first.messageCount;
					hold(answer.state !== 'resumed' || hasWritten, 'an agent that wrote no message has continued');
				}
			}
		},

		/** After a read that was stored. */
		async asked(found: Found): Promise<void> {
			const { played, session, readAt } = found;
			expect(await program.again(found)).toEqual([]);
			const rows = await program.rows();
			const [newest, former] = rows.toReversed();
			const row = rows.find(isOpen);
			const digest = await program.digest();
			const { answered: _, open: openItems = [], ...asked } = digest?.question ?? {};
			expect(row === undefined ? null : pick(row, 'messageIndex', 'fingerprint', 'shownHash')).toEqual(
				openItems.length > 0 ? asked : null,
			);
			const ours = await arrived();
			const index = played.index;
			const { fingerprint, humanInput = [] } = session.messages[index] ?? {};
			const filled = filledAt(session, index);
			if (!isWaiting(session.status) || filled.length === humanInput.length) firstWaiting = played.number + 1;
			if (row !== undefined && row === newest && former !== undefined && !before.has(row.id))
				askedAnew(row, former, found, ours);
			const hasAnswer = ours.some(({ questionId }) => questionId === newest?.id);
			if (newest?.settledHow === 'wentOn' && before.get(newest.id)?.settledAt === null && !hasAnswer)
				wentOn(newest, found);
			const formerNewest = [...before.keys()].at(-1);
			const isOld = ours.some(
				(one) =>
					one.questionId === formerNewest &&
					arrivalOf(one.timeline) !== undefined &&
					arrivalNumber(one) > found.arrival,
			);
			hold(!isOld, 'a read is stored that began before an answer arrived');
			const waitsStill = isWaiting(session.status) ? newest?.id : undefined;
			const hasResumed = ours.some(
				({ id, state, questionId }) => state === 'resumed' && !resumed.has(id) && questionId === waitsStill,
			);
			hold(!hasResumed, 'an agent that waits for the same has continued');
			const place = `${index} ${fingerprint}`;
			const toThis = ours.filter((one) => one.question.messageIndex === index && one.fingerprint === fingerprint);
			const time = `time ${played.time}`;
			hold(!(played.works && known.has(time) && !wasOpen && row !== undefined), 'what was taken is asked');
			wasOpen = row !== undefined;
			// It is older than what arrived, and says nothing.
			if (found.arrival < (await program.arrivals()) || ours.some(({ endedAt }) => (endedAt ?? 0) > readAt)) return;
			const last = toThis.findLast(({ questionId }) => questionId === newest?.id);
			const isNewer = stepsSince(session, index) > (last?.beforePut?.stepsSince ?? Number.POSITIVE_INFINITY);
			const hasContinued = isNewer && !isWaiting(session.status) && askingMessageIndex(session) === index;
			hold(
				!hasContinued || last === undefined || !awaitsAgentOutcome(last),
				'an agent that wrote a message has not continued',
			);
			if (toThis.length > 0 || program.wasShownFilled(index, fingerprint)) known.add(place).add(time);
			const ofRow = toThis
				.filter(({ questionId }) => questionId === newest?.id)
				.flatMap(({ positions, leftEmpty }) => positions.filter((position) => !leftEmpty.includes(position)));
			for (const position of [...filled, ...ofRow]) filledIn.add(`${newest?.id} ${position}`);
			const onPurpose = toThis.filter(({ state }) => hasArrived(state)).flatMap(({ leftEmpty }) => leftEmpty);
			const neverFilled = onPurpose.filter((position) => !program.wasFilled(index, position));
			hold(!neverFilled.some((position) => openItems.includes(position)), 'what was left empty on purpose is asked');
			// What a read showed filled since is asked again.
			const left = toThis
				.flatMap(({ leftEmpty }) => leftEmpty)
				.filter((position) => !filledIn.has(`${newest?.id} ${position}`));
			const missing = played.waitsFor.filter((position) => !left.includes(position));
			// The first value that a read shows begins the time anew.
			const since = `${place} ${played.time} ${ours.map(({ id }) => id)} ${known.size} ${filledIn.size}`;
			if (missing.length === 0) waiting = NOT_WAITING;
			else if (waiting.since !== since) waiting = { since, at: readAt };
			// What its value has left is asked again sooner if the agent was away since then.
			const isItsRow = newest?.messageIndex === index && newest.fingerprint === fingerprint;
			const isValued = isItsRow && newest.settledHow === 'answered' && !toThis.some(mayHaveArrived);
			const value = isValued ? `${newest.id} ${ours.map(({ id }) => id)}` : '';
			if (!isWaiting(session.status)) away = value;
			const wasThere = missing.some((position) => filledIn.has(`${newest?.id} ${position}`));
			const isAway = value !== '' && away === value && wasThere;
			const withinMs = isAway ? AWAY_ASKED_WITHIN_MS : ASKED_WITHIN_MS;
			const isLong = readAt - waiting.at >= withinMs || !known.has(place);
			const isHeld = (await program.answers()).some(({ state }) => isBlocking(state));
			if (missing.length === 0 || !isLong || isHeld) return;
			hold(
				missing.every((position) => openItems.includes(position)),
				'an agent that waits is not asked',
			);
			const posts = (await program.posts()).filter((post) => post.watchId === watchId && post.questionId === row?.id);
			hold(posts.length === 1, 'a question has no post');
		},
	};
}
