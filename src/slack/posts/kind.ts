import type { WebClient } from '@slack/web-api';
import type { MayAct } from '../../answers/access-policy.ts';
import type { Clock } from '../../clock.ts';
import type { Core } from '../../core.ts';
import type { Log } from '../../log.ts';
import type { ShowAnswers } from '../../questions/secrecy.ts';
import type { AnswerStore } from '../../store/answer-store.ts';
import type { ClaimStore } from '../../store/answering-store.ts';
import type { ChannelSettingsStore } from '../../store/channel-settings-store.ts';
import type { HandOverStore } from '../../store/hand-over-store.ts';
import type { WatchStore } from '../../store/watch-store.ts';
import type { DueAnnouncement, PreparedPost, SendOutcome } from '../../watches/announcer.ts';
import type { LadderTimes } from '../../watches/channel-settings.ts';
import type { ContentOf, PostKind, SettledHow } from '../../watches/kinds.ts';
import type { Watch } from '../../watches/watch.ts';
import type { MessageContent } from '../blocks/parts.ts';
import type { PostContext } from '../blocks/watch-posts.ts';
import type { NameLookup } from '../directory.ts';
import type { createUserGroups } from '../settings/mentions.ts';
import type { Names } from '../words.ts';

/** What the parts that write posts share. */
export interface PostCore {
	readonly client: WebClient;
	readonly directChannelOf: Core['directChannelOf'];
	readonly serviceUrl: string;
	readonly store: {
		readonly answers: AnswerStore;
		readonly claims: ClaimStore;
		readonly watches: Pick<WatchStore, 'postedQuestions' | 'shownOf'>;
		readonly handOvers: Pick<HandOverStore, 'handOverOf'>;
		readonly channelSettings: Pick<ChannelSettingsStore, 'read'>;
	};
	readonly config: {
		/** `REMIND_AFTER` and `ESCALATE_AFTER` */
		readonly ladderTimes: LadderTimes;
		readonly dashboardUrl: string | null;
		readonly showAnswers: ShowAnswers;
		readonly quickAnswers: boolean;
		readonly watchMaxDays: number;
		readonly access: { readonly adminContact: string | null };
	};
	/** Asked before a question is told in a direct message. */
	readonly mayAct: MayAct;
	readonly directory: Names & NameLookup;
	readonly userGroups: ReturnType<typeof createUserGroups>;
	readonly clock: Clock;
	readonly log: Log;
}

/** What a new post shows. `isShownInChannel`: a reply in a thread is shown in the channel too. */
interface Drawn extends Pick<PreparedPost, 'leftOut'> {
	readonly message: MessageContent;
	readonly isShownInChannel?: boolean;
}

/**
 * Draws a new post of a kind from what is stored now; may ask Slack for names and links. Null when what it says is not so
 * any more; an outcome when it cannot be posted.
 */
export type Draw<K extends PostKind> = (
	content: ContentOf<K>,
	due: DueAnnouncement,
	options: { readonly maybeRepeat: boolean },
) => Promise<Drawn | SendOutcome | null>;

/** What an update of a post knows of its question. `how`: null while it is not settled. */
export interface Redraw {
	readonly context: PostContext;
	readonly how: SettledHow | null;
	readonly watch: Watch | null;
}
