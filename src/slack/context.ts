import type { Core } from '../core.ts';
import type { SessionKey } from '../domain/session.ts';
import { codeOf } from '../kernel/errors.ts';
import { loggedId } from '../kernel/log.ts';
import type { SharedState } from '../kernel/memory.ts';
import { isCertainRefusal } from './access-policy.ts';
import { createChannels, createMemberships } from './channels.ts';
import { createLinks } from './links.ts';
import { createListen } from './listen.ts';
import { createPersonReads } from './person-reads.ts';
import { createReply } from './reply.ts';
import type { PersonRequest } from './request.ts';
import type { createSlack } from './slack.ts';

/** An entry of the audit. `channel`: where the person asked; null inside a window. `about`: which part they saw. */
type Seen = Readonly<{ at: number; session: string; channel: string | null; about: string; outcome: string }>;

type Stored = Parameters<typeof createMemberships>[0]['store'] & {
	readonly sessions: { wasRead(session: SessionKey): Promise<boolean> };
	readonly audit: {
		countRefusal(outcome: string, now: number): Promise<void>;
		recordOpened(seen: Seen): Promise<void>;
	};
	sharedStateOf(name: string): SharedState<Readonly<Record<string, number>>>;
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
		noteRead,
	});
	const reply = createReply(core, personReads);
	const memberships = createMemberships(core, { changes: store.sharedStateOf('memberships'), turn: personReads.turn });
	/**
	 * Records in the audit that somebody saw a part of a session. `outcome`: `shown` by a read, or `stored`; anything
	 * else means that they saw nothing, and nothing is recorded.
	 */
	async function noteOpened(
		request: PersonRequest,
		about: 'open' | 'refresh' | 'question' | 'show' | 'files' | 'history',
		sessionId: string,
		outcome: string | null = 'shown',
	): Promise<void> {
		if (outcome !== 'shown' && outcome !== 'stored') return;
		const { channelId: channel } = request;
		const seen = { at: core.clock.now(), session: sessionId, channel, about, outcome };
		await store.audit.recordOpened(seen).catch((error: unknown) => {
			request.log.warn('opening_not_recorded', { session: loggedId(sessionId), about, code: codeOf(error) });
		});
	}

	return {
		...core,
		personReads,
		reply,
		memberships,
		noteOpened,
		channels: createChannels(core),
		links: createLinks({ serviceUrl, dashboardUrl: config.SESSION_DASHBOARD_URL }),
		listen: createListen(core, {
			...core,
			...options,
			personReads,
			reply,
			whyNotThere: memberships.whyNotThere,
			countRefusal: async (outcome) => {
				if (isCertainRefusal(outcome)) await store.audit.countRefusal(outcome, core.clock.now());
			},
		}),
	};
}

/** What all handlers share. */
export type HandlerContext<S = unknown> = Core<S> & Omit<ReturnType<typeof createHandlerContext>, keyof Core>;
