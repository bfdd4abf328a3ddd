import { setTimeout as pause } from 'node:timers/promises';
import { asking, done, item, task } from '../../fake-session-service/builders.ts';
import { isCard } from '../../test/faults/watches/fleet.ts';
import { quantile, seconds } from '../figures/stats.ts';
import { type Arena, repeat } from './arena.ts';
import { type Scenario, unless } from './scenario.ts';

const WATCHES = 208;
const PER_COMMAND = 13;
const PLACES = ['dm', '#flood0', '#flood1', '#flood2'];
/** One in ten of the watched sessions is at work, as in `npm run bench -- watching-live`. */
const AT_WORK = 10;
const STEP_MS = 5_000;
const QUESTIONS = 3;
/** A question that is not posted by then counts as never posted. */
const GIVE_UP_MS = 25_000;
/** Within this time watching has its share of the limit of requests again after a burst of people. */
const AFTER_BURST_MS = 20_000;

/** One person types 700 commands within 14 s. */
const commands: Scenario = {
	name: 'commands',
	transport: 'socket',
	feltMs: 1_000,
	growthMiB: 200,
	async attack(arena) {
		// Slack limits the whole workspace: windows opened for one person use up those of others.
		arena.slack.settings.realRates = true;
		const mallory = arena.slack.as('grace');
		const ids = Array.from({ length: 700 }, () => arena.calmSession());
		const outcomes: Promise<{ ok: boolean }>[] = [];
		for (let from = 0; from < ids.length; from += 50) {
			outcomes.push(...ids.slice(from, from + 50).map((id) => mallory.command('#agents', `/session ${id}`)));
			await pause(1_000);
		}
		const failed = (await Promise.all(outcomes)).filter(({ ok }) => !ok).length;
		await pause(10_000);
		const reads = ids.filter((id) => arena.front.asked.has(id)).length;
		return {
			did: `700 commands: ${failed} not acknowledged, ${reads} read the service`,
			broken: unless(failed === 0, `${failed} commands were not acknowledged within 3 s`),
		};
	},
};

/**
 * Asks in a session that #agents watches. Milliseconds until the question stands in the channel; infinite when it does
 * not.
 */
export async function notice(arena: Arena, id: string, number: number): Promise<number> {
	const { sessions } = arena.service;
	const words = `Question ${number} of ${id}?`;
	sessions.push(id, asking('I need to know something.', [item(words)]));
	sessions.setStatus(id, 'humanInput');
	const start = performance.now();
	const posted = () => arena.slack.state.messages.some((one) => !isCard(one) && JSON.stringify(one).includes(words));
	const ms = await arena.slack.changes
		.until(posted, () => `${words} is not in the channel`, GIVE_UP_MS)
		.then(
			() => performance.now() - start,
			() => Number.POSITIVE_INFINITY,
		);
	sessions.answerAsPage(id, ['Yes']);
	sessions.setStatus(id, 'active');
	for (let step = 0; step < 2; step++) {
		await pause(2_000);
		sessions.push(id, done(`I did ${step} after ${number}.`));
	}
	return ms;
}

/** One person watches 208 sessions from a direct message and three channels. */
const watches: Scenario = {
	name: 'watches',
	transport: 'socket',
	feltMs: 1_000,
	growthMiB: 200,
	openEveryMs: 4_000,
	async attack(arena) {
		const { slack, service } = arena;
		const id = 'asked-x';
		service.sessions.put(id, { name: 'Asked', status: 'active', messages: [task('Work.'), done('I begin.')] });
		await slack.as('ada').command('#agents', `/session watch ${id}`);
		await slack.changes.until(
			() => slack.state.messages.some((one) => one.user === slack.state.app.botUser),
			() => 'no card',
		);
		const usual: number[] = [];
		for (let question = 0; question < QUESTIONS; question++) usual.push(await notice(arena, id, question));

		const mallory = slack.as('grace');
		const kind = { isPrivate: false, isIm: false, isArchived: false, isExtShared: false };
		const members = [mallory.user, slack.state.app.botUser];
		for (let index = 0; index < 3; index++) {
			slack.state.channels.push({ id: `C0FLOOD${index}`, name: `flood${index}`, members: [...members], ...kind });
		}
		const ids = Array.from({ length: WATCHES }, (_, index) => `flood-${index}-x`);
		for (const one of ids) {
			service.sessions.put(one, { name: one, status: 'active', messages: [task('Work.'), done('I begin.')] });
		}
		const working = setInterval(() => {
			for (let index = 0; index < WATCHES; index += AT_WORK) service.sessions.push(`flood-${index}-x`, done('A step.'));
		}, STEP_MS);
		const ended = new AbortController();
		async function tryAll(): Promise<void> {
			for (let from = 0; from < WATCHES; from += PER_COMMAND) {
				const place = PLACES[(from / PER_COMMAND) % PLACES.length] ?? 'dm';
				await mallory.command(place, `/session watch ${ids.slice(from, from + PER_COMMAND).join(' ')}`);
			}
		}
		try {
			await tryAll();
			// Refused watches are tried again: more are accepted every minute.
			const trying = repeat(tryAll, { everyMs: 5_000, times: 0, signal: ended.signal });
			const meanwhile: number[] = [];
			for (let question = 0; question < 2 * QUESTIONS; question++) {
				await pause(2_000);
				meanwhile.push(await notice(arena, id, QUESTIONS + question));
			}
			ended.abort();
			await trying;
			const watched = await arena.program.metric('handraise_watched_sessions');
			return {
				did: `${watched - 1} of ${WATCHES} watches; another channel's question was noticed after ${meanwhile.map(seconds).join(', ')}, usually ${usual.map(seconds).join(', ')}`,
				broken: unless(
					quantile(meanwhile, 1) <= AFTER_BURST_MS,
					`a question of another channel was noticed later than ${seconds(AFTER_BURST_MS)}`,
				),
			};
		} finally {
			clearInterval(working);
			ended.abort();
		}
	},
};

/** One person tries 300 ids that do not exist, five at a time, without a pause. */
const guesses: Scenario = {
	name: 'guesses',
	transport: 'socket',
	feltMs: 1_000,
	growthMiB: 150,
	async attack(arena) {
		const mallory = arena.slack.as('grace');
		const ids = Array.from({ length: 300 }, (_, index) => (0x10000000 + index * 7_919).toString(16));
		const start = performance.now();
		for (let from = 0; from < ids.length; from += 5) {
			await Promise.all(ids.slice(from, from + 5).map((id) => mallory.command('#agents', `/session ${id}`)));
			await pause(300);
		}
		const seconds = (performance.now() - start) / 1_000;
		const reads = ids.filter((id) => arena.front.asked.has(id)).length;
		// A burst of 20, then 20 a minute, doubled as a margin.
		const limit = 2 * (20 + (20 * seconds) / 60);
		return {
			did: `300 unknown ids in ${seconds.toFixed(0)} s: ${reads} were asked for at the service`,
			broken: unless(reads <= limit, `${reads} guesses reached the service, more than ${limit.toFixed(0)}`),
		};
	},
};

export const peopleFloods: readonly Scenario[] = [commands, watches, guesses];
