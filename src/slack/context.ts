import type { Cell } from '../core/basics.ts';
import type { Core } from '../core.ts';
import type { SessionKey } from '../questions/session.ts';
import { createChannels, createMemberships } from './channels.ts';
import { isRefusal } from './error-view.ts';
import { createLinks } from './ids.ts';
import { createListen } from './listen.ts';
import { createPersonReads } from './person-reads.ts';
import { createReply } from './reply.ts';
import type { createSlack } from './slack.ts';

type Stored = Parameters<typeof createMemberships>[0]['store'] & {
	readonly sessions: { wasRead(session: SessionKey): Promise<boolean> };
	readonly spellings: { others(session: SessionKey): Promise<readonly string[]> };
	readonly audit: { countRefusal(outcome: string, now: number): Promise<void> };
	cellOf(name: string): Cell<Readonly<Record<string, number>>>;
};

/** `core` with what handlers share. `listen` asks the access policy before a handler uses the rest. */
export function createHandlerContext<C extends Core<Stored> & ReturnType<typeof createSlack>>(
	core: C,
	{
		noteRead,
		...options
	}: Pick<Parameters<typeof createListen>[1], 'app' | 'onInboxPress' | 'onPostPress'> &
		Pick<Parameters<typeof createPersonReads>[1], 'noteRead'>,
) {
	const { store, serviceUrl, config } = core;
	const personReads = createPersonReads(core, {
		wasRead: (sessionId) => store.sessions.wasRead({ service: serviceUrl, sessionId }),
		otherSpellings: (sessionId) => store.spellings.others({ service: serviceUrl, sessionId }),
		noteRead,
	});
	const reply = createReply(core, personReads);
	const memberships = createMemberships(core, { changes: store.cellOf('memberships'), turn: personReads.turn });
	return {
		...core,
		personReads,
		reply,
		memberships,
		channels: createChannels(core),
		links: createLinks({ serviceUrl, dashboardUrl: config.SESSION_DASHBOARD_URL }),
		listen: createListen(core, {
			...core,
			...options,
			personReads,
			reply,
			whyNotThere: memberships.whyNotThere,
			// Of a person who is too fast, or whom nobody could check, the access policy has said nothing.
			countRefusal: async (outcome) => {
				const isSaid = isRefusal(outcome) && outcome !== 'could_not_check';
				if (isSaid) await store.audit.countRefusal(outcome, core.clock.now());
			},
		}),
	};
}

/** What handlers share; what only some need is beside it. */
export type HandlerContext<S = unknown> = Core<S> & Omit<ReturnType<typeof createHandlerContext>, keyof Core>;
