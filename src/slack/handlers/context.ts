import type { WebClient } from '@slack/web-api';
import type { Clock } from '../../clock.ts';
import type { Listen } from '../listen.ts';
import type { PersonReads } from '../person-reads.ts';
import type { Reply } from '../reply.ts';
import type { Drafting } from '../session/drafts.ts';
import type { SessionFlow } from '../session/flow.ts';

/** What handlers share. `listen` asks the access policy before a handler uses anything else. */
export interface HandlerContext {
	readonly listen: Listen;
	readonly reply: Reply;
	readonly flow: SessionFlow;
	readonly drafting: Drafting;
	readonly personReads: PersonReads;
	/** The client for people who wait. */
	readonly client: WebClient;
	readonly serviceUrl: string;
	readonly adminContact: string | null;
	readonly clock: Clock;
}
