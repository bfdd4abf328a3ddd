import { messageShapes, watchShapes } from './messages.ts';
import { modalShapes } from './modals.ts';
import type { Shape } from './samples.ts';

/** Every kind of view and message, made of made-up sessions: what the doctor asks Slack about. */
export function allShapes(): Shape[] {
	return [...modalShapes(), ...messageShapes(), ...watchShapes()];
}
