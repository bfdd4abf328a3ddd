import { type Core, SlackError } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import { hasInitial, heldKey, type Placed, placedElements } from '../elements.ts';
import { escapedTexts } from '../escaping.ts';
import { clientErrors } from '../input-checks.ts';
import { setValue } from '../input-state.ts';
import { isRecord, type Json, record, records } from '../json.ts';
import { requireDownloadableImages } from '../messages.ts';
import { actionTs, payloadBase, type Viewer } from '../payloads.ts';
import type { View } from '../state.ts';
import { createTrigger } from '../triggers.ts';
import { validateResponseActionErrors } from '../validation/index.ts';
import { replaceView, requireValidView, requireViewType, stackView, viewForApp } from '../views.ts';
import { requireClient } from '../visibility.ts';
import { removeViews, topView, windowOf } from '../windows.ts';
import { requireOffered } from './pickers.ts';

/** What Slack shows above a modal when the app did not answer a submission properly. */
const TROUBLE = 'We had some trouble connecting. Try again?';

/** What a person saw after they pressed Submit. */
export type SubmitOutcome = 'closed' | 'updated' | 'pushed' | 'fieldErrors' | 'trouble';

/** The `actions` entry of a block_actions payload. */
export function actionForApp(core: Core, placed: Placed, chosen: Json): Json {
	const { element } = placed;
	const initials = Object.entries(element).filter(([key]) => key.startsWith('initial_') && hasInitial(element));
	return escapedTexts({
		type: placed.type,
		action_id: placed.actionId,
		block_id: placed.blockId,
		...(element.text === undefined ? {} : { text: element.text }),
		...(element.value === undefined ? {} : { value: element.value }),
		...(element.style === undefined ? {} : { style: element.style }),
		...(element.placeholder === undefined ? {} : { placeholder: element.placeholder }),
		...Object.fromEntries(initials),
		...chosen,
		action_ts: actionTs(core),
	});
}

/** The view a person can act on: the one on top. Throws when it is gone. */
function requireTop(core: Core, viewer: Viewer): View {
	requireClient(core, viewer);
	const view = topView(core, viewer.user, viewer.window);
	if (!view) throw new Error(`No modal is open for ${viewer.user}.`);
	return view;
}

export function placedIn(view: View, blockId: string, actionId: string): Placed {
	const found = placedElements(records(view.payload, 'blocks')).find(
		(one) => one.blockId === blockId && one.actionId === actionId,
	);
	if (!found) throw new Error(`The view has no element ${blockId}/${actionId}.`);
	return found;
}

async function sendViewAction(
	core: Core,
	deliverer: Deliverer,
	viewer: Viewer,
	{ view, placed, chosen }: { view: View; placed: Placed; chosen: Json },
): Promise<boolean> {
	requireClient(core, viewer);
	const ack = await deliverer.deliver({
		kind: 'interactive',
		name: 'block_actions',
		acceptsPayload: false,
		payload: {
			...payloadBase(core, 'block_actions', viewer.user),
			container: { type: 'view', view_id: view.id },
			trigger_id: createTrigger(core, { ...viewer, view: view.id }),
			view: viewForApp(core, view, true),
			actions: [actionForApp(core, placed, chosen)],
		},
	});
	return ack.ok;
}

/** A person presses a button or an overflow entry of the top view. False when the app did not acknowledge. */
export function pressInView(
	core: Core,
	deliverer: Deliverer,
	viewer: Viewer,
	{ view, blockId, actionId, chosen = {} }: { view: View; blockId: string; actionId: string; chosen?: Json },
): Promise<boolean> {
	return sendViewAction(core, deliverer, viewer, { view, placed: placedIn(view, blockId, actionId), chosen });
}

/** Whether a change of the element goes to the app at once. */
function dispatches(placed: Placed, how: 'typed' | 'enter'): boolean {
	if (!placed.isInput) return true;
	if (placed.block.dispatch_action !== true) return false;
	if (heldKey(placed.type) !== 'value') return true;
	const config = record(placed.element, 'dispatch_action_config');
	const on = Array.isArray(config?.trigger_actions_on) ? config.trigger_actions_on : ['on_enter_pressed'];
	return on.includes(how === 'typed' ? 'on_character_entered' : 'on_enter_pressed');
}

/** A person types or chooses. The app gets it at once where dispatch_action or the block's kind say so. */
export async function fillInView(
	core: Core,
	deliverer: Deliverer,
	viewer: Viewer,
	target: { view: View; blockId: string; actionId: string; held: unknown; enter?: boolean },
): Promise<void> {
	const { view } = target;
	const placed = placedIn(view, target.blockId, target.actionId);
	requireClient(core, viewer);
	requireOffered(core, viewer, placed, target.held);
	setValue(view.input, placed, target.held);
	delete view.fieldErrors[placed.blockId];
	core.changes.emit({ kind: 'view', id: view.id });
	if (!dispatches(placed, target.enter === true ? 'enter' : 'typed')) return;
	const { type: _type, ...value } = view.input.values[placed.blockId]?.[placed.actionId] ?? { type: placed.type };
	await sendViewAction(core, deliverer, viewer, { view, placed, chosen: value });
}

/** Applies the acknowledgement of a submission. Throws SlackError for one that Slack would not understand. */
function applyResponse(core: Core, viewer: Viewer, view: View, answer: unknown): SubmitOutcome {
	if (answer === undefined || answer === null || (isRecord(answer) && Object.keys(answer).length === 0)) {
		removeViews(core, [view.id]);
		return 'closed';
	}
	const action = isRecord(answer) ? answer.response_action : undefined;
	switch (action) {
		case 'clear':
			removeViews(core, windowOf(core, viewer.user, viewer.window).stack);
			return 'closed';
		case 'update':
		case 'push': {
			const payload = requireValidView(core, (answer as Json).view, `response_action ${action}`);
			requireViewType(core, payload, 'modal', `response_action ${action}`);
			requireDownloadableImages(core, payload.blocks, 'invalid_arguments');
			if (action === 'update') replaceView(core, view, payload);
			else stackView(core, viewer.user, viewer.window, payload);
			return action === 'update' ? 'updated' : 'pushed';
		}
		case 'errors': {
			const { errors } = answer as Json;
			const problems = validateResponseActionErrors(view.payload, errors);
			if (problems.length > 0 || !isRecord(errors)) {
				const messages = problems.map((problem) => problem.message);
				core.traffic.violate({ where: 'response_action errors', messages, payload: answer });
				throw new SlackError('invalid_arguments');
			}
			view.fieldErrors = Object.fromEntries(Object.entries(errors).map(([id, words]) => [id, String(words)]));
			core.changes.emit({ kind: 'view', id: view.id });
			return 'fieldErrors';
		}
		default:
			core.traffic.violate({ where: 'view_submission ack', messages: ['unknown answer'], payload: answer });
			throw new SlackError('invalid_arguments');
	}
}

/** A person presses Submit. Slack's own checks run first, then the app is asked. */
export async function submitView(core: Core, deliverer: Deliverer, viewer: Viewer): Promise<SubmitOutcome> {
	const view = requireTop(core, viewer);
	if (view.payload.submit === undefined) throw new Error('This modal has no Submit.');
	view.trouble = null;
	view.fieldErrors = clientErrors(records(view.payload, 'blocks'), view.input);
	core.changes.emit({ kind: 'view', id: view.id });
	if (Object.keys(view.fieldErrors).length > 0) return 'fieldErrors';
	const ack = await deliverer.deliver({
		kind: 'interactive',
		name: 'view_submission',
		acceptsPayload: true,
		payload: {
			...payloadBase(core, 'view_submission', viewer.user),
			trigger_id: createTrigger(core, { ...viewer, view: view.id }),
			view: viewForApp(core, view, true),
			response_urls: [],
		},
	});
	try {
		if (!ack.ok) throw new SlackError(ack.failure);
		return applyResponse(core, viewer, view, ack.payload);
	} catch (error) {
		if (!(error instanceof SlackError)) throw error;
		view.trouble = TROUBLE;
		core.changes.emit({ kind: 'view', id: view.id });
		return 'trouble';
	}
}

/** A person closes the top view (Cancel, Esc) or the whole stack (the X in the corner). */
export async function closeView(core: Core, deliverer: Deliverer, viewer: Viewer, all = false): Promise<void> {
	const top = requireTop(core, viewer);
	const { stack } = windowOf(core, viewer.user, viewer.window);
	const whole = all || top.payload.clear_on_close === true;
	const gone = (whole ? [...stack].reverse() : [top.id]).flatMap((id) => core.state.views[id] ?? []);
	removeViews(
		core,
		gone.map((view) => view.id),
	);
	const told = gone.filter((view) => view.payload.notify_on_close === true);
	await Promise.all(
		told.map((view) =>
			deliverer.deliver({
				kind: 'interactive',
				name: 'view_closed',
				acceptsPayload: false,
				payload: {
					...payloadBase(core, 'view_closed', viewer.user),
					view: viewForApp(core, view, true),
					is_cleared: whole,
				},
			}),
		),
	);
}
