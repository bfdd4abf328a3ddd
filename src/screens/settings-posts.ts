import type { SlackCore } from '../slack/slack-core.ts';
import type { UserGroupList, UserGroups } from '../slack/user-groups.ts';
import { type Drawing, lookOf } from '../surfaces/post.ts';
import { settingsChangedPost } from './settings.ts';

/** Draws what a channel is told when somebody changed its settings. */
export function createSettingsDrawing(
	{ directory: names, config: { REMIND_AFTER: defaultMs } }: SlackCore,
	userGroups: UserGroupList,
) {
	return {
		async settingsChanged(content, { post: { target } }) {
			const { before, after } = content;
			const mentions = [before.mention, after.mention, before.answerers, after.answerers];
			const people = new Set([content.by, ...mentions.flatMap(({ userIds }) => userIds)]);
			await Promise.all(Array.from(people, names.learnName));
			const namesGroups = mentions.some(({ groupIds }) => groupIds.length > 0);
			const groups: UserGroups = namesGroups ? await userGroups.list() : { kind: 'listed', groups: [] };
			if (target.kind === 'person') return null;
			return lookOf(settingsChangedPost(content, { names, groups, channelId: target.channelId, defaultMs }));
		},
	} satisfies Drawing<'settingsChanged'>;
}
