import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '@slack/bolt';
import type { Core } from '../core.ts';
import { uptimeOf, within } from '../kernel/clock.ts';
import { HandraiseError } from '../kernel/errors.ts';
import { setBounded } from '../kernel/memory.ts';
import { type AccessPolicy, isCertainRefusal, type Place } from './access-policy.ts';
import type { WhoMayAnswer } from './answerers.ts';
import type { MessageContent } from './blocks.ts';
import type { Need } from './calls.ts';
import type { Memberships } from './channels.ts';
import { type Installation, slackCodeOf } from './clients.ts';
import type { Directory } from './directory.ts';
import { errorMessage } from './error-view.ts';
import { ACTIONS, type ActionId, type CallbackId, decodeMenuChoice, OLDER } from './ids.ts';
import type { PersonReads } from './person-reads.ts';
import type { Reply } from './reply.ts';
import {
	type AllowedRequest,
	endsWithin,
	forAnybody,
	type InboxPlace,
	inboxOf,
	inRequestOf,
	isNoFailure,
	logFailure,
	NOT_STORED,
	type NotAllowed,
	noteRefusal,
	type PersonRequest,
	type Press,
	personRequest,
	readPress,
	readView,
	type Storing,
	type StoringTask,
	type SubmissionAck,
	type SubmissionHandler,
	type SubmittedView,
	type Task,
	type TaskResult,
	viewIn,
	writtenRequest,
} from './request.ts';

type Ack = (response?: never) => Promise<unknown>;
type OnPress = (body: unknown, ack: Ack, action: unknown) => Promise<void>;

/** Slack waits three seconds, and shows a warning after that. */
const ACKNOWLEDGE_WITHIN_MS = 2_500;
/** The least of this time that the store gets, however long the checks of a submission took. */
const MIN_STORE_MS = 500;
/** The part of this time to ask whether a person is in a channel, after the access policy has had its part. */
const THERE_WITHIN_MS = 900;
/** As `THERE_WITHIN_MS`, when no acknowledgement waits for it. */
const THERE_PATIENTLY_MS = 5_000;
/** The time after the 2.5 s to tell a person that a press is not stored, or not yet. */
const TELL_WITHIN_MS = 400;
/** More requests than arrive between two deliveries of the same one. */
const MAX_SEEN_KEYS = 5_000;
/** The longest time for which other submissions delay the work after an acknowledgement. */
const MAX_RUSH_MS = 50;

interface Options {
	readonly app: App;
	readonly installation: Installation;
	readonly accessPolicy: AccessPolicy;
	readonly directory: Pick<Directory, 'untilTold'>;
	readonly whyNotThere: Memberships['whyNotThere'];
	readonly whoMayAnswer: Pick<WhoMayAnswer, 'explained'>;
	readonly personReads: PersonReads;
	readonly reply: Reply;
	readonly countRefusal: (outcome: string) => Promise<void>;
	/** `page`: what it shows next; left out: the same page. */
	readonly onInboxPress: (inbox: InboxPlace, page?: number) => Promise<void>;
	/**
	 * Called after a press that changed something (`isChanged`), or on a post that stays current. Nobody waits for it.
	 */
	readonly onPostPress: (request: PersonRequest, isChanged: boolean) => void;
}

/** Tells whether a key arrives for the first time. Bolt does not find repeated deliveries. */
function rememberKeys() {
	const seen = new Map<string, true>();
	return (key: string | null | undefined): boolean => {
		if (key == null) return true;
		if (seen.has(key)) return false;
		setBounded(seen, key, true, MAX_SEEN_KEYS);
		return true;
	};
}

const ACTION_IDS: ReadonlySet<string> = new Set(Object.values(ACTIONS));

/**
 * Registers handlers with Bolt. Acknowledges each request first, except submissions and `storingAction`. Works
 * once however often Slack delivers it, writes one log line, and tells the person about a failure. A task runs
 * only if the access policy allows it here.
 */
export function createListen({ clock, log, metrics }: Core, options: Options) {
	const { app, installation, accessPolicy, directory, whyNotThere, whoMayAnswer, personReads, reply } = options;
	const { onInboxPress, onPostPress, countRefusal } = options;
	const running = new Set<Promise<void>>();
	const storing = new Set<Promise<void>>();
	const isNewTrigger = rememberKeys();
	let turn: Promise<unknown> = Promise.resolve();

	/** `wait`: resolves when Slack has told of the person; called if Slack's limit has no room for that now. */
	async function check(
		request: PersonRequest,
		place: Place,
		{ need, thereWithinMs, wait }: { need?: Need; thereWithinMs: number; wait?: () => Promise<unknown> },
	) {
		const acting = { ...request.person, claimedTeamId: request.claimedTeamId };
		let { refusal, retryAt = null } = await accessPolicy.check(acting, place, need);
		if (refusal === 'could_not_check' && retryAt !== null && wait !== undefined) {
			await wait();
			({ refusal } = await accessPolicy.check(acting, place, need));
		}
		if (refusal !== null) return whoMayAnswer.explained(refusal, place);
		const asked = whyNotThere(request, place).catch(() => 'could_not_check' as const);
		return within<NotAllowed | null>(clock, asked, thereWithinMs, () => 'could_not_check');
	}

	const note = (request: PersonRequest, refusal: unknown) =>
		void keptIn(running, noteRefusal(request, slackCodeOf(refusal), countRefusal));

	/** Waits until Slack has told who a person is (`untilTold`). They see that they wait. */
	async function waitForSlack(request: PersonRequest, { window, refused }: Task): Promise<void> {
		const told = directory.untilTold(request.person.userId);
		// A window of the task says so already, or nobody looks.
		if (refused !== undefined) return told;
		if (window === undefined) return reply.whileChecking(request, told);
		await reply.openAhead(request, window);
		await told;
	}

	/**
	 * Runs a task if the access policy allows it. `view`: the view of the press. `isFirst`: the first task of the press.
	 */
	async function perform(request: PersonRequest, task: Task, view: SubmittedView | null, isFirst = true) {
		const { place, need = 'look' } = task;
		const how = {
			need,
			thereWithinMs: THERE_PATIENTLY_MS,
			...(need === 'look' && { wait: () => waitForSlack(request, task) }),
		};
		const refusal = place === 'anybody' ? null : await check(request, place, how);
		if (refusal !== null) {
			note(request, refusal);
			if (task.refused !== undefined) return task.refused(refusal);
			if (slackCodeOf(refusal) === 'too_fast') return reply.failed(request, refusal, task.about);
			return reply.refused(request, refusal, view, task.changes ? 'unchanged' : 'nothing');
		}
		let nextTask: Awaited<TaskResult>;
		try {
			const tooFast = task.takesTurn === true ? await personReads.turn(request) : null;
			if (tooFast !== null) throw tooFast;
			nextTask = await task.run({ ...request, access: 'allowed' });
		} catch (error) {
			// Some rules only the task knows.
			if (isCertainRefusal(slackCodeOf(error))) note(request, error);
			if (slackCodeOf(error) !== 'too_fast' || task.about === undefined) throw error;
			return reply.failed(request, error, task.about);
		}
		const inbox = inboxOf(request, view);
		if (inbox !== null && isFirst && place !== 'anybody') await onInboxPress(inbox, task.inboxPage);
		const isChanged = task.changes === true;
		const isOnPost = request.isPress && view === null;
		if (isOnPost && (isChanged || (isFirst && request.postKey !== null))) onPostPress(request, isChanged);
		if (nextTask !== undefined) await perform(request, nextTask, view, false);
	}

	/** `tellsFailure`: the person waits for the result and is told of a failure; else it is only logged. */
	async function work(request: PersonRequest, what: string, task: () => Promise<void>, tellsFailure = true) {
		const startedAt = uptimeOf(clock);
		// One task begins in each turn of the event loop, so that new requests are acknowledged first.
		turn = turn.then(() => nextTurn());
		await turn;
		try {
			await inRequestOf(request, what, task);
			request.log.info({ what, ms: uptimeOf(clock) - startedAt }, 'handled');
		} catch (error) {
			logFailure(request, error, 'request_failed', { what, ms: uptimeOf(clock) - startedAt });
			if (tellsFailure) await reply.failed(request, error);
		}
	}

	function keptIn(tasks: Set<Promise<void>>, task: Promise<void>): Promise<void> {
		const kept = task.finally(() => tasks.delete(kept));
		tasks.add(kept);
		return kept;
	}

	function arrived(body: unknown, ack: Ack) {
		const startedAt = uptimeOf(clock);
		const waitedMs = () => uptimeOf(clock) - startedAt;
		const request = personRequest(body, installation.identity().teamId, log);
		return {
			request,
			waitedMs,
			isFirstDelivery: isNewTrigger(request.triggerId),
			async acknowledge(response?: SubmissionAck): Promise<void> {
				// Bolt's type of the argument joins those of submissions and of closings, so no value satisfies it.
				await (ack as (response?: SubmissionAck) => Promise<unknown>)(response);
				metrics.acknowledged(waitedMs());
			},
		};
	}

	async function acknowledgeAndWork(
		body: unknown,
		ack: Ack,
		what: string,
		plan: (request: PersonRequest, view: SubmittedView | null) => Task | Promise<Task>,
	): Promise<void> {
		const { request, isFirstDelivery, acknowledge } = arrived(body, ack);
		await acknowledge();
		if (!isFirstDelivery) return;
		const task = async () => {
			const view = viewIn(body);
			await perform(request, await plan(request, view), view);
		};
		await keptIn(running, work(request, what, task));
	}

	/**
	 * Runs `store`, which acknowledges, then always `after`. Before `after`, other requests may store and acknowledge.
	 */
	function storeFirst(store: () => Promise<void>, after: () => Promise<void>): Promise<void> {
		const stored = keptIn(storing, store()).finally(async () => {
			if (storing.size > 0) await Promise.race([Promise.allSettled(storing), clock.sleep(MAX_RUSH_MS)]);
			await after();
		});
		return keptIn(running, stored);
	}

	/** The result of the task, or of `failed`, which gets what was thrown or a refusal. */
	async function store<Result>(
		request: PersonRequest,
		plan: () => Promise<Storing<Result>>,
		failed: (error: unknown) => Result,
	): Promise<Result> {
		try {
			const task = await plan();
			const refusal = await check(request, task.place, { need: 'send', thereWithinMs: THERE_WITHIN_MS });
			if (refusal === null) return await task.run({ ...request, access: 'allowed' });
			note(request, refusal);
			return failed(refusal);
		} catch (error) {
			if (NOT_STORED.has(slackCodeOf(error))) metrics.answers.submitted('failed');
			logFailure(request, error, 'submission_not_stored');
			return failed(error);
		}
	}

	/** `isFirst()` is true once for each event, however often Slack delivers it. Each handler remembers its own. */
	function handleEvent(name: string, handle: (event: unknown, isFirst: () => boolean) => Promise<void>): void {
		const isNew = rememberKeys();
		app.event(name, async ({ event, body }) => {
			const task = handle(event, () => isNew(body.event_id)).catch((error: unknown) => {
				log.error('slack_event_failed', { slackEvent: name, code: slackCodeOf(error), err: error });
			});
			await keptIn(running, task);
		});
	}

	/** Handlers by action id, for entries of menus: each does what its button does. */
	const onPresses = new Map<string, OnPress>();

	function onPress(id: ActionId, handle: OnPress): void {
		onPresses.set(id, handle);
		app.action(id, ({ body, ack, action }) => handle(body, ack, action));
	}

	/** For a button of an older version: sends nothing, tells its person, and has the post drawn again. */
	const outdated = (request: PersonRequest, press: Press): Task => ({
		...forAnybody(() => reply.older(request, press)),
		changes: true,
	});

	// Handles buttons of another version, whose action ids this one does not know.
	app.action(/(?:)/, async ({ body, ack, action }) => {
		const id = 'action_id' in action ? action.action_id : '';
		if (ACTION_IDS.has(id)) return;
		await acknowledgeAndWork(body, ack, 'other action', (request, view) => {
			request.log.warn('unknown_button', { action: id.slice(0, 60) });
			return outdated(request, readPress(action, view));
		});
	});

	app.action(ACTIONS.more, async ({ body, ack, action }) => {
		const press = readPress(action, null);
		const choice = decodeMenuChoice(press.value);
		const handle = onPresses.get(choice?.actionId ?? '');
		const { blockId: block_id, actionTs: action_ts } = press;
		if (choice !== null && handle !== undefined) return handle(body, ack, { value: choice.value, block_id, action_ts });
		await acknowledgeAndWork(body, ack, ACTIONS.more, (request, view) => outdated(request, { ...press, view }));
	});

	/** `plan` returns null for a button of another version, whose value it cannot read; its person is told. */
	function action(
		ids: ActionId | readonly ActionId[],
		plan: (request: PersonRequest, press: Press, id: ActionId) => Task | null | Promise<Task | null>,
	): void {
		for (const id of [ids].flat()) {
			onPress(id, (body, ack, action) =>
				acknowledgeAndWork(body, ack, id, async (request, view) => {
					const press = readPress(action, view);
					return (await plan(request, press, id)) ?? outdated(request, press);
				}),
			);
		}
	}

	return {
		command(name: string, plan: (request: PersonRequest, text: string) => Task | Promise<Task>): void {
			app.command(name, ({ body, ack, command }) =>
				acknowledgeAndWork(body, ack, name, (request) => plan(request, command.text ?? '')),
			);
		},

		action,

		/** As `action`, for a button whose value `decode` reads. */
		valued<Value>(
			ids: ActionId | readonly ActionId[],
			decode: (value: string | undefined) => Value | null,
			plan: (request: PersonRequest, value: Value, press: Press, id: ActionId) => Task | Promise<Task>,
		): void {
			action(ids, (request, press, id) => {
				const value = decode(press.value);
				return value && plan(request, value, press, id);
			});
		},

		/**
		 * Acknowledges a press once it is stored, or once its person was told that it is not stored. After 2.5 s it tells
		 * the person that the result comes later, then acknowledges. If that message takes longer than 400 ms, it is lost
		 * when the process ends. The handler recognises repeats.
		 */
		storingAction(id: ActionId, plan: (request: PersonRequest, press: Press) => StoringTask): void {
			onPress(id, async (body, ack, action) => {
				const { request, isFirstDelivery, acknowledge } = arrived(body, ack);
				let failure = (_error: unknown) => errorMessage(OLDER, null, reply.errorContext());
				let late: MessageContent | null = null;
				const read = async () => {
					const view = viewIn(body);
					const inbox = inboxOf(request, view);
					const task = plan(request, readPress(action, view));
					({ failure, late } = task);
					return {
						place: task.place,
						async run(allowed: AllowedRequest) {
							const tell = await task.run(allowed);
							const show = () =>
								inbox !== null ? onInboxPress(inbox) : view === null ? onPostPress(request, true) : undefined;
							return { isStored: true, tell: () => tell().finally(show) };
						},
					};
				};
				const failed = (error: unknown) => {
					const say = isNoFailure(slackCodeOf(error)) ? reply.toPerson : reply.withoutTurn;
					return { isStored: false, tell: async () => void (await say(request, failure(error))) };
				};
				const stored = inRequestOf(request, id, () => store(request, read, failed));
				let telling: Promise<void> | null = null;
				const tell = async () => {
					if (isFirstDelivery) telling ??= work(request, id, (await stored).tell, false);
					await telling;
				};
				await storeFirst(async () => {
					const inTime = await endsWithin(clock, stored, ACKNOWLEDGE_WITHIN_MS);
					if (inTime && !(await stored).isStored) await endsWithin(clock, tell(), TELL_WITHIN_MS);
					if (!inTime && late !== null) await endsWithin(clock, reply.withoutTurn(request, late), TELL_WITHIN_MS);
					await acknowledge();
				}, tell);
			});
		},

		shortcut(callbackId: string, plan: (request: PersonRequest, body: unknown) => Task | Promise<Task>): void {
			app.shortcut(callbackId, ({ body, ack }) =>
				acknowledgeAndWork(body, ack, callbackId, (request) => plan(request, body)),
			);
		},

		/**
		 * Acknowledges a submission after its task. The handler recognises repeats. A failure of `after` is only logged,
		 * because the acknowledgement has told the person the outcome.
		 */
		submission(callbackId: CallbackId, handler: SubmissionHandler): void {
			app.view({ callback_id: callbackId, type: 'view_submission' }, async ({ body, ack }) => {
				const { request, waitedMs, acknowledge } = arrived(body, ack);
				const inTime = <Result>(work: Promise<Result>, code: string) =>
					within(clock, work, Math.max(MIN_STORE_MS, ACKNOWLEDGE_WITHIN_MS - waitedMs()), () => {
						throw new HandraiseError('the store did not confirm in time', { code, retryable: true });
					});
				let after = async () => {};
				const submit = async () => {
					const view = readView(body.view);
					const plan = () => handler.plan(request, view, { waitedMs, inTime });
					const failed = (error: unknown) => handler.failed(view, error);
					const submitted = await inRequestOf(request, callbackId, () => store(request, plan, failed));
					after = submitted.after ?? after;
					await acknowledge(submitted.ack);
				};
				await storeFirst(submit, () => work(request, `submit ${callbackId}`, after, false));
			});
		},

		closed(callbackId: CallbackId, plan: (request: PersonRequest, view: SubmittedView) => Task): void {
			app.view({ callback_id: callbackId, type: 'view_closed' }, ({ body, ack }) =>
				acknowledgeAndWork(body, ack, `close ${callbackId}`, (request) => plan(request, readView(body.view))),
			);
		},

		/** Handles an event that is no request of a person. Bolt acknowledges it. */
		event(name: string, handle: (event: unknown, teamId: string) => Promise<void>): void {
			handleEvent(name, async (event, isFirst) => {
				if (isFirst()) await handle(event, installation.identity().teamId);
			});
		},

		/**
		 * Handles a message that somebody wrote, or the opening of the Home tab. If `plan` returns null, the event is no
		 * request, and is neither remembered nor logged. Failures of a task with `refused` are only logged.
		 */
		message(name: string, plan: (request: PersonRequest, event: unknown) => Task | null | Promise<Task | null>): void {
			handleEvent(name, async (event, isFirst) => {
				const request = writtenRequest(event, installation.identity().teamId, log);
				const task = request && (await plan(request, event));
				if (request === null || task === null || !isFirst()) return;
				await work(request, name, () => perform(request, task, null), task.refused === undefined);
			});
		},

		/** Resolves when all requests that arrived are handled, and their people told. */
		async drained(): Promise<void> {
			while (running.size > 0) await Promise.allSettled(running);
			await reply.drained();
		},
	};
}
