import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect } from 'vitest';
import { askingSession } from '../../../fake-session-service/builders.ts';
import { callSlack, sampleOrganisation, sampleWorkspace, withMembers } from '../../../fake-slack/index.ts';
import { WHICH_QUESTION } from '../../../src/screens/form.ts';
import { INBOX_WAITING, waitingCountWords } from '../../../src/screens/inbox.ts';
import { errorWords, REFUSAL_CODES } from '../../../src/slack/error-view.ts';
import { CALLBACKS } from '../../../src/slack/ids.ts';
import { plainWords } from '../../../src/slack/rich-text.ts';
import { FOLLOWED_MS } from '../../../src/surfaces/view-plan-store.ts';
import { type WatchingApp, watchingApp } from '../../sessions/harness.ts';
import type { Limits } from '../../support/no-limits.ts';
import { isDatabaseBusy } from '../../support/pass-time.ts';
import { openSession } from '../support/open-session.ts';
import { ACTS, type Act, type ActContext, type Member } from './acts.ts';
import { createLists, OWN_CHANNEL } from './lists.ts';
import type { Become } from './people.ts';
import { LISTED, type Listed, type Row, outcomeOf as tableOutcomeOf } from './table.ts';

/** Whose rows are theirs in which table, and what in them is an effect of what somebody did. */
const ROWS = `
	select user_id as who, 'answer ' || id || state || edit_count as row from answers
	union all select user_id, 'draft ' || form_id || content from drafts
	union all select user_id, 'claim ' || session_id || claim_until from views where claim_until is not null
	union all select user_id, 'inbox ' || id || followed_until from views where kind in ('home', 'inbox')
	union all select changed_by, 'settings ' || channel_id || revision from channel_settings
	union all select created_by, 'watch ' || id from watches where ended_at is null`;

const firstSentence = (words: string) => words.split('. ')[0] ?? words;
/** Stands for the names of those who may. */
const WHO = '{who}';
/** As many characters after them tell a refusal from other words. */
const AFTER_WHO = 24;
/** How each refusal begins, whichever way it is told; after the names in it. */
const SENTENCES = REFUSAL_CODES.map((refusal) => {
	const ways = (['nothing', 'text', 'unchanged'] as const).map((kept) =>
		errorWords(refusal, { kept, adminContact: null, who: WHO }),
	);
	const waiting = refusal === 'could_not_check' ? [firstSentence(INBOX_WAITING)] : [];
	const told = ways
		.flatMap(({ text, plain }) => [plainWords(text), plain])
		.map((words) => words.split(WHO)[1]?.slice(0, AFTER_WHO) ?? firstSentence(words));
	return { refusal, sentences: [...told, ...waiting] };
});

/** What there is of one person. */
interface Trace {
	/** All that is on their screen, and how often it was put there. */
	readonly screen: string;
	/** Of it, where a refusal may be told: a session's window says to whoever may only read it why. */
	readonly told: string;
	readonly rows: ReadonlySet<string>;
	/** How many requests the service got for their session; where a list decides, how many changed it: they may read. */
	readonly requests: number;
}

/** Asks the database of the program for rows. */
type Query = <Row>(sql: string) => Promise<Row[]>;

/** @param databaseUrl of PostgreSQL; left out: the file in `dataDir`. Call `close` at the end. */
async function openQuery(dataDir: string, databaseUrl?: string): Promise<{ query: Query; close(): unknown }> {
	if (databaseUrl === undefined) {
		const db = new DatabaseSync(join(dataDir, 'handraise.db'), { readOnly: true });
		return { query: async <Row>(sql: string) => db.prepare(sql).all() as Row[], close: () => db.close() };
	}
	const client = new pg.Client({ connectionString: databaseUrl });
	await client.connect();
	return { query: async <Row>(sql: string) => (await client.query(sql)).rows as Row[], close: () => client.end() };
}

/** What there is of everybody now, by name. */
async function tracesOf(
	app: WatchingApp,
	members: readonly Member[],
	{ query, mayRead }: { readonly query: Query; readonly mayRead: boolean },
): Promise<Map<string, Trace>> {
	const { slack, service } = app;
	const rows = await query<{ who: string; row: string }>(ROWS);
	const screenOf = (id: string, name: string, except = '') => {
		const views = Object.values(slack.state.views).filter(
			({ user, payload }) => user === id && payload.callback_id !== except,
		);
		const alone = slack.state.messages.filter(({ ephemeralFor }) => ephemeralFor === id);
		return JSON.stringify([
			views.map((view) => [view.id, view.updates, view.fieldErrors, view.payload.blocks]),
			alone.map(({ blocks }) => blocks),
			slack
				.as(name)
				.dm()
				.map((message) => message.text()),
		]);
	};
	return new Map(
		members.map(({ id, name, session }) => [
			name,
			{
				screen: screenOf(id, name),
				told: screenOf(id, name, CALLBACKS.session),
				rows: new Set(rows.filter(({ who }) => who === id).map(({ row }) => row)),
				requests: mayRead ? service.log.puts(session).length : service.log.list({ sessionId: session }).length,
			},
		]),
	);
}

/**
 * What became of an act: the refusal that was told, `nothing` when nothing was said and done, else `allowed` (`no check`
 * for what asks for none). Names what a refused person caused all the same.
 *
 * @param ack what the acknowledgement said
 */
function outcomeOf({ group }: Act, before: Trace, after: Trace, ack: string): string {
	const screen = after.screen + ack;
	const isNew = (words: string) => (after.told + ack).includes(words) && !before.told.includes(words);
	const told = SENTENCES.find(({ sentences }) => sentences.some(isNew))?.refusal;
	const requests = after.requests - before.requests;
	let caused = [...after.rows].filter((row) => !before.rows.has(row));
	// A Home waits for what Slack tells of its person.
	if (told === 'could_not_check') caused = caused.filter((row) => !row.startsWith('inbox home:'));
	if (requests > 0) caused.push(`${requests} requests to the service`);
	const kept = told ?? (group === 'free' ? 'no check' : null);
	if (kept !== null) return caused.length === 0 ? kept : `${kept}, but: ${caused.join(', ')}`;
	const isEnded = [...before.rows].some((row) => row.startsWith('watch ') && !after.rows.has(row));
	return caused.length > 0 || isEnded || screen !== before.screen ? 'allowed' : 'nothing';
}

/** What is known of people may be this old. */
const FACTS_HOLD_MS = 5 * 60_000;
/** After so many looks at which nothing is under way and nothing was done, a moment passes. */
const STALLED_LOOKS = 25;
const LOOK_EVERY_MS = 2;
const PREPARED_A_MINUTE = 25;
const HOME_ACT = 'opening the Home tab';
/** A Home says that it waits sooner than this. */
const HOME_WAITS_MS = 20_000;
/** Slack is not waited for any longer. */
const NO_ANSWER_MS = 1_500;
/** An inbox that waits for what Slack tells of its person is filled sooner than this. */
const FILLED_WITHIN_MS = 20_000;

interface Options {
	readonly place?: '#agents' | 'dm';
	readonly inOrganisation?: boolean;
	/** #agents is a private channel. */
	readonly isPrivate?: boolean;
	readonly acts?: readonly Act[];
	readonly transport?: 'socket' | 'http';
	readonly env?: Readonly<Record<string, string>>;
	readonly limits?: Limits;
	/** More than one: with `DATABASE_URL` only. */
	readonly replicas?: number;
	/** The sessions of all are watched, or were, in a channel that names who may answer. */
	readonly listed?: 'watched' | 'once';
}

type Acting = Member & { readonly act: Act };

/** What the table says of these acts. */
export function expected(row: Row, acts: readonly Act[]): Record<string, string> {
	return Object.fromEntries(acts.map(({ name, group }) => [name, tableOutcomeOf(row, group)]));
}

/** A workspace with so many members; in an organisation, where their own workspace is another one. */
function workspaceOf(names: readonly string[], { inOrganisation = false, isPrivate = false, listed }: Options) {
	const workspace = withMembers(inOrganisation ? sampleOrganisation() : sampleWorkspace(), 'agents', names);
	const ids = workspace.people.filter(({ name }) => names.includes(name)).map(({ id }) => id);
	if (listed !== undefined) for (const group of workspace.userGroups) group.users = [...ids, 'U0GRACE'];
	for (const channel of workspace.channels) {
		if (channel.name === 'agents') Object.assign(channel, { isPrivate });
		if (listed !== undefined && channel.name === OWN_CHANNEL) channel.members.push(...ids);
	}
	for (const person of workspace.people) {
		if (!inOrganisation || !names.includes(person.name)) continue;
		Object.assign(person, { teamId: 'T0APEX', teams: ['T0APEX', 'T0ACME'] });
	}
	return workspace;
}

/** A message of the app's to press on; in a channel the question of a session that is watched until `end`. */
async function postCard(app: WatchingApp, place: string) {
	if (place === 'dm') {
		const channel = (await callSlack(app.slack, 'conversations.open', { users: 'U0ADA' })).channel as { id: string };
		const { ts } = await callSlack(app.slack, 'chat.postMessage', {
			channel: channel.id,
			text: 'card',
			parse: 'none',
			link_names: false,
		});
		return { card: { channel: channel.id, ts: String(ts) }, end: async () => {} };
	}
	const id = app.session(askingSession(['Which colour?', 'Which size?'], { name: 'Chairs' }));
	await app.watch(id);
	const card = await app.threadSays(id, 'Which colour?');
	await app.pass(1_500);
	const end = async () => void (await app.command(`/session unwatch ${id}`));
	return { card: { channel: card.channel, ts: card.ts }, end };
}

/** Somebody opens what they will act on. */
async function prepare(
	app: WatchingApp,
	{ act, id, name, place, session }: Acting,
	card: ActContext['card'],
): Promise<void> {
	const person = app.slack.as(name);
	// Its id never changes, also not when Slack is as it was before.
	await callSlack(app.slack, 'conversations.open', { users: id });
	if (act.needs === 'form' || act.needs === 'receipt') {
		const form = await openSession(app, session, name, place);
		for (const field of [0, 1]) await form.fill(field, 'grey');
		if (act.needs === 'receipt') await form.submit();
	}
	if (act.needs === 'history') {
		await person.command(place, `/session history ${session}`);
		await person.waitForModal();
	}
	if (act.needs === 'inbox') {
		await person.command(place, '/session inbox');
		// So many open theirs at once that some wait for their turn.
		const says = (count: number) => person.modal()?.text().includes(waitingCountWords(count, 0)) === true;
		await app.until(() => [0, 1].some(says));
	}
	if (act.needs === 'handOver') {
		const post = await app.until(() =>
			person.messages(card.channel, { all: true }).find((one) => one.buttons().includes('Hand over')),
		);
		await post.press('Hand over');
		await person.waitForModal('Hand over to');
	}
	if (act.needs === 'settings') {
		const open = async () => {
			await person.command(place, '/session settings');
			return person.waitForModal('[Save]');
		};
		const form = await open();
		await form.choose('Quiet hours', ['Sun']);
		await form.submit();
		await open();
	}
	if (act.needs === 'chooser') {
		const thread = person.messages(card.channel).find(({ ts }) => ts === card.ts);
		if (thread === undefined) throw new Error('there is no card');
		await person.shortcut(await person.say(place, 'grey', { thread }), 'use_as_answer');
		await person.waitForModal(WHICH_QUESTION);
	}
}

/** The program with one person for each act; all of them are members who have open what they act on. */
export async function whoMayApp(options: Options = {}) {
	const { place = '#agents', acts = ACTS, transport = 'socket', env = {}, limits = {}, replicas = 1, listed } = options;
	const isWatched = listed === 'watched';
	const possible = acts.filter(({ inChannelOnly }) => place !== 'dm' || inChannelOnly !== true);
	const members = possible.map(
		(act, index): Acting => ({
			act,
			name: `p${index}`,
			id: `U0P${index}`,
			session: `own${String(index).padStart(2, '0')}`,
			place,
		}),
	);
	const names = members.map(({ name }) => name);
	const workspace = workspaceOf(names, options);
	const app = await watchingApp({
		// Who may not do it is logged as a failure of some acts.
		mayFail: true,
		oneClock: true,
		transport,
		env: { SESSION_SERVICE_RPM: '100000', ...env },
		limits,
		service: { rateLimit: false },
		slack: { workspace, waitMs: 60_000 },
	});
	const { slack, service } = app;
	for (const { session } of members)
		service.sessions.put(
			session,
			askingSession(['Which colour?', 'Which size?'], { name: isWatched ? session : 'Chairs' }),
		);

	const { card, end } = await postCard(app, place);
	// Slack opens about 100 windows a minute, and each of them opens up to two.
	for (let at = 0; at < members.length; at += PREPARED_A_MINUTE) {
		await Promise.all(members.slice(at, at + PREPARED_A_MINUTE).map((member) => prepare(app, member, card)));
		await app.pass(60_000);
	}
	const answered = members.filter(({ act }) => act.needs === 'receipt');
	await app.until(() => answered.every(({ session }) => service.log.effectivePuts(session).length === 1));
	// A replica that starts brings the inboxes up to date, and asks Slack about people for it.
	for (let count = 1; count < replicas; count += 1) await app.app.startOther();
	// Nothing reads, posts or follows by itself while people act.
	await end();
	await app.pass(30_000);
	await app.clock.advance(FOLLOWED_MS);
	await app.pass(30_000);
	let before = slack.snapshot();
	const lists = createLists(app, members, { isWatched });
	const { query, close } = await openQuery(app.app.dataDir, env.DATABASE_URL);
	const rows = await query<{ who: string; id: string }>('select user_id as who, id from answers');
	const answerOf = ({ id }: Member) => rows.find(({ who }) => who === id)?.id ?? '';
	let round = 0;

	const handledCounts = new Map<string, number>();
	let linesRead = 0;
	/** How many requests of a member are handled. Asked all the time, so each line of the log is read once. */
	function handledBy({ id }: Member): number {
		for (const line of app.log.slice(linesRead)) {
			const [, user] = /"user":"([^"]+)"/.exec(line) ?? [];
			// Of somebody too fast, it is an end that the log line says `what`.
			const isEnd = /"msg":"(handled|a request failed)"|"what":.*"msg":"refused"/.test(line);
			if (user !== undefined && isEnd) handledCounts.set(user, (handledCounts.get(user) ?? 0) + 1);
		}
		linesRead = app.log.length;
		return handledCounts.get(id) ?? 0;
	}

	const openCalls = () =>
		slack.traffic.all().filter(({ direction, doneAt }) => direction !== 'delivery' && doneAt === null);
	const heldCount = () => openCalls().filter(({ name, isHeld }) => isHeld && name === 'users.info').length;
	/** Whether something ends without the clock: however slow the machine is, no time passes meanwhile. */
	const isWorking = () => isDatabaseBusy() || openCalls().some(({ isHeld }) => !isHeld);

	/** Waits a little for more to be done. Each time that the count stays for a while, a moment passes on the clock. */
	function waiting(momentMs = 1_000): (doneCount: number) => Promise<void> {
		let [counted, looks] = [-1, 0];
		return async (doneCount) => {
			await delay(LOOK_EVERY_MS);
			looks = counted === doneCount && !isWorking() ? looks + 1 : 0;
			counted = doneCount;
			if (looks <= STALLED_LOOKS) return;
			looks = 0;
			await app.clock.advance(momentMs);
		};
	}

	/**
	 * Resolves when everybody's act is done. Once all wait for an answer that Slack keeps back, that much time passes, and a
	 * moment each time that nothing is done for a while: what the program knows of people must not grow old while a machine is slow.
	 */
	async function everybody(
		run: (member: Acting) => Promise<unknown>,
		some = members,
		momentMs?: number,
	): Promise<void> {
		const handled = some.map(handledBy);
		const isDone = () => some.every((member, index) => handledBy(member) > (handled[index] ?? 0));
		const asking = some.filter(({ act }) => act.group !== 'free').length;
		const done = some.map(run);
		const doneCount = () => some.filter((member, index) => handledBy(member) > (handled[index] ?? 0)).length;
		const wait = waiting(momentMs);
		for (let passedFor = asking - 1; !isDone(); await wait(doneCount())) {
			const held = heldCount();
			// An act that asks for no check may ask Slack all the same, a moment later.
			if (held <= passedFor) continue;
			passedFor = held;
			await app.clock.advance(NO_ANSWER_MS);
		}
		await Promise.all(done);
	}

	const homesPublished = () => slack.traffic.calls('views.publish').filter(({ doneAt }) => doneAt !== null).length;

	const unfilledCount = async () => (await query(`select id from views where asked_at is not null`)).length;

	/** An inbox says that it waits while Slack has not told of its person, also where another replica has asked. */
	async function filled(): Promise<void> {
		for (let passedMs = 0; passedMs < FILLED_WITHIN_MS && (await unfilledCount()) > 0; passedMs += 1_000)
			await app.pass(1_000);
	}

	/** Slack is again as it was when all were members; ids and times go on. */
	async function startOver(laterMs: number): Promise<void> {
		const { counter, lastTs } = slack.state;
		slack.faults.clear();
		slack.restore({ ...before, counter, lastTs });
		// A Home that could not be filled is filled now, and nobody asks about its person when it is not followed any more.
		if ((await unfilledCount()) > 0) await app.pass(FOLLOWED_MS + 60_000);
		await app.clock.advance(laterMs);
		// What is watched is read now, and shown.
		if (isWatched) await app.pass(1_000);
	}

	return {
		app,
		acts: possible,

		/** Has happen what makes everybody such a person, once in this order. What they have open stays. */
		async become(who: Listed): Promise<void> {
			await startOver(0);
			await lists[who]();
			await app.pass(30_000);
			before = slack.snapshot();
		},

		/** Everybody does something as a member, so that the program knows of them for the next five minutes. */
		async becomeKnown(): Promise<void> {
			await startOver(FACTS_HOLD_MS);
			await everybody(({ name }) => slack.as(name).command(place, '/session list'));
		},

		/**
		 * Everybody acts as one kind of person, on what they opened as members; what became of each act.
		 * @param laterMs how long after whatever was done before
		 * @param momentMs how much time passes while nothing is done
		 */
		async actAs(become: Become, laterMs = FACTS_HOLD_MS, momentMs?: number): Promise<Record<string, string>> {
			round += 1;
			await startOver(laterMs);
			become(
				slack,
				slack.state.people.filter(({ name }) => names.includes(name)),
			);
			const earlier = await tracesOf(app, members, { query, mayRead: listed !== undefined });
			const acks = new Map<string, string>();
			const opening = members.filter(({ act }) => act.name === HOME_ACT);
			const publishedBefore = homesPublished();
			const act = async (member: Acting) => {
				const ack = await member.act.run(app, member, { card, round, before, answerOf });
				if (member.act.group === 'send' || member.act.group === 'answer') acks.set(member.name, JSON.stringify(ack));
			};
			// First, because all others come before it. A Home that waits for Slack says so after some seconds.
			await everybody(act, opening);
			const isPublished = () => homesPublished() >= publishedBefore + opening.length;
			const wait = waiting();
			for (const until = app.clock.now() + HOME_WAITS_MS; !isPublished() && app.clock.now() < until; ) await wait(0);
			await everybody(
				act,
				members.filter((member) => !opening.includes(member)),
				momentMs,
			);
			// A replica may still write what nobody waits for. While Slack keeps an answer back, no time passes.
			if (replicas > 1 && heldCount() === 0) await app.pass(1);
			if (replicas > 1 || heldCount() === 0) await filled();
			const later = await tracesOf(app, members, { query, mayRead: listed !== undefined });
			const none: Trace = { screen: '', told: '', rows: new Set(), requests: 0 };
			return Object.fromEntries(
				members.map(({ act, name }) => [
					act.name,
					outcomeOf(act, earlier.get(name) ?? none, later.get(name) ?? none, acks.get(name) ?? ''),
				]),
			);
		},

		/** Everybody does their act so many times at one moment; by act, the most calls of one of Slack's methods. */
		async flood(become: Become, times: number): Promise<Record<string, number>> {
			await startOver(FACTS_HOLD_MS);
			const people = slack.state.people.filter(({ name }) => names.includes(name));
			become(slack, people);
			const most: Record<string, number> = {};
			for (const member of members) {
				const from = app.now();
				const handled = handledBy(member);
				for (let time = 0; time < times; time++) {
					round += 1;
					await member.act.run(app, member, { card, round, before, answerOf });
				}
				const wait = waiting();
				while (handledBy(member) < handled + times) await wait(handledBy(member));
				const calls = slack.traffic.all().filter(({ seq, direction }) => seq > from && direction === 'call');
				const counts = Map.groupBy(calls, ({ name }) => name);
				most[member.act.name] = Math.max(0, ...Array.from(counts.values(), ({ length }) => length));
			}
			return most;
		},

		async [Symbol.asyncDispose]() {
			await close();
			await app[Symbol.asyncDispose]();
		},
	};
}

export type WhoMayApp = Awaited<ReturnType<typeof whoMayApp>>;

/** Has everybody become such a person, act, and get what the table says. */
export async function expectAsInTable(app: WhoMayApp, who: Listed): Promise<void> {
	await app.become(who);
	expect(await app.actAs(() => {})).toEqual(expected(LISTED[who], app.acts));
	expect(app.app.slack.violations()).toEqual([]);
}
