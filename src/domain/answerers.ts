/** The people and user groups that a channel names as those who may answer; nobody: everybody may. */
export interface Answerers {
	readonly userIds: readonly string[];
	readonly groupIds: readonly string[];
}

/** One of the lists that decide who may answer a session: of a channel that watches it, or has watched it. */
export interface AnswerRule extends Answerers {
	readonly channelId: string;
	/** Of the channel's settings. */
	readonly revision: number;
}

/** What lists may name: somebody, and the user groups that they are known to be in. */
export interface Standing {
	readonly userId: string;
	readonly groupIds: ReadonlySet<string>;
}

/** Who changed settings with a command on the machine of Handraise. */
export const OPERATOR = 'whoever runs Handraise';

export const namesAnybody = ({ userIds, groupIds }: Answerers) => userIds.length + groupIds.length > 0;

/** Whether lists name somebody: one is enough. */
export function isNamed({ userId, groupIds }: Standing, lists: readonly Answerers[]): boolean {
	return lists.some((list) => list.userIds.includes(userId) || list.groupIds.some((id) => groupIds.has(id)));
}

/** Whether somebody may answer a session with these lists. */
export const mayAnswer = (standing: Standing, rules: readonly AnswerRule[]) =>
	rules.length === 0 || isNamed(standing, rules);
