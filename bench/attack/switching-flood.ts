import { asking, task } from '../../fake-session-service/builders.ts';
import { isCard } from '../../test/faults/watches/fleet.ts';
import { quantile, seconds } from '../figures/stats.ts';
import { repeat } from './arena.ts';
import { notice } from './people-floods.ts';
import { type Scenario, unless } from './scenario.ts';

const SWITCH_MS = 2_000;
const MINUTE = 60_000;
const QUESTIONS = 14;
/** The card, and the one post that shows each question in turn. */
const MOST_BROADCASTS = 2;
/** A minute: one for each question. They wait for what others have to see. */
const MOST_UPDATES = 32;
const SOON_MS = 5_000;

/** The agent of a watched session asks one question and another in turn; nobody answers. */
const switching: Scenario = {
	name: 'switching',
	transport: 'socket',
	feltMs: 1_000,
	growthMiB: 150,
	openEveryMs: 4_000,
	async attack(arena) {
		const { slack, service } = arena;
		slack.settings.realRates = true;
		const [id, other] = ['switching-x', 'asked-x'];
		for (const one of [id, other])
			service.sessions.put(one, { name: one, status: 'active', messages: [task('Work.')] });
		await slack.as('ada').command('#agents', `/session watch ${id} ${other}`);
		const cards = () =>
			slack.state.messages.filter((one) => isCard(one) && [id, other].some((name) => one.text.includes(name)));
		// They come a minute after the command, without a question.
		await slack.changes.until(
			() => cards().length === 2,
			() => 'no cards',
			2 * MINUTE,
		);
		const from = slack.traffic.all().at(-1)?.seq ?? 0;
		const ended = new AbortController();
		let count = 0;
		const asks = async () => {
			const messages = [task('Work.'), asking('Tell me.', [count++ % 2 === 0 ? 'Which colour?' : 'Which size?'])];
			service.sessions.patch(id, { status: 'humanInput', messages });
		};
		const switched = repeat(asks, { everyMs: SWITCH_MS, times: 0, signal: ended.signal });
		const noticed: number[] = [];
		for (let question = 0; question < QUESTIONS; question++) noticed.push(await notice(arena, other, question));
		ended.abort();
		await switched;
		const calls = (method: string) =>
			slack.traffic
				.all()
				.filter(({ seq, direction, name }) => seq > from && direction === 'call' && name === method)
				.filter(({ request }) => JSON.stringify(request).includes(id) || !JSON.stringify(request).includes(other));
		const inAMinute = (method: string) => {
			const times = calls(method).map(({ at }) => at);
			return Math.max(0, ...times.map((start) => times.filter((at) => at >= start && at < start + MINUTE).length));
		};
		const [broadcasts, updates] = [inAMinute('chat.postMessage'), inAMinute('chat.update')];
		return {
			did: `${count} questions in turn: at most ${broadcasts} posts and ${updates} updates in a minute; another session's question stood in the channel after ${seconds(quantile(noticed, 0.5))}, at worst ${seconds(quantile(noticed, 1))}`,
			broken: [
				...unless(broadcasts <= MOST_BROADCASTS, `${broadcasts} posts in a minute`),
				...unless(updates <= MOST_UPDATES, `${updates} updates in a minute`),
				...unless(quantile(noticed, 1) <= SOON_MS, `another's question came later than ${seconds(SOON_MS)}`),
			],
		};
	},
};

export const switchingFlood: readonly Scenario[] = [switching];
