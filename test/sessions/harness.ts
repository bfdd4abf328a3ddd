import { expect } from 'vitest';
import { asking, done, task } from '../../fake-session-service/builders.ts';
import { CANARY_STRINGS } from '../../fake-session-service/canaries.ts';
import type { ItemJson, SessionJson } from '../../fake-session-service/json.ts';
import { createManualClock, type Posted, type TrafficEntry } from '../../fake-slack/index.ts';
import type { PostStyle } from '../../src/domain/channel-settings.ts';
import { POSTS } from '../../src/screens/settings-fields.ts';
import { type AppOptions, startApp } from '../support/app.ts';
import { opensSession } from '../support/opens-session.ts';
import { passFor, passTime, passTimeDuring, steadyClock } from '../support/pass-time.ts';
import { says } from '../support/sentences.ts';

const BOT = 'handraise';
/** Calls that put something where more people than one may read it. */
const PUBLIC_CALLS: ReadonlySet<string> = new Set(['chat.postMessage', 'chat.update']);
/** What is written in blocks, which are replaced and never changed. Tests look at every version after each change. */
const writtenIn = new WeakMap<object, string>();
function written(blocks: object): string {
	const known = writtenIn.get(blocks) ?? JSON.stringify(blocks);
	writtenIn.set(blocks, known);
	return known;
}

/** A reminder of several questions. */
const DIGEST = /questions still ask/;
const ENDED = /^(?:✅|❌|⏹️) .+ (?:is done|failed|was stopped)$/m;
/** In the menu of a card, and of no question. */
const CARD_ENTRIES = ['Open in the dashboard', 'Stop watching', 'Show all'];
const REASONABLE_MS = 5 * 60_000;
/** For tests that let many minutes pass, in which few reads suffice. */
export const FEWEST_REQUESTS = { SESSION_SERVICE_RPM: '60' };
/** The default of the program, in files whose cases have few. */
export const USUAL_REQUESTS = { SESSION_SERVICE_RPM: '250' };

/**
 * The whole program and the session service on a clock that jumps; Slack keeps the machine's time, or with `realRates`
 * it is on that clock too and allows only so many calls in it as the real one does: not for tests of many presses at once,
 * nor where Slack holds a call while the clock moves. `oneClock`: Slack is on that clock;
 * `slackBehindMs`: this much behind it. `mayFail`: the test makes something fail that otherwise never does.
 */
export async function watchingApp({
	realRates = false,
	slackBehindMs = 0,
	oneClock = realRates || slackBehindMs > 0,
	startAt,
	mayFail = false,
	...options
}: AppOptions & {
	realRates?: boolean;
	slackBehindMs?: number;
	oneClock?: boolean;
	startAt?: number | undefined;
	mayFail?: boolean;
} = {}) {
	const clock = createManualClock(startAt);
	const slackClock = { now: () => clock.now() - slackBehindMs, sleep: clock.sleep };
	const slackOptions = oneClock ? { clock: slackClock, settings: { realRates }, ...options.slack } : options.slack;
	const app = await startApp({
		...options,
		clock,
		service: { clock, pace: 1, ...options.service },
		...(slackOptions === undefined ? {} : { slack: slackOptions }),
	});
	const { slack, service } = app;
	let count = 0;
	const names = new Map<string, string>();
	const steady = steadyClock(clock);

	/** Lets time pass until `look` finds something other than false, null and undefined; resolves to that. */
	async function until<T>(look: () => T, describe = () => '', limitMs = REASONABLE_MS) {
		let found: T | undefined;
		const isThere = () => {
			found = look();
			return found !== undefined && found !== null && found !== false;
		};
		await passTime(app, steady, isThere, {
			describe: () => `${describe()}\n${look.toString()}\n${allTexts()}`,
			limitMs,
		});
		return found as Exclude<T, undefined | null | false>;
	}

	const during = <T>(work: Promise<T>) => passTimeDuring(app, steady, work);

	function allTexts(): string {
		return slack.state.messages.map(({ channel, threadTs, text }) => `${channel} ${threadTs ?? ''} ${text}`).join('\n');
	}

	/** A session with one step; nobody plays it, so it does what the test says. */
	function session(json: SessionJson = {}): string {
		count += 1;
		const name = json.name ?? `Order ${count} chairs`;
		const id = `s${count}${Math.random().toString(16).slice(2, 8)}`;
		service.sessions.put(id, {
			status: 'active',
			name,
			maxSteps: 30,
			messages: [
				task('Order six desk chairs.'),
				done('I open the shop.', { go_to_url: { url: 'https://shop.example/' } }),
			],
			files: [],
			...json,
		});
		names.set(id, name);
		return id;
	}

	/** The agent of a session asks; the message's index. */
	function ask(
		id: string,
		items: readonly (string | ItemJson)[] = ['Which colour?'],
		content = 'Three are in stock.',
	): number {
		const index = service.sessions.push(id, asking(content, items));
		service.sessions.setStatus(id, 'humanInput');
		return index;
	}

	function step(id: string, content: string): void {
		service.sessions.push(id, done(content, { click: { index: 1 } }));
	}

	/** What the bot wrote into a channel for everybody, outside of threads or shown in the channel too. */
	function inChannel(channel = '#agents', who = 'ada'): Posted[] {
		return slack
			.as(who)
			.messages(channel)
			.filter((message) => message.author() === BOT && !message.isEphemeral());
	}

	/** The news that a session is over. */
	const isEnd = (message: Posted) => ENDED.test(message.text());

	/** What a message shows, and showed before. */
	function versionsOf({ ts, channel }: Posted): (readonly object[])[] {
		const stored = slack.state.messages.find((one) => one.ts === ts && one.channel === channel);
		return [stored, ...(stored?.history ?? [])].map((one) => one?.blocks ?? []);
	}

	/** A card has, or had, a menu of its own. */
	const isCard = (message: Posted) =>
		!isEnd(message) &&
		(versionsOf(message).some((version) => CARD_ENTRIES.some((label) => written(version).includes(`"${label}"`))) ||
			/^\S+ .+ · (?:done|failed|stopped)(?: · Go to (?:result|end))?$/.test(message.text()));

	/** Whether it opens this session, or did; the card of one that is over has no button, but its name. */
	const isCardOf = (message: Posted, id: string) =>
		versionsOf(message).some((version) => written(version).includes(id) && opensSession(version, id)) ||
		(names.get(id) !== '' && message.text().includes(` ${names.get(id)} · `));

	/** Whether a message, or a version of it, carries this session's id, or says its name and carries no id. */
	function isAbout(message: Posted, id: string): boolean {
		const versions = versionsOf(message).map(written);
		const says = (words: string) => versions.some((version) => version.includes(words));
		if (says(id)) return true;
		const name = names.get(id) ?? '';
		return name !== '' && says(name) && !says('action_id');
	}

	/** The newest card of a session in a channel. */
	function card(id: string, channel = '#agents', who = 'ada'): Posted | undefined {
		return inChannel(channel, who).findLast(
			(message) => message.threadTs() === null && isCard(message) && isCardOf(message, id),
		);
	}

	/** What the bot wrote about a session beside its card: its questions, their threads and the card's, in order. */
	function thread(id: string, channel = '#agents', who = 'ada'): Posted[] {
		const first = card(id, channel, who);
		const own = inChannel(channel, who).filter(
			(message) =>
				message.threadTs() === null &&
				message.ts !== first?.ts &&
				isAbout(message, id) &&
				!isCard(message) &&
				!DIGEST.test(message.text()),
		);
		const posts = [...(first?.thread() ?? []), ...own.flatMap((message) => [message, ...message.thread()])];
		return posts
			.filter((message) => message.author() === BOT && !message.isEphemeral())
			.toSorted((one, other) => Number(one.ts) - Number(other.ts));
	}

	/** Resolves when the card says so. */
	function cardSays(id: string, words: string | RegExp, channel = '#agents'): Promise<Posted> {
		return until(
			() => {
				const found = card(id, channel);
				return found !== undefined && says(found.text(), words) && found;
			},
			() => `The card of ${id} was to say "${words}" and says:\n${card(id, channel)?.text()}`,
		);
	}

	/** Resolves with the post in the thread that says so. */
	function threadSays(id: string, words: string | RegExp, channel = '#agents'): Promise<Posted> {
		return until(
			() => thread(id, channel).findLast((post) => says(post.text(), words)),
			() =>
				`The thread of ${id} was to say "${words}" and says:\n${thread(id, channel)
					.map((post) => post.text())
					.join('\n--\n')}`,
		);
	}

	/** The post as another person sees it. */
	function seenBy(who: string, { ts, channel }: Posted): Posted {
		const posts = slack.as(who).messages(channel, { all: true });
		const found = posts.flatMap((post) => [post, ...post.thread()]).find((post) => post.ts === ts);
		if (found === undefined) throw new Error(`${who} does not see the post`);
		return found;
	}

	function onlyFor(who: string, channel: string): Posted[] {
		return slack
			.as(who)
			.messages(channel, { all: true })
			.filter((message) => message.isEphemeral());
	}

	/** What only this person is told after `act`. */
	async function toldAfter(act: () => Promise<unknown>, who = 'ada', channel = '#agents'): Promise<Posted> {
		const before = new Set(onlyFor(who, channel).map(({ ts }) => ts));
		await act();
		return until(
			() => onlyFor(who, channel).find(({ ts }) => !before.has(ts)),
			() => `${who} was told nothing`,
		);
	}

	async function command(line: string, who = 'ada', channel = '#agents'): Promise<Posted> {
		return toldAfter(
			async () => {
				const outcome = await slack.as(who).command(channel, line);
				if (!outcome.ok) throw new Error(`${line} failed with ${outcome.error}`);
			},
			who,
			channel,
		);
	}

	/** Watches this session: its card stands when this resolves, or its question, which comes before the card. */
	async function watch(id: string, { who = 'ada', channel = '#agents' } = {}): Promise<void> {
		await command(`/session watch ${id}`, who, channel);
		await until(() => card(id, channel) ?? thread(id, channel)[0]);
	}

	/** Ends all that a channel watches, and says so. */
	async function unwatchAll(channel = '#agents', who = 'ada'): Promise<Posted> {
		const told = await command('/session unwatch all', who, channel);
		if (!told.buttons().includes('End all')) return told;
		await told.press('End all');
		await until(() => !told.buttons().includes('End all'));
		return told;
	}

	/** Sets what posts of a channel are like, through its settings; what is left out is as where nobody has set it. */
	async function setPosts(style: Partial<PostStyle>, { who = 'ada', channel = '#agents' } = {}): Promise<void> {
		const person = slack.as(who);
		await person.modal()?.close(true);
		await person.command(channel, '/session settings');
		const form = await until(() => (person.modal()?.submitText() === 'Save' ? person.modal() : null));
		const parts = Object.entries({ buttons: true, ...style }).filter(([, isOn]) => isOn);
		const { updates } = form.view();
		await form.choose(
			'Posts',
			parts.map(([part]) => POSTS[part as keyof PostStyle].label),
		);
		// As fast as a person, not faster.
		if (parts.length === 0) await until(() => form.view().updates !== updates);
		if ((await during(form.submit())).outcome !== 'updated') throw new Error(form.text());
		await form.close(true);
	}

	/**
	 * Watches a session of its own; its card stands, and the first of the reads was made from which changes are told.
	 * `style`: of all posts in #agents from now on; left out: as it is.
	 */
	async function watched(json: SessionJson = {}, style?: Partial<PostStyle>): Promise<string> {
		if (style !== undefined) await setPosts(style);
		const id = session(json);
		await command(`/session watch ${id}`);
		await until(() => card(id) && service.log.reads(id).length > 1);
		// Both are known to the program a moment later than to Slack and the service.
		await pass(1_500);
		return id;
	}

	/** A watched session whose agent asks. */
	async function watchedAsking(items?: readonly (string | ItemJson)[]): Promise<string> {
		const id = await watched();
		ask(id, items);
		return id;
	}

	/** The same, once the question's post stands. */
	async function askedPost(items: readonly (string | ItemJson)[] = ['Which colour?']) {
		const id = await watchedAsking(items);
		const [first = ''] = items;
		return { id, post: await threadSays(id, typeof first === 'string' ? first : String(first.title)) };
	}

	/** Resolves with the question's post when it shows that it was answered, and nothing more is under way. */
	const answered = (id: string, channel = '#agents'): Promise<Posted> =>
		threadSays(id, /^✅ .* asked(?:: | \d+ questions\n)/m, channel);

	/** Presses an option on a post, which shows it, with *Undo*. */
	async function choose(post: Posted, option: string): Promise<void> {
		await post.press(option);
		await until(
			() => post.buttons().join() === 'Undo',
			() => `The post was to offer Undo, and says:\n${post.text()}`,
		);
	}

	/** Slack takes no updates of posts, so their buttons stay. */
	function freezePosts(): void {
		slack.faults.add({ method: 'chat.update', error: 'internal_error' });
		slack.faults.add({
			method: 'response_url',
			status: 500,
			when: ({ replace_original: replaces }) => replaces === true,
		});
	}

	/** Lets so much time pass, and all that is due in it be done; whatever comes of it. */
	const pass = (ms: number) => passFor(app, steady, ms);

	/** The calls of a Web API method since `from` entries of traffic. */
	function calls(method: string, from = 0): TrafficEntry[] {
		return slack.traffic
			.all()
			.filter((entry) => entry.seq > from && entry.direction === 'call' && entry.name === method);
	}

	/** Resolves when the program has done with what `act` sends: it acknowledges first. */
	async function handled(what: string, act: () => Promise<unknown>): Promise<void> {
		const count = () => app.log.filter((line) => line.includes('"handled"') && line.includes(`"${what}"`)).length;
		const before = count();
		await act();
		await until(
			() => count() > before,
			() => `"${what}" was not handled`,
		);
	}

	/** The next post of #agents stands there, and nobody is told so. */
	const loseReply = () =>
		slack.faults.add({
			method: 'chat.postMessage',
			status: 500,
			times: 1,
			afterEffect: true,
			when: ({ channel }) => channel === 'C0AGENTS',
		});

	return {
		...app,
		/** Closes it, and checks what holds whatever happens, but where a test makes it fail. */
		async [Symbol.asyncDispose]() {
			try {
				if (!mayFail) expectNothingWrong(app);
			} finally {
				// What sleeps on the clock ends too.
				await during(app[Symbol.asyncDispose]());
			}
		},
		app,
		clock,
		until,
		/** Lets time pass until `work` has ended. */
		during,
		session,
		ask,
		step,
		inChannel,
		card,
		/** The messages that say that a session is over. */
		ends: (id: string, channel = '#agents') => thread(id, channel).filter(isEnd),
		thread,
		cardSays,
		threadSays,
		seenBy,
		toldAfter,
		command,
		unwatchAll,
		watch,
		watched,
		setPosts,
		watchedAsking,
		askedPost,
		pass,
		calls,
		answered,
		choose,
		freezePosts,
		onlyFor,
		handled,
		/** The menu of a question's post. */
		MENU: ['Hand over', 'Snooze for 1 h', 'Open session'],
		loseReply,
		now: () => slack.traffic.all().at(-1)?.seq ?? 0,
	};
}

export type WatchingApp = Awaited<ReturnType<typeof watchingApp>>;

/** What holds whatever happens: Slack refuses nothing, nothing secret leaves, no link that gives access stands in a channel. */
export function expectNothingWrong({ slack, service, log }: Pick<WatchingApp, 'slack' | 'service' | 'log'>): void {
	expect(slack.violations()).toEqual([]);
	expect(service.log.processEnders()).toEqual([]);
	expect(service.log.list().filter(({ status }) => status === 429)).toEqual([]);
	const entries = slack.traffic.all();
	const shown = entries.filter(({ name }) => PUBLIC_CALLS.has(name)).map(({ request }) => request);
	expect(JSON.stringify(shown)).not.toMatch(/X-Amz|x-issued|\/files\//i);
	const sent = JSON.stringify(
		entries.filter(({ direction }) => direction !== 'delivery').map(({ request }) => request),
	);
	const logged = log.join('\n');
	expect(CANARY_STRINGS.filter((canary) => sent.includes(canary) || logged.includes(canary))).toEqual([]);
	expect(log.filter((line) => /"level":(?:50|60|"error"|"fatal")/.test(line))).toEqual([]);
}
