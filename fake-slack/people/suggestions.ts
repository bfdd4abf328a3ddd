import { appOf, type Core, channelOf } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import { optionsOf, type Placed } from '../elements.ts';
import { isRecord, type Json } from '../json.ts';
import { messageForApp } from '../messages.ts';
import { channelForApp, payloadBase, type Viewer } from '../payloads.ts';
import type { Message, View } from '../state.ts';
import { validateBlocks } from '../validation/index.ts';
import { viewForApp } from '../views.ts';
import { requireClient, requireSeen } from '../visibility.ts';

/**
 * The app is not asked about fewer characters unless the element says so (docs.slack.dev, select menu of external
 * data).
 */
const MIN_QUERY_LENGTH = 3;

function surfaceFacts(core: Core, surface: View | Message): Json {
	if ('ts' in surface) {
		const { ts, channel } = surface;
		return {
			container: {
				type: 'message',
				message_ts: ts,
				channel_id: channel,
				is_ephemeral: surface.ephemeralFor !== undefined,
			},
			channel: channelForApp(channelOf(core, channel)),
			...(surface.ephemeralFor === undefined ? { message: messageForApp(core, surface) } : {}),
		};
	}
	return { container: { type: 'view', view_id: surface.id }, view: viewForApp(core, surface, true) };
}

/** The options of a response, or undefined when it has none. The rules of a select's options apply (100 at most). */
function offered(core: Core, answer: unknown): Json[] | undefined {
	const given: Json = isRecord(answer) ? answer : {};
	const list = given.options ?? given.option_groups;
	if (Array.isArray(list) && list.length === 0) return [];
	const { options, option_groups: groups } = given;
	const select = {
		type: 'static_select',
		action_id: 'offered',
		...(options === undefined ? {} : { options }),
		...(groups === undefined ? {} : { option_groups: groups }),
	};
	const problems = validateBlocks([{ type: 'actions', elements: [select] }], 'modal');
	if (problems.length === 0) return optionsOf(given);
	const messages = problems.map((problem) => problem.message);
	core.traffic.violate({ where: 'block_suggestion ack', messages, payload: answer });
	return undefined;
}

/**
 * A person types into a select that loads its options. Resolves with the options offered, or with null when the app was
 * not asked (too little text) or did not answer properly within 3 seconds.
 */
export async function suggest(
	core: Core,
	deliverer: Deliverer,
	viewer: Viewer,
	{ surface, placed, typed }: { surface: View | Message; placed: Placed; typed: string },
): Promise<Json[] | null> {
	const owner = 'ts' in surface ? appOf(core, deliverer, surface) : { core, deliverer };
	if (owner.core !== core) return suggest(owner.core, owner.deliverer, viewer, { surface, placed, typed });
	if ('ts' in surface) requireSeen(core, viewer, surface);
	else requireClient(core, viewer);
	if (!placed.type.endsWith('external_select')) throw new Error(`A ${placed.type} loads no options.`);
	if (typed.length < Number(placed.element.min_query_length ?? MIN_QUERY_LENGTH)) return null;
	const ack = await deliverer.deliver({
		kind: 'interactive',
		name: 'block_suggestion',
		acceptsPayload: true,
		payload: {
			...payloadBase(core, 'block_suggestion', viewer.user, 'ts' in surface),
			...surfaceFacts(core, surface),
			action_id: placed.actionId,
			block_id: placed.blockId,
			value: typed,
		},
	});
	return (ack.ok ? offered(core, ack.payload) : undefined) ?? null;
}
