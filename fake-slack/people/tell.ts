import { type Core, kindOf } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import type { Json } from '../json.ts';
import { eventPayload } from '../payloads.ts';
import type { SENT_EVENTS } from '../settings.ts';
import type { Channel } from '../state.ts';

/** The scope an event needs (each event's page on docs.slack.dev); `:read` scopes depend on the channel's kind. */
function scopeOf(subscription: string, channel: Channel | undefined): string | undefined {
	if (subscription === 'app_mention') return 'app_mentions:read';
	if (subscription === 'user_change') return 'users:read';
	if (subscription.startsWith('message.')) return `${kindOf(channel)}:history`;
	return /^(channel|group|member)_/.test(subscription) ? `${kindOf(channel)}:read` : undefined;
}

/** Sends an event to the app when it is subscribed to it and has the scope. Resolves after the first attempt. */
export async function tell(
	core: Core,
	deliverer: Deliverer,
	subscription: (typeof SENT_EVENTS)[number],
	{ event, channel }: { event: Json; channel?: Channel },
): Promise<void> {
	if (!core.settings.events.includes(subscription)) return;
	const scope = scopeOf(subscription, channel);
	if (scope !== undefined && !core.settings.scopes.includes(scope)) return;
	await deliverer.deliverEvent(String(event.type), eventPayload(core, event, channel));
}
