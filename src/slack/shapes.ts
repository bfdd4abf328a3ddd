/* Every kind of view and message, made of made-up sessions: what the doctor asks Slack about. */

import { messageShapes } from './shapes/messages.ts';
import { modalShapes } from './shapes/modals.ts';
import type { Shape } from './shapes/shape.ts';
import { watchShapes } from './shapes/watches.ts';

export function allShapes(): Shape[] {
	return [...modalShapes(), ...messageShapes(), ...watchShapes()];
}
