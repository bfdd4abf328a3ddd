/** The people and user groups whom a channel allows to answer. An empty list allows everybody. */
export interface Answerers {
	readonly userIds: readonly string[];
	readonly groupIds: readonly string[];
}

/** A list that applies to a session: it is from a channel that watches it or has watched it. */
export interface AnswerRule extends Answerers {
	readonly channelId: string;
	/** Of the channel's settings. */
	readonly revision: number;
}

/** A person with the user groups that they belong to. */
export interface PersonInGroups {
	readonly userId: string;
	readonly groupIds: ReadonlySet<string>;
}

/** Stands for a person in settings that were changed by a command on Handraise's machine. */
export const OPERATOR = 'whoever runs Handraise';

export const namesAnybody = ({ userIds, groupIds }: Answerers) => userIds.length + groupIds.length > 0;

/** Whether at least one list names the person. */
export function isNamed({ userId, groupIds }: PersonInGroups, lists: readonly Answerers[]): boolean {
	return lists.some((list) => list.userIds.includes(userId) || list.groupIds.some((id) => groupIds.has(id)));
}

/** Whether a person may answer a session to which these lists apply. */
export const mayAnswer = (person: PersonInGroups, rules: readonly AnswerRule[]) =>
	rules.length === 0 || isNamed(person, rules);
