import type { Core } from '../core.ts';
import type { MayAct } from './access-policy.ts';
import type { Channels, Memberships } from './channels.ts';
import type { Links } from './links.ts';
import type { Listen } from './listen.ts';
import type { PersonReads } from './person-reads.ts';
import type { Reply } from './reply.ts';

/** What handlers share; what only some need is named beside it. `listen` asks the access policy before a handler uses anything else. */
export interface HandlerContext<S = unknown> extends Core<S> {
	readonly listen: Listen;
	readonly reply: Reply;
	readonly personReads: PersonReads;
	readonly botUserId: string;
	readonly mayAct: MayAct;
	readonly memberships: Memberships;
	readonly channels: Channels;
	readonly links: Links;
}
