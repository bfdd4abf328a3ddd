import type { Tables } from './tables.ts';

/**
 * Where rows hold ids of people, to find all that is stored of a person. `id`: the column is the id. `part`: the id is part
 * of a text. A list: fields of the column's JSON, from its root; `[]` is each entry of a list and `{}` each name of a record.
 * Most JSON is encrypted. A new column or field with such an id has to be added here.
 */
export const PERSON_IDS = {
	answers: { user_id: 'id', other: ['person.userId'] },
	drafts: { user_id: 'id' },
	claims: { user_id: 'id' },
	watches: { created_by: 'id' },
	announcements: {
		target: 'part',
		unique_key: 'part',
		place_id: 'id',
		content: ['by', 'from', 'entries[].heldBy', 'before.mention.userIds[]', 'after.mention.userIds[]'],
	},
	inboxes: { id: 'part', user_id: 'id' },
	ladders: { held_by: 'id' },
	channel_settings: { settings: ['mention.userIds[]'], changed_by: 'id' },
	snoozes: { user_id: 'id' },
	hand_overs: { from_user_id: 'id', to_user_id: 'id' },
	discoveries: { created_by: 'id' },
	shared_states: { name: 'part', state: ['{}'] },
} as const satisfies {
	readonly [Table in keyof Tables]?: {
		readonly [Column in keyof Tables[Table]]?: 'id' | 'part' | readonly string[];
	};
};
