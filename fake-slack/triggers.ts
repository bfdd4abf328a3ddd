import { type Core, nextId, SlackError } from './core.ts';
import type { Trigger } from './state.ts';

/** The lifetime of a trigger_id (docs.slack.dev, "Handling user interaction"). */
const TRIGGER_LIFE_MS = 3000;
/** How long used and expired triggers are remembered at least: their errors stay exact, and memory stays bounded. */
const REMEMBER_MS = 600_000;

/** When the triggers of a Slack were last looked through: they are many, so not for each new one. */
const lookedAt = new WeakMap<Core, number>();

/** Creates a trigger for something that a person did in one of their windows. */
export function createTrigger(core: Core, from: { user: string; window: string; view?: string | null }): string {
	const now = core.clock.now();
	if (now - (lookedAt.get(core) ?? 0) > REMEMBER_MS) {
		lookedAt.set(core, now);
		for (const old of Object.values(core.state.triggers)) {
			if (now - old.at > REMEMBER_MS) delete core.state.triggers[old.id];
		}
	}
	const id = `${nextId(core, '')}.${now}.${core.state.counter}`;
	core.state.triggers[id] = { id, user: from.user, window: from.window, at: now, used: false, view: from.view ?? null };
	return id;
}

/** Finds a trigger without using it. Throws Slack's errors when it is unknown, expired or used. */
export function checkTrigger(core: Core, id: unknown): Trigger {
	const trigger = typeof id === 'string' ? core.state.triggers[id] : undefined;
	if (!trigger) throw new SlackError('invalid_trigger_id');
	if (trigger.used) throw new SlackError('exchanged_trigger_id');
	if (core.clock.now() - trigger.at > TRIGGER_LIFE_MS) throw new SlackError('expired_trigger_id');
	return trigger;
}
