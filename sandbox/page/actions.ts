import { createContext, useContext } from 'react';

export type Answer<T extends object = Record<string, unknown>> = T & { error?: string };

export type Do = <T extends object = Record<string, unknown>>(action: string, input?: object) => Promise<Answer<T>>;

/** Does actions as this person in this window. Never throws: a failure is in `error`. */
export function createDo(person: string, window: string): Do {
	return async <T extends object>(action: string, input: object = {}) => {
		try {
			const response = await fetch(`/sandbox/do/${action}`, {
				method: 'POST',
				headers: { 'Content-Type': 'application/json' },
				body: JSON.stringify({ as: person, window, ...input }),
			});
			return (await response.json()) as Answer<T>;
		} catch {
			return { error: 'The sandbox does not answer. Is it still running?' } as Answer<T>;
		}
	};
}

export async function look<T>(what: string, query: Record<string, string>): Promise<T | null> {
	try {
		const response = await fetch(`/sandbox/look/${what}?${new URLSearchParams(query)}`);
		return response.ok ? ((await response.json()) as T) : null;
	} catch {
		return null;
	}
}

const none: Do = async () => ({ error: 'not ready' }) as never;
export const DoContext = createContext<Do>(none);
export const useDo = () => useContext(DoContext);
