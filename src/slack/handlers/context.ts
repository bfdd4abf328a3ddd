import type { WebClient } from '@slack/web-api';
import type { Answers } from '../../answers/accept.ts';
import type { MayAct } from '../../answers/access-policy.ts';
import type { Core } from '../../core.ts';
import type { HandOvers } from '../../inbox/hand-overs.ts';
import type { Inboxes } from '../../inbox/inboxes.ts';
import type { createWatching } from '../../watches/watching.ts';
import type { Channels, Memberships } from '../channels.ts';
import type { Links } from '../links.ts';
import type { Listen } from '../listen.ts';
import type { PersonReads } from '../person-reads.ts';
import type { Receipts } from '../receipts.ts';
import type { Reply } from '../reply.ts';
import type { Drafting } from '../session/drafts.ts';
import type { SessionFlow } from '../session/flow.ts';
import type { createUserGroups } from '../settings/mentions.ts';
import type { SettingsSaving } from '../settings/saving.ts';

/** What handlers share. `listen` asks the access policy before a handler uses anything else. */
export interface HandlerContext extends Core {
	readonly listen: Listen;
	readonly reply: Reply;
	readonly flow: SessionFlow;
	readonly drafting: Drafting;
	readonly personReads: PersonReads;
	/** The client for people who wait. */
	readonly client: WebClient;
	readonly botUserId: string;
	readonly mayAct: MayAct;
	readonly memberships: Memberships;
	readonly channels: Channels;
	readonly links: Links;
	readonly answers: Answers;
	readonly receipts: Receipts;
	readonly handOvers: HandOvers;
	readonly inboxes: Inboxes;
	readonly watching: ReturnType<typeof createWatching>;
	readonly userGroups: ReturnType<typeof createUserGroups>;
	readonly settingsSaving: SettingsSaving;
}
