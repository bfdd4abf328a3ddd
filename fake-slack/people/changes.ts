import { appsHere, type Core } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import { actionTs } from '../payloads.ts';
import type { Person } from '../state.ts';
import { belongsTo, userForApp } from '../users.ts';
import { tell } from './tell.ts';

/** What may change of a person: they do it themselves or an administrator does. */
export type PersonChange = Partial<
	Pick<
		Person,
		'name' | 'realName' | 'displayName' | 'statusText' | 'tz' | 'isRestricted' | 'isUltraRestricted' | 'deleted'
	>
>;

/**
 * Changes a person. The app gets user_change, whatever channels they are in, of members of its
 * workspace. Of people of other organisations: no source, so it is not sent.
 */
export async function changePerson(
	core: Core,
	deliverer: Deliverer,
	person: Person,
	change: PersonChange,
): Promise<void> {
	Object.assign(person, change, { updatedAt: core.clock.now() });
	core.changes.emit({ kind: 'state', id: person.id });
	if (!belongsTo(person, core.state.team.id)) return;
	const event = {
		type: 'user_change' as const,
		user: userForApp(core, person),
		cache_ts: Math.floor(core.clock.now() / 1000),
		event_ts: actionTs(core),
	};
	for (const app of appsHere(core, deliverer)) await tell(app.core, app.deliverer, event.type, { event });
}
