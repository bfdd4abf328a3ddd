import { type Core, nextId, SlackError } from './core.ts';
import { escapedTexts } from './escaping.ts';
import { carryOver, freshInput, stateValues } from './input-state.ts';
import { isRecord, type Json, records, text } from './json.ts';
import { takenBlocks } from './live-text.ts';
import type { View } from './state.ts';
import { checkTrigger } from './triggers.ts';
import { type SlackProblem, validateView } from './validation/index.ts';
import { removeViews, windowOf } from './windows.ts';

/** The most modals in one stack: the root and two more (docs.slack.dev, views.push). */
const MAX_STACK = 3;

/** Refuses a view that Slack would refuse, in Slack's words. */
export function requireValidView(core: Core, view: unknown, where: string): Json {
	const problems: SlackProblem[] = validateView(view);
	const first = problems[0];
	if (first || !isRecord(view)) {
		const messages = problems.map((problem) => `[ERROR] ${problem.message}`);
		core.traffic.violate({ where, messages, payload: view });
		throw new SlackError(first?.error ?? 'invalid_arguments', { response_metadata: { messages } });
	}
	return view;
}

/** Only Home tabs are published. A view that is opened, pushed or updated keeps its type. */
export function requireViewType(core: Core, view: Json, type: string, where: string): void {
	if (view.type === type) return;
	const messages = [`[ERROR] unsupported type: ${String(view.type)} [json-pointer:/view/type]`];
	core.traffic.violate({ where, messages, payload: view });
	throw new SlackError('invalid_arguments', { response_metadata: { messages } });
}

function requireFreeExternalId(core: Core, externalId: string, own?: string): void {
	if (externalId === '') return;
	const taken = Object.values(core.state.views).some((view) => view.externalId === externalId && view.id !== own);
	if (taken) throw new SlackError('duplicate_external_id');
}

function newHash(core: Core): string {
	core.state.counter++;
	return `${Math.floor(core.clock.now() / 1000)}.${core.state.counter.toString(36).padStart(8, '0')}`;
}

function createView(core: Core, payload: Json, place: { user: string; window: string; below: View | null }): View {
	const externalId = text(payload, 'external_id') ?? '';
	requireFreeExternalId(core, externalId);
	const blocks = takenBlocks(core, payload.blocks);
	const id = nextId(core, 'V');
	const view: View = {
		id,
		payload: { ...structuredClone(payload), blocks },
		type: text(payload, 'type') ?? 'modal',
		hash: newHash(core),
		user: place.user,
		window: place.window,
		externalId,
		rootViewId: place.below?.rootViewId ?? id,
		previousViewId: place.below?.id ?? null,
		input: freshInput(blocks),
		updates: 0,
		fieldErrors: {},
		trouble: null,
	};
	core.state.views[id] = view;
	return view;
}

/** Opens a modal in the window that the trigger came from. It replaces a modal that is open there. */
export function openView(core: Core, triggerId: unknown, payload: Json): View {
	const trigger = checkTrigger(core, triggerId);
	const window = windowOf(core, trigger.user, trigger.window);
	const view = createView(core, payload, { user: trigger.user, window: trigger.window, below: null });
	trigger.used = true;
	removeViews(core, window.stack);
	window.stack = [view.id];
	core.changes.emit({ kind: 'view', id: view.id });
	return view;
}

/** Puts a modal on top of a stack. Throws `push_limit_reached` on a full one. */
export function stackView(core: Core, user: string, windowId: string, payload: Json): View {
	const window = windowOf(core, user, windowId);
	if (window.stack.length >= MAX_STACK) throw new SlackError('push_limit_reached');
	const below = core.state.views[window.stack.at(-1) ?? ''] ?? null;
	const view = createView(core, payload, { user, window: windowId, below });
	window.stack.push(view.id);
	core.changes.emit({ kind: 'view', id: view.id });
	return view;
}

/**
 * views.push: needs a trigger from within the open modal (docs.slack.dev, "Modals"). Another is an invalid one
 * (slackapi/python-slack-sdk #804).
 */
export function pushView(core: Core, triggerId: unknown, payload: Json): View {
	const trigger = checkTrigger(core, triggerId);
	if (trigger.view === null) throw new SlackError('invalid_trigger_id');
	if (windowOf(core, trigger.user, trigger.window).stack.length === 0) throw new SlackError('not_found');
	const view = stackView(core, trigger.user, trigger.window, payload);
	trigger.used = true;
	return view;
}

/** Replaces a view in place: a new hash, inputs kept as Slack does, no errors. */
export function replaceView(core: Core, view: View, payload: Json): void {
	const externalId = text(payload, 'external_id') ?? '';
	requireFreeExternalId(core, externalId, view.id);
	const blocks = takenBlocks(core, payload.blocks);
	view.payload = { ...structuredClone(payload), blocks };
	view.externalId = externalId;
	view.input = carryOver(view.input, blocks);
	view.hash = newHash(core);
	view.updates++;
	view.fieldErrors = {};
	view.trouble = null;
	core.changes.emit({ kind: 'view', id: view.id });
}

/**
 * Throws hash_conflict for a hash that is not the view's. That a hash without a view is refused too is stricter than
 * documented.
 */
export function requireHash(view: View | undefined, hash: unknown): void {
	if (hash !== undefined && hash !== '' && hash !== view?.hash) throw new SlackError('hash_conflict');
}

/** Replaces or creates the view of a person's Home tab. */
export function publishHome(core: Core, user: string, hash: unknown, payload: Json): View {
	const existing = core.state.views[core.state.homes[user] ?? ''];
	requireHash(existing, hash);
	if (existing) {
		replaceView(core, existing, payload);
		return existing;
	}
	const view = createView(core, payload, { user, window: 'home', below: null });
	core.state.homes[user] = view.id;
	core.changes.emit({ kind: 'view', id: view.id });
	return view;
}

/** A view as Slack sends it to the app, in responses and payloads. */
export function viewForApp(core: Pick<Core, 'state'>, view: View, withState: boolean): Json {
	const { payload } = view;
	const blocks = records(payload, 'blocks');
	const omit = view.updates > 0;
	return {
		id: view.id,
		team_id: core.state.team.id,
		type: view.type,
		blocks: escapedTexts(blocks),
		private_metadata: payload.private_metadata ?? '',
		callback_id: payload.callback_id ?? '',
		state: { values: withState ? escapedTexts(stateValues(blocks, view.input, omit)) : {} },
		hash: view.hash,
		title: escapedTexts(payload.title ?? null),
		clear_on_close: payload.clear_on_close === true,
		notify_on_close: payload.notify_on_close === true,
		close: escapedTexts(payload.close ?? null),
		submit: escapedTexts(payload.submit ?? null),
		previous_view_id: view.previousViewId,
		root_view_id: view.rootViewId,
		app_id: core.state.app.id,
		external_id: view.externalId,
		app_installed_team_id: core.state.team.id,
		bot_id: core.state.app.botId,
	};
}
