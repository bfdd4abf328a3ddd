import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '@slack/bolt';
import type { ModalView } from '@slack/types';
import { type AccessPolicy, FRESH_MS, type Place, type Refusal, type Verdict } from '../answers/access-policy.ts';
import { setBounded } from '../bounded-map.ts';
import { type Clock, uptimeOf } from '../clock.ts';
import type { Log } from '../log.ts';
import { codeOf } from './clients.ts';
import type { ActionId, CallbackId } from './ids.ts';
import type { Reply } from './reply.ts';
import {
	type PersonRequest,
	type Press,
	personRequest,
	readPress,
	readView,
	type ViewSnapshot,
	viewIn,
	type WrittenMessage,
	writtenRequest,
} from './request.ts';
import type { AllowedRequest, Task } from './task.ts';

/** What a submission is acknowledged with. */
export type SubmissionAck =
	| { readonly response_action: 'update'; readonly view: ModalView }
	| { readonly response_action: 'errors'; readonly errors: Readonly<Record<string, string>> };

/** What became of a submission: how it is acknowledged, and what is done once the acknowledgement is out. */
export interface Submitted {
	readonly ack: SubmissionAck;
	readonly after: () => Promise<void>;
}

/** What a submission asks for, and who may have it done. */
export interface SubmissionTask {
	readonly place: Place;
	run(request: AllowedRequest): Promise<Submitted>;
	refused(refusal: Refusal): Submitted;
}

/** As many requests as arrive in the time in which Slack or a socket might hand one over twice. */
const REMEMBERED = 5_000;
/** However many submissions follow each other, what comes after one of them waits no longer than this. */
const LONGEST_RUSH_MS = 50;

interface Dependencies {
	readonly app: App;
	/** The workspace that the app is installed in. */
	readonly teamId: string;
	readonly accessPolicy: AccessPolicy;
	readonly reply: Reply;
	readonly clock: Clock;
	readonly log: Log;
	readonly onAcknowledged: (ms: number) => void;
}

/**
 * How handlers hang on Bolt, so that each has the same care: acknowledge first, do the work once however often Slack
 * hands the request over, ask the access policy, write one log line, and never end in silence. Handlers give back what is
 * to be done and for whom; nothing is done for a person before the access policy was asked here.
 */
export function createListen(deps: Dependencies) {
	const { app, teamId, accessPolicy, reply, clock, log, onAcknowledged } = deps;
	const running = new Set<Promise<void>>();
	const seen = new Map<string, true>();
	const rush = createRush(clock);
	let turn: Promise<unknown> = Promise.resolve();

	/** Whether this key comes for the first time; Bolt does not look at that. */
	function isNew(key: string | null | undefined): boolean {
		if (key == null) return true;
		if (seen.has(key)) return false;
		setBounded(seen, key, true, REMEMBERED);
		return true;
	}

	/** One begins in each turn of the event loop, so that what arrives meanwhile is acknowledged before the next begins. */
	function ownTurn(): Promise<unknown> {
		turn = turn.then(() => nextTurn());
		return turn;
	}

	function check(
		{ person, claimedTeamId }: PersonRequest,
		place: Place,
		maxAgeMs: number | undefined,
	): Promise<Verdict> {
		return accessPolicy.check({ ...person, claimedTeamId }, place, maxAgeMs);
	}

	/** Does what a request asks for, if whoever asks may have it. `view`: where they pressed. */
	async function perform(request: PersonRequest, task: Task, view: ViewSnapshot | null): Promise<void> {
		const { place } = task;
		const verdict: Verdict = place === 'anybody' ? { allowed: true } : await check(request, place, task.maxAgeMs);
		if (!verdict.allowed) {
			const { refusal } = verdict;
			request.log.info({ refusal }, 'refused');
			await (task.refused?.(refusal) ?? reply.refused(request, refusal, view));
			return;
		}
		const next = await task.run({ ...request, access: 'allowed' });
		if (next !== undefined) await perform(request, next, view);
	}

	/** `tellsFailure`: the person waits for what `task` does; else its failure is only logged. */
	async function work(
		request: PersonRequest,
		what: string,
		task: () => Promise<void>,
		{ tellsFailure = true }: { tellsFailure?: boolean } = {},
	): Promise<void> {
		const start = uptimeOf(clock);
		await ownTurn();
		try {
			await task();
			request.log.info({ what, ms: uptimeOf(clock) - start }, 'handled');
		} catch (error) {
			const code = codeOf(error);
			request.log.error({ what, code, ms: uptimeOf(clock) - start, err: error }, 'a request failed');
			if (tellsFailure) await reply.failed(request, error);
		}
	}

	function track(task: Promise<void>): Promise<void> {
		const tracked = task.finally(() => running.delete(tracked));
		running.add(tracked);
		return tracked;
	}

	/** Acknowledges with nothing, then does what is asked for. */
	async function acknowledgeAndWork(
		body: unknown,
		ack: () => Promise<unknown>,
		what: string,
		plan: (request: PersonRequest, view: ViewSnapshot | null) => Task | Promise<Task>,
	): Promise<void> {
		const start = uptimeOf(clock);
		const request = personRequest(body, teamId, log);
		const fresh = isNew(request.triggerId);
		await ack();
		onAcknowledged(uptimeOf(clock) - start);
		if (!fresh) return;
		const task = async () => {
			const view = viewIn(body);
			await perform(request, await plan(request, view), view);
		};
		await track(work(request, what, task));
	}

	/** A submission whose handler fails is the handler's to put into words. */
	async function submit(request: PersonRequest, task: SubmissionTask): Promise<Submitted> {
		const verdict = await check(request, task.place, FRESH_MS);
		if (verdict.allowed) return task.run({ ...request, access: 'allowed' });
		request.log.info({ refusal: verdict.refusal }, 'refused at submit');
		return task.refused(verdict.refusal);
	}

	/** Events are acknowledged by Bolt; Slack repeats them when it is not sure. */
	function onEvent(name: string, handle: (event: unknown) => Promise<void>): void {
		app.event(name, async ({ event, body }) => {
			if (!isNew(body.event_id)) return;
			const task = handle(event).catch((error: unknown) => {
				log.error({ event: name, code: codeOf(error), err: error }, 'an event could not be handled');
			});
			await track(task);
		});
	}

	return {
		command(name: string, plan: (request: PersonRequest, text: string) => Task | Promise<Task>): void {
			app.command(name, ({ body, ack, command }) =>
				acknowledgeAndWork(body, ack, name, (request) => plan(request, command.text ?? '')),
			);
		},

		action(id: ActionId, plan: (request: PersonRequest, press: Press) => Task | Promise<Task>): void {
			app.action(id, ({ body, ack, action }) =>
				acknowledgeAndWork(body, ack, id, (request, view) => plan(request, readPress(action, view))),
			);
		},

		/** Whatever no handler knows: buttons of an older version, links. */
		otherActions(known: ReadonlySet<string>, plan: (request: PersonRequest, actionId: string) => Task): void {
			app.action(/(?:)/, async ({ body, ack, action }) => {
				const id = 'action_id' in action ? action.action_id : '';
				if (known.has(id)) return;
				await acknowledgeAndWork(body, ack, 'other action', (request) => plan(request, id));
			});
		},

		shortcut(callbackId: string, plan: (request: PersonRequest, body: unknown) => Task | Promise<Task>): void {
			app.shortcut(callbackId, ({ body, ack }) =>
				acknowledgeAndWork(body, ack, callbackId, (request) => plan(request, body)),
			);
		},

		/**
		 * A submission is acknowledged after the work, and told apart from its repeats by the handler. What is known of
		 * whoever submits is at most `FRESH_MS` old. `failed` puts into words whatever was thrown. The acknowledgement has
		 * told the person what became of it, so that a failure of `after` is only logged: "please try again" would be untrue.
		 */
		submission(
			callbackId: CallbackId,
			handler: {
				plan(request: PersonRequest, view: ViewSnapshot): Promise<SubmissionTask>;
				failed(request: PersonRequest, view: ViewSnapshot, error: unknown): Submitted;
			},
		): void {
			app.view({ callback_id: callbackId, type: 'view_submission' }, async ({ body, ack }) => {
				const start = uptimeOf(clock);
				const request = personRequest(body, teamId, log);
				const acknowledged = rush.enter();
				let after = async () => {};
				try {
					const view = readView(body.view);
					const done = await handler
						.plan(request, view)
						.then((task) => submit(request, task))
						.catch((error: unknown) => handler.failed(request, view, error));
					after = done.after;
					// Bolt types the argument for submissions and closings at once, which nothing satisfies.
					await (ack as (response: SubmissionAck) => Promise<void>)(done.ack);
					onAcknowledged(uptimeOf(clock) - start);
				} finally {
					acknowledged();
					const follow = () => work(request, `submit ${callbackId}`, after, { tellsFailure: false });
					await track(rush.over().then(follow));
				}
			});
		},

		closed(callbackId: CallbackId, plan: (request: PersonRequest, view: ViewSnapshot) => Task): void {
			app.view({ callback_id: callbackId, type: 'view_closed' }, ({ body, ack }) =>
				acknowledgeAndWork(body, ack, `close ${callbackId}`, (request) => plan(request, readView(body.view))),
			);
		},

		/** Something happened in the workspace that nobody asks anything with. */
		event(name: string, handle: (event: unknown, teamId: string) => Promise<void>): void {
			onEvent(name, (event) => handle(event, teamId));
		},

		/** Somebody wrote a message that may ask for something; null when it does not. */
		message(
			name: string,
			plan: (event: unknown) => { readonly written: WrittenMessage; task(request: PersonRequest): Task } | null,
		): void {
			onEvent(name, async (event) => {
				const asked = plan(event);
				if (asked === null) return;
				const request = writtenRequest(asked.written, teamId, log);
				await work(request, name, () => perform(request, asked.task(request), null));
			});
		},

		/** Resolves when everything that was taken is done. */
		async drained(): Promise<void> {
			while (running.size > 0) await Promise.all(running);
		},
	};
}

export type Listen = ReturnType<typeof createListen>;

/**
 * Lets what follows an acknowledgement stand back while other people's submissions still wait for theirs: storing
 * answers goes before sending them.
 */
export function createRush(clock: Clock) {
	let waiting = 0;
	let over = Promise.withResolvers<void>();
	return {
		/** A submission arrived; call what is returned, once, when it is acknowledged. */
		enter(): () => void {
			waiting++;
			return () => {
				waiting--;
				if (waiting > 0) return;
				over.resolve();
				over = Promise.withResolvers<void>();
			};
		},
		/** Resolves when nobody waits for an acknowledgement, or after a moment. */
		async over(): Promise<void> {
			if (waiting > 0) await Promise.race([over.promise, clock.sleep(LONGEST_RUSH_MS)]);
		},
	};
}
