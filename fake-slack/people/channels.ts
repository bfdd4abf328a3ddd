import { appsIn, type Core, isGeneral, isMember, personOf } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import type { Json } from '../json.ts';
import { actionTs, type Viewer } from '../payloads.ts';
import type { Channel } from '../state.ts';
import { isOwnTeam } from '../teams.ts';
import { canOpen, requireClient } from '../visibility.ts';
import { tell } from './tell.ts';

/** The workspace's administrator: its first member. */
function administrator(core: Core): string {
	return core.state.people[0]?.id ?? '';
}

/** Sends an event about the channel: `kind` follows `channel_` or `group_`. Only sent where the bot is a member. */
async function tellOfChannel(
	core: Core,
	deliverer: Deliverer,
	channel: Channel,
	{ kind, facts }: { kind: 'archive' | 'deleted' | 'left' | 'unarchive'; facts: Json },
): Promise<void> {
	core.changes.emit({ kind: 'channel', id: channel.id });
	const type = `${channel.isPrivate ? 'group' : 'channel'}_${kind}` as const;
	await tell(core, deliverer, type, {
		event: { type, channel: channel.id, ...facts, event_ts: actionTs(core) },
		channel,
	});
}

/** Throws with words for the person where Slack's client offers neither joining nor leaving. */
function requireOpenChannel(channel: Channel): void {
	if (channel.isIm || channel.isMpim === true) throw new Error('Nobody can join or leave a direct message.');
	if (channel.isArchived) throw new Error(`#${channel.name} is archived. Nobody can join or leave it.`);
}

/** A person joins a public channel without an invitation. Throws with words for the person where they need one. */
export async function joinYourself(core: Core, deliverer: Deliverer, viewer: Viewer, channel: Channel): Promise<void> {
	requireClient(core, viewer);
	requireOpenChannel(channel);
	const { id, name } = personOf(core, viewer.user);
	if (!canOpen(core, id, channel)) throw new Error(`${name} needs an invitation to #${channel.name}.`);
	await joinChannel(core, deliverer, channel, { user: id });
}

/** A person leaves a channel. Throws with words for the person where they cannot. */
export async function leaveYourself(core: Core, deliverer: Deliverer, viewer: Viewer, channel: Channel): Promise<void> {
	requireClient(core, viewer);
	requireOpenChannel(channel);
	const person = personOf(core, viewer.user);
	if (!isMember(channel, person.id)) throw new Error(`${person.name} is not in #${channel.name}.`);
	// The reasons for conversations.leave: cant_leave_general, user_is_restricted, last_member (docs.slack.dev).
	if (isGeneral(channel)) throw new Error('Nobody can leave #general.');
	if (person.isRestricted) throw new Error('Guests cannot leave a channel.');
	if (channel.members.length === 1) throw new Error(`The last member cannot leave #${channel.name}.`);
	await leaveChannel(core, deliverer, channel, viewer.user);
}

/**
 * Somebody (perhaps the app's bot) leaves a channel or is removed. The bot gets its own removal as channel_left or
 * group_left; member_left_channel does not reach a bot that is no longer a member (bolt-js #1847).
 */
export async function leaveChannel(core: Core, deliverer: Deliverer, channel: Channel, user: string): Promise<void> {
	const apps = appsIn(core, deliverer, channel);
	channel.members = channel.members.filter((one) => one !== user);
	core.changes.emit({ kind: 'channel', id: channel.id });
	const left = { kind: 'left', facts: { actor_id: administrator(core) } } as const;
	for (const app of apps) {
		if (app.core.state.app.botUser === user) await tellOfChannel(app.core, app.deliverer, channel, left);
		else await tellOfMember(app.core, app.deliverer, channel, { user, type: 'member_left_channel' });
	}
}

async function tellOfMember(
	core: Core,
	deliverer: Deliverer,
	channel: Channel,
	{ user, type, inviter }: Joining & { type: 'member_joined_channel' | 'member_left_channel' },
): Promise<void> {
	const event = {
		type,
		user,
		channel: channel.id,
		// The first letter of the channel's id, not its kind: private channels since March 2021 have a C
		// (docs.slack.dev, member_left_channel).
		channel_type: channel.id.slice(0, 1),
		team: personOf(core, user).teamId,
		...(inviter === undefined ? {} : { inviter }),
		event_ts: actionTs(core),
	};
	await tell(core, deliverer, type, { event, channel });
}

/** A member, the administrator by default, adds somebody (perhaps the app's bot) to a channel. */
export async function invite(
	core: Core,
	deliverer: Deliverer,
	channel: Channel,
	{ user, inviter = administrator(core) }: Joining,
): Promise<void> {
	await joinChannel(core, deliverer, channel, { user, inviter });
}

interface Joining {
	user: string;
	/** Absent where nobody invited them. */
	inviter?: string;
}

async function joinChannel(core: Core, deliverer: Deliverer, channel: Channel, joining: Joining): Promise<void> {
	const { user } = joining;
	if (isMember(channel, user)) return;
	channel.members.push(user);
	core.changes.emit({ kind: 'channel', id: channel.id });
	for (const app of appsIn(core, deliverer, channel)) {
		await tellOfMember(app.core, app.deliverer, channel, { ...joining, type: 'member_joined_channel' });
	}
}

/** Archives a channel, or takes it out of the archive. */
export async function archiveChannel(
	core: Core,
	deliverer: Deliverer,
	channel: Channel,
	archived: boolean,
): Promise<void> {
	channel.isArchived = archived;
	const kind = archived ? 'archive' : 'unarchive';
	for (const app of appsIn(core, deliverer, channel)) {
		await tellOfChannel(app.core, app.deliverer, channel, { kind, facts: { user: administrator(core) } });
	}
}

/** Deletes a channel and its messages. From then on its id is unknown. */
export async function deleteChannel(core: Core, deliverer: Deliverer, channel: Channel): Promise<void> {
	core.state.channels = core.state.channels.filter((one) => one !== channel);
	core.state.messages = core.state.messages.filter((one) => one.channel !== channel.id);
	for (const app of appsIn(core, deliverer, channel)) {
		await tellOfChannel(app.core, app.deliverer, channel, {
			kind: 'deleted',
			facts: { actor_id: administrator(core) },
		});
	}
}

/**
 * Sharing a private channel changes its id permanently when somebody starts to share it (docs.slack.dev,
 * channel_id_changed). Here only ids with a G change, which private channels from before March 2021 have, as in that
 * page's example. Whether others change: no source.
 */
async function changeId(core: Core, deliverer: Deliverer, channel: Channel): Promise<void> {
	if (!channel.isPrivate || !channel.id.startsWith('G')) return;
	const before = channel.id;
	channel.id = `C${before.slice(1)}`;
	for (const message of core.state.messages) if (message.channel === before) message.channel = channel.id;
	core.changes.emit({ kind: 'channel', id: channel.id });
	const event = {
		type: 'channel_id_changed' as const,
		old_channel_id: before,
		new_channel_id: channel.id,
		event_ts: actionTs(core),
	};
	for (const app of appsIn(core, deliverer, channel)) {
		await tell(app.core, app.deliverer, event.type, { event, channel });
	}
}

/**
 * Invites another organisation to the channel, or withdraws the invitation. Apps get an event only with
 * conversations.connect:read, which this fake does not have: the app finds it in the channel's fields.
 */
export async function inviteOrganisation(
	core: Core,
	deliverer: Deliverer,
	channel: Channel,
	pending: boolean,
): Promise<void> {
	channel.isPendingExtShared = pending;
	core.changes.emit({ kind: 'channel', id: channel.id });
	if (pending) await changeId(core, deliverer, channel);
}

/**
 * A workspace joins the channel, or leaves it with its people. Only sharing with another organisation causes
 * channel_shared (docs.slack.dev: "an external workspace"), also for private channels. Nobody here is told of the end.
 */
export async function shareChannel(
	core: Core,
	deliverer: Deliverer,
	channel: Channel,
	{ teamId, shared }: { teamId: string; shared: boolean },
): Promise<void> {
	if (shared && !isOwnTeam(core, teamId)) await changeId(core, deliverer, channel);
	const others = (channel.connectedTeams ?? []).filter((one) => one !== teamId);
	channel.connectedTeams = shared ? [...others, teamId] : others;
	channel.isExtShared = channel.connectedTeams.some((one) => !isOwnTeam(core, one));
	channel.isOrgShared = channel.connectedTeams.some((one) => isOwnTeam(core, one));
	if (shared) channel.isPendingExtShared = false;
	else channel.members = channel.members.filter((user) => personOf(core, user).teamId !== teamId);
	core.changes.emit({ kind: 'channel', id: channel.id });
	if (isOwnTeam(core, teamId) || !shared) return;
	const type = 'channel_shared' as const;
	const event = { type, connected_team_id: teamId, channel: channel.id, event_ts: actionTs(core) };
	for (const app of appsIn(core, deliverer, channel)) await tell(app.core, app.deliverer, type, { event, channel });
}
