import { createContext, useContext } from 'react';
import type { WirePerson, WireWorkspace } from '../../wire.ts';

/** Looks up the ids in a text, and whom a field of people offers. */
export interface Names {
	me: string;
	/** The part of the workspace's address before `.slack.com`. */
	domain: string;
	/** Everybody in the workspace's directory. */
	people: readonly WirePerson[];
	person: (id: string) => string | null;
	channel: (id: string) => string | null;
	userGroup: (id: string) => string | null;
}

export function namesOf(workspace: WireWorkspace, channels: readonly { id: string; name: string }[]): Names {
	const find = <T extends { id: string }>(all: readonly T[], id: string) => all.find((one) => one.id === id);
	return {
		me: workspace.me.id,
		domain: workspace.team.domain,
		people: workspace.people,
		person: (id) => find(workspace.people, id)?.displayName ?? null,
		channel: (id) => find(channels, id)?.name ?? null,
		userGroup: (id) => find(workspace.userGroups, id)?.handle ?? null,
	};
}

export const NOBODY: Names = {
	me: '',
	domain: '',
	people: [],
	person: () => null,
	channel: () => null,
	userGroup: () => null,
};
export const NamesContext = createContext<Names>(NOBODY);
export const useNames = () => useContext(NamesContext);
