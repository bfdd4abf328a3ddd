/* Every kind of view and message, made of made-up sessions: what the doctor asks Slack about. */

import { messageShapes } from './messages.ts';
import { modalShapes } from './modals.ts';
import type { Shape } from './shape.ts';
import { watchShapes } from './watches.ts';

export function allShapes(): Shape[] {
	return [...modalShapes(), ...messageShapes(), ...watchShapes()];
}
