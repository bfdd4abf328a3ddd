import { setTimeout as pause } from 'node:timers/promises';
import { asking, done, item, task } from '../../fake-session-service/builders.ts';
import type { Actor, Modal } from '../../fake-slack/index.ts';
import { isCard } from '../../test/faults/watches/fleet.ts';
import { quantile, seconds } from '../figures/stats.ts';
import { type Arena, repeat } from './arena.ts';
import { type Scenario, unless } from './scenario.ts';

/** Others who look at their Home meanwhile. */
const LOOKING = 5;
const QUESTIONS = 2;
/** Homes follow changes no faster than every 3 s. */
const QUIET_MS = 5_000;
const GIVE_UP_MS = 30_000;
/** When a new question stands in another's Home: while one person presses, and without that. */
const SEEN_WITHIN_MS = { meanwhile: 8_000, usual: 3_000 };
const OPTION = 'Blue';

/** One press as Slack tells of it. The button need not be on the view any more: one from an old view arrives all the same. */
async function pressInHome({ slack }: Arena, { user }: Actor, name: string, action: object): Promise<void> {
	const view = slack.state.views[slack.state.homes[user] ?? ''];
	if (view === undefined) throw new Error(`${name} has no Home.`);
	const { id, hash, payload } = view;
	await slack.deliver({
		kind: 'interactive',
		name: 'block_actions',
		acceptsPayload: false,
		payload: {
			type: 'block_actions',
			user: { id: user, username: name, name, team_id: slack.state.team.id },
			team: { id: slack.state.team.id, domain: slack.state.team.domain },
			api_app_id: slack.state.app.id,
			container: { type: 'view', view_id: id },
			view: { ...payload, id, hash, state: { values: {} }, app_installed_team_id: slack.state.team.id },
			trigger_id: slack.trigger(name, { view: id }),
			actions: [{ type: 'button', ...action }],
		},
	});
}

/** A session that #agents watches, whose agent asks. Resolves when the question stands there. */
async function askedInAgents({ slack, service }: Arena, id: string): Promise<void> {
	service.sessions.put(id, { name: id, status: 'active', messages: [task('Work.'), done('I begin.')] });
	await slack.as('ada').command('#agents', `/session watch ${id}`);
	await pause(1_000);
	service.sessions.push(id, asking('I need to know something.', [item('Which colour?', `One of: ${OPTION}, Green`)]));
	service.sessions.setStatus(id, 'humanInput');
	await slack.changes.until(
		() => slack.state.messages.some((one) => !isCard(one) && JSON.stringify(one).includes('Which colour?')),
		() => 'the question is not in the channel',
		GIVE_UP_MS,
	);
}

async function homeOf({ slack }: Arena, actor: Actor): Promise<Modal> {
	await actor.openApp('home');
	await slack.changes.until(
		() => actor.home() !== null,
		() => `${actor.user} has no Home`,
		GIVE_UP_MS,
	);
	const home = actor.home();
	if (home === null) throw new Error(`${actor.user} has no Home.`);
	return home;
}

/** The agent asks. Milliseconds from the question's post to the last of these Homes; infinite when it is not there. */
async function seen({ slack, service }: Arena, id: string, number: number, homes: readonly Modal[]): Promise<number> {
	const words = `Question ${number} of ${id}?`;
	service.sessions.push(id, asking('I need to know something.', [item(words)]));
	service.sessions.setStatus(id, 'humanInput');
	// When a session is read next is another matter: the time counts from when the program knows of the question.
	const isKnown = () => slack.state.messages.some((one) => JSON.stringify(one).includes(words));
	const isSeen = () => homes.every((home) => home.text().includes(words));
	const ms = await slack.changes
		.until(
			() => isKnown() || isSeen(),
			() => `${words} is not known`,
			GIVE_UP_MS,
		)
		.then(async () => {
			const start = performance.now();
			await slack.changes.until(isSeen, () => `${words} is not in all Homes`, GIVE_UP_MS);
			return performance.now() - start;
		})
		.catch(() => Number.POSITIVE_INFINITY);
	service.sessions.answerAsPage(id, ['Yes']);
	service.sessions.setStatus(id, 'active');
	// Until the Homes show that nothing is open, and for a while after that.
	await slack.changes
		.until(
			() => homes.every((home) => !home.text().includes(words)),
			() => '',
			GIVE_UP_MS,
		)
		.catch(() => undefined);
	await pause(QUIET_MS);
	return ms;
}

/**
 * One person presses something every `everyMs`, with Slack's limits for the workspace.
 * @param prepare resolves to one press
 */
function pressing(
	name: string,
	everyMs: number,
	prepare: (arena: Arena) => Promise<(press: number) => Promise<unknown>>,
): Scenario {
	return {
		name,
		transport: 'socket',
		// A window is there within 3 s: without the attack it takes about 0.35 s.
		feltMs: 2_600,
		growthMiB: 150,
		openEveryMs: 4_000,
		async attack(arena) {
			const { slack } = arena;
			await askedInAgents(arena, 'bait-x');
			await askedInAgents(arena, 'asked-x');
			arena.service.sessions.answerAsPage('asked-x', ['Green']);
			const homes: Modal[] = [];
			for (let person = 0; person < LOOKING; person++) homes.push(await homeOf(arena, arena.stranger()));
			const press = await prepare(arena);
			slack.settings.realRates = true;
			const usual: number[] = [];
			await seen(arena, 'asked-x', QUESTIONS, homes);
			for (let question = 0; question < QUESTIONS; question++) {
				usual.push(await seen(arena, 'asked-x', question, homes));
			}
			const from = slack.traffic.all().length;
			const over = new AbortController();
			let presses = 0;
			const flood = repeat(async () => void press(presses++).catch(() => undefined), {
				everyMs,
				times: 1,
				signal: over.signal,
			});
			const meanwhile: number[] = [];
			for (let question = 0; question < QUESTIONS; question++) {
				meanwhile.push(await seen(arena, 'asked-x', 1 + QUESTIONS + question, homes));
			}
			over.abort();
			await flood;
			const calls = slack.traffic
				.all()
				.slice(from)
				.filter(({ direction }) => direction === 'call');
			const refused = calls.filter(({ status }) => status === 429).length;
			const { usual: usualMs, meanwhile: meanwhileMs } = SEEN_WITHIN_MS;
			return {
				did: `${presses} presses; ${refused} of ${calls.length} calls refused; others' Homes showed a question after ${meanwhile.map(seconds).join(', ')}, without presses after ${usual.map(seconds).join(', ')}`,
				broken: [
					...unless(quantile(usual, 1) <= usualMs, `without presses a question took ${seconds(quantile(usual, 1))}`),
					...unless(quantile(meanwhile, 1) <= meanwhileMs, `a question took ${seconds(quantile(meanwhile, 1))}`),
				],
			};
		},
	};
}

/** The newest post in #agents with this button. */
function postWith(actor: Actor, label: string) {
	return actor.messages('#agents').findLast((post) => post.buttons().includes(label));
}

/** A guest presses *Refresh* in the Home that refuses them. */
const refusedGuest = pressing('refused-guest', 50, async (arena) => {
	const guest = arena.slack.as('gus');
	await homeOf(arena, guest);
	const refresh = { action_id: 'inbox.refresh', block_id: 'b.refresh', value: '0' };
	return () => pressInHome(arena, guest, 'gus', refresh);
});

/** Somebody presses *Hand over* on a post, again and again. */
const handOver = pressing('hand-over', 100, async ({ slack }) => {
	const grace = slack.as('grace');
	const post = postWith(grace, 'Hand over');
	if (post === undefined) throw new Error('Nothing can be handed over.');
	return () => post.press('Hand over');
});

/** Somebody presses *Snooze* and *Show now* twice a second. */
const snooze = pressing('snooze', 500, async (arena) => {
	const home = await homeOf(arena, arena.slack.as('grace'));
	return async () => (home.buttons().includes('Show now') ? home.press('Show now') : home.press('Snooze for 1 h'));
});

/** Somebody presses an option and *Undo* twice a second. */
const undo = pressing('undo', 500, async (arena) => {
	const home = await homeOf(arena, arena.slack.as('grace'));
	return () => home.press(home.buttons().includes('Undo') ? 'Undo' : OPTION);
});

/** Somebody presses an option that is taken, in an old inbox. */
const taken = pressing('taken', 50, async (arena) => {
	const { slack } = arena;
	const grace = slack.as('grace');
	const home = await homeOf(arena, grace);
	const isOption = ({ elements }: { elements?: unknown }) => JSON.stringify(elements ?? []).includes(`"${OPTION}"`);
	await slack.changes.until(
		() => home.blocks().some(isOption),
		() => `no option in:\n${home.text()}`,
		GIVE_UP_MS,
	);
	const row = home.blocks().find(isOption) as { block_id: string; elements: { action_id: string; value: string }[] };
	const [option] = row.elements;
	await postWith(slack.as('ada'), OPTION)?.press(OPTION);
	await pause(12_000);
	return (press) =>
		pressInHome(arena, grace, 'grace', { ...option, block_id: row.block_id, action_ts: `${1_800_000_000 + press}.0` });
});

export const pressFloods: readonly Scenario[] = [refusedGuest, handOver, snooze, undo, taken];
