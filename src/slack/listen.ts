import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '@slack/bolt';
import { z } from 'zod';
import { type AccessPolicy, FRESH_MS, type Place, type Refusal } from '../answers/access-policy.ts';
import { type Clock, uptimeOf } from '../clock.ts';
import { keepNewest } from '../keep-newest.ts';
import type { Log } from '../log.ts';
import { errorMessage } from './blocks/messages.ts';
import { codeOf } from './error-code.ts';
import type { ActionId, CallbackId } from './ids.ts';
import type { Refusing } from './refusing.ts';
import type { Reply } from './reply.ts';
import { type PersonRequest, personRequest } from './request.ts';
import { createRush } from './rush.ts';
import type { AllowedRequest, Task } from './task.ts';

/** A view of ours as an interaction brings it. */
export interface ViewSnapshot {
	readonly id: string;
	readonly hash: string;
	readonly privateMetadata: string;
	/** `state.values`, unread. */
	readonly values: unknown;
	readonly callbackId: string;
	/** `label.text` of its input blocks by block_id. */
	readonly labels: Readonly<Record<string, string>>;
}

/** One press of a button, or a change of an input that tells of it. */
export interface Press {
	readonly value: string | undefined;
	readonly blockId: string;
	/** Null on a message. */
	readonly view: ViewSnapshot | null;
}

/** What a submission is acknowledged with. */
export type SubmissionAck =
	| { readonly response_action: 'update'; readonly view: import('@slack/types').ModalView }
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

const label = z.object({ block_id: z.string(), label: z.object({ text: z.string() }) });
const viewSchema = z
	.object({
		id: z.string(),
		hash: z.string().default(''),
		private_metadata: z.string().default(''),
		callback_id: z.string().default(''),
		state: z.object({ values: z.unknown().optional() }).nullish(),
		blocks: z.array(z.unknown()).default([]),
	})
	.transform(
		(view): ViewSnapshot => ({
			id: view.id,
			hash: view.hash,
			privateMetadata: view.private_metadata,
			values: view.state?.values ?? {},
			callbackId: view.callback_id,
			labels: Object.fromEntries(
				view.blocks.flatMap((block) => {
					const parsed = label.safeParse(block);
					return parsed.success ? [[parsed.data.block_id, parsed.data.label.text]] : [];
				}),
			),
		}),
	);
const interaction = z.object({ view: viewSchema.nullish() });
const pressed = z
	.object({
		value: z.string().optional().catch(undefined),
		selected_option: z.object({ value: z.string() }).nullish().catch(null),
		block_id: z.string().default(''),
	})
	.transform(({ value, selected_option, block_id }) => ({ value: value ?? selected_option?.value, block_id }));

/** As many requests as arrive in the time in which Slack or a socket might hand one over twice. */
const REMEMBERED = 5_000;

interface Dependencies {
	readonly app: App;
	/** The workspace that the app is installed in. */
	readonly teamId: string;
	readonly accessPolicy: AccessPolicy;
	readonly refuse: Refusing;
	readonly reply: Reply;
	readonly adminContact: string | null;
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
	const { app, teamId, accessPolicy, refuse, reply, adminContact, clock, log, onAcknowledged } = deps;
	const running = new Set<Promise<void>>();
	const seen = new Map<string, true>();
	const rush = createRush(clock);
	let turn: Promise<unknown> = Promise.resolve();

	/** Whether this key comes for the first time; Bolt does not look at that. */
	function isNew(key: string | null | undefined): boolean {
		if (key == null) return true;
		if (seen.has(key)) return false;
		keepNewest(seen, key, true, REMEMBERED);
		return true;
	}

	/** One begins in each turn of the event loop, so that what arrives meanwhile is acknowledged before the next begins. */
	function ownTurn(): Promise<unknown> {
		turn = turn.then(() => nextTurn());
		return turn;
	}

	/** Does what a request asks for, if whoever asks may have it. `view`: where they pressed. */
	async function perform(request: PersonRequest, task: Task, view: ViewSnapshot | null): Promise<void> {
		const { place } = task;
		const verdict =
			place === 'anybody'
				? ({ allowed: true } as const)
				: await accessPolicy.check({ ...request.person, claimedTeamId: request.claimedTeamId }, place, task.maxAgeMs);
		if (!verdict.allowed) {
			const { refusal } = verdict;
			request.log.info({ refusal }, 'refused');
			await (task.refused?.(refusal) ?? refuse(request, refusal, view));
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
		{ tellsFailure }: { tellsFailure: boolean } = { tellsFailure: true },
	): Promise<void> {
		const start = uptimeOf(clock);
		await ownTurn();
		try {
			await task();
			request.log.info({ what, ms: uptimeOf(clock) - start }, 'handled');
		} catch (error) {
			const code = codeOf(error);
			request.log.error({ what, code, ms: uptimeOf(clock) - start, err: error }, 'a request failed');
			if (tellsFailure) await reply.toPerson(request, errorMessage(code, null, { kept: 'nothing', adminContact }));
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
			const view = interaction.parse(body).view ?? null;
			await perform(request, await plan(request, view), view);
		};
		await track(work(request, what, task));
	}

	/** A submission whose handler fails is the handler's to put into words. */
	async function submit(request: PersonRequest, task: SubmissionTask): Promise<Submitted> {
		const claimant = { ...request.person, claimedTeamId: request.claimedTeamId };
		const verdict = await accessPolicy.check(claimant, task.place, FRESH_MS);
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
				acknowledgeAndWork(body, ack, id, (request, view) => {
					const { value, block_id } = pressed.parse(action);
					return plan(request, { value, blockId: block_id, view });
				}),
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
					const view = viewSchema.parse(body.view);
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
				acknowledgeAndWork(body, ack, `close ${callbackId}`, (request) => plan(request, viewSchema.parse(body.view))),
			);
		},

		/** Something happened in the workspace that nobody asks anything with. */
		event(name: string, handle: (event: unknown, teamId: string) => Promise<void>): void {
			onEvent(name, (event) => handle(event, teamId));
		},

		/** Somebody wrote a message that may ask for something; null when it does not. */
		message(
			name: string,
			plan: (event: unknown) => { readonly request: PersonRequest; readonly task: Task } | null,
		): void {
			onEvent(name, async (event) => {
				const asked = plan(event);
				if (asked !== null) await work(asked.request, name, () => perform(asked.request, asked.task, null));
			});
		},

		/** Resolves when everything that was taken is done. */
		async drained(): Promise<void> {
			while (running.size > 0) await Promise.all(running);
		},
	};
}

export type Listen = ReturnType<typeof createListen>;
