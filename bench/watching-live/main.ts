import { setTimeout as pause } from 'node:timers/promises';
import { copySource } from '../../test/faults/source-copy.ts';
import { isCard } from '../../test/faults/watches/fleet.ts';
import { amount, count, flag, readOptions, text } from '../../test/support/options.ts';
import { spread } from '../figures/stats.ts';
import { machine } from '../machine.ts';
import { measureCases } from './cases.ts';
import { type Asked, watchLive } from './play.ts';

const { watches, minutes, seed, commit, list, cases } = readOptions('npm run bench -- watching-live', {
	watches: count(300, 'watched sessions', { least: 1 }),
	minutes: amount(5, 'of the measurement'),
	seed: count(1, 'of the random choices'),
	commit: text(null, 'takes the program from a commit instead of the working tree'),
	list: flag('the service lists its sessions'),
	cases: text(null, 'instead, in virtual time: the cases whose names contain this'),
});
if (cases !== null) {
	await measureCases(cases);
	process.exit();
}

const LIMIT = 250;
/** Until the first reads of all are done. */
const WARM_UP_MS = 60_000;
/** By then every session has been read again. */
const LAST_LOOKS_MS = 180_000;
const MINUTE_MS = 60_000;
/** Somebody opens a session that nobody watches. */
const PERSON_EVERY_MS = 5_000;
const PERSON_SESSION = 'opened';
const LONGEST_PERSON_READ_MS = 30_000;

await using source = await copySource({ commit });
process.stderr.write(`watching ${watches} sessions\n`);
const lengthMs = WARM_UP_MS + minutes * MINUTE_MS + 60_000;
await using live = await watchLive(source.entry, { watches, lengthMs, seed, list });
const { slack, service } = live;
service.sessions.put(PERSON_SESSION, { status: 'active', messages: [] });

/** Milliseconds from the command to the request that it leads to. */
async function personReadMs(): Promise<number> {
	const from = Date.now();
	await slack.as('ada').command('#live0', `/session ${PERSON_SESSION}`);
	while (Date.now() < from + LONGEST_PERSON_READ_MS) {
		const read = service.log.reads(PERSON_SESSION).find(({ at }) => at >= from);
		if (read !== undefined) return read.at - from;
		await pause(20);
	}
	return Number.POSITIVE_INFINITY;
}

await using stack = new AsyncDisposableStack();
const program = await live.start(LIMIT);
stack.defer(() => program.stop());
const ended = new AbortController();
stack.defer(() => ended.abort());
slack.settings.realRates = true;
const asked: Asked[] = [];
void live.play(ended.signal, asked);
await pause(WARM_UP_MS);

process.stderr.write(`measuring for ${minutes} min\n`);
const from = Date.now();
const until = from + minutes * MINUTE_MS;
const personReads: number[] = [];
while (Date.now() < until) {
	await pause(Math.min(PERSON_EVERY_MS, Math.max(1, until - Date.now())));
	personReads.push(await personReadMs());
}
const measured = <T extends { readonly at: number }>(all: readonly T[]) =>
	all.filter(({ at }) => at >= from && at < until);
const lists = measured(service.log.lists());
const requests = [...measured(service.log.reads()), ...lists];
const limited = measured(slack.traffic.calls()).filter(({ status }) => status === 429).length;
const perMinute = Array.from({ length: Math.max(1, Math.floor(minutes)) }, (_, minute) => {
	const start = from + minute * MINUTE_MS;
	return requests.filter(({ at }) => at >= start && at < start + MINUTE_MS).length;
});
const questions = measured(asked);
const delays = () =>
	questions.map(({ words, at }) => {
		const isPost = (one: (typeof slack.state.messages)[number]) =>
			!isCard(one) && JSON.stringify([one.blocks, one.history]).includes(words);
		return Number(slack.state.messages.find(isPost)?.ts ?? Number.POSITIVE_INFINITY) * 1_000 - at;
	});
// A question of the last moment counts too.
const end = Date.now() + LAST_LOOKS_MS;
while (delays().includes(Number.POSITIVE_INFINITY) && Date.now() < end) await pause(1_000);
const seen = delays();
for (const [index, { words, at }] of questions.entries()) {
	if (seen[index] !== Number.POSITIVE_INFINITY) continue;
	process.stderr.write(`never seen: "${words}", asked ${((at - from) / 1_000).toFixed(0)} s after the beginning\n`);
}
console.log(`${watches} watched sessions, one in ten at work${list ? ', a service with a list' : ''}; ${minutes} min, seed ${seed}
${machine()}

| figure | value | goal |
|---|---|---|
| requests to the service a minute, mean (most in one) | ${(requests.length / minutes).toFixed(0)} (${Math.max(...perMinute)}) | ≤ ${LIMIT} |
| of these lists | ${(lists.length / minutes).toFixed(0)} | |
| questions asked; seen in the channel after, median / p95 / longest | ${seen.length}; ${spread(seen, [0.5, 0.95, 1])} | all |
| somebody opens a session: from the command to the request, median / p95 / longest of ${personReads.length} | ${spread(personReads, [0.5, 0.95, 1])} | |
| 429s of Slack (its real tiers) | ${limited} | 0 |`);
