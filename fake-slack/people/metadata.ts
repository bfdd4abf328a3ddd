import { appsIn, type Core } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import { type Json, text } from '../json.ts';
import { actionTs } from '../payloads.ts';
import type { Channel, Message } from '../state.ts';
import { tell } from './tell.ts';

/** `metadata_subscriptions` name an app, or `*` for any (as published manifests do), and a kind of metadata. */
function isSubscribed(core: Core, metadata: Json): boolean {
	const { metadataSubscriptions } = core.settings;
	if (metadataSubscriptions === null) return true;
	return metadataSubscriptions.some(
		({ appId, eventType }) => [core.state.app.id, '*'].includes(appId) && eventType === text(metadata, 'event_type'),
	);
}

/**
 * The events that a change of a message's metadata causes, also for the app's own messages (slackapi/bolt-js
 * examples/message-metadata): message_metadata_posted, message_metadata_updated or message_metadata_deleted, where the
 * app is a member (docs.slack.dev, metadata.message:read scope).
 */
export async function tellOfMetadata(
	core: Core,
	deliverer: Deliverer,
	{ channel, message }: { channel: Channel; message: Message },
	{ before, after }: { before: Json | undefined; after: Json | undefined },
): Promise<void> {
	const metadata = after ?? before;
	if (metadata === undefined) return;
	const subscribed = appsIn(core, deliverer, channel).filter((one) => isSubscribed(one.core, metadata));
	const kind = before === undefined ? 'posted' : after === undefined ? 'deleted' : 'updated';
	const type = `message_metadata_${kind}` as const;
	const at = kind === 'posted' ? message.ts : actionTs(core);
	const event = {
		type,
		app_id: core.state.app.id,
		bot_id: message.botId,
		user_id: message.user,
		team_id: core.state.team.id,
		channel_id: channel.id,
		...(before === undefined ? {} : { previous_metadata: structuredClone(before) }),
		...(after === undefined ? {} : { metadata: structuredClone(after) }),
		message_ts: message.ts,
		...(kind === 'deleted' ? { deleted_ts: at } : {}),
		event_ts: at,
	};
	for (const app of subscribed) await tell(app.core, app.deliverer, type, { event, channel });
}
