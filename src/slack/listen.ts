import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '@slack/bolt';
import { z } from 'zod';
import { type Clock, uptimeOf } from '../clock.ts';
import { keepNewest } from '../keep-newest.ts';
import type { Log } from '../log.ts';
import { errorMessage } from './blocks/messages.ts';
import { codeOf } from './error-code.ts';
import type { ActionId, CallbackId } from './ids.ts';
import type { Reply } from './reply.ts';
import { type PersonRequest, personRequest } from './request.ts';
import { createRush } from './rush.ts';

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
	readonly reply: Reply;
	readonly adminContact: string | null;
	readonly clock: Clock;
	readonly log: Log;
	readonly onAcknowledged: (ms: number) => void;
}

/**
 * How handlers hang on Bolt, so that each has the same care: acknowledge first, do the work once however often Slack
 * hands the request over, write one log line, and never end in silence.
 */
export function createListen({ app, reply, adminContact, clock, log, onAcknowledged }: Dependencies) {
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

	/** Acknowledges with nothing, then works. */
	async function acknowledgeAndWork(
		body: unknown,
		ack: () => Promise<unknown>,
		what: string,
		task: (request: PersonRequest) => Promise<void>,
	): Promise<void> {
		const start = uptimeOf(clock);
		const request = personRequest(body, log);
		const fresh = isNew(request.triggerId);
		await ack();
		onAcknowledged(uptimeOf(clock) - start);
		if (fresh) await track(work(request, what, () => task(request)));
	}

	return {
		command(name: string, handle: (request: PersonRequest, text: string) => Promise<void>): void {
			app.command(name, ({ body, ack, command }) =>
				acknowledgeAndWork(body, ack, name, (request) => handle(request, command.text ?? '')),
			);
		},

		action(id: ActionId, handle: (request: PersonRequest, press: Press) => Promise<void>): void {
			app.action(id, ({ body, ack, action }) =>
				acknowledgeAndWork(body, ack, id, (request) => {
					const { value, block_id } = pressed.parse(action);
					const { view } = interaction.parse(body);
					return handle(request, { value, blockId: block_id, view: view ?? null });
				}),
			);
		},

		/** Whatever no handler knows: buttons of an older version, links. */
		otherActions(
			known: ReadonlySet<string>,
			handle: (request: PersonRequest, actionId: string) => Promise<void>,
		): void {
			app.action(/(?:)/, async ({ body, ack, action }) => {
				const id = 'action_id' in action ? action.action_id : '';
				if (known.has(id)) return;
				await acknowledgeAndWork(body, ack, 'other action', (request) => handle(request, id));
			});
		},

		shortcut(callbackId: string, handle: (request: PersonRequest, body: unknown) => Promise<void>): void {
			app.shortcut(callbackId, ({ body, ack }) =>
				acknowledgeAndWork(body, ack, callbackId, (request) => handle(request, body)),
			);
		},

		/**
		 * A submission is acknowledged after the work, and told apart from its repeats by the handler. `handle` never
		 * throws; `after` runs once the acknowledgement is out. The acknowledgement has told the person what became of it, so
		 * that a failure of `after` is only logged: "please try again" would be untrue.
		 */
		submission(
			callbackId: CallbackId,
			handle: (
				request: PersonRequest,
				view: ViewSnapshot,
			) => Promise<{ readonly ack: SubmissionAck; readonly after: () => Promise<void> }>,
		): void {
			app.view({ callback_id: callbackId, type: 'view_submission' }, async ({ body, ack }) => {
				const start = uptimeOf(clock);
				const request = personRequest(body, log);
				const acknowledged = rush.enter();
				let after = async () => {};
				try {
					const done = await handle(request, viewSchema.parse(body.view));
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

		closed(callbackId: CallbackId, handle: (request: PersonRequest, view: ViewSnapshot) => Promise<void>): void {
			app.view({ callback_id: callbackId, type: 'view_closed' }, ({ body, ack }) =>
				acknowledgeAndWork(body, ack, `close ${callbackId}`, (request) => handle(request, viewSchema.parse(body.view))),
			);
		},

		/** Events are acknowledged by Bolt; Slack repeats them when it is not sure. */
		event(name: string, handle: (event: unknown, teamId: string) => Promise<void>): void {
			app.event(name, async ({ event, body }) => {
				if (!isNew(body.event_id)) return;
				const task = handle(event, body.team_id).catch((error: unknown) => {
					log.error({ event: name, code: codeOf(error), err: error }, 'an event could not be handled');
				});
				await track(task);
			});
		},

		/** Resolves when everything that was taken is done. */
		async drained(): Promise<void> {
			while (running.size > 0) await Promise.all(running);
		},
	};
}

export type Listen = ReturnType<typeof createListen>;
