import { type Actor, callSlack, type Json } from '../../fake-slack/index.ts';
import { openQuestionParts } from '../../src/screens/question.ts';
import { buttons } from '../../src/slack/blocks.ts';
import { decodeChoice } from '../../src/slack/ids.ts';
import { fingerprintOf, shownHashOf } from '../../test/support/sessions.ts';
import { type ReadyAnswer, takeAnswers } from './answers.ts';
import type { BenchContext } from './context.ts';
import { measureDisk } from './disk.ts';
import { readyForms } from './forms.ts';
import { createHarness, type Harness } from './harness.ts';
import type { Figure } from './report.ts';
import { REPORT_ITEM, reportSession } from './sessions.ts';
import { interleaved, ms, pair, Rounds } from './stats.ts';

/** People, each of whom presses once for each of four questions: a person is asked about at Slack at the first press. */
const PEOPLE = 50;
const BURSTS = 2;
const OPTIONS = ['The yearly report', 'The monthly report'];
const CHANNEL = '#agents';
const CHANNEL_ID = 'C0AGENTS';
/** The commit that is under way, and the answer's own. */
const SYNCS_QUEUED = 2;

/** The bare app, or a program on one of the databases. */
interface Measured {
	/** Of its samples. */
	readonly name: string;
	readonly harness: Harness;
	/** Milliseconds beyond the bare app until a form is acknowledged. */
	readonly formGoalMs: number;
}

/**
 * From the press of an option or the submission of a form to its acknowledgement and, with `UNDO_SECONDS=0`, on to the PUT.
 * The posts of the questions are made by the benchmark: Slack's rates allow the program one a second.
 */
export async function measurePresses(context: BenchContext): Promise<Figure[]> {
	const { service, programs } = context;
	const common = { transport: 'socket', service, env: { UNDO_SECONDS: '0' } } as const;
	await using stack = new AsyncDisposableStack();
	const bare = stack.use(await createHarness({ ...common, program: 'bare' }));
	const server = await context.postgres();
	const stores: Measured[] = [];
	for (const { name: program, entry } of programs) {
		for (const database of ['SQLite', 'PostgreSQL'] as const) {
			const on = database === 'SQLite' ? {} : { databaseUrl: await server.createDatabase() };
			const harness = stack.use(await createHarness({ ...common, ...on, program: 'handraise', entry }));
			const name = programs.length === 1 ? database : `${database} of ${program}`;
			stores.push({ name, harness, formGoalMs: database === 'SQLite' ? 10 : 20 });
		}
	}
	const all: readonly Measured[] = [{ name: 'bare', harness: bare, formGoalMs: 0 }, ...stores];
	for (const one of all) await takeRound(context, one, new Rounds());
	const rounds = new Rounds();
	await interleaved(context.rounds, all, async (one) => {
		if (one.harness === bare) rounds.addSample('disk', await measureDisk());
		await takeRound(context, one, rounds);
	});
	return stores.flatMap(({ name, formGoalMs }) => [
		...['known 1', `known ${PEOPLE}`, 'first 1'].map((kind) => ackFigure(rounds, name, kind, 10)),
		...['form 1', `form ${PEOPLE}`].map((kind) => ackFigure(rounds, name, kind, formGoalMs)),
		...['known 1', `known ${PEOPLE}`, 'form 1', `form ${PEOPLE}`].flatMap((kind) => putFigures(rounds, name, kind)),
	]);
}

async function takeRound(context: BenchContext, { name, harness }: Measured, rounds: Rounds): Promise<void> {
	await takeForms(context, name, harness, rounds);
	const actors = harness.meet(PEOPLE);
	const rows = ['first', 'known', ...Array.from({ length: BURSTS }, (_, index) => `burst${index}`)];
	const ids = rows.flatMap((row) => actors.map(() => `${row}-${++sessionCount}`));
	await context.service.renew(ids);
	const answers = await readyPresses(harness, actors, ids);
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

async function takeForms(context: BenchContext, name: string, harness: Harness, rounds: Rounds): Promise<void> {
	const actors = harness.meet(PEOPLE * (1 + BURSTS), 'same');
	const ids = actors.map(() => `form-${++sessionCount}`);
	await context.service.renew(ids);
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
		const { row } = openQuestionParts(question, {
			sessionId,
			discreet: false,
			choices: { channelId: CHANNEL_ID, readAt },
		});
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

/** Of each kind of answer, with how many at once. `known`: by people of whom the program asked less than 30 s ago. */
const KINDS: Readonly<Record<string, string>> = {
	known: 'a press',
	first: 'a press by people whom Slack is asked about first',
	form: 'a form',
};
const wordsOf = (kind: string) =>
	kind.replace(/(\w+) (\d+)/, (_, who: string, atOnce) => `${KINDS[who]}, ${atOnce} at once`);

function ackFigure(rounds: Rounds, store: string, kind: string, goalMs: number): Figure {
	const over = rounds.median(`${store} ${kind} p99`) - rounds.median(`bare ${kind} p99`);
	const syncsMs = SYNCS_QUEUED * rounds.median('disk p50');
	return {
		what: `To the ack of ${wordsOf(kind)}, ${store} (p50 / p99)`,
		handraise: pair(rounds, `${store} ${kind}`),
		reference: `bare app ${pair(rounds, `bare ${kind}`)}; fdatasync ${pair(rounds, 'disk')}`,
		goal: `p99 ≤ bare + ${goalMs} ms + ${SYNCS_QUEUED} fdatasync (${ms(syncsMs)} ms): + ${ms(over)} ms`,
		met: over <= goalMs + syncsMs,
	};
}

/** From the acknowledgement to the PUT, and of this our part of the window: from the end of the read on. */
function putFigures(rounds: Rounds, store: string, kind: string): Figure[] {
	const own = `${store} ${kind}`;
	const form = kind.replace('known', 'form');
	const most = form === kind ? 50 : rounds.median(`${store} ${form} put p50`) + 2;
	return [
		{
			what: `From the ack of ${wordsOf(kind)}, to the PUT at the service, ${store} (p50 / p99)`,
			handraise: pair(rounds, `${own} put`),
			reference: '',
			goal: `p50 ≤ ${form === kind ? '50 ms, 1 at once' : 'a form’s + 2 ms'}`,
			met: kind === `form ${PEOPLE}` ? null : rounds.median(`${own} put p50`) <= most,
		},
		{
			what: 'From the end of its read to that PUT (p50 / p99)',
			handraise: pair(rounds, `${own} window`),
			reference: '',
			goal: 'p99 ≤ 50 ms',
			met: rounds.median(`${own} window p99`) <= 50,
		},
	];
}
