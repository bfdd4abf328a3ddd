import { type Actor, callSlack, type Json } from '../../fake-slack/index.ts';
import { openQuestion } from '../../src/screens/question.ts';
import { decodeChoice } from '../../src/slack/ids.ts';
import { buttons } from '../../src/slack/parts.ts';
import { fingerprintOf, shownHashOf } from '../../test/support/sessions.ts';
import { type ReadyAnswer, takeAnswers } from './answers.ts';
import type { BenchContext } from './context.ts';
import { measureDisk } from './disk.ts';
import { readyForms } from './forms.ts';
import type { Harness } from './harness.ts';
import { createMeasured } from './measured-stores.ts';
import { type Figure, load } from './report.ts';
import { REPORT_ITEM, reportSession } from './sessions.ts';
import { ms, pair, Rounds } from './stats.ts';

/** People, each of whom presses once for each of four questions: a person is asked about at Slack at the first press. */
const PEOPLE = 50;
const BURSTS = 2;
const OPTIONS = ['The yearly report', 'The monthly report'];
const CHANNEL = '#agents';
const CHANNEL_ID = 'C0AGENTS';
const GOAL_MS = 10;
/** The commit that is under way, and the answer's own. */
const SYNCS_QUEUED = 2;

/**
 * From the press of an option to its acknowledgement and, with `UNDO_SECONDS=0`, on to the PUT; forms in the same rounds.
 * The posts of the questions are made by the benchmark: Slack's rates allow the program one a second.
 */
export async function measurePresses(context: BenchContext): Promise<Figure[]> {
	const { directory, rounds: count } = context;
	await using measured = await createMeasured(context, { UNDO_SECONDS: '0' });
	const named = [{ name: 'bare', harness: measured.bare }, ...measured.stores] as const;
	for (const { name, harness } of named) await takeRound(context, name, harness, new Rounds());
	const rounds = new Rounds();
	for (let round = 0; round < count; round++) {
		rounds.addSample('disk', await measureDisk(directory));
		const order = round % 2 === 0 ? named : named.toReversed();
		for (const { name, harness } of order) await takeRound(context, name, harness, rounds);
	}
	return measured.stores.flatMap(({ name: store }) => [
		ackFigure(rounds, store, 'known', 1),
		ackFigure(rounds, store, 'known', PEOPLE),
		ackFigure(rounds, store, 'first', 1),
		putFigure(rounds, store, 1),
		putFigure(rounds, store, PEOPLE),
	]);
}

async function takeRound(context: BenchContext, name: string, harness: Harness, rounds: Rounds): Promise<void> {
	if (harness.program === 'handraise') await takeForms(context, name, harness, rounds);
	const actors = harness.meet(PEOPLE);
	const rows = ['first', 'known', ...Array.from({ length: BURSTS }, (_, index) => `burst${index}`)];
	const answers = await putPresses(context, harness, actors, rows);
	await takeAnswers(context, harness, rounds, {
		delivery: 'block_actions',
		sessionOf: (request) => choiceOf(request)?.sessionId ?? '',
		groups: [
			{ name: `${name} first 1`, atOnce: 1, answers: answers.slice(0, PEOPLE) },
			{ name: `${name} known 1`, atOnce: 1, answers: answers.slice(PEOPLE, 2 * PEOPLE) },
			{ name: `${name} known ${PEOPLE}`, atOnce: PEOPLE, answers: answers.slice(2 * PEOPLE) },
		],
	});
}

/** Each session is new: of one that looks as before its answer, the question is not asked again at once. */
let sessionCount = 0;

/** Presses of new sessions: in each row, one for each of these people. */
async function putPresses(
	{ service }: BenchContext,
	harness: Harness,
	actors: readonly Actor[],
	rows: readonly string[],
): Promise<ReadyAnswer[]> {
	const ids = rows.flatMap((row) => actors.map(() => `${row}-${++sessionCount}`));
	await service.tell({ do: 'clear' });
	await service.tell({ do: 'put', ids });
	return readyPresses(harness, actors, ids);
}

async function takeForms(context: BenchContext, name: string, harness: Harness, rounds: Rounds): Promise<void> {
	const actors = harness.meet(PEOPLE * (1 + BURSTS), 'same');
	const ids = actors.map(() => `form-${++sessionCount}`);
	await context.service.tell({ do: 'clear' });
	await context.service.tell({ do: 'put', ids });
	const forms = await readyForms(harness, actors, ids);
	await takeAnswers(context, harness, rounds, {
		...forms,
		groups: [
			{ name: `${name} form 1`, atOnce: 1, answers: forms.answers.slice(0, PEOPLE) },
			{ name: `${name} form ${PEOPLE}`, atOnce: PEOPLE, answers: forms.answers.slice(PEOPLE) },
		],
	});
}

/** A post for each session, which one of the people in turn is ready to press. */
async function readyPresses(
	harness: Harness,
	actors: readonly Actor[],
	ids: readonly string[],
): Promise<ReadyAnswer[]> {
	const messages = reportSession().messages ?? [];
	const messageIndex = messages.length - 1;
	const humanInput = [{ title: REPORT_ITEM.title ?? '', description: REPORT_ITEM.description ?? '', value: '' }];
	const question = {
		messageIndex,
		fingerprint: fingerprintOf(humanInput),
		shownHash: shownHashOf({ content: messages.at(-1)?.content ?? '', humanInput }),
		quick: { position: 0, options: OPTIONS },
		goneOn: false,
		context: '',
		itemCount: 1,
		openCount: 1,
		items: [
			{ title: REPORT_ITEM.title ?? '', description: '', open: true, value: null, secret: false, withheld: false },
		],
	};
	const readAt = Date.now();
	const answers: ReadyAnswer[] = [];
	for (const [index, sessionId] of ids.entries()) {
		const { row } = openQuestion(question, { sessionId, discreet: false, choices: { channelId: CHANNEL_ID, readAt } });
		const blocks = buttons(...row);
		const { ts } = await callSlack(harness.slack, 'chat.postMessage', { channel: CHANNEL_ID, text: sessionId, blocks });
		const actor = actors[index % actors.length];
		const post = actor?.messages(CHANNEL).find((message) => message.ts === ts);
		if (post === undefined) throw new Error('The post of a question is not there.');
		answers.push({ sessionId, give: () => post.press(OPTIONS[0] ?? '') });
	}
	return answers;
}

function choiceOf(request: Json) {
	const [action] = request.actions as readonly { value?: string }[];
	return decodeChoice(action?.value);
}

/** `first`: by people whom the program has to ask Slack about. `known`: by people whom it asked about less than 30 s ago. */
function ackFigure(rounds: Rounds, store: string, who: 'first' | 'known', atOnce: number): Figure {
	const name = `${who} ${atOnce}`;
	const over = rounds.median(`${store} ${name} p99`) - rounds.median(`bare ${name} p99`);
	const syncsMs = SYNCS_QUEUED * rounds.median('disk p50');
	return {
		what: `Press to ack, ${atOnce} at once${who === 'first' ? ', by people not looked up before' : ''}, ${store} (p50 / p99)`,
		handraise: pair(rounds, `${store} ${name}`),
		reference: `bare app ${pair(rounds, `bare ${name}`)}; form ${pair(rounds, `${store} form ${atOnce}`)}; fdatasync ${pair(rounds, 'disk')}`,
		goal: `p99 ≤ bare + ${GOAL_MS} ms + ${SYNCS_QUEUED} fdatasync (${ms(syncsMs)} ms): + ${ms(over)} ms`,
		met: over <= GOAL_MS + syncsMs,
		load: load(),
	};
}

function putFigure(rounds: Rounds, store: string, atOnce: number): Figure {
	const press = `${store} known ${atOnce}`;
	const form = `${store} form ${atOnce}`;
	const more = rounds.median(`${press} put p50`) - rounds.median(`${form} put p50`);
	return {
		what: `From ack of a press to the PUT at the service, ${atOnce} at once, ${store} (p50 / p99)`,
		handraise: pair(rounds, `${press} put`),
		reference: `form ${pair(rounds, `${form} put`)}`,
		goal: `p50 ≤ form + 2 ms: ${more < 0 ? '' : '+ '}${ms(more)} ms`,
		met: more <= 2,
		load: load(),
	};
}
