import { channelSettingsShapes } from './channel-settings.ts';
import { inboxShapes } from './inbox.ts';
import { messageShapes, watchShapes } from './messages.ts';
import { modalShapes } from './modals.ts';
import type { Shape } from './samples.ts';

/** Every kind of view and message at its extreme, with invented content; the doctor asks Slack whether it accepts them. */
export function allShapes(): Shape[] {
	return [...modalShapes(), ...messageShapes(), ...watchShapes(), ...inboxShapes(), ...channelSettingsShapes()];
}
